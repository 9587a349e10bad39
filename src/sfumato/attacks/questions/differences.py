"""Differencing: two harmless queries whose groups differ in one person, and the difference is about that person.

Twice as many answers do not make it more clever, so the attack is as strong as its better half: whoever knows the
smaller answer already needs only the larger one.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sfumato.attacks.core.answers import Answer, allowed, asked, dice, groups, refused
from sfumato.attacks.core.membership_game import Databases, Game, TestStatistic, play
from sfumato.attacks.core.outcome import Outcome
from sfumato.errors import ParameterError
from sfumato.numeric.arguments import called, of_kind, real
from sfumato.numeric.rationals import Number, nonnegative
from sfumato.numeric.rounding import exp_up


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanOf:
    """Two queries about one group: one for its size, one for its mean."""

    count: Any
    mean: Any


def difference(answer: Answer, *, larger: Any, smaller: Any) -> float:
    """f(P) − f(P without one person): the contribution of that person to a sum or a count.

    Args:
        answer: A function that answers queries, exactly or not.
        larger: The query about all of P.
        smaller: The same query without the person.

    Example:
        >>> everybody, others = "how many are ill?", "how many but Ann are ill?"
        >>> difference(lambda question: 3 if question is everybody else 2, larger=everybody, smaller=others)
        1
    """
    return asked(answer, larger) - asked(answer, smaller)  # type: ignore[no-any-return]


def difference_of_means(answer: Answer, *, larger: MeanOf, smaller: MeanOf) -> float:
    """n·mean(P) − (n − 1)·mean(P without one person): the value of that person.

    Args:
        answer: A function that answers queries, exactly or not.
        larger: The two queries about all of P.
        smaller: The same query without the person.

    Example:
        >>> published = {"n before": 100, "mean before": 55_000, "n after": 101, "mean after": 56_000}
        >>> before, after = (MeanOf(count=f"n {when}", mean=f"mean {when}") for when in ("before", "after"))
        >>> difference_of_means(published.get, larger=after, smaller=before)
        156000
    """
    for group, name in ((larger, "larger"), (smaller, "smaller")):
        of_kind(group, name, MeanOf, "queries for a size and a mean, as MeanOf(count=…, mean=…)")
    after, before = (asked(answer, group.count) * asked(answer, group.mean) for group in (larger, smaller))
    return after - before  # type: ignore[no-any-return]


def differencing(
    databases: Databases,
    *,
    larger: Any,
    smaller: Any = None,
    known: float | None = None,
    threshold: float = 0.5,
    trials: int = 10_000,
    epsilon: Number | None = None,
    delta: Number = 0,
) -> Game:
    """Guess from two answers whether a person is in the database, or has the counted property.

    With exact answers it is always right. Against discrete Laplace noise on a count, with the smaller answer known and
    a threshold between 0 and 1, it is as good as the guarantee allows any attack to be: its advantage is
    (e^ε − 1)/(e^ε + 1).

    Args:
        databases: Databases that differ in that person, see `membership_game`.
        larger: The query about everybody.
        smaller: The same query without the person.
        known: The answer to the smaller query, if it is known from elsewhere; then it is not sent.
        threshold: The smallest difference from which the person is guessed to be present.
        trials: The number of databases.
        epsilon: The claimed ε of both answers together; None claims no guarantee.
        delta: The claimed δ of both answers together.

    Raises:
        ParameterError: As `membership_game.play`; or an answer, or `known`, is no number.

    Example:
        >>> exact = lambda coins: [lambda question, coin=coin: 40 + (coin and question == "all") for coin in coins]
        >>> differencing(exact, larger="all", smaller="all but one", trials=100).rates.advantage
        1.0
    """
    before = None if known is None else real(known, "known", least=-math.inf)

    def estimate(answer: Answer) -> float:
        if before is None:
            return difference(answer, larger=larger, smaller=smaller)
        return float(asked(answer, larger)) - before

    return play(
        databases, estimate, trials=trials, threshold=threshold, epsilon=epsilon, delta=delta, attack="differencing"
    )


def value_inference(
    curators: Iterable[tuple[Answer, float]],
    estimate: TestStatistic,
    *,
    low: float,
    high: float,
    within: float,
    epsilon: Number | None = None,
    attack: str = "differencing of a value",
) -> Outcome:
    """Infer a number about one person in each of some databases.

    If the value is as likely anywhere between the bounds, a blind guess is right with probability b = 2·within/(high −
    low). With ε the probability is at most min(e^ε·b, 1 − e^−ε·(1 − b)): the answers would be nearly as likely without
    the person, and then they reveal nothing about the value.

    Args:
        curators: For each database a function that answers, and the true value, used only to count.
        estimate: Turns answers into a value; it is brought between the bounds.
        low: The lower bound of all values.
        high: The upper bound of all values.
        within: A guess is right if it errs by no more.
        epsilon: The claimed ε, for adding or removing a person, of all answers about one database; None claims none.
        attack: The name of the attack, in words.

    Raises:
        ParameterError: The bounds leave no room, or nothing is close enough.

    Example:
        >>> payroll = lambda month: {"January": 5_500_000, "February": 5_656_000}[month]
        >>> mallory = lambda answer: difference(answer, larger="February", smaller="January")
        >>> value_inference([(payroll, 156_000)], mallory, low=0, high=290_000, within=500).successes
        1
    """
    called(estimate, "estimate", "a function of the curator")
    low, high, within = (
        real(low, "low", least=-math.inf),
        real(high, "high", least=-math.inf),
        real(within, "within", least=0),
    )
    if not (low < high and math.isfinite(high - low)):
        raise ParameterError("high", high, f"must be above low, {low}, and both must be finite")
    blind = dice()
    right, unanswered, trials = 0, 0, 0
    for answer, own in groups(curators, "curators", size=2, of="a function that answers and the truth"):
        truth, found = (
            real(own, "curators", least=-math.inf),
            allowed(estimate, called(answer, "curators", "functions of a query")),
        )
        guess = float(blind.uniform(low, high)) if found is None else min(max(found, low), high)
        right, unanswered, trials = right + (abs(guess - truth) <= within), unanswered + (found is None), trials + 1
    baseline = min(1.0, 2 * within / (high - low))
    return Outcome(
        attack=attack,
        successes=right,
        trials=trials,
        baseline=baseline,
        allowed=None if epsilon is None else _most(baseline, epsilon),
        notes=refused(unanswered, trials),
    )


def _most(baseline: float, epsilon: Number) -> float:
    """The largest probability on one neighbor of an event with this probability on the other."""
    power = exp_up(nonnegative(epsilon, "epsilon"))
    return 1.0 if math.isinf(power) else min(power * baseline, 1 - (1 - baseline) / power)
