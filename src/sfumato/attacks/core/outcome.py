"""The outcome of an attack: how often it was right, beside blind guessing and the most that the guarantee allows.

What (ε, δ) allows follows from P(S) ≤ e^ε·P'(S) + δ for the answers of two neighbors, in both directions. It bounds
what anybody can learn of one unit, whatever else is known.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Final

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import listed, of_kind, real, whole
from sfumato.numeric.binomial import lower_limit, upper_limit
from sfumato.numeric.rationals import Number, nonnegative, probability, set_fields
from sfumato.numeric.rounding import exp_up, float_up
from sfumato.plots.attacks import success_curve

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_TRIALS: Final = 10**15
"""The most trials that can be counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How often an attack was right.

    Args:
        attack: The name of the attack, in words.
        successes: The number of right guesses.
        trials: The number of guesses.
        baseline: The success rate of blind guessing, without any answer.
        allowed: The largest success rate that a claimed guarantee allows; None if none was claimed, or if no bound for
            one unit applies to what was counted.
        notes: Further facts, such as the number of refused queries.

    Raises:
        ParameterError: There were no trials, or more than 10^15, more successes than trials, or a rate is not between 0
            and 1.

    Example:
        >>> print(Outcome(attack="differencing", successes=98, trials=100, baseline=0.5, allowed=0.731))
        differencing: right in 98 of 100, 98.0% (93.0% to 99.8%); blind guessing 50.0%, the guarantee allows 73.1%
    """

    attack: str
    successes: int
    trials: int
    baseline: float
    allowed: float | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        of_kind(self.attack, "attack", str, "text")
        set_fields(self, notes=listed(self.notes, "notes", of="texts"))
        for note in self.notes:
            of_kind(note, "notes", str, "a list of texts")
        for count, name in ((self.successes, "successes"), (self.trials, "trials")):
            whole(count, name, most=MOST_TRIALS)
        if self.successes > self.trials or self.trials == 0:
            raise ParameterError(
                "successes",
                f"{self.successes} of {self.trials}",
                "must be at most all of the trials, one or more",
            )
        set_fields(self, baseline=float(probability(self.baseline, "baseline")))
        if self.allowed is not None:
            set_fields(self, allowed=float(probability(self.allowed, "allowed")))

    @property
    def success(self) -> float:
        """The share of right guesses."""
        return self.successes / self.trials

    def interval(self, *, confidence: float = 0.95) -> tuple[float, float]:
        """A Clopper-Pearson interval for the success rate, if trials are independent [CP34].

        Args:
            confidence: The probability that the interval holds the success rate, between 0 and 1.
        """
        chance = real(confidence, "confidence")
        if not 0 < chance < 1:
            raise ParameterError("confidence", confidence, "must lie between 0 and 1, such as 0.95")
        missed = (1 - chance) / 2
        return (
            lower_limit(self.successes, self.trials, significance=missed),
            upper_limit(self.successes, self.trials, significance=missed),
        )

    def __str__(self) -> str:
        low, high = self.interval()
        limits = "" if self.allowed is None else f", the guarantee allows {self.allowed:.1%}"
        words = (
            f"{self.attack}: right in {self.successes:,} of {self.trials:,}, {self.success:.1%} ({low:.1%} to "
            f"{high:.1%}); blind guessing {self.baseline:.1%}{limits}"
        )
        return "\n".join([words, *(f"  {note}" for note in self.notes)])


def curve(outcomes: Mapping[float, Outcome], *, x_label: str = "total ε", title: str | None = None) -> "Figure":
    """A chart of one attack's success over ε, or over the noise scale, beside blind guessing and what is allowed.

    Args:
        outcomes: Outcomes by the finite number on the horizontal axis.
        x_label: The label of that axis.
        title: The title of the chart; None states how far the attack goes beyond blind guessing.

    Raises:
        ParameterError: There are no outcomes, or one is of another type, or matplotlib is missing.

    Example:
        >>> few = {e: Outcome(attack="tracker", successes=50 + int(4 * e), trials=100, baseline=0.5) for e in (1, 5)}
        >>> figure = curve(few)
    """
    wanted = "outcomes by finite numbers, at least one"
    if not of_kind(outcomes, "outcomes", Mapping, wanted):
        raise ParameterError("outcomes", 0, "must hold at least one")
    if not all(isfinite(real(place, "outcomes")) for place in outcomes):
        raise ParameterError("outcomes", outcomes, f"must be {wanted}")
    places = sorted(outcomes)
    found = [of_kind(outcomes[place], "outcomes", Outcome, wanted) for place in places]
    allowed = [outcome.allowed for outcome in found if outcome.allowed is not None]
    return success_curve(
        places,
        [outcome.success for outcome in found],
        limits=[outcome.interval() for outcome in found],
        baseline=[outcome.baseline for outcome in found],
        allowed=allowed if len(allowed) == len(found) else None,
        x_label=of_kind(x_label, "x_label", str, "text"),
        title=_finding(places, found, x_label) if title is None else of_kind(title, "title", str, "text"),
    )


def _finding(places: list[float], outcomes: list[Outcome], x_label: str) -> str:
    place, best = max(zip(places, outcomes, strict=True), key=lambda pair: pair[1].success)
    return f"{best.attack}: {best.success:.0%} right at {x_label} = {place:g}, blind guessing {best.baseline:.0%}"


def largest_advantage(*, epsilon: Number, delta: Number = 0) -> float:
    """The largest advantage of a membership test: its true positive rate minus its false positive rate.

    It is at most (e^ε − 1 + 2δ)/(e^ε + 1).

    Args:
        epsilon: The ε of all answers that the attack sees.
        delta: The δ of all answers that the attack sees.

    Raises:
        ParameterError: ε is below 0, or δ is not between 0 and 1.

    Example:
        >>> round(largest_advantage(epsilon=1), 3)
        0.462

    References:
        [KOV15] for the region of error rates that (ε, δ) allows.
    """
    power = exp_up(nonnegative(epsilon, "epsilon"))
    added = 2 * float_up(probability(delta, "delta"))
    return 1.0 if math.isinf(power) else min(1.0, (power - 1 + added) / (power + 1))


def largest_success(*, epsilon: Number, delta: Number = 0, prior: float = 0.5) -> float:
    """The largest probability of telling which of two neighbors was asked, if the first has probability `prior`.

    It is max over the trade-off of prior·TPR + (1 − prior)·(1 − FPR): with δ = 0 and a fair prior e^ε/(1 + e^ε).

    Args:
        epsilon: The ε of all answers that the attack sees.
        delta: The δ of all answers that the attack sees.
        prior: The probability that the first neighbor was asked, between 0 and 1.

    Raises:
        ParameterError: ε is below 0, or δ or the prior is not between 0 and 1.

    Example:
        >>> round(largest_success(epsilon=1), 3)
        0.731
        >>> largest_success(epsilon=0, prior=0.9)
        0.9
    """
    power = exp_up(nonnegative(epsilon, "epsilon"))
    leak, prior = float_up(probability(delta, "delta")), float_up(probability(prior, "prior"))
    if math.isinf(power):
        return 1.0
    # A linear objective is largest in a corner of the region TPR ≤ e^ε·FPR + δ, 1 − FPR ≤ e^ε·(1 − TPR) + δ.
    even = (1 - leak) / (1 + power)
    corners = ((leak, 0.0), (1 - even, even), (1.0, 1 - leak))
    return min(1.0, max(prior * hit + (1 - prior) * (1 - false) for hit, false in corners))
