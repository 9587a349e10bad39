"""Side channels: what an answer says can be private while how long it took, or that it failed, is not.

A query that works hard only where one person is makes time a witness: a costly branch of a CASE for that person alone
took 67.7 ms where the query else took 10.5 ms, on 200,000 rows. Noise is added to the answer, not to the time. This
package does not promise equal times either: docs/sharp-edges says to let no analyst measure them on its machine.

An error is not a number, so no noise is added to it. A cast that fails on one person's value, a product that overflows
or a division by that person's zero shows that the row is there, to whoever sees the error, its text or a refund.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from time import perf_counter_ns
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from sfumato.attacks.core.answers import REFUSALS, Answer, tossed
from sfumato.attacks.core.membership_game import Databases, Game, play
from sfumato.attacks.core.outcome import Outcome
from sfumato.errors import ParameterError
from sfumato.numeric.arguments import called, of_kind
from sfumato.numeric.rationals import Number, positive_integer

Ask: TypeAlias = Callable[[], Any]
"""Asks a query of one database and waits for the answer, or for an error."""

Clock: TypeAlias = Callable[[], float]
"""What time it is, in any unit that grows."""

_FEWEST: Final = 20
_MOST: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """The result of a timing attack.

    Attributes:
        outcome: How often the time revealed which of the two functions ran, in the second half of the rounds.
        p_value: The probability of as many right guesses if time reveals nothing.
        threshold: The threshold between the times of the two, learned on the first half.
        medians: The median times of the first and of the second, over all rounds.
    """

    outcome: Outcome
    p_value: float
    threshold: float
    medians: tuple[float, float]

    def tells(self, *, significance: float = 1e-6) -> bool:
        """Whether time distinguishes the two, at this significance."""
        return self.p_value <= significance

    def __str__(self) -> str:
        first, second = self.medians
        return f"{self.outcome}\n  medians {first:.4g} and {second:.4g}, p = {self.p_value:.1e}"


def timing(first: Ask, second: Ask, *, rounds: int = 400, clock: Clock = perf_counter_ns) -> Timing:
    """Tell two databases, or two queries, apart by the time that the answer takes.

    A fair coin chooses which is asked in each round, so that whatever else makes a machine slow is no evidence. On the
    first half of the rounds the best threshold is learned, on the second it is tested: if time tells nothing the
    guesses there are right like fair coins, whatever the distribution of the times, so the test is exact.

    Args:
        first: Asks about one database; answers are thrown away.
        second: Asks about the other. A fresh session each time, or answers come from the store.
        rounds: The number of rounds, from 20 to a million.
        clock: Read before and after. Nanoseconds of the machine, if not said otherwise.

    Raises:
        ParameterError: There are too few rounds or too many, a function cannot be called, or the clock gives no number.

    Example:
        >>> ticks = iter(range(10**6))
        >>> slow = lambda: [next(ticks) for _ in range(5)]
        >>> timing(slow, lambda: None, rounds=100, clock=lambda: next(ticks)).tells()
        True

    References:
        [Koc96]; [HPN11] for attacks on answers that are private.
    """
    if positive_integer(rounds, "rounds", most=_MOST) < _FEWEST:
        raise ParameterError("rounds", rounds, f"must be at least {_FEWEST}")
    for ask, name in ((first, "first"), (second, "second")):
        called(ask, name, "a function that asks a query")
    called(clock, "clock", "a function that gives the time as a number")
    coins = tossed(rounds)
    times = np.array([_duration(first if coin else second, clock) for coin in coins])
    half = rounds // 2
    threshold, is_slow = _learned(times[:half], coins[:half])
    guesses = (times[half:] > threshold) == is_slow
    right = int(np.count_nonzero(guesses == coins[half:]))
    tested = rounds - half
    return Timing(
        outcome=Outcome(attack="timing", successes=right, trials=tested, baseline=0.5),
        p_value=float(binom.sf(right - 1, tested, 0.5)),
        threshold=threshold,
        medians=(_median(times[coins]), _median(times[~coins])),
    )


def _duration(ask: Ask, clock: Clock) -> float:
    began = clock()
    with suppress(*REFUSALS):  # a refusal takes its time too
        ask()
    ended = clock()
    for time in (began, ended):
        of_kind(time, "clock()", (Real, Decimal), "a number")
    return float(ended - began)


def _learned(times: NDArray[np.float64], coins: NDArray[np.bool_]) -> tuple[float, bool]:
    """The threshold that is right most often, and whether the first of the two is the slow one."""
    best, threshold, is_slow = -1, 0.0, True
    places = np.unique(times)
    for candidate in (places[1:] + places[:-1]) / 2 if len(places) > 1 else places:
        right = int(np.count_nonzero((times > candidate) == coins))
        for found, slow in ((right, True), (len(times) - right, False)):
            if found > best:
                best, threshold, is_slow = found, float(candidate), slow
    return threshold, is_slow


def _median(times: NDArray[np.float64]) -> float:
    return float(np.median(times)) if times.size else float("nan")


def error_oracle(
    databases: Databases,
    *,
    question: Any,
    trials: int = 1_000,
    epsilon: Number | None = None,
    delta: Number = 0,
) -> Game:
    """Tell whether somebody is in the database by whether a query about them fails.

    Where every expression is total, such as a cast that gives NULL or a guarded division, the query fails with and
    without the person or in neither case, and the guess is as good as blind.

    Args:
        databases: Databases that differ in one person, see `membership_game`. What answers may raise anything.
        question: A query that fails only if that person is present.
        trials: The number of databases, from 1 to ten million.
        epsilon: The claimed ε of the answer; None claims no guarantee.
        delta: The claimed δ of the answer.

    Raises:
        ParameterError: As `membership_game.play`.

    Example:
        >>> people = lambda there: [34, 51] + ["unknown"] * there
        >>> raw = lambda coins: [lambda question, coin=coin: sum(map(question, people(coin))) for coin in coins]
        >>> error_oracle(raw, question=int, trials=100).rates.advantage
        1.0

    References:
        [HPN11] for what a curator tells besides its answers.
    """

    def fails(answer: Answer) -> float:
        try:
            answer(question)
        except REFUSALS:
            raise
        except Exception:  # noqa: BLE001 # whatever an engine raises is what the adversary looks at
            return 1.0
        return 0.0

    return play(databases, fails, trials=trials, epsilon=epsilon, delta=delta, attack="error oracle")
