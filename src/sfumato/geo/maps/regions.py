"""Regions of a map by a public join: a table of the owner says in which region each cell of a fine public grid lies.

A polygon with thousands of corners is too much work for each row of an engine. So the regions are looked up once, where
the owner writes the policy: the center of each cell of a fine grid lies in one region or in none. A query computes the
cell of a row and joins the table by it. Each cell stands once in the table, and the policy says so, so that an engine
takes at most one match: each row lies in at most one region, also if the table is changed by hand.

**Guarantee**: as for `MapCells`. A row may count for a neighboring region if its point is nearer to their border than
`Grid.displacement`; that is an error of the map and costs no privacy.

Proof: proofs/geo/maps/cells.md.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.geo.maps.cells import COLUMN, ROW, Ring, squares_of
from sfumato.geo.planes.grid import Grid
from sfumato.numeric.arguments import listed, of_kind, whole
from sfumato.query.analysis.shape import Metric
from sfumato.query.handles.columns import ColumnExpression
from sfumato.query.model.columns import integer, text
from sfumato.query.model.relations import Source
from sfumato.query.model.schema import PUBLIC, Table
from sfumato.query.python.frame import Frame, Groups

if TYPE_CHECKING:
    import pyarrow as pa

Q = TypeVar("Q")

CELL, REGION = "cell", "region"
"""The columns of the public table."""

_MAP_CELL: Final = "map_cell"
_NOWHERE: Final = -1
_FINEST: Final = 15  # of h3


@dataclass(frozen=True, slots=True, eq=False)
class RegionCells:
    """Which region each cell of a fine grid lies in, to be declared as a public table of a policy.

    Attributes:
        grid: The fine grid.
        names: The regions.
        polygons: For each region its polygons: their outlines and holes, longitude and latitude.
        places: For each cell the place of its region in `names`, or −1.
    """

    grid: Grid
    names: tuple[str, ...]
    polygons: tuple[list[list[Ring]], ...]
    places: NDArray[np.int64]

    def to_arrow(self) -> "pa.Table":
        """The public table: one row for each cell that lies in a region."""
        import pyarrow as pa  # pages of maps are made where no data is read

        cells = np.flatnonzero(self.places != _NOWHERE)
        return pa.table({CELL: cells, REGION: [self.names[place] for place in self.places[cells]]})

    def table(self, name: str = "regions") -> Table:
        """The declaration of the public table, for a `Policy`: each cell lies in one region.

        Args:
            name: The name of the table.
        """
        longest = max(map(len, self.names))
        columns = {CELL: integer(0, len(self.grid) - 1), REGION: text(values=self.names, max_length=longest)}
        return Table(name=name, columns=columns, unit=PUBLIC, matches={(CELL,): 1})


def region_cells(regions: Mapping[str, Any], grid: Grid, *, name: str = "name") -> RegionCells:
    """The cells of a fine grid whose center lies in a region of a GeoJSON FeatureCollection; needs the extra `maps`.

    Where regions overlap, a center belongs to the one that is listed first, so that it belongs to one.

    Args:
        regions: Features that are polygons.
        grid: The fine grid; its cells are the error of borders.
        name: The property that names a region.

    Raises:
        ParameterError: Something else than polygons, a name that is missing or repeated, or shapely is missing.

    Example:
        >>> square = {"type": "Polygon", "coordinates": [[[0, 0], [0.01, 0], [0.01, 0.01], [0, 0.01], [0, 0]]]}
        >>> feature = {"type": "Feature", "properties": {"name": "north-east"}, "geometry": square}
        >>> grid = Grid.around(0, 0, width=2000, height=2000, cell=100)
        >>> cells = region_cells({"type": "FeatureCollection", "features": [feature]}, grid)
        >>> cells.to_arrow().num_rows
        100
    """
    of_kind(grid, "grid", Grid, "a Grid")
    of_kind(name, "name", str, "the property that names a region")
    shapely = extra("shapely")
    features = features_of(regions, "regions")
    names = _names([feature.get("properties") or {} for feature in features], name)
    shapes = [_polygon(feature.get("geometry"), shapely, label) for feature, label in zip(features, names, strict=True)]
    latitudes, longitudes = grid.centers(np.arange(len(grid)))
    places = np.full(len(grid), _NOWHERE, dtype=np.int64)
    for place, shape in enumerate(shapes):
        places[(places == _NOWHERE) & shapely.intersects_xy(shape, longitudes, latitudes)] = place
    return RegionCells(grid, names, tuple(_rings(shape) for shape in shapes), places)


def h3_cells(grid: Grid, resolution: int) -> RegionCells:
    """The cells of h3 as regions of a fine grid; needs the extra `maps`.

    No engine computes these cells itself, so that they are a public table like all other regions.

    Args:
        grid: The fine grid.
        resolution: That of h3, from 0 to 15; its cells should be wider than several of the grid.

    Raises:
        ParameterError: The resolution is out of range, or h3 is missing.

    Example:
        >>> len(h3_cells(Grid.around(45, 7, width=3000, height=3000, cell=100), 8).names)
        22

    References:
        [Bro18] for the cells.
    """
    of_kind(grid, "grid", Grid, "a Grid")
    level, h3 = whole(resolution, "resolution", most=_FINEST), extra("h3")
    latitudes, longitudes = grid.centers(np.arange(len(grid)))
    own = [h3.latlng_to_cell(*place, level) for place in zip(latitudes, longitudes, strict=True)]
    names = tuple(sorted(set(own)))
    place_of = {name: place for place, name in enumerate(names)}
    outlines = [[(longitude, latitude) for latitude, longitude in h3.cell_to_boundary(name)] for name in names]
    return RegionCells(grid, names, tuple([[one]] for one in outlines), np.array([place_of[name] for name in own]))


class Regions:
    """The regions of a public table as the cells of a map.

    Args:
        cells: Which cells lie in which region.
        table: The public table of the session that has them: ``session.table("regions")``.

    Raises:
        ParameterError: The table is not the one that `RegionCells.table` declares.
    """

    __slots__ = ("_cells", "_table")

    def __init__(self, cells: RegionCells, *, table: Frame[Any]) -> None:
        self._cells = of_kind(cells, "cells", RegionCells, "made by region_cells or h3_cells")
        self._table = of_kind(table, "table", Frame, 'a public table of the session, such as db.table("regions")')
        relation = table.relation
        is_declared = (
            isinstance(relation, Source)
            and table.shape.metric is Metric.PUBLIC
            and relation.table.columns == cells.table(relation.table.name).columns
            and relation.table.matches == {(CELL,): 1}
        )
        if not is_declared:
            raise ParameterError("table", type(relation).__name__, "must be declared by RegionCells.table()")

    @property
    def count(self) -> int:
        """See `MapCells`."""
        return len(self._cells.names)

    def grouped(self, rows: Frame[Q], latitude: ColumnExpression, longitude: ColumnExpression) -> Groups[Q]:
        """See `MapCells`: the region of the row's cell, which has at most one."""
        kept = squares_of(self._cells.grid).rectangle.kept(rows, latitude, longitude)
        cell = kept[ROW].cast("float") * self._cells.grid.columns + kept[COLUMN]
        placed = kept.with_columns(**{_MAP_CELL: cell.cast("integer")})
        regions = self._table.select(**{_MAP_CELL: CELL, "map_region": REGION})
        return placed.join(regions, on=_MAP_CELL).group_by("map_region")

    def rings(self, keys: Sequence[Any]) -> list[list[Ring]]:
        """See `MapCells`."""
        return self._cells.polygons[self._cells.names.index(keys[0])]

    def label(self, keys: Sequence[Any]) -> str:
        """See `MapCells`."""
        return str(keys[0])


