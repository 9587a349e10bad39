"""The attack from the queries to the score, on one database, on many, and over the size of noise."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.core.outcome import Outcome, largest_success
from sfumato.attacks.reconstruction.problem import (
    MOST_PLACES,
    AnswerOfMask,
    Bits,
    Masks,
    Method,
    Problem,
    posed,
    random_bits,
    random_masks,
)
from sfumato.attacks.reconstruction.solvers import least_squares
from sfumato.errors import ParameterError
from sfumato.numeric.arguments import called, floats, listed, of_kind, real, result, truths, whole
from sfumato.numeric.rationals import Number

_HALF: Final = 0.5
_MOST_DATABASES: Final = 1_000_000
_QUESTIONS_EACH: Final = 4  # for each person


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Reconstruction:
    """The result of a reconstruction attack.

    Attributes:
        bits: The adversary's guess for each person.
        outcome: The share of right guesses.
    """

    bits: Bits
    outcome: Outcome


def reconstruct(
    answer: AnswerOfMask,
    *,
    secret: Bits,
    masks: Masks | None = None,
    method: Method = least_squares,
    epsilon: Number | None = None,
) -> Reconstruction:
    """Guess every secret bit of a database from sums over subsets.

    Sums that err by much less than √n give nearly all bits away. What a guarantee allows is a bound on each bit: with ε
    in all between databases that differ in one bit, one that was a fair coin is guessed with probability at most
    e^ε/(1 + e^ε).

    Args:
        answer: A function from a subset to the number of its people with the bit.
        secret: The truth. The adversary learns of it only how many people there are; it is for the score.
        masks: The subsets, queries by people; None takes 4n random ones, of n up to 15,811, which answers
            without a guarantee bear worst. Against ε take `each_alone`, which reaches what is allowed.
        method: The solver: `least_squares`, `linear_program` or, for few people, `exhaustively`.
        epsilon: The claimed ε of all answers together; None claims no guarantee.

    Raises:
        ParameterError: Masks are not of as many people, or there are none, or too many, or a function cannot be called
            or gives something else.

    Example:
        >>> from sfumato.attacks.reconstruction.problem import rounded_sums
        >>> secret = random_bits(64)
        >>> reconstruct(rounded_sums(secret, step=2), secret=secret).outcome.success > 0.9
        True

    References:
        [DN03]; [CN20] for such queries in SQL against a system in use.
    """
    secret = truths(secret, "secret")
    if secret.ndim != 1 or len(secret) == 0:
        raise ParameterError("secret", secret.shape, "must be a bit for each person, at least one")
    chosen = _random_masks_for(secret) if masks is None else truths(masks, "masks")
    if chosen.shape[1:] != secret.shape:
        raise ParameterError("masks", chosen.shape, f"must be a matrix of queries by {len(secret)} people")
    problem = posed(answer, masks=chosen)
    bits = _found(method, problem) > _HALF if len(problem.answers) else random_bits(len(secret))
    refused = len(chosen) - len(problem.answers)
    outcome = Outcome(
        attack="reconstruction",
        successes=int((bits == secret).sum()),
        trials=len(secret),
        baseline=0.5,
        allowed=None if epsilon is None else largest_success(epsilon=epsilon),
        notes=(f"refused {refused:,} of {len(chosen):,} queries",) if refused else (),
    )
    return Reconstruction(bits=bits, outcome=outcome)


def _random_masks_for(secret: Bits) -> Masks:
    people, most = len(secret), math.isqrt(MOST_PLACES // _QUESTIONS_EACH)
    if people > most:
        raise ParameterError("secret", f"{people:,} bits", f"must be at most {most:,} bits without masks; state masks")
    return random_masks(questions=_QUESTIONS_EACH * people, people=people)


def _found(method: Method, problem: Problem) -> NDArray[np.float64]:
    found = floats(result(method, "method", problem), "method(problem)")
    if found.shape != (problem.people,):
        raise ParameterError("method(problem)", found.shape, f"must be a number for each of {problem.people} people")
    return found


def together(outcomes: Iterable[Outcome]) -> Outcome:
    """All bits of several databases. Bits of one database are not independent, so its interval is only a rough one.

    Raises:
        ParameterError: There are no outcomes, or something else stands among them.

    Example:
        >>> one = Outcome(attack="reconstruction", successes=60, trials=64, baseline=0.5)
        >>> together([one, one]).successes
        120
    """
    found = listed(outcomes, "outcomes", of="outcomes")
    for outcome in found:
        of_kind(outcome, "outcomes", Outcome, "a list of outcomes")
    if not found:
        raise ParameterError("outcomes", 0, "must hold at least one")
    return Outcome(
        attack=found[0].attack,
        successes=sum(outcome.successes for outcome in found),
        trials=sum(outcome.trials for outcome in found),
        baseline=found[0].baseline,
        allowed=found[0].allowed,
        notes=tuple(dict.fromkeys(note for outcome in found for note in outcome.notes)),
    )


def accuracy_over(
    places: Iterable[float],
    curator: Callable[[Bits, float], AnswerOfMask],
    *,
    people: int = 128,
    questions: int = 512,
    method: Method = least_squares,
    databases: int = 5,
    epsilon: Callable[[float], Number] | None = None,
) -> dict[float, Outcome]:
    """The error curve of reconstruction: right bits over the size of noise, or over ε. `curve` draws it.

    Args:
        places: Sizes of noise, or values of ε.
        curator: A function of a secret and a place that returns a function which answers queries.
        people: The number of people in each database.
        questions: The number of queries to each database; at most 10^9 times people.
        method: The solver.
        databases: The number of databases at each place, from 1 to a million.
        epsilon: From a place to the claimed ε of all its answers; None claims no guarantee.

    Raises:
        ParameterError: There are no databases or too many, a place is no number, or a function cannot be called or
            gives something else.

    Example:
        >>> from sfumato.attacks.core.outcome import curve
        >>> from sfumato.attacks.reconstruction.problem import noisy_sums
        >>> few = {"people": 32, "questions": 128, "databases": 2}
        >>> found = accuracy_over([0, 100], lambda secret, scale: noisy_sums(secret, scale=scale), **few)
        >>> picture = curve(found, x_label="scale of the noise")
    """
    databases = whole(databases, "databases", least=1, most=_MOST_DATABASES)
    found = listed(places, "places", of="numbers")
    for place in found:
        real(place, "places")

    def once(place: float) -> Outcome:
        masks = random_masks(questions=questions, people=people)
        secret = random_bits(people)
        answer = result(curator, "curator", secret, place)
        return reconstruct(
            called(answer, "curator(secret, place)", "a function that answers about a mask"),
            secret=secret,
            masks=masks,
            method=method,
            epsilon=None if epsilon is None else result(epsilon, "epsilon", place),
        ).outcome

    return {place: together(once(place) for _ in range(databases)) for place in found}
