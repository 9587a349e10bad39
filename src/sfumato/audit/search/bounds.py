"""What counts of one event on two neighbors say about ε, with a stated probability of error.

The runs are divided by fair coins: each run asks the first database or the second with probability ½. That makes the
test below exact, where a fixed number of runs on each side would make it an approximation.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from scipy.stats import binom

from sfumato.numeric.arguments import of_kind, share, whole
from sfumato.numeric.binomial import lower_limit, upper_limit
from sfumato.numeric.rationals import exact, probability, set_fields
from sfumato.numeric.rounding import exp_up, float_up

MOST_RUNS: Final = 10**12
"""That are counted: far more than anybody makes, and few enough to be exact as floats."""


@dataclass(frozen=True, slots=True)
class Count:
    """How often an event happened in how many runs.

    Args:
        events: From 0 to as many as there were runs.
        runs: At most `MOST_RUNS`.

    Raises:
        ParameterError: One of them is no such whole number.

    Example:
        >>> Count(10, 50).events
        10
    """

    events: int
    runs: int

    def __post_init__(self) -> None:
        runs = whole(self.runs, "runs", least=0, most=MOST_RUNS)
        set_fields(self, runs=runs, events=whole(self.events, "events", least=0, most=runs))


def conditional_p_value(first: Count, second: Count, *, epsilon: Fraction) -> float:
    """P(X ≥ first.events) for X ~ Binomial(first.events + second.events, e^ε/(1 + e^ε)).

    Given that the event happened, a fair coin had chosen the first database with probability p/(p + q), which is at
    most e^ε/(1 + e^ε) if p ≤ e^ε·q.

    **Guarantee**: for runs divided by fair coins, and an event chosen without them, this is below α with probability
    at most α if the mechanism has ε-differential privacy on this pair. Proof: proofs/audit/search/bounds.md.

    Raises:
        ParameterError: A count is no `Count`, or ε no number.

    Example:
        >>> round(conditional_p_value(Count(10, 50), Count(0, 50), epsilon=Fraction(0)), 6)
        0.000977

    References:
        [DWWZK18] for conditioning on the number of events.
    """
    _check(first, second)
    likelier = exp_up(exact(epsilon, "epsilon"))
    ceiling = likelier / (1 + likelier) if math.isfinite(likelier) else 1.0
    return float(binom.sf(first.events - 1, first.events + second.events, ceiling))


def epsilon_lower_bound(first: Count, second: Count, *, delta: Fraction, significance: float) -> float:
    """A lower bound on the mechanism's ε at this δ, wrong with probability at most `significance`.

    With δ = 0 it is the smallest ε that `conditional_p_value` does not refute. Otherwise ln((p − δ)/q) with p and q at
    their Clopper-Pearson limits, each of half the significance. −∞ where the counts say nothing.

    **Guarantee**: it lies above the true ε with probability at most `significance`; for runs and events as in
    `conditional_p_value`. Proof: proofs/audit/search/bounds.md.

    Args:
        first: On the database where the event is thought to be likelier.
        second: On its neighbor.
        delta: At least 0, below 1.
        significance: Between 0 and 1.

    Raises:
        ParameterError: A parameter is something else, or there were no runs.

    Example:
        >>> counts = Count(500, 1000), Count(50, 1000)
        >>> round(epsilon_lower_bound(*counts, delta=Fraction(0), significance=1e-6), 2)
        1.65
        >>> round(epsilon_lower_bound(*counts, delta=Fraction(1, 1000), significance=1e-6), 2)
        1.52

    References:
        [CP34]; [JUO20] for the use of both limits.
    """
    _check(first, second)
    delta, significance = probability(delta, "delta"), share(significance, "significance")
    if delta == 0:
        chance = lower_limit(first.events, first.events + second.events, significance=significance)
        return math.log(chance) - math.log1p(-chance) if chance > 0 else -math.inf
    low = lower_limit(first.events, first.runs, significance=significance / 2) - float_up(delta)
    high = upper_limit(second.events, second.runs, significance=significance / 2)
    return math.log(low) - math.log(high) if low > 0 else -math.inf


def _check(first: Count, second: Count) -> None:
    of_kind(first, "first", Count, "a Count of events and runs")
    of_kind(second, "second", Count, "a Count of events and runs")
