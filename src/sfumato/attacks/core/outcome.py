"""What came of an attack: how often it was right, beside blind guessing and beside what the guarantee allows."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Final

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import listed, of_kind, real, whole
from sfumato.numeric.binomial import lower_limit, upper_limit
from sfumato.numeric.rationals import probability
from sfumato.plots.attacks import success_curve

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_TRIALS: Final = 10**15
"""That may be counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How often an attack was right.

    Args:
        attack: Its name, in words.
        successes: How many of its guesses were right.
        trials: How many guesses it made.
        baseline: How often somebody is right who guesses without any answer.
        allowed: The most that a claimed guarantee allows, of `limits`; None if none was claimed, or if no bound on one
            unit applies to what was counted.
        notes: What else is worth saying, such as how many questions were refused.

    Raises:
        ParameterError: There were no trials, or more than 10^15, more successes than trials, or the baseline or what is
            allowed is no probability.

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
        object.__setattr__(self, "notes", listed(self.notes, "notes", of="texts"))
        for note in self.notes:
            of_kind(note, "notes", str, "a list of texts")
        for count, name in ((self.successes, "successes"), (self.trials, "trials")):
            whole(count, name, most=MOST_TRIALS)
        if self.successes > self.trials or self.trials == 0:
            raise ParameterError(
                "successes", f"{self.successes} of {self.trials}", "must be some of at least one trial"
            )
        object.__setattr__(self, "baseline", float(probability(self.baseline, "baseline")))
        if self.allowed is not None:
            object.__setattr__(self, "allowed", float(probability(self.allowed, "allowed")))

    @property
    def success(self) -> float:
        """The share of guesses that were right."""
        return self.successes / self.trials

    def interval(self, *, confidence: float = 0.95) -> tuple[float, float]:
        """Limits on the chance of being right, if trials are independent [CP34].

        Args:
            confidence: The chance that the limits hold, between 0 and 1.
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


def curve(outcomes: Mapping[float, Outcome], *, x_label: str = "ε in all", title: str | None = None) -> "Figure":
    """A picture of one attack over ε, or over the size of noise, beside guessing and what is allowed.

    Args:
        outcomes: What came of it, by the finite number on the horizontal axis.
        x_label: What that number is.
        title: Above the picture; None takes the name of the attack.

    Raises:
        ParameterError: There are no outcomes, or something else stands among them, or matplotlib is missing.

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
        title=found[0].attack if title is None else of_kind(title, "title", str, "text"),
    )
