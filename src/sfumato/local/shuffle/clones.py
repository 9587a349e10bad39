"""What shuffled reports will reveal of one person, before anybody reports: the ε of a crowd of clones.

Whatever others hold, some of them report as if they held one of any two values: clones, among whom a person hides. How
many there are depends on the protocol, and is known for every one.
"""

from math import exp, expm1, inf, log, log1p, sqrt

from sfumato.local.core.odds import local_epsilon
from sfumato.local.core.protocol import LocalProtocol
from sfumato.local.shuffle.crowds import LARGEST_CROWD, crowd_epsilon, crowd_of
from sfumato.numeric.rationals import Number, open_probability, positive_integer


def shuffled_epsilon(reported: LocalProtocol | Number, *, reports: int, delta: Number) -> float:
    """The ε that shuffled reports will have at a δ, rounded up; at most that of one report.

    For any protocol each other person is a clone with probability e^−ε [FMT21]. `DirectEncoding` has a larger crowd of
    its own: those who answer uniformly, a fraction d/(R + d − 1) [BBGN19].

    **Guarantee**: never below the ε of the reports, if n people report honestly and the shuffler is not the collector.
    Proof: proofs/local/shuffle/crowds.md. Reports that arrive with a key, a time or an order keep the ε of one report.
    To account for reports that were shuffled, take `ShuffledReports.event`.

    Edge cases: a δ below 10^−10 gains nothing.

    Args:
        reported: The protocol; or the ε of one report, from 10^−6 to 100, whatever the protocol.
        reports: n, how many people report honestly, from 1 to 10^8.
        delta: Above 0 and below 1.

    Raises:
        ParameterError: An argument is out of range.

    Example:
        >>> from sfumato.local import DirectEncoding
        >>> round(shuffled_epsilon(1, reports=10_000, delta="1e-6"), 3)
        0.053
        >>> round(shuffled_epsilon(DirectEncoding(10, epsilon=1), reports=10_000, delta="1e-6"), 3)
        0.023

    References:
        [FMT21] Theorem 3.1; [BBGN19] Section 3.
    """
    return crowd_epsilon(crowd_of(reported, reports=reports), float(open_probability(delta, "delta")))


def shuffled_epsilon_closed(epsilon: Number, *, reports: int, delta: Number) -> float:
    """The closed form of [FMT21]: 3 to 5 times larger than `shuffled_epsilon`, and infinite where it does not hold.

    ln(1 + (R − 1)/(R + 1)·(8·√(R·ln(4/δ)/n) + 8·R/n)), for ε ≤ ln(n/(16·ln(2/δ))).

    Raises:
        ParameterError: An argument is out of range.

    Example:
        >>> round(shuffled_epsilon_closed(1, reports=10_000, delta="1e-6"), 5)
        0.21403

    References:
        [FMT21] Theorem 3.1.
    """
    alone = float(local_epsilon(epsilon))
    people = positive_integer(reports, "reports", most=LARGEST_CROWD)
    wanted = float(open_probability(delta, "delta"))
    if alone > log(people / (16 * (log(2) - log(wanted)))):
        return inf
    ratio = exp(alone)
    spread = 8 * sqrt(ratio * (log(4) - log(wanted)) / people) + 8 * ratio / people
    return log1p(expm1(alone) / (ratio + 1) * spread)
