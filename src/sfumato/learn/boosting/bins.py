"""Public bins of declared columns, and random parts of them: nothing here depends on rows.

A number has equally wide bins between its bounds, a category one bin a value.
"""

from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from sfumato.noise.uniform.uniform import uniform_below
from sfumato.session.training.columns import Codes, TrainingColumn

MAX_BINS: Final = 1024
"""How many bins a number has at most; categories have at most so many values."""

Places: TypeAlias = npt.NDArray[np.int16]
"""The bin of each row."""

Parts: TypeAlias = npt.NDArray[np.int64]
"""The part of each bin, from 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureBins:
    """The bins of all columns.

    Attributes:
        columns: The declared columns.
        most: How many bins a number has, at most.

    Example:
        >>> from fractions import Fraction
        >>> hours = TrainingColumn(name="hours", lower=Fraction(0), upper=Fraction(10), steps=10)
        >>> bins = FeatureBins(columns=(hours,), most=4)
        >>> bins.sizes, bins.places(np.array([[0], [2], [3], [10]]))[0].tolist()
        ((4,), [0, 0, 1, 3])
        >>> bins.edges(0)
        [0.0, 2.5, 5.5, 8.5, 10.0]
    """

    columns: tuple[TrainingColumn, ...]
    most: int

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many bins each column has."""
        return tuple(min(self.most, one.steps + 1) if one.is_number else one.steps + 1 for one in self.columns)

    def places(self, codes: Codes) -> list[Places]:
        """For each column the bin of each row; -1 for a value that is not listed."""
        found = []
        for place, (column, size) in enumerate(zip(self.columns, self.sizes, strict=True)):
            table = np.arange(column.steps + 1, dtype=np.int64) * size // (column.steps + 1)
            own = np.clip(codes[:, place], 0 if column.is_number else -1, column.steps)
            found.append(np.append(table, -1).astype(np.int16)[own])
        return found

    def rows_placed(self, codes: Codes) -> list[Places]:
        """The same, with each row in a bin of each column, whatever stands in it: for sums over rows."""
        return [np.maximum(own, 0) for own in self.places(codes)]

    def edges(self, place: int) -> list[float]:
        """Where the bins of a number end: one value more than it has bins.

        Raises:
            TypeError: It is a category.
        """
        column, size = self.columns[place], self.sizes[place]
        if column.lower is None or column.upper is None:
            raise TypeError("a category has values, not edges")
        first = -(-np.arange(1, size, dtype=np.int64) * (column.steps + 1) // size)  # the first code of each bin
        step = float(column.upper - column.lower) / column.steps
        inner = float(column.lower) + (first - 0.5) * step
        return [float(column.lower), *inner.tolist(), float(column.upper)]

    def parts(self, place: int, *, most: int) -> Parts:
        """A column's bins in parts: a number is cut at random places, each value of a category is a part.

        Args:
            place: Which column.
            most: How many parts a number has, at most; two cuts may fall together.
        """
        size = self.sizes[place]
        if size <= most or not self.columns[place].is_number:
            return np.arange(size)
        cuts = np.unique(uniform_below(size - 1, most - 1))
        return np.searchsorted(cuts, np.arange(size), side="left")


def padded(table: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A table of bins with zeros in one more place, which the bin -1 of a value that is not listed finds."""
    return np.concatenate([table, np.zeros_like(table[:1])])
