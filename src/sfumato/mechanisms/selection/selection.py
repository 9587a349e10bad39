"""What the choice of one candidate by its utility has in common, whatever distribution the choice follows.

Utilities become whole numbers over one denominator, exactly, whatever holds them.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, inf, lcm
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.mechanisms.base import opened
from sfumato.mechanisms.lattice import LARGEST, as_rational, as_resolution, column, integer_column, lattice_steps
from sfumato.noise.uniform.bernoulli import exponents_in_floats
from sfumato.noise.uniform.integers import SAFE, Integers, narrow, python_integers
from sfumato.numeric.distributions import failure_probability
from sfumato.numeric.rationals import Number, flag, nonnegative, positive, positive_integer, set_fields
from sfumato.numeric.rounding import float_up, log_up
from sfumato.privacy.secret import Secret

Scores: TypeAlias = Sequence[Any] | NDArray[Any]
"""The utility of each candidate: numbers, in the order of the candidates."""


@dataclass(frozen=True, slots=True, init=False)
class Selection(ABC):
    """A choice that sees of the utilities only the exponents x_i = κ·(best − utility_i), exactly.

    κ = ε/(2Δ), or ε/Δ for monotonic utilities. With a resolution, utilities are first rounded to its multiples, halves
    upward, and Δ becomes ⌈Δ/resolution⌉ steps.
    """

    utility_sensitivity: Fraction
    epsilon: Fraction
    monotonic: bool
    resolution: Fraction | None

    def __init__(
        self,
        *,
        utility_sensitivity: Number,
        epsilon: Number,
        monotonic: bool = False,
        resolution: Number | None = None,
    ) -> None:
        step = None if resolution is None else as_resolution(resolution)
        set_fields(
            self,
            utility_sensitivity=positive(utility_sensitivity, "utility_sensitivity"),
            epsilon=nonnegative(epsilon, "epsilon"),
            monotonic=flag(monotonic, "monotonic"),
            resolution=step,
        )

    def release(self, scores: Scores | Secret[Scores]) -> int:
        """The index of the chosen candidate.

        Args:
            scores: The utility of each candidate, at least one.

        Raises:
            ParameterError: There is no candidate, or a utility is no number.
        """
        return int(self.release_many(scores, 1)[0])

    def release_many(self, scores: Scores | Secret[Scores], count: int) -> Integers:
        """`count` independent choices, as indexes: as many events, each of its own cost.

        Raises:
            ParameterError: There is no candidate, a utility is no number, or the count is below 1.
        """
        return self._choose(*self._exponents(scores), positive_integer(count, "count"))

    def probabilities(self, scores: Scores | Secret[Scores]) -> NDArray[np.float64]:
        """The probability of each candidate in floats, for tests and pictures.

        Secret: it is computed from the exact utilities. Only a choice may be released.
        """
        return self._law(np.exp(-exponents_in_floats(*self._exponents(scores))))

    def accuracy(self, confidence: Number = "0.95", *, candidates: int) -> float:
        """How far, at most, the utility of the choice lies below the best, with this confidence.

        Infinite at ε = 0; one resolution more than of rounded utilities; rounded up. See `PermuteAndFlip` and
        `Exponential` for the formulas.
        """
        odds = self._worse(positive_integer(candidates, "candidates")) / failure_probability(confidence)
        step = 0 if self.resolution is None else self.resolution
        if odds <= 1:
            return float_up(Fraction(step))
        return float_up(log_up(odds) * self._unit / self._weight_per_unit + step) if self.epsilon else inf

    @property
    def _unit(self) -> Fraction:
        """What one unit of an exact score is worth, in utility."""
        return Fraction(1) if self.resolution is None else self.resolution

    @property
    def _weight_per_unit(self) -> Fraction:
        """κ, for scores in lattice steps if there is a resolution."""
        moved = self.utility_sensitivity
        if self.resolution is not None:
            moved = Fraction(ceil(self.utility_sensitivity / self.resolution))
        return self.epsilon / (moved * (1 if self.monotonic else 2))

    def _exponents(self, scores: Scores | Secret[Scores]) -> tuple[Integers, int]:
        """Numerators and the denominator of all x_i."""
        exact, denominator = whole_scores(opened(scores), self.resolution)
        weight = self._weight_per_unit
        return gaps_below_best(exact, weight.numerator), denominator * weight.denominator

    @abstractmethod
    def _choose(self, numerators: Integers, denominator: int, count: int) -> Integers:
        """`count` independent choices, given the exponents."""

    @abstractmethod
    def _law(self, chances: NDArray[np.float64]) -> NDArray[np.float64]:
        """The probability of each candidate, given all e^(−x_i)."""

    @abstractmethod
    def _worse(self, candidates: int) -> Fraction:
        """By the union bound a choice more than t below the best has a probability of at most this times e^(−κt)."""


def whole_scores(scores: Iterable[Any], resolution: Fraction | None) -> tuple[Integers, int]:
    """Integers n_i and a denominator d: utility i is n_i/d; or with a resolution n_i steps of it, and d is 1.

    Raises:
        ParameterError: There is no candidate, or a utility is no number.

    Example:
        >>> whole_scores([Fraction(1, 2), 0.25, 3], None)
        (array([ 2,  1, 12]), 4)
        >>> whole_scores([0.5, 0.25, 3], Fraction(1, 2))  # halves upward
        (array([1, 1, 6]), 1)
    """
    values = column(scores, "scores")
    if len(values) == 0:
        raise ParameterError("scores", "an empty sequence", "must hold at least one candidate")
    if resolution is not None:
        return lattice_steps(values, resolution), 1
    integers = integer_column(values)
    if integers is not None:
        return (np.clip(integers, -LARGEST, LARGEST) if integers.dtype == object else integers), 1
    exact = [as_rational(value) for value in values]
    denominator = lcm(*(value.denominator for value in exact))
    return narrow(python_integers(value.numerator * (denominator // value.denominator) for value in exact)), denominator


def gaps_below_best(scores: Integers, factor: int) -> Integers:
    """factor·(best − score) for each score, exactly, for a whole factor ≥ 0."""
    best = int(scores.max())
    if scores.dtype != object and max(1, best - int(scores.min())) * factor > SAFE:
        scores = scores.astype(object)
    gaps: Integers = best - scores
    gaps *= factor
    return gaps
