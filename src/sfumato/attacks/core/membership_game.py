"""The membership game: a fair coin puts a person into a database or leaves them out, and the adversary says which.

Every attack whose estimate is compared with a threshold can play it: differencing, trackers, averaging of repeats.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np

from sfumato.attacks.core.answers import Answer, allowed, refused, tossed
from sfumato.attacks.core.outcome import MOST_TRIALS, Outcome, largest_success
from sfumato.errors import ParameterError
from sfumato.numeric.arguments import called, listed, of_kind, real, result, whole
from sfumato.numeric.binomial import lower_limit, upper_limit
from sfumato.numeric.rationals import Number, positive_integer

Databases: TypeAlias = Callable[[Sequence[bool]], Iterable[Answer]]
"""Makes one database for each coin, with the person in it where the coin is True, and returns what answers about each.

Only the referee sees the coins. All answers may come from one release, if no two databases share a person.
"""

TestStatistic: TypeAlias = Callable[[Answer], float]
"""The adversary's estimate from answers: the larger, the likelier the person is in the database."""

_MOST_GAMES: Final = 10_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """True and false positives: people guessed to be present, among those who were and among those who were not.

    Args:
        hits: Present people who were guessed to be present.
        present: All present people.
        false_alarms: Absent people who were guessed to be present.
        absent: All absent people.

    Raises:
        ParameterError: There are more hits or false alarms than people, or a number is not whole, from 0 to 10^15.

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
                raise ParameterError(name, f"{said} of {of}", "must be at most all of them")

    @property
    def true_positive_rate(self) -> float:
        """Hits over present people; 0 if there are none."""
        return self.hits / max(self.present, 1)

    @property
    def false_positive_rate(self) -> float:
        """False alarms over absent people; 0 if there are none."""
        return self.false_alarms / max(self.absent, 1)

    @property
    def advantage(self) -> float:
        """The true positive rate minus the false positive rate: 0 for blind guessing, 1 for certainty."""
        return self.true_positive_rate - self.false_positive_rate

    def advantage_limits(self, *, confidence: float = 0.95) -> tuple[float, float]:
        """A confidence interval for the advantage, from Clopper-Pearson limits on both rates [CP34].

        Args:
            confidence: The least probability that the interval holds the advantage, between 0 and 1. Each of the four
                limits on a rate may fail with a quarter of the rest.
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
    """The result of many membership games.

    Attributes:
        outcome: The share of right guesses.
        rates: The rates of right guesses, separately for present and absent people.
    """

    outcome: Outcome
    rates: Rates

    def __str__(self) -> str:
        low, high = self.rates.advantage_limits()
        return f"{self.outcome}\n  advantage {self.rates.advantage:.3f} ({low:.3f} to {high:.3f})"


def play(
    databases: Databases,
    estimate: TestStatistic,
    *,
    trials: int = 10_000,
    threshold: float = 0.5,
    epsilon: Number | None = None,
    delta: Number = 0,
    attack: str = "membership",
) -> Game:
    """Let a fair coin decide for each database whether the person is in it, and the adversary guess.

    An adversary who is refused an answer guesses blindly, by another coin.

    Args:
        databases: Makes the databases. It alone sees the coins.
        estimate: Turns answers into a number; from the threshold on the adversary guesses that the person is present.
        trials: The number of databases, from 1 to ten million.
        threshold: The threshold for the estimate.
        epsilon: The claimed ε of all answers about one database; None claims no guarantee.
        delta: The claimed δ of all answers about one database.
        attack: The name of the attack, in words.

    Raises:
        ParameterError: Trials are out of range, there are not as many databases as coins, or a function cannot be
            called or returns something else.

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
    answers = listed(result(databases, "databases", coins.tolist()), "databases(coins)", of="functions that answer")
    if len(answers) != trials:
        raise ParameterError("databases", len(answers), f"must be as many as coins, {trials}")
    for answer in answers:
        called(answer, "databases(coins)", "a list of functions that answer")
    estimates = [allowed(estimate, answer, "estimate") for answer in answers]
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
