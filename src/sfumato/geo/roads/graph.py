"""A small graph of roads: segments from crossing to crossing, as GeoJSON has them, and ways along them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.geo.planes.projection import LocalProjection
from sfumato.numeric.arguments import of_kind, real

if TYPE_CHECKING:
    from networkx import Graph
    from shapely import STRtree

SegmentId: TypeAlias = int | str
Floats: TypeAlias = NDArray[np.float64]
Whole: TypeAlias = NDArray[np.int64]

NOWHERE: Final = -1
"""The segment of a point that is near none."""

FARTHEST: Final = 2_000.0
"""Meters along roads up to which two points may follow each other."""

_MOST_SEGMENTS, _MOST_CROSSINGS = 10_000, 5_000
_WANTED: Final = 'roads as GeoJSON: {"type": "FeatureCollection", "features": […]} of LineStrings'
_ENDS: Final = 2
_DECIMALS: Final = 6  # of a degree: crossings nearer than 11 centimeters are one


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RoadGraph:
    """Segments of roads between crossings, in the plane of a projection around their middle.

    Made by `RoadGraph.from_geojson`. All of it is public. A segment joins the two crossings at its ends, in both
    directions; places where roads cross without an end of both are bridges and no crossings.

    Attributes:
        segments: The name of each segment, a whole number or text; answers have them in this order.
        features: Each segment's GeoJSON Feature, as it came.
        projection: The plane.
        lines: Each segment's corners in meters east and north.
        ends: For each segment the numbers of its two crossings.
        lengths: Each segment's length in meters.
        between: Meters along roads from crossing to crossing; infinite beyond `FARTHEST`.

    Example:
        >>> import sfumato as sf
        >>> roads = sf.geo.RoadGraph.from_geojson(sf.datasets.city(1, days=1).roads)
        >>> len(roads), roads.nearest([45.48668, 0], [-30.01797, 0]).tolist()
        (334, [0, -1])
    """

    segments: tuple[SegmentId, ...]
    features: tuple[Mapping[str, Any], ...]
    projection: LocalProjection
    lines: tuple[Floats, ...]
    ends: Whole
    lengths: Floats
    between: Floats
    _tree: "STRtree"
    _graph: "Graph"
    _ways: dict[tuple[int, int], tuple[int, ...]] = field(default_factory=dict)

    @classmethod
    def from_geojson(cls, roads: Mapping[str, Any], *, segment: str = "segment") -> "RoadGraph":
        """Read segments from GeoJSON.

        Args:
            roads: A FeatureCollection of LineStrings, at most 10,000, with at most 5,000 ends. Each runs from crossing
                to crossing: roads that go on must be split there beforehand.
            segment: The property that names each segment, with a whole number or a text of its own. Segments without
                it are named by their place in the list, if none has it.

        Raises:
            ParameterError: It is no such GeoJSON, names repeat or are neither kind, or an extra is missing.
        """
        features = _features(roads)
        names = _names(features, segment)
        corners = [_corners(feature, name) for feature, name in zip(features, names, strict=True)]
        middle = (
            np.min([part.min(axis=0) for part in corners], axis=0)
            + np.max([part.max(axis=0) for part in corners], axis=0)
        ) / 2
        projection = LocalProjection(round(float(middle[1]), _DECIMALS), round(float(middle[0]), _DECIMALS))
        lines = tuple(np.stack(projection.meters(part[:, 1], part[:, 0]), axis=1) for part in corners)
        lengths = np.array([np.sqrt((np.diff(line, axis=0) ** 2).sum(axis=1)).sum() for line in lines])
        ends = _crossings(corners)
        for name, length in zip(names, lengths.tolist(), strict=True):
            if not length > 0:
                raise ParameterError("roads", f"segment {name!r}", "must be longer than 0 meters")
        graph, between = _ways_of(ends, lengths)
        return cls(names, features, projection, lines, ends, lengths, between, _tree(lines), graph)

    def __len__(self) -> int:
        return len(self.segments)

    def __repr__(self) -> str:
        return f"<RoadGraph of {len(self)} segments and {len(self.between)} crossings>"

    def nearest(self, latitudes: Any, longitudes: Any, *, within: float = 50) -> Whole:
        """The place in `segments` of the segment nearest to each point; −1 if none is within some meters.

        A point that is NaN is near none. Of segments equally near, the first counts.

        Args:
            latitudes: Degrees.
            longitudes: Degrees, as many.
            within: Meters.

        Raises:
            ParameterError: Something is no number, or lengths differ.
        """
        return self.candidates(*self.plane(latitudes, longitudes), within=within, most=1)[0][:, 0]

    def plane(self, latitudes: Any, longitudes: Any) -> tuple[Floats, Floats]:
        """Meters east and north of the middle of the roads, as lists of equal length.

        Raises:
            ParameterError: Something is no number, or lengths differ.
        """
        east, north = (np.atleast_1d(axis) for axis in self.projection.meters(latitudes, longitudes))
        if east.ndim != 1 or east.shape != north.shape:
            raise ParameterError("longitudes", f"{east.size} of them", f"must be as many as latitudes: {north.size}")
        return east, north

    def candidates(self, east: Floats, north: Floats, *, within: float, most: int) -> tuple[Whole, Floats, Floats]:
        """For each point up to so many segments near it, the nearest first: places, meters along them, meters off.

        What a point gets depends on that point and on the roads alone. Empty places hold −1, 0 and infinity.

        Args:
            east: Meters.
            north: Meters.
            within: Meters from a point to its candidates.
            most: Candidates a point.

        Raises:
            ParameterError: `within` is no number above 0.
        """
        import shapely  # an extra, as networkx below

        reach = real(within, "within", least=0, is_finite=True)
        found = np.full((len(east), most), NOWHERE, dtype=np.int64)
        along, off = np.zeros(found.shape), np.full(found.shape, np.inf)
        is_place = np.isfinite(east) & np.isfinite(north)
        points = shapely.points(np.where(is_place, east, 1e12), np.where(is_place, north, 1e12))
        point, segment = self._tree.query(points, predicate="dwithin", distance=reach)
        lines = self._tree.geometries[segment]
        distance = shapely.distance(lines, points[point])
        order = np.lexsort((segment, distance, point))
        point, segment, distance = point[order], segment[order], distance[order]
        rank = np.arange(len(point)) - np.searchsorted(point, point)
        kept = rank < most
        place = point[kept], rank[kept]
        found[place], off[place] = segment[kept], distance[kept]
        along[place] = shapely.line_locate_point(self._tree.geometries[segment[kept]], points[point[kept]])
        return found, along, off

    def way(self, start: int, goal: int) -> tuple[int, ...]:
        """The segments of the shortest way from one crossing to another, by their places."""
        if (start, goal) not in self._ways:
            import networkx as nx

            stops = nx.dijkstra_path(self._graph, start, goal, weight="length")
            self._ways[start, goal] = tuple(self._graph.edges[step]["segment"] for step in pairwise(stops))
        return self._ways[start, goal]


def _features(roads: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    collection = of_kind(roads, "roads", Mapping, _WANTED)
    features = collection.get("features")
    if not isinstance(features, Sequence) or isinstance(features, str | bytes) or not features:
        raise ParameterError("roads", collection.get("type"), f"must be {_WANTED}")
    if len(features) > _MOST_SEGMENTS:
        raise ParameterError("roads", f"{len(features):,} segments", f"must be at most {_MOST_SEGMENTS:,}")
    return tuple(of_kind(feature, "roads", Mapping, _WANTED) for feature in features)


def _names(features: Sequence[Mapping[str, Any]], segment: str) -> tuple[SegmentId, ...]:
    of_kind(segment, "segment", str, "the name of a property, as text")
    properties = [feature.get("properties") or {} for feature in features]
    if not any(isinstance(held, Mapping) and segment in held for held in properties):
        return tuple(range(len(features)))
    names = [held.get(segment) if isinstance(held, Mapping) else None for held in properties]
    kinds = {type(name) for name in names}
    if kinds not in ({int}, {str}) or len(set(names)) != len(names):
        raise ParameterError("segment", segment, "must name each segment with a whole number, or each with a text")
    return tuple(names)  # type: ignore[arg-type] # of one of both kinds, as was just seen


def _corners(feature: Mapping[str, Any], name: SegmentId) -> Floats:
    """Longitudes and latitudes; heights are left out."""
    shape = feature.get("geometry")
    try:
        if not isinstance(shape, Mapping) or shape["type"] != "LineString":
            raise ValueError  # noqa: TRY301 # one refusal for all that is none
        corners = np.array([[float(degrees) for degrees in place[:_ENDS]] for place in shape["coordinates"]])
        is_line = corners.ndim == _ENDS and corners.shape[1] == _ENDS and len(corners) >= _ENDS
        if not is_line or not np.isfinite(corners).all():
            raise ValueError  # noqa: TRY301 # the same
    except (KeyError, TypeError, ValueError, IndexError):
        raise ParameterError("roads", f"segment {name!r}", "must be a LineString of [longitude, latitude]") from None
    return corners


def _crossings(corners: Sequence[Floats]) -> Whole:
    """The numbers of the places where segments end."""
    numbers: dict[tuple[float, ...], int] = {}

    def number(place: Floats) -> int:
        return numbers.setdefault(tuple(np.round(place, _DECIMALS).tolist()), len(numbers))

    ends = np.array([(number(part[0]), number(part[-1])) for part in corners], dtype=np.int64)
    if len(numbers) > _MOST_CROSSINGS:
        raise ParameterError("roads", f"{len(numbers):,} ends of segments", f"must be at most {_MOST_CROSSINGS:,}")
    return ends


def _tree(lines: Sequence[Floats]) -> "STRtree":
    import shapely

    return shapely.STRtree([shapely.LineString(line) for line in lines])


def _ways_of(ends: Whole, lengths: Floats) -> tuple["Graph", Floats]:
    """The shortest segment between two crossings, and meters along roads between all of them."""
    try:
        import networkx as nx
    except ImportError:
        raise ParameterError("roads", "networkx", "is not installed; run: pip install networkx shapely") from None
    graph = nx.Graph()
    graph.add_nodes_from(range(int(ends.max()) + 1))
    for segment, (one, other) in enumerate(ends.tolist()):
        if lengths[segment] < graph.get_edge_data(one, other, {"length": math.inf})["length"]:
            graph.add_edge(one, other, length=float(lengths[segment]), segment=segment)
    between = np.full((len(graph), len(graph)), np.inf)
    for start, found in nx.all_pairs_dijkstra_path_length(graph, cutoff=FARTHEST, weight="length"):
        between[start, list(found)] = list(found.values())
    return graph, between