def features_of(collection: object, name: str) -> list[Mapping[str, Any]]:
    """The features of a GeoJSON FeatureCollection.

    Raises:
        ParameterError: It is none.
    """
    wanted = "must be a GeoJSON FeatureCollection, as json.load gives it"
    if not isinstance(collection, Mapping) or collection.get("type") != "FeatureCollection":
        raise ParameterError(name, type(collection).__name__, wanted)
    features = listed(collection.get("features", ()), name, of="features")
    if not all(isinstance(feature, Mapping) and feature.get("type") == "Feature" for feature in features):
        raise ParameterError(name, "features", wanted)
    return list(features)


def extra(package: str) -> Any:
    """A package of the extra `maps`.

    Raises:
        ParameterError: It is missing.
    """
    try:
        return import_module(package)
    except ImportError:
        raise ParameterError(package, None, f"is needed for regions; run: pip install {package}") from None


def _names(properties: Iterable[Mapping[str, Any]], name: str) -> tuple[str, ...]:
    names = [own.get(name) for own in properties]
    found = tuple(one for one in names if isinstance(one, str) and one)
    if not names or len(found) < len(names) or len(set(found)) < len(found):
        raise ParameterError("name", name, "must be a property of every region: text, each once")
    return found


def _polygon(geometry: Any, shapely: Any, name: str) -> Any:
    kind = geometry.get("type") if isinstance(geometry, Mapping) else None
    wanted = f"must be polygons that do not cross themselves; {name!r} is none"
    if kind not in {"Polygon", "MultiPolygon"}:
        raise ParameterError("regions", kind, wanted)
    try:
        shape = shapely.geometry.shape(geometry)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError, shapely.errors.ShapelyError):
        raise ParameterError("regions", kind, wanted) from None
    if shape.is_empty or not shape.is_valid:
        raise ParameterError("regions", kind, wanted)
    shapely.prepare(shape)
    return shape


def _rings(shape: Any) -> list[list[Ring]]:
    """The polygons of a shape, without the repeated corner of each ring."""
    parts = shape.geoms if hasattr(shape, "geoms") else [shape]
    return [
        [[(corner[0], corner[1]) for corner in ring.coords[:-1]] for ring in (part.exterior, *part.interiors)]
        for part in parts
    ]
