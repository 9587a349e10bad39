"""Places: privacy that fades with distance, grids of public cells, roads and traffic.

What is not listed here is imported from its module.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sfumato.geo.locations.account import MetricAccount, MetricMechanism
    from sfumato.geo.locations.levels import LEVELS, PrivacyLevel
    from sfumato.geo.locations.planar_laplace import Location, PlanarLaplace
    from sfumato.geo.locations.remap import OptimalRemap
    from sfumato.geo.locations.tiles import TileMemory
    from sfumato.geo.locations.traces import PredictiveTrace
    from sfumato.geo.maps.cells import DegreeGrid, HexagonGrid
    from sfumato.geo.maps.noisy_map import MapQuestion, finest_grid, noisy_map
    from sfumato.geo.maps.page import map_page
    from sfumato.geo.maps.quadtree import Quadtree
    from sfumato.geo.maps.regions import RegionCells, Regions, h3_cells, region_cells
    from sfumato.geo.maps.result import MapCell, NoisyMap
    from sfumato.geo.metrics.exponential import MetricExponential
    from sfumato.geo.metrics.finite import FiniteMetric, PointMetric
    from sfumato.geo.metrics.lipschitz import LipschitzLaplace
    from sfumato.geo.metrics.words import WordMetric
    from sfumato.geo.planes.grid import Grid
    from sfumato.geo.planes.projection import LocalProjection, Stretch
    from sfumato.geo.roads.graph import RoadGraph
    from sfumato.geo.roads.matching import RoadMatching
    from sfumato.geo.roads.passages import passages
    from sfumato.geo.traffic.question import TrafficQuestion, noisy_traffic, open_traffic
    from sfumato.geo.traffic.result import SegmentTraffic, Traffic
    from sfumato.privacy.promises import MetricDP

_HOMES = {
    "DegreeGrid": "geo.maps.cells",
    "FiniteMetric": "geo.metrics.finite",
    "Grid": "geo.planes.grid",
    "HexagonGrid": "geo.maps.cells",
    "LEVELS": "geo.locations.levels",
    "LipschitzLaplace": "geo.metrics.lipschitz",
    "LocalProjection": "geo.planes.projection",
    "Location": "geo.locations.planar_laplace",
    "MapCell": "geo.maps.result",
    "MapQuestion": "geo.maps.noisy_map",
    "MetricAccount": "geo.locations.account",
    "MetricDP": "privacy.promises",
    "MetricExponential": "geo.metrics.exponential",
    "MetricMechanism": "geo.locations.account",
    "NoisyMap": "geo.maps.result",
    "OptimalRemap": "geo.locations.remap",
    "PlanarLaplace": "geo.locations.planar_laplace",
    "PointMetric": "geo.metrics.finite",
    "PredictiveTrace": "geo.locations.traces",
    "PrivacyLevel": "geo.locations.levels",
    "Quadtree": "geo.maps.quadtree",
    "RegionCells": "geo.maps.regions",
    "Regions": "geo.maps.regions",
    "RoadGraph": "geo.roads.graph",
    "RoadMatching": "geo.roads.matching",
    "SegmentTraffic": "geo.traffic.result",
    "Stretch": "geo.planes.projection",
    "TileMemory": "geo.locations.tiles",
    "Traffic": "geo.traffic.result",
    "TrafficQuestion": "geo.traffic.question",
    "WordMetric": "geo.metrics.words",
    "finest_grid": "geo.maps.noisy_map",
    "h3_cells": "geo.maps.regions",
    "map_page": "geo.maps.page",
    "noisy_map": "geo.maps.noisy_map",
    "noisy_traffic": "geo.traffic.question",
    "open_traffic": "geo.traffic.question",
    "passages": "geo.roads.passages",
    "region_cells": "geo.maps.regions",
}

__all__ = [
    "LEVELS",
    "DegreeGrid",
    "FiniteMetric",
    "Grid",
    "HexagonGrid",
    "LipschitzLaplace",
    "LocalProjection",
    "Location",
    "MapCell",
    "MapQuestion",
    "MetricAccount",
    "MetricDP",
    "MetricExponential",
    "MetricMechanism",
    "NoisyMap",
    "OptimalRemap",
    "PlanarLaplace",
    "PointMetric",
    "PredictiveTrace",
    "PrivacyLevel",
    "Quadtree",
    "RegionCells",
    "Regions",
    "RoadGraph",
    "RoadMatching",
    "SegmentTraffic",
    "Stretch",
    "TileMemory",
    "Traffic",
    "TrafficQuestion",
    "WordMetric",
    "finest_grid",
    "h3_cells",
    "map_page",
    "noisy_map",
    "noisy_traffic",
    "open_traffic",
    "passages",
    "region_cells",
]


def __getattr__(name: str) -> Any:
    """Load a name at its first use (PEP 562): most programs need few of them."""
    if name in _HOMES:
        value = getattr(import_module(f"sfumato.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
