"""Public cells of a map: what an engine computes of a latitude and a longitude, and the outline of each cell.

A cell is a group of a query. Its keys are whole numbers that the typed plan computes in the engine, by total functions:
a row has one value for each key, or NULL, so that it lies in one cell or in none. Which cells there are follows from
the arguments alone, and every one of them is answered.

**Guarantee**: each row lies in at most one cell. Rows outside of all cells, and rows without a place (NULL, NaN,
infinite), are in none: they are left out like rows whose key is not listed, at the normal cost.

Proof: proofs/geo/maps/cells.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Any, Final, Protocol, TypeVar

from sfumato.errors import ParameterError
from sfumato.geo.planes.grid import Grid
from sfumato.geo.planes.projection import LocalProjection
from sfumato.numeric.arguments import of_kind
from sfumato.numeric.rationals import Number, exact, positive, positive_integer, set_fields
from sfumato.query.analysis.keys import MAX_GROUPS, MAX_LISTED
from sfumato.query.handles.columns import ColumnExpression, when
from sfumato.query.python.frame import Frame, Groups

Q = TypeVar("Q")

Ring = list[tuple[float, float]]
"""The corners of a cell, longitude and latitude, counter-clockwise; the first is not repeated."""

ROW, COLUMN = "map_row", "map_column"
_TURN, _HALF_TURN, _POLE = 360, 180, 90
_SIDES: Final = ((0, -2), (1, -1), (1, 1), (0, 2), (-1, 1), (-1, -1))  # of a hexagon: half widths, 1/(2√3) widths


class MapCells(Protocol):
    """Cells of a map."""

    @property
    def count(self) -> int:
        """How many cells there are."""
        ...

    def grouped(self, rows: Frame[Q], latitude: ColumnExpression, longitude: ColumnExpression) -> Groups[Q]:
        """The rows that lie in a cell, grouped by the keys of the cells."""
        ...

    def rings(self, keys: Sequence[Any]) -> list[list[Ring]]:
        """The polygons of a cell by its keys: of each its outline, then its holes."""
        ...

    def label(self, keys: Sequence[Any]) -> str:
        """What the cell is called."""
        ...


@dataclass(frozen=True, slots=True)
class PlaceAxis:
    """Places along an axis: degrees · scale + offset in doubles, as engines compute them."""

    scale: Fraction
    offset: Fraction

    def of(self, degrees: ColumnExpression) -> ColumnExpression:
        """The place of a coordinate; NULL of one that is none."""
        return degrees * self.scale + self.offset

    def degrees(self, place: float) -> float:
        """The coordinate at a place."""
        return float((Fraction(place) - self.offset) / self.scale)


@dataclass(frozen=True, slots=True)
class Rectangle:
    """Cells of a rectangle, by row from the south and column from the west."""

    north: PlaceAxis
    east: PlaceAxis
    rows: int
    columns: int
    turn: "Turn | None" = None

    def kept(self, rows: Frame[Q], latitude: ColumnExpression, longitude: ColumnExpression) -> Frame[Q]:
        """The rows that lie in the rectangle, with columns for the row and the column of their cell."""
        turned = longitude if self.turn is None else self.turn.of(longitude)
        places = {
            ROW: self.north.of(latitude).floor().cast("integer"),
            COLUMN: self.east.of(turned).floor().cast("integer"),
        }
        return within(rows.with_columns(**places), self.rows, self.columns)

    def ring(self, row: int, column: int, size: int = 1) -> Ring:
        """The outline of a cell, or of a square of size × size cells of which it is the one in the south-west."""
        west, east = (self.east.degrees(column + step) for step in (0, size))
        south, north = (self.north.degrees(row + step) for step in (0, size))
        return [(west, south), (east, south), (east, north), (west, north)]


@dataclass(frozen=True, slots=True)
class Turn:
    """A full turn for longitudes that lie on the other side of the 180th meridian, of maps that lie across it."""

    west: Fraction

    @classmethod
    def across(cls, west: Fraction, east: Fraction) -> "Turn | None":
        """That of a map from `west` to `east`; None of one that does not lie across the meridian."""
        return cls(west) if east > _HALF_TURN or west < -_HALF_TURN else None

    def of(self, longitude: ColumnExpression) -> ColumnExpression:
        """The longitude from the western end of the map eastward; what is no longitude stays what it is."""
        if self.west < -_HALF_TURN:
            return when(longitude >= self.west + _TURN, longitude - _TURN).otherwise(longitude)
        return when(longitude < self.west, longitude + _TURN).otherwise(longitude)


def within(rows: Frame[Q], height: int, width: int) -> Frame[Q]:
    """The rows whose cell is one of the rectangle's, which makes all of these public keys."""
    return rows.filter(rows[ROW].between(0, height - 1), rows[COLUMN].between(0, width - 1))


