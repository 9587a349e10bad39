"""Subsets of people, the sums that answer them, and curators to attack: exact, rounded or noisy sums of secret bits.

The curators show what noise without a proof is worth, and where the attack ends. Their noise comes from a generator
that was not made for secrets, and protects nobody.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from typing import Final, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.core.answers import allowed, dice, tossed
from sfumato.errors import ParameterError
from sfumato.numeric.arguments import floats, one_of, real, truths, whole
from sfumato.numeric.rationals import set_fields

_MATRIX: Final = 2  # dimensions
_MOST_PEOPLE: Final = 16
_MOST_ALONE: Final = 30_000
MOST_PLACES: Final = 10**9
"""The most entries of a matrix of queries by people."""

Masks: TypeAlias = NDArray[np.bool_]
"""A row for each query, a column for each person: whom the query is about."""

Bits: TypeAlias = NDArray[np.bool_]
"""A secret bit for each person."""

AnswerOfMask: TypeAlias = Callable[[NDArray[np.bool_]], float]
"""How many of the people in a mask have the secret bit, exactly or not; it may raise one of `REFUSALS`."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Problem:
    """Subsets with their answers a: find the bits x with Ax ≈ a.

    Args:
        masks: A, queries by people.
        answers: a, one for each query.

    Raises:
        ParameterError: There is not one answer to each query, or one is no finite number, or nobody is asked about.
    """

    masks: Masks
    answers: NDArray[np.float64]

    def __post_init__(self) -> None:
        set_fields(self, masks=truths(self.masks, "masks"), answers=floats(self.answers, "answers"))
        if self.masks.ndim != _MATRIX or self.masks.shape[1] == 0:
            raise ParameterError("masks", self.masks.shape, "must be a matrix of queries by people")
        if self.answers.shape != self.masks.shape[:1]:
            raise ParameterError("answers", self.answers.shape, f"must be one for each of {len(self.masks)} queries")
        if not np.isfinite(self.answers).all():
            raise ParameterError("answers", self.answers, "must be finite numbers; leave out the others")

    @property
    def people(self) -> int:
        """How many bits are sought."""
        return int(self.masks.shape[1])


Method: TypeAlias = Callable[[Problem], NDArray[np.float64]]
"""Gives a number between 0 and 1 for each person, which is rounded to a bit."""


def random_masks(*, questions: int, people: int) -> Masks:
    """Subsets in which each person is with probability ½ [DN03].

    Raises:
        ParameterError: There is nobody, or queries times people are more than 10^9.

    Example:
        >>> random_masks(questions=512, people=128).shape
        (512, 128)
    """
    people = whole(people, "people", least=1, most=MOST_PLACES)
    questions = whole(questions, "questions", most=MOST_PLACES // people)
    return tossed(questions * people).reshape(questions, people)


def every_mask(people: int) -> Masks:
    """All 2^n subsets; so many that n is at most 16.

    Raises:
        ParameterError: There are nobody or too many.

    Example:
        >>> every_mask(2).astype(int).tolist()
        [[0, 0], [1, 0], [0, 1], [1, 1]]
    """
    people = whole(people, "people", least=1, most=_MOST_PEOPLE)
    masks: Masks = (np.arange(1 << people)[:, None] >> np.arange(people) & 1).astype(np.bool_)
    return masks


def each_alone(people: int) -> Masks:
    """Each person in a subset of their own: what the strongest adversary asks where answers cost ε.

    Queries about different people are charged once, so that each person's count gets all of ε, where random subsets
    share it among them; and one count at ε tells as much of a bit as ε allows anybody to learn.

    Raises:
        ParameterError: There is nobody, or there are more than 30,000.

    Example:
        >>> each_alone(3).astype(int).tolist()
        [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    """
    masks: Masks = np.eye(whole(people, "people", least=1, most=_MOST_ALONE), dtype=np.bool_)
    return masks


def random_bits(people: int) -> Bits:
    """A secret that is as likely as any other.

    Raises:
        ParameterError: The number of people is no whole number from 0 to 10^9.
    """
    return tossed(whole(people, "people", most=MOST_PLACES))


def posed(answer: AnswerOfMask, *, masks: Masks) -> Problem:
    """Ask about each subset; those that are refused, or whose answer is None, NaN or infinite, are left out.

    Raises:
        ParameterError: What answers cannot be called with a mask, or gives something else.

    Example:
        >>> secret = np.array([True, False, True])
        >>> posed(lambda mask: (mask & secret).sum(), masks=every_mask(3)).answers.tolist()
        [0.0, 1.0, 0.0, 1.0, 1.0, 2.0, 1.0, 2.0]
    """
    kept, answers = [], []
    for place, mask in enumerate(masks):
        given = allowed(answer, mask)
        if given is not None and isfinite(given):
            answers.append(given)
            kept.append(place)
    return Problem(masks=masks[kept], answers=np.array(answers, dtype=np.float64))


Distribution: TypeAlias = Literal["laplace", "gaussian", "uniform"]


def exact_sums(secret: Bits) -> AnswerOfMask:
    """Exact sums, without noise.

    Example:
        >>> exact_sums(np.array([True, False, True]))(np.array([True, True, False]))
        1.0
    """
    bits = truths(secret, "secret")
    return lambda mask: float(np.count_nonzero(mask & bits))


def rounded_sums(secret: Bits, *, step: int = 5) -> AnswerOfMask:
    """Sums rounded to multiples of a step, as published tables often are.

    Raises:
        ParameterError: The step is below 1.

    Example:
        >>> rounded_sums(np.full(8, True))(np.full(8, True))
        10.0
    """
    bits = truths(secret, "secret")
    if not 1 <= real(step, "step") < math.inf:
        raise ParameterError("step", step, "must be 1 or more, such as 5")
    return lambda mask: step * float(np.round(np.count_nonzero(mask & bits) / step))


def noisy_sums(secret: Bits, *, scale: float, distribution: Distribution = "laplace") -> AnswerOfMask:
    """Sums with fresh noise in each answer.

    Args:
        secret: A bit for each person.
        scale: The scale of Laplace noise, the standard deviation of Gaussian noise, or the largest uniform error.
        distribution: The distribution of the noise.

    Raises:
        ParameterError: The scale is below 0 or infinite, or there is no such distribution.

    Example:
        >>> abs(noisy_sums(np.full(8, True), scale=2, distribution="uniform")(np.full(8, True)) - 8) <= 2
        True
    """
    one_of(distribution, "distribution", get_args(Distribution))
    if not 0 <= real(scale, "scale") < math.inf:
        raise ParameterError("scale", scale, "must be 0 or more, and finite")
    draws = dice()
    exact = exact_sums(secret)
    match distribution:
        case "laplace":
            return lambda mask: exact(mask) + float(draws.laplace(0, scale))
        case "gaussian":
            return lambda mask: exact(mask) + float(draws.normal(0, scale))
        case "uniform":
            return lambda mask: exact(mask) + float(draws.uniform(-scale, scale))
