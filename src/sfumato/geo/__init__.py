"""Places: privacy under a metric, and grids of public cells.

What is not listed here is imported from its module.
"""

from sfumato.geo.planes.grid import Grid
from sfumato.geo.planes.projection import LocalProjection, Stretch
from sfumato.geo.roads.graph import RoadGraph
from sfumato.geo.roads.matching import RoadMatching
from sfumato.geo.roads.passages import passages
from sfumato.geo.traffic.question import TrafficQuestion, noisy_traffic, open_traffic
from sfumato.geo.traffic.result import SegmentTraffic, Traffic

__all__ = [
    "Grid",
    "LocalProjection",
    "RoadGraph",
    "RoadMatching",
    "SegmentTraffic",
    "Stretch",
    "Traffic",
    "TrafficQuestion",
    "noisy_traffic",
    "open_traffic",
    "passages",
]
