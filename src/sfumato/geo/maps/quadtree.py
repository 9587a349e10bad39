"""A quadtree: counts of squares at several levels that share one charge and add up."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, TypeVar

from sfumato.geo.maps.cells import COLUMN, ROW, Rectangle, Ring, rectangle_of
from sfumato.geo.planes.grid import Grid
from sfumato.geo.planes.projection import LocalProjection
from sfumato.numeric.arguments import of_kind
from sfumato.numeric.rationals import Number, positive, positive_integer, set_fields
from sfumato.query.handles.columns import ColumnExpression
from sfumato.query.python.frame import Frame, Groups

Q = TypeVar("Q")

_MOST_LEVELS: Final = 8


@dataclass(frozen=True, slots=True, init=False)
class Quadtree:
    """A square that is parted into four, again and again: a count for each square of each level, all made to add up.

    Every level is a way to group the same rows: one person counts in each, so that the levels share the ε of one
    charge. Counts and sums of all levels are then fitted by least squares (see `Groups.rollup`), and the map shows
    large squares where there is little and small ones where there is much: which of them is chosen by noisy counts.

    Args:
        projection: The plane; the square lies around its center.
        width: The width of the square in meters.
        levels: How often it is parted, up to 8.

    Raises:
        ParameterError: A number is out of range.

    Example:
        >>> Quadtree(LocalProjection("48.8566", "2.3522"), width=16_000, levels=5).count
        1024

    References:
        [CPSSY12] for trees with consistent counts.
    """

    projection: LocalProjection
    width: Fraction
    levels: int

    def __init__(self, projection: LocalProjection, *, width: Number, levels: int) -> None:
        plane = of_kind(projection, "projection", LocalProjection, "a LocalProjection")
        depth = positive_integer(levels, "levels", most=_MOST_LEVELS)
        side = positive(width, "width")
        Grid(plane, cell=side / 2**depth, columns=2**depth, rows=2**depth)
        set_fields(self, projection=plane, width=side, levels=depth)

    @property
    def count(self) -> int:
        """See `MapCells`: of the last level."""
        return 1 << 2 * self.levels

    @property
    def _rectangle(self) -> Rectangle:
        side = 2**self.levels
        return rectangle_of(self.projection, width=self.width / side, rows=side, columns=side)

    @property
    def _names(self) -> tuple[str, ...]:
        return tuple(f"map_quarter_{level}" for level in range(1, self.levels + 1))

    def grouped(self, rows: Frame[Q], latitude: ColumnExpression, longitude: ColumnExpression) -> Groups[Q]:
        """See `MapCells`: a key for each level, which says which quarter it is, and a grouping set for each level."""
        kept = self._rectangle.kept(rows, latitude, longitude)
        quarters = {}
        for level, name in enumerate(self._names, start=1):
            size = 2 ** (self.levels - level)
            quarters[name] = (_bit(kept[ROW], size) * 2 + _bit(kept[COLUMN], size)).cast("integer")
        parted = kept.with_columns(**quarters)
        listed = parted.filter(*(parted[name].between(0, 3) for name in self._names))
        sets = (self._names[:level] for level in range(1, self.levels + 1))
        return listed.group_by(*self._names).grouping_sets(*sets, consistent=True)

    def rings(self, keys: Sequence[Any]) -> list[list[Ring]]:
        """See `MapCells`."""
        row, column, size = self._place(keys)
        return [[self._rectangle.ring(row, column, size)]]

    def label(self, keys: Sequence[Any]) -> str:
        """See `MapCells`."""
        return "quarters " + ".".join(str(key) for key in keys if key is not None)

    def _place(self, keys: Sequence[Any]) -> tuple[int, int, int]:
        """Row and column of the south-western leaf of a square, and how many leaves it is wide."""
        row, column, size = 0, 0, 1 << self.levels
        for key in (key for key in keys if key is not None):
            size //= 2
            row, column = row + key // 2 * size, column + key % 2 * size
        return row, column, size


def _bit(place: ColumnExpression, size: int) -> ColumnExpression:
    """Whether a place lies in the upper half of a pair of `size`: 0 or 1, in doubles, which are exact here."""
    return (place / size).floor() - (place / (2 * size)).floor() * 2