@dataclass(frozen=True, slots=True)
class Squares:
    """The cells of a `Grid`, or those of equal degrees."""

    rectangle: Rectangle

    @property
    def count(self) -> int:
        """See `MapCells`."""
        return self.rectangle.rows * self.rectangle.columns

    def grouped(self, rows: Frame[Q], latitude: ColumnExpression, longitude: ColumnExpression) -> Groups[Q]:
        """See `MapCells`."""
        return self.rectangle.kept(rows, latitude, longitude).group_by(ROW, COLUMN)

    def rings(self, keys: Sequence[Any]) -> list[list[Ring]]:
        """See `MapCells`."""
        return [[self.rectangle.ring(*keys)]]

    def label(self, keys: Sequence[Any]) -> str:
        """See `MapCells`."""
        return f"row {keys[0]}, column {keys[1]}"


def rectangle_of(projection: LocalProjection, *, width: Fraction, rows: int, columns: int) -> Rectangle:
    """Square cells around the center of a projection, `width` meters wide.

    Raises:
        ParameterError: There are more rows, columns or cells than an answer lists.
    """
    check_listed(rows, columns)
    north, east = (
        _axis(degree / width, center, Fraction(cells, 2))
        for degree, center, cells in (
            (projection.meters_per_degree_north, projection.latitude, rows),
            (projection.meters_per_degree_east, projection.longitude, columns),
        )
    )
    half = Fraction(columns, 2) * width / projection.meters_per_degree_east
    turn = Turn.across(projection.longitude - half, projection.longitude + half)
    return Rectangle(north, east, rows, columns, turn)


def squares_of(grid: Grid) -> Squares:
    """The cells of a grid."""
    return Squares(rectangle_of(grid.projection, width=grid.cell, rows=grid.rows, columns=grid.columns))


def _axis(scale: Fraction, center: Fraction, middle: Fraction) -> PlaceAxis:
    """The axis on which a center of so many degrees lies in the middle; its numbers are doubles."""
    as_double = Fraction(float(scale))
    return PlaceAxis(as_double, Fraction(float(middle - center * as_double)))


def check_listed(rows: int, columns: int) -> None:
    """Refuse more cells than a query lists as public keys."""
    for name, number in (("rows", rows), ("columns", columns)):
        if number > MAX_LISTED:
            raise ParameterError(name, number, f"must be at most {MAX_LISTED:,} on a map: take larger cells")
    if rows * columns > MAX_GROUPS:
        raise ParameterError("cells", f"{rows * columns:,}", f"must be at most {MAX_GROUPS:,}: take larger cells")


