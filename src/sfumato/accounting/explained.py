"""ε explained: how far an answer can move what somebody believes about one person."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from sfumato.accounting.core.printed import percent_down, percent_up, text_up
from sfumato.errors import ParameterError
from sfumato.numeric.arguments import listed
from sfumato.numeric.rationals import Number, nonnegative, probability
from sfumato.numeric.rounding import exp_up
from sfumato.privacy.guarantees import ApproxDP, PureDP, guarantee

_PRIORS: Final[tuple[Number, ...]] = ("0.001", "0.01", "0.1", "0.5", "0.9")
_FALSE_ALARMS: Final[tuple[Number, ...]] = ("0.001", "0.01", "0.05", "0.1")
_LARGEST_EPSILON: Final = 700  # beyond it e^ε leaves the range of floats, and every bound is 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Belief:
    """What somebody can come to believe of a yes/no secret whom they gave probability `prior`."""

    prior: Fraction
    lowest: Fraction
    highest: Fraction
    right_guess: Fraction
    """The probability that the best guess made from the answer is right; without an answer it is max(prior, 1 −
    prior)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Detection:
    """How often a test that tells two neighbors apart can find the secret, at a rate of false alarms."""

    false_alarms: Fraction
    found: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskTable:
    """What a guarantee means for one person, as numbers and as text."""

    guarantee: PureDP | ApproxDP
    beliefs: tuple[Belief, ...]
    detections: tuple[Detection, ...]
    advantage: Fraction
    """How much more often than a coin a guess is right, at most, on the scale from 0 to 1."""

    def __str__(self) -> str:
        return "\n".join((*_belief_lines(self), "", *_detection_lines(self)))


def risk_table(
    epsilon: Number,
    *,
    delta: Number = 0,
    priors: Sequence[Number] = _PRIORS,
    false_alarms: Sequence[Number] = _FALSE_ALARMS,
) -> RiskTable:
    """How far a person's risk can move under (ε, δ), for several prior beliefs and several tests.

    A belief p in a secret by which neighbors differ ends between p/(p + (1 − p)e^ε) and pe^ε/(1 − p + pe^ε). A test
    with a rate a of false alarms finds at most min(e^ε a + δ, 1 − e^−ε(1 − δ − a), 1). The advantage of a guess is at
    most (e^ε − 1 + 2δ)/(e^ε + 1).

    **Guarantee**: rounded outward. Where δ = 0 the limits hold for every answer, whatever else is known, and
    randomized response attains them. Otherwise an answer tells no more than one that shows the secret with
    probability δ, and keeps to the limits of belief when it does not.

    Args:
        epsilon: 0 to 700.
        delta: At least 0 and below 1.
        priors: Beliefs before the answer, each between 0 and 1.
        false_alarms: Rates of false alarms, each between 0 and 1.

    Raises:
        ParameterError: A parameter is out of range.

    Example:
        >>> from math import log
        >>> belief = risk_table(log(3), priors=["0.5"]).beliefs[0]
        >>> round(float(belief.lowest), 6), round(float(belief.highest), 6)
        (0.25, 0.75)

    References:
        [WZ10] Theorem 2.4; [KOV15]; [KS14].
    """
    loss = nonnegative(epsilon, "epsilon")
    if loss > _LARGEST_EPSILON:
        raise ParameterError("epsilon", epsilon, f"must be at most {_LARGEST_EPSILON}; a larger ε guarantees nothing")
    promise = guarantee(loss, delta)
    odds = Fraction(exp_up(loss))
    beliefs, rates = listed(priors, "priors"), listed(false_alarms, "false_alarms")
    return RiskTable(
        guarantee=promise,
        beliefs=tuple(_belief(probability(prior, "priors"), odds, promise.delta) for prior in beliefs),
        detections=tuple(_detection(probability(rate, "false_alarms"), odds, promise.delta) for rate in rates),
        advantage=(odds - 1 + 2 * promise.delta) / (odds + 1),
    )


def _belief(prior: Fraction, odds: Fraction, delta: Fraction) -> Belief:
    """`odds` is e^ε rounded up, and every limit moves outward with it."""
    other = 1 - prior
    unseen = (max(prior * odds, other) + max(prior, other * odds)) / (odds + 1)
    return Belief(
        prior=prior,
        lowest=prior / (prior + other * odds),
        highest=prior * odds / (other + prior * odds),
        right_guess=delta + (1 - delta) * unseen,
    )


def _detection(false_alarms: Fraction, odds: Fraction, delta: Fraction) -> Detection:
    found = min(odds * false_alarms + delta, 1 - (1 - delta - false_alarms) / odds, Fraction(1))
    return Detection(false_alarms=false_alarms, found=found)


def _belief_lines(table: RiskTable) -> list[str]:
    lines = [
        f"{table.guarantee}: a yes/no secret of one person",
        "believed before   afterwards from        to   a guess is right at most",
    ]
    for belief in table.beliefs:
        limits = f"{percent_down(belief.lowest):>18}{percent_up(belief.highest):>10}"
        lines.append(f"{_percent(belief.prior):>15}{limits}{percent_up(belief.right_guess):>27}")
    if table.guarantee.delta:
        lines.append(f"except with a probability of {text_up(table.guarantee.delta)}, when anything may be learned")
    return lines


def _detection_lines(table: RiskTable) -> list[str]:
    lines = ["false alarms of a test   it finds the secret at most"]
    lines += [
        f"{_percent(detection.false_alarms):>22}{percent_up(detection.found):>30}" for detection in table.detections
    ]
    return [*lines, f"advantage of a guess over a coin flip: at most {percent_up(table.advantage)}"]


def _percent(value: Fraction) -> str:
    return f"{float(100 * value):g}%"
