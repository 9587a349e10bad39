"""Places: privacy under a metric, and grids of public cells.

What is not listed here is imported from its module.
"""

from sfumato.geo.planes.grid import Grid
from sfumato.geo.planes.projection import LocalProjection, Stretch
from sfumato.geo.roads.graph import RoadGraph
from sfumato.geo.roads.matching import RoadMatching
from sfumato.geo.roads.passages import passages

__all__ = [
    "Grid",
    "LocalProjection",
    "RoadGraph",
    "RoadMatching",
    "Stretch",
    "passages",
]
