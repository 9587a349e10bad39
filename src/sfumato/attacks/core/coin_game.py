"""The game that differential privacy is about: a fair coin puts a person into a database or leaves them out.

The adversary sees answers and says which. Every attack that ends in a number above or below a threshold can play it:
differencing, trackers, averaging of repeats.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.core.limits import largest_success
from sfumato.attacks.core.outcome import MOST_TRIALS, Outcome
from sfumato.errors import BudgetError, NotPrivateError, ParameterError
from sfumato.numeric.arguments import called, listed, of_kind, real, result, whole
from sfumato.numeric.binomial import lower_limit, upper_limit
from sfumato.numeric.rationals import Number, positive_integer

Answer: TypeAlias = Callable[[Any], float]
"""Answers a question about one database, or raises one of `REFUSALS`. What a question is, the two agree on."""

Worlds: TypeAlias = Callable[[Sequence[bool]], Iterable[Answer]]
"""Makes one database for each coin, with the person in it where the coin says so, and gives what answers about each.

The coins are for the referee's eyes. All answers may come of one release, if no two databases share a person.
"""

Estimate: TypeAlias = Callable[[Answer], float]
"""What an adversary makes of answers: the larger, the likelier is the person there."""

REFUSALS: Final = (BudgetError, NotPrivateError)
"""How an interface says no: the budget is spent, or the question is not allowed."""

_MOST_GAMES: Final = 10_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """How often people were said to be there, of those who were and of those who were not.

    Args:
        hits: Those who were there and were said to be.
        present: Those who were there.
        false_alarms: Those who were not there and were said to be.
        absent: Those who were not there.

    Raises:
        ParameterError: More were said to be there than there were, or something is no whole number from 0 to 10^15.

    Example:
        >>> rates = Rates(hits=731, present=1000, false_alarms=269, absent=1000)
        >>> round(rates.advantage, 3)
        0.462
        >>> [round(limit, 3) for limit in rates.advantage_limits()]
        [0.396, 0.524]
    """

    hits: int
    present: int
    false_alarms: int
    absent: int

    def __post_init__(self) -> None:
        for name in ("hits", "present", "false_alarms", "absent"):
            whole(getattr(self, name), name, most=MOST_TRIALS)
        for said, of, name in ((self.hits, self.present, "hits"), (self.false_alarms, self.absent, "false_alarms")):
            if said > of:
                raise ParameterError(name, f"{said} of {of}", "must be some of them")

    @property
    def true_positive_rate(self) -> float:
        """Of those who were there; 0 of nobody."""
        return self.hits / max(self.present, 1)

    @property
    def false_positive_rate(self) -> float:
        """Of those who were not; 0 of nobody."""
        return self.false_alarms / max(self.absent, 1)

    @property
    def advantage(self) -> float:
        """The rate of true positives minus that of false ones: 0 for blind guessing, 1 for certainty."""
        return self.true_positive_rate - self.false_positive_rate

    def advantage_limits(self, *, confidence: float = 0.95) -> tuple[float, float]:
        """Limits on the advantage that the adversary has in truth, from Clopper-Pearson limits on both rates [CP34].

        Args:
            confidence: The chance that the limits hold, at least, between 0 and 1. Each of the four limits on a rate
                may fail with a quarter of the rest.
        """
        chance = real(confidence, "confidence")
        if not 0 < chance < 1:
            raise ParameterError("confidence", confidence, "must lie between 0 and 1, such as 0.95")
        missed = (1 - chance) / 4
        return (
            lower_limit(self.hits, self.present, significance=missed)
            - upper_limit(self.false_alarms, self.absent, significance=missed),
            upper_limit(self.hits, self.present, significance=missed)
            - lower_limit(self.false_alarms, self.absent, significance=missed),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Game:
    """What came of many games.

    Attributes:
        outcome: How often the adversary was right.
        rates: The same, apart for those who were there and those who were not.
    """

    outcome: Outcome
    rates: Rates

    def __str__(self) -> str:
        low, high = self.rates.advantage_limits()
        return f"{self.outcome}\n  advantage {self.rates.advantage:.3f} ({low:.3f} to {high:.3f})"


def play(
    worlds: Worlds,
    estimate: Estimate,
    *,
    trials: int = 10_000,
    threshold: float = 0.5,
    epsilon: Number | None = None,
    delta: Number = 0,
    attack: str = "membership",
) -> Game:
    """Let a fair coin decide for each database whether the person is in it, and the adversary guess.

    Whoever is refused an answer guesses blindly, by a coin of their own.

    Args:
        worlds: Makes the databases. It alone hears the coins.
        estimate: Turns answers into a number; at or above the threshold it means that the person is there.
        trials: How many databases, from 1 to ten million.
        threshold: What the estimate is compared with.
        epsilon: Of all answers about one database, if a guarantee is claimed.
        delta: Of the same.
        attack: Its name, in words.

    Raises:
        ParameterError: Trials are no such number, there are not as many databases as coins, or a function cannot be
            called or gives something else.

    Example:
        >>> exact = lambda coins: [lambda question, coin=coin: 41 + coin for coin in coins]
        >>> play(exact, lambda answer: answer("how many?") - 41, trials=100).outcome.success
        1.0

    References:
        [WZ10], [KOV15] for differential privacy as a bound on tests.
    """
    positive_integer(trials, "trials", most=_MOST_GAMES)
    of_kind(attack, "attack", str, "text")
    least = real(threshold, "threshold")
    coins, blind = (tossed(trials) for _ in range(2))
    curators = listed(result(worlds, "worlds", coins.tolist()), "worlds(coins)", of="functions that answer")
    if len(curators) != trials:
        raise ParameterError("worlds", len(curators), f"must be as many as coins, {trials}")
    for answer in curators:
        called(answer, "worlds(coins)", "a list of functions that answer")
    estimates = [allowed(estimate, answer, "estimate") for answer in curators]
    guesses = np.array(
        [coin if found is None else found >= least for found, coin in zip(estimates, blind, strict=True)]
    )
    return Game(
        outcome=Outcome(
            attack=attack,
            successes=int((guesses == coins).sum()),
            trials=trials,
            baseline=0.5,
            allowed=None if epsilon is None else largest_success(epsilon=epsilon, delta=delta),
            notes=refused(estimates.count(None), trials),
        ),
        rates=Rates(
            hits=int((guesses & coins).sum()),
            present=int(coins.sum()),
            false_alarms=int((guesses & ~coins).sum()),
            absent=int((~coins).sum()),
        ),
    )


def dice() -> np.random.Generator:  # noqa: TID251 # what a referee or an adversary draws protects nobody
    """A generator for the coins of games, for blind guesses and for curators that are made to be broken."""
    return np.random.default_rng()  # noqa: TID251 # the same


def tossed(count: int) -> NDArray[np.bool_]:
    """Fair coins."""
    return dice().integers(2, size=count).astype(np.bool_)


def allowed(function: Callable[[Any], float], argument: Any, name: str = "answer") -> float | None:
    """What is answered, or what an adversary makes of answers, as a float; None if it was refused, or is None.

    Args:
        function: What answers, or what asks.
        argument: What it is asked, or whom it asks.
        name: Of the parameter that the function came as, for the error.

    Raises:
        ParameterError: It cannot be called so, or gives no number.
    """
    try:
        found = result(function, name, argument)
    except REFUSALS:
        return None
    try:
        return None if found is None else float(found)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(f"{name}(…)", type(found), "must be a number, or None") from None


def refused(times: int, trials: int) -> tuple[str, ...]:
    """A note on refusals, if there were any."""
    return (f"refused in {times:,} of {trials:,}, where the guess was blind",) if times else ()
