"""Grids of square cells of one public size around a public center."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.geo.planes.projection import LARGEST_REACH, LocalProjection, Meters
from sfumato.numeric.arguments import floats, of_kind
from sfumato.numeric.rationals import Number, positive, positive_integer, set_fields, sqrt_up

MICROMETER: Final = Fraction(1, 10**6)
"""Above the error of the floats that find a point's cell."""
OUTSIDE: Final = -1
"""The cell of a point that lies in none."""

_SMALLEST_CELL: Final = Fraction(1, 100)
_MOST_CELLS: Final = 1 << 26

Whole = NDArray[np.int64]


@dataclass(frozen=True, slots=True, init=False)
class Grid:
    """A rectangle of `rows` × `columns` square cells around the center of a projection.

    Cells are counted from the south-west corner; cell number = row · columns + column. All of it is public: no cell
    appears or disappears with the data. A cell has its southern and western edge and not the others, so each point of
    the rectangle lies in exactly one.

    **Guarantee**: a point of the rectangle lies at most `displacement` meters from its cell's center, in the plane.
    Proof: proofs/geo/planes/grid.md.

    ===========================================  ===================================================
    Edge case                                    Behavior
    ===========================================  ===================================================
    a point lies outside, or is NaN or missing   `cells` says −1; `nearest_cells` says the nearest cell
    NaN, for `nearest_cells`                     the cell in the middle
    ===========================================  ===================================================

    Args:
        projection: The plane.
        cell: The width of a cell in meters, a centimeter or more.
        columns: Cells from west to east.
        rows: Cells from south to north.

    Raises:
        ParameterError: A number is out of range, there are more than 2^26 cells, or the rectangle reaches farther than
            the projection does.

    Example:
        >>> grid = Grid(LocalProjection("48.8566", "2.3522"), cell=100, columns=40, rows=30)
        >>> grid.cells([48.8566, 48.9, float("nan")], [2.3522, 2.3522, 2.3522]).tolist()
        [620, -1, -1]
    """

    projection: LocalProjection
    cell: Fraction
    columns: int
    rows: int
    reach: Fraction

    def __init__(self, projection: LocalProjection, *, cell: Number, columns: int, rows: int) -> None:
        plane = of_kind(projection, "projection", LocalProjection, "a LocalProjection")
        width = positive(cell, "cell")
        if not _SMALLEST_CELL <= width <= LARGEST_REACH:
            raise ParameterError("cell", cell, f"must be from 0.01 to {LARGEST_REACH:,} meters")
        across = positive_integer(columns, "columns", most=_MOST_CELLS)
        if across * positive_integer(rows, "rows", most=_MOST_CELLS) > _MOST_CELLS:
            raise ParameterError("rows", rows, f"must make at most {_MOST_CELLS:,} cells with columns")
        corner = sqrt_up((across * width / 2) ** 2 + (rows * width / 2) ** 2)
        set_fields(self, projection=plane, cell=width, columns=across, rows=rows, reach=plane.reach_of(corner))

    @classmethod
    def around(cls, latitude: Number, longitude: Number, *, width: Number, height: Number, cell: Number) -> "Grid":
        """The grid of whole cells that covers a rectangle around a center.

        Args:
            latitude: The center's, in degrees.
            longitude: The center's, in degrees.
            width: From west to east, in meters.
            height: From south to north, in meters.
            cell: The width of a cell, in meters.

        Example:
            >>> grid = Grid.around("48.8566", "2.3522", width=10_000, height=8_000, cell=250)
            >>> grid.columns, grid.rows, len(grid)
            (40, 32, 1280)
        """
        side = positive(cell, "cell")
        columns, rows = -(-positive(width, "width") // side), -(-positive(height, "height") // side)
        return cls(LocalProjection(latitude, longitude), cell=side, columns=int(columns), rows=int(rows))

    def __len__(self) -> int:
        return self.columns * self.rows

    @property
    def displacement(self) -> Fraction:
        """The most meters between a point and the center of its cell: half a diagonal, and a micrometer of floats."""
        return sqrt_up(self.cell**2 / 2) + MICROMETER

    def cells(self, latitudes: Any, longitudes: Any) -> Whole:
        """The numbers of the cells in which points lie, −1 for those in none.

        Raises:
            ParameterError: Something is no number, or lengths differ.
        """
        columns, rows = self._places(latitudes, longitudes)
        with np.errstate(invalid="ignore"):
            is_inside = (columns >= 0) & (columns < self.columns) & (rows >= 0) & (rows < self.rows)
        found = np.where(is_inside, rows, 0) * self.columns + np.where(is_inside, columns, 0)
        return np.where(is_inside, found, OUTSIDE).astype(np.int64)

    def nearest_cells(self, latitudes: Any, longitudes: Any) -> Whole:
        """The same, with points outside moved to the edge of the rectangle; those that are no place, to its middle."""
        columns, rows = self._places(latitudes, longitudes)
        is_place = np.isfinite(columns) & np.isfinite(rows)
        across = np.where(is_place, columns, self.columns // 2).clip(0, self.columns - 1)
        up = np.where(is_place, rows, self.rows // 2).clip(0, self.rows - 1)
        found: Whole = (up * self.columns + across).astype(np.int64)
        return found

    def centers(self, cells: Any) -> tuple[Meters, Meters]:
        """Latitudes and longitudes of the centers of cells.

        Raises:
            ParameterError: A number is that of no cell.

        Example:
            >>> grid = Grid(LocalProjection(0, 0), cell=100, columns=3, rows=3)
            >>> [float(degrees) for degrees in grid.centers(4)]
            [0.0, 0.0]
        """
        columns, rows = self.places_of(cells)
        return self.projection.degrees(*self.meters_of(columns + 0.5, rows + 0.5))

    def corners(self, cell: int) -> list[tuple[float, float]]:
        """Longitude and latitude of a cell's corners, counter-clockwise from the south-west, as GeoJSON lists them.

        Example:
            >>> grid = Grid(LocalProjection(0, 0), cell=100, columns=2, rows=2)
            >>> grid.corners(3)[0]
            (0.0, 0.0)
        """
        column, row = (int(place) for place in self.places_of(cell))
        across, up = np.array([0, 1, 1, 0]) + column, np.array([0, 0, 1, 1]) + row
        latitudes, longitudes = self.projection.degrees(*self.meters_of(across, up))
        return list(zip(longitudes.tolist(), latitudes.tolist(), strict=True))

    def places_of(self, cells: Any) -> tuple[Whole, Whole]:
        """Columns and rows of cells by their number.

        Raises:
            ParameterError: A number is that of no cell.
        """
        numbers = np.asarray(cells)
        if numbers.dtype.kind not in "iu" or ((numbers < 0) | (numbers >= len(self))).any():
            raise ParameterError(
                "cells", type(cells).__name__, f"must be numbers of cells, from 0 to {len(self) - 1:,}"
            )
        rows, columns = np.divmod(numbers.astype(np.int64), self.columns)
        return columns, rows

    def meters_of(self, columns: Any, rows: Any) -> tuple[Meters, Meters]:
        """Meters east and north of the center, of places counted in cells from the south-west corner."""
        width = float(self.cell)
        return (
            (floats(columns, "columns") - self.columns / 2) * width,
            (floats(rows, "rows") - self.rows / 2) * width,
        )

    def _places(self, latitudes: Any, longitudes: Any) -> tuple[Meters, Meters]:
        """Columns and rows in which points lie, also beyond the rectangle."""
        east, north = self.projection.meters(latitudes, longitudes)
        if np.shape(east) != np.shape(north):
            raise ParameterError("longitudes", f"{np.size(east)} of them", "must be as many as latitudes")
        width = float(self.cell)
        return np.floor(east / width + self.columns / 2), np.floor(north / width + self.rows / 2)
