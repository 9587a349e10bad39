"""What fake reports can do: nobody can tell a report that was made up from one that was randomized."""

from dataclasses import dataclass

from sfumato.errors import ParameterError
from sfumato.local.frequency.oracle import FrequencyOracle
from sfumato.numeric.arguments import of_kind
from sfumato.numeric.rationals import Number, positive_integer, probability


@dataclass(frozen=True, slots=True, kw_only=True)
class PoisoningGain:
    """How far fake reports raise the estimated fractions of some target values, at most and in expectation.

    Attributes:
        per_report: By how much one fake report among n raises the sum of the fractions, times n: the number of honest
            people of whom it has the weight.
        gain: By how much all fake reports raise the sum of the fractions.
    """

    per_report: float
    gain: float


def poisoning_gain(oracle: FrequencyOracle, *, targets: int, fake_share: Number, held: Number = 0) -> PoisoningGain:
    """The largest expected gain of fake reports that all support as many of the target values as a report can.

    β·((K − r·q)/(p − q) − f), with β the share of fake reports, r the number of targets, f the fraction of honest
    people who hold one, and K the most targets that one report supports: one with `DirectEncoding`, w with
    `SubsetSelection`, all with the others. The smaller ε is, the more a fake report weighs, because p − q divides.

    A collector can limit it by admitting one report for each person, and by no test of a report itself.

    Args:
        oracle: What collects; not `BucketBits`, where a report that tells of few values weighs more.
        targets: r, at least 1 and at most the size of the domain.
        fake_share: β, between 0 and 1.
        held: f, between 0 and 1.

    Raises:
        ParameterError: An argument is out of range.

    Example:
        >>> from sfumato.local import OptimizedUnaryEncoding
        >>> found = poisoning_gain(OptimizedUnaryEncoding(1024, epsilon=1), targets=1, fake_share="0.01")
        >>> round(found.per_report, 2), round(found.gain, 4)
        (3.16, 0.0316)

    References:
        [CJG21] Section 4.
    """
    of_kind(oracle, "oracle", FrequencyOracle, "a frequency oracle, such as OptimizedUnaryEncoding(9, epsilon=1)")
    if not oracle.tells_of_all:
        raise ParameterError("oracle", type(oracle).__name__, "must be one whose reports each tell of every value")
    most = positive_integer(targets, "targets", most=len(oracle.domain))
    share, honest = probability(fake_share, "fake_share"), probability(held, "held")
    p, q = oracle.support_probabilities
    supported = most if oracle.most_supported is None else min(most, oracle.most_supported)
    weight = (supported - most * q) / (p - q)
    return PoisoningGain(per_report=float(weight), gain=float(share * (weight - honest)))


def fake_share_for(oracle: FrequencyOracle, *, gain: Number, targets: int = 1) -> float:
    """The share of fake reports that raises target values which nobody holds by so much; never more than the gain.

    Raises:
        ParameterError: An argument is out of range.

    Example:
        >>> from sfumato.local import OptimizedUnaryEncoding
        >>> round(fake_share_for(OptimizedUnaryEncoding(1024, epsilon=1), gain="0.05"), 4)
        0.0158
    """
    wanted = probability(gain, "gain")
    return float(wanted) / poisoning_gain(oracle, targets=targets, fake_share=1).gain
