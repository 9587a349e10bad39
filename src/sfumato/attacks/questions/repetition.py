"""Averaging: the same query again and again, until the noise has left the mean.

The mean of k fresh answers has a standard deviation of √(2/k)/ε where one has √2/ε. It is no attack on a curator who
gives the same answer to the same query, or whose budget ends.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Final

from sfumato.attacks.core.answers import Answer, allowed, dice
from sfumato.attacks.core.outcome import Outcome
from sfumato.errors import ParameterError
from sfumato.numeric.arguments import called, each, real
from sfumato.numeric.rationals import positive_integer, probability

_MOST_TIMES: Final = 10_000_000
_PAIRS: Final = "pairs of a function that answers and the truth"


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeats:
    """What came of one query asked several times.

    Attributes:
        answers: The answers.
        refused: The number of refusals.
    """

    answers: tuple[float, ...]
    refused: int

    @property
    def mean(self) -> float | None:
        """Of the answers; None of none."""
        return fmean(self.answers) if self.answers else None

    @property
    def different(self) -> int:
        """How many different answers there were."""
        return len(set(self.answers))


def repeated(answer: Answer, *, question: Any, times: int) -> Repeats:
    """Ask a query several times, also after a refusal.

    Args:
        answer: Whatever answers.
        question: The query that is repeated.
        times: The number of repetitions, from 1 to ten million.

    Raises:
        ParameterError: Times is no such number, or what answers cannot be called or gives no number.

    Example:
        >>> answers = iter([39, 42, 40, 39])
        >>> repeated(lambda question: next(answers), question="how many?", times=4).mean
        40.0
    """
    positive_integer(times, "times", most=_MOST_TIMES)
    given = []
    for _ in range(times):
        found = allowed(answer, question)
        if found is not None:
            given.append(found)
    return Repeats(answers=tuple(given), refused=times - len(given))


def averaging(
    curators: Iterable[tuple[Answer, float]], *, question: Any, times: int, within: float = 0.5, baseline: float = 0.0
) -> Outcome:
    """Estimate a number by the mean of repeated answers, in each of some databases.

    With fresh Laplace noise of scale 1, a mean of 1, 10 and 100 answers is nearer than ½ with probability 0.393, 0.746
    and 0.9995.

    Args:
        curators: For each database a function that answers, and the truth, used only to count.
        question: The query that is repeated.
        times: The number of repetitions for each, from 1 to ten million.
        within: A guess is right if its error is smaller; ½ distinguishes whole numbers.
        baseline: The success rate of guessing without answers, also used where every answer is refused.

    Raises:
        ParameterError: There are no databases, or an argument has a wrong type or value.

    Example:
        >>> stubborn = lambda question: 42.0
        >>> print(averaging([(stubborn, 40)], question="how many?", times=100))
        averaging of 100 answers: right in 0 of 1, 0.0% (0.0% to 97.5%); blind guessing 0.0%
          the same answer each time in 1 of 1
    """
    positive_integer(times, "times", most=_MOST_TIMES)
    nearest, chance, blind = real(within, "within"), float(probability(baseline, "baseline")), dice()
    found = [(repeated(answer, question=question, times=times), truth) for answer, truth in _pairs(curators)]
    right = sum(
        bool(blind.random() < chance) if repeats.mean is None else abs(repeats.mean - truth) < nearest
        for repeats, truth in found
    )
    return Outcome(
        attack=f"averaging of {times:,} answer{'s' if times > 1 else ''}",
        successes=right,
        trials=len(found),
        baseline=chance,
        notes=_notes([repeats for repeats, _ in found], times),
    )


def _pairs(curators: Iterable[tuple[Answer, float]]) -> Iterator[tuple[Answer, float]]:
    """One after the other: what answers may be made anew for its turn."""
    for pair in each(curators, "curators", of=_PAIRS):
        try:
            answer, truth = pair
        except (TypeError, ValueError):
            raise ParameterError("curators", type(pair), f"must be {_PAIRS}") from None
        yield called(answer, "curators", _PAIRS), real(truth, "curators")


def _notes(found: list[Repeats], times: int) -> tuple[str, ...]:
    """What stood in the way."""
    same = sum(len(repeats.answers) > 1 and repeats.different == 1 for repeats in found)
    refused = sum(repeats.refused for repeats in found)
    notes = []
    if same:
        notes.append(f"the same answer each time in {same:,} of {len(found):,}")
    if refused:
        notes.append(f"refused {refused:,} of {times * len(found):,} times")
    return tuple(notes)