@dataclass(frozen=True, slots=True, init=False)
class DegreeGrid:
    """Cells of equal degrees of latitude and longitude, for maps of countries and of the world.

    They are counted from the south-west corner, and have their southern and western edge. Toward the poles they are
    narrower on the ground; cells of equal meters are those of `Grid`.

    Args:
        cell: The width and height of a cell in degrees.
        south: The southern end, in degrees.
        west: The western end.
        north: The northern end; the last row may reach beyond it.
        east: The eastern end; west of `west` it lies beyond the 180th meridian.

    Raises:
        ParameterError: An end is out of range, or there are more cells than an answer lists.

    Example:
        >>> world = DegreeGrid(5)
        >>> world.rows, world.columns
        (36, 72)
    """

    cell: Fraction
    south: Fraction
    west: Fraction
    east: Fraction
    rows: int
    columns: int

    def __init__(
        self, cell: Number, *, south: Number = -90, west: Number = -180, north: Number = 90, east: Number = 180
    ) -> None:
        size, low, left = positive(cell, "cell"), exact(south, "south"), exact(west, "west")
        high, right = exact(north, "north"), exact(east, "east")
        if not -_POLE <= low < high <= _POLE:
            raise ParameterError("north", north, "must lie north of south, both from −90 to 90")
        for name, end in (("west", left), ("east", right)):
            if abs(end) > _HALF_TURN:
                raise ParameterError(name, str(end), "must lie between −180 and 180")
        right += _TURN if right <= left else 0
        rows, columns = (int(-(-length // size)) for length in (high - low, right - left))
        check_listed(rows, columns)
        set_fields(self, cell=size, south=low, west=left, east=right, rows=rows, columns=columns)

    @property
    def squares(self) -> Squares:
        """The cells."""
        scale = 1 / self.cell
        north, east = (PlaceAxis(scale, -end * scale) for end in (self.south, self.west))
        return Squares(Rectangle(north, east, self.rows, self.columns, Turn.across(self.west, self.east)))


@dataclass(frozen=True, slots=True, init=False)
class HexagonGrid:
    """Hexagons of one size with a corner to the north, in rows of which every other one is moved by half a width.

    A point belongs to the hexagon whose center is the nearest; of two at the same distance to one of them.

    Args:
        projection: The plane.
        width: The meters between two opposite sides.
        columns: Hexagons in a row.
        rows: Rows from south to north.

    Raises:
        ParameterError: A number is out of range, or there are more cells than an answer lists.

    Example:
        >>> honeycomb = HexagonGrid(LocalProjection("48.8566", "2.3522"), width=500, columns=20, rows=24)
        >>> honeycomb.count
        480
    """

    projection: LocalProjection
    width: Fraction
    columns: int
    rows: int

    def __init__(self, projection: LocalProjection, *, width: Number, columns: int, rows: int) -> None:
        plane = of_kind(projection, "projection", LocalProjection, "a LocalProjection")
        across, up = positive_integer(columns, "columns"), positive_integer(rows, "rows")
        check_listed(up, across)
        Grid(plane, cell=width, columns=across + 1, rows=up)  # whether the projection reaches so far
        set_fields(self, projection=plane, width=positive(width, "width"), columns=across, rows=up)

    @property
    def count(self) -> int:
        """See `MapCells`."""
        return self.rows * self.columns

    @property
    def _axes(self) -> tuple[PlaceAxis, PlaceAxis]:
        """Of rows of which two are one, and of columns: in both a center of the first lattice is a whole number."""
        plane, height = self.projection, self.width * Fraction(sqrt(3))
        return (
            _axis(plane.meters_per_degree_north / height, plane.latitude, Fraction(self.rows - 1, 4)),
            _axis(plane.meters_per_degree_east / self.width, plane.longitude, Fraction(2 * self.columns - 1, 4)),
        )

    def grouped(self, rows: Frame[Q], latitude: ColumnExpression, longitude: ColumnExpression) -> Groups[Q]:
        """See `MapCells`. Of two rectangular lattices of centers it is the nearest center of either."""
        north, east = self._axes
        placed = rows.with_columns(map_y=north.of(latitude), map_x=east.of(longitude))
        x, y = placed["map_x"], placed["map_y"]
        whole = (x + Fraction(1, 2)).floor(), (y + Fraction(1, 2)).floor()
        near = placed.with_columns(map_u=abs(x - whole[0]), map_v=abs(y - whole[1]))
        is_whole = near["map_u"] + near["map_v"] * 3 < 1  # u² + 3v² < (1/2 − u)² + 3(1/2 − v)²
        keys = {
            ROW: when(is_whole, whole[1] * 2).otherwise(y.floor() * 2 + 1).cast("integer"),
            COLUMN: when(is_whole, whole[0]).otherwise(x.floor()).cast("integer"),
        }
        return within(near.with_columns(**keys), self.rows, self.columns).group_by(ROW, COLUMN)

    def rings(self, keys: Sequence[Any]) -> list[list[Ring]]:
        """See `MapCells`."""
        row, column = keys
        north, east = self._axes
        x, y = column + row % 2 / 2, row / 2
        return [[[(east.degrees(x + across / 2), north.degrees(y + up / 6)) for across, up in _SIDES]]]

    def label(self, keys: Sequence[Any]) -> str:
        """See `MapCells`."""
        return f"hexagon {keys[1]} of row {keys[0]}"


AnyCells = MapCells | Grid | DegreeGrid


def cells_of(value: object) -> MapCells:
    """The cells of a map.

    Raises:
        ParameterError: It is nothing that has cells.
    """
    match value:
        case Grid():
            return squares_of(value)
        case DegreeGrid():
            return value.squares
        case _ if all(hasattr(value, name) for name in ("count", "grouped", "rings", "label")):
            return value  # type: ignore[return-value] # it has what `MapCells` have
        case _:
            wanted = "must be a Grid, DegreeGrid, HexagonGrid, Quadtree or Regions"
            raise ParameterError("cells", type(value).__name__, wanted)
