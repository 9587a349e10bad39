"""A public grid: the finitely many values that data may take, and that an answer is chosen from."""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import Any, Final

import numpy as np

from sfumato.errors import ParameterError
from sfumato.mechanisms.base import opened
from sfumato.mechanisms.lattice import lattice_steps
from sfumato.noise.uniform.integers import Integers

_LARGEST_STEP: Final = 1 << 60


@dataclass(frozen=True, slots=True)
class Grid:
    """The multiples of `resolution` between `lower` and `upper`, numbered by how many steps they are from 0.

    Args:
        lower: The public lower bound.
        upper: The public upper bound.
        resolution: The public width of a step, above 0.

    Raises:
        ParameterError: It has no point, or one more than 2^60 steps from 0.

    Example:
        >>> grid = Grid(Fraction(-1), Fraction(1), Fraction(2, 5))
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
            raise ParameterError("resolution", self.resolution, "must divide both bounds into at most 2^60 steps")

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
