"""What came of an attack: how often it was right, beside blind guessing and beside what the guarantee allows."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sfumato.errors import ParameterError
from sfumato.numeric.proportions import lower_limit, upper_limit
from sfumato.plots.attacks import success_curve

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
        ParameterError: There were no trials, more successes than trials, or the baseline is no probability.

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
        if not 0 <= self.successes <= self.trials or self.trials == 0:
            raise ParameterError(
                "successes", f"{self.successes} of {self.trials}", "must be some of at least one trial"
            )
        if not 0 <= self.baseline <= 1:
            raise ParameterError("baseline", self.baseline, "must lie between 0 and 1")

    @property
    def success(self) -> float:
        """The share of guesses that were right."""
        return self.successes / self.trials

    def interval(self, *, confidence: float = 0.95) -> tuple[float, float]:
        """Limits on the chance of being right, if trials are independent [CP34].

        Args:
            confidence: The chance that the limits hold, between 0 and 1.
        """
        if not 0 < confidence < 1:
            raise ParameterError("confidence", confidence, "must lie between 0 and 1, such as 0.95")
        missed = (1 - confidence) / 2
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
        outcomes: What came of it, by the number on the horizontal axis.
        x_label: What that number is.
        title: Above the picture; None takes the name of the attack.

    Raises:
        ParameterError: There are no outcomes, or matplotlib is missing.

    Example:
        >>> few = {e: Outcome(attack="tracker", successes=50 + int(4 * e), trials=100, baseline=0.5) for e in (1, 5)}
        >>> figure = curve(few)
    """
    if not outcomes:
        raise ParameterError("outcomes", 0, "must hold at least one")
    places = sorted(outcomes)
    found = [outcomes[place] for place in places]
    allowed = [outcome.allowed for outcome in found if outcome.allowed is not None]
    return success_curve(
        places,
        [outcome.success for outcome in found],
        limits=[outcome.interval() for outcome in found],
        baseline=[outcome.baseline for outcome in found],
        allowed=allowed if len(allowed) == len(found) else None,
        x_label=x_label,
        title=found[0].attack if title is None else title,
    )
