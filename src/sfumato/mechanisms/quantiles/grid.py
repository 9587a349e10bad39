"""A public grid: the finitely many values that data may take, and the choice of one near a quantile."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor
from typing import Any, Final

import numpy as np

from sfumato.errors import ParameterError
from sfumato.mechanisms.base import opened
from sfumato.mechanisms.lattice import lattice_steps
from sfumato.noise.choice.selection import exponential_choice_of
from sfumato.noise.uniform.integers import SAFE, Integers, multiply_add
from sfumato.noise.uniform.uniform import uniform_below
from sfumato.numeric.arguments import listed
from sfumato.numeric.rationals import Number, probability
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, NeighboringRelation

_LARGEST_STEP: Final = 1 << 60


@dataclass(frozen=True, slots=True)
class ValueGrid:
    """The multiples of `resolution` between `lower` and `upper`, numbered by how many steps they are from 0.

    Args:
        lower: The public lower bound.
        upper: The public upper bound.
        resolution: The public width of a step, above 0.

    Raises:
        ParameterError: The grid has no point, or one more than 2^60 points away from 0.

    Example:
        >>> grid = ValueGrid(Fraction(-1), Fraction(1), Fraction(2, 5))
        >>> grid.first, grid.last, len(grid)
        (-2, 2, 5)
    """

    lower: Fraction
    upper: Fraction
    resolution: Fraction

    def __post_init__(self) -> None:
        if self.first > self.last:
            raise ParameterError("upper", self.upper, f"must leave a multiple of {self.resolution} above {self.lower}")
        if max(-self.first, self.last) > _LARGEST_STEP:
            raise ParameterError(
                "resolution", self.resolution, "must leave at most 2^60 lattice points between 0 and each bound"
            )

    @property
    def first(self) -> int:
        """The smallest point, in steps."""
        return ceil(self.lower / self.resolution)

    @property
    def last(self) -> int:
        """The largest point, in steps."""
        return floor(self.upper / self.resolution)

    def __len__(self) -> int:
        return self.last - self.first + 1

    def steps(self, values: Any) -> Integers:
        """The point that each value counts as: the nearest one, halves upward; never an error on a number.

        Edge cases: NaN and None are 0 before they are moved onto the grid.

        Raises:
            ParameterError: A value is no number.
        """
        return np.clip(lattice_steps(opened(values), self.resolution), self.first, self.last)


class OnGrid:
    """A mechanism whose values and answers lie on a public grid."""

    __slots__ = ()
    lower: Fraction
    upper: Fraction
    resolution: Fraction

    @property
    def _grid(self) -> ValueGrid:
        return ValueGrid(self.lower, self.upper, self.resolution)


def ascending(quantiles: Sequence[Number]) -> tuple[Fraction, ...]:
    """Quantiles that are asked for together, as exact numbers.

    Raises:
        ParameterError: There is none, one is no share, or they do not ascend.
    """
    checked = tuple(probability(quantile, "quantiles") for quantile in listed(quantiles, "quantiles"))
    if not checked or any(first >= second for first, second in pairwise(checked)):
        raise ParameterError(
            "quantiles", quantiles, "must be at least one quantile, in ascending order without repeats"
        )
    return checked


def rank_range(quantile: Fraction, neighboring_relation: NeighboringRelation) -> Fraction:
    """How far one value can change the distances of two numbers from a quantile apart, at most.

    Example:
        >>> rank_range(Fraction(3, 4), ADD_OR_REMOVE_ONE), rank_range(Fraction(1), ADD_OR_REMOVE_ONE)
        (Fraction(3, 2), Fraction(1, 1))
    """
    if quantile in {0, 1}:
        return Fraction(1)  # all distances then move in the same direction
    return 2 * max(quantile, 1 - quantile) if neighboring_relation is ADD_OR_REMOVE_ONE else Fraction(2)


def choose_step(
    steps: Integers, ends: tuple[int, int], quantile: Fraction, rate: Fraction, *, added: int = 0
) -> int:  # fmt: skip
    """A whole number x within `ends` with probability ∝ exp(−rate·distance(x)), exactly.

    All numbers between two neighboring steps are equally likely, so it chooses the stretch, then a number of it. So
    many steps are `added` at the first end, of which the quantile is not counted.
    """
    starts, widths, below, up_to = stretches(steps, ends, added)
    numerator, denominator = quantile.as_integer_ratio()
    if denominator * max(1, len(steps) + added) > SAFE:  # without a step the products are 0, but not their factors
        below, up_to = below.astype(object), up_to.astype(object)
    target = numerator * len(steps)
    distances = np.maximum(np.maximum(below * denominator - target, target - up_to * denominator), 0)
    exponents = multiply_add(rate.numerator, distances, np.zeros_like(distances))
    chosen = exponential_choice_of(exponents, denominator * rate.denominator, 1, weights=widths)[0]
    return int(starts[chosen]) + int(uniform_below(int(widths[chosen]), 1)[0])


def stretches(
    steps: Integers, ends: tuple[int, int], added: int = 0
) -> tuple[Integers, Integers, Integers, Integers]:  # fmt: skip
    """From the first end to the last, by turns a gap (maybe empty) and a number that occurs.

    Of each: where it starts, how many numbers it has, and how many steps lie below, and at or below, any of those.
    """
    occurring, counts = np.unique(steps, return_counts=True)
    first, last = ends
    if added and (not len(occurring) or occurring[0] != first):
        occurring, counts = np.append(first, occurring), np.append(0, counts)
    if added:
        counts[0] += added
    total = 2 * len(occurring) + 1
    starts, widths, below, up_to = (np.empty(total, dtype=np.int64) for _ in range(4))
    starts[0::2], starts[1::2] = np.append(first, occurring + 1), occurring
    widths[0::2], widths[1::2] = np.append(occurring, last + 1) - starts[0::2], 1
    up_to[0::2], up_to[1::2] = np.append(0, np.cumsum(counts)), np.cumsum(counts)
    below[0::2], below[1::2] = up_to[0::2], up_to[1::2] - counts
    return starts, widths, below, up_to
