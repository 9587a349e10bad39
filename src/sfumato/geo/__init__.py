"""Places: privacy under a metric, and grids of public cells.

What is not listed here is imported from its module.
"""

from sfumato.geo.planes.grid import Grid
from sfumato.geo.planes.projection import LocalProjection, Stretch

__all__ = [
    "Grid",
    "LocalProjection",
    "Stretch",
]
