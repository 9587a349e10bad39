"""`Flows`: synthetic flows between declared places, and how they compare with others by distance."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.geo.maps.regions import features_of
from sfumato.numeric.arguments import listed, real
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.query.model.schema import Key
from sfumato.session.releases.receipt import Receipt

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.figure import Figure

MOST_LINES = 300
"""How many of the largest flows a picture shows as lines."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Flows:
    """Synthetic flows: safe to show to anybody.

    They are drawn around the counts with the prior added, so prior and counts show in them by their sizes: with little
    data for a destination the flows there are those of the prior.

    Attributes:
        origins: The declared origins.
        destinations: The declared destinations.
        counts: How many go from each origin to each destination: a row for each destination, a column for each origin.
        priors: What was added to each count, by destination, beside what the caller added.
        kept: Which origins each destination has flows from, if any: those that public flows name, and where `shrinking`
            was asked for, those that the data chose. A row for each destination, a column for each origin.
        charge: What they cost.
        receipt: What was charged, and when.
    """

    origins: tuple[Key, ...]
    destinations: tuple[Key, ...]
    counts: NDArray[np.int64]
    priors: tuple[Fraction, ...]
    kept: NDArray[np.bool_]
    charge: PureDP | ApproxDP
    receipt: Receipt

    def to_arrow(self) -> "pa.Table":
        """All flows that are not 0: columns origin, destination and flow."""
        import pyarrow as pa  # tables are made where somebody asks for one

        to, start = np.nonzero(self.counts)
        return pa.table(
            {
                "origin": [self.origins[at] for at in start],
                "destination": [self.destinations[at] for at in to],
                "flow": self.counts[to, start],
            }
        )

    def plot(
        self, regions: Mapping[str, Any], *, destination: Key | None = None, name: str = "name", title: str = "",
        errors: Mapping[str, float] | None = None,
    ) -> "Figure":  # fmt: skip
        """A map of these flows, and of nothing else: where those who go somewhere come from; needs the extra `plots`.

        Blocks are colored by how many come from there, to all destinations or to one. The 300 largest flows between
        two blocks are lines, as wide as they are large.

        Args:
            regions: A GeoJSON FeatureCollection with a polygon for each place; places without one are not drawn.
            destination: One of the destinations; None for all of them.
            name: The property that has the place.
            title: The finding.
            errors: What `flow_errors` says against exact flows, by the name of a band: a panel beside, which says that
                it is the owner's.

        Raises:
            ParameterError: There is no such destination, or the regions are no polygons.
        """
        from sfumato.plots.flows import flows_on_map  # matplotlib is an extra

        if destination is not None and not any(destination == one for one in self.destinations):
            raise ParameterError("destination", destination, "must be one of the destinations of these flows")
        outlines = _outlines(regions, name)
        drawn = [place for place in range(len(self.destinations)) if destination in (None, self.destinations[place])]
        middle = {place: np.mean(outline[:-1], axis=0) for place, outline in outlines.items()}
        ways = sorted(
            (many, start, place)
            for to in drawn for start, many in zip(self.origins, self.counts[to].tolist(), strict=True)
            if many and start != (place := self.destinations[to]) and {start, place} <= set(middle)
        )[-MOST_LINES:]  # fmt: skip
        come = dict(zip(self.origins, self.counts[drawn].sum(axis=0).tolist(), strict=True))
        return flows_on_map(
            list(outlines.values()), values=[come.get(place, 0) for place in outlines],
            lines=[(middle[start], middle[place]) for _, start, place in ways], flows=[many for many, _, _ in ways],
            label="come from here" if destination is None else f"come from here to {destination}",
            title=title or "Synthetic flows", caption=f"synthetic flows: {self.charge}", errors=errors,
        )  # fmt: skip


def flow_errors(found: Any, other: Any, *, distances: Any, edges: Sequence[float]) -> NDArray[np.float64]:
    """The total variation distance of two matrices of flows, by how far people go: the part of each band.

        Σ over flows of the band of |p − q| / 2,   p and q the shares of each flow in its matrix,

    so that all bands together are the total variation distance. Where one matrix is the exact one, the result is exact
    too: it is for the owner, or for made-up people.

    Args:
        found: A matrix of flows of at least 0, such as `Flows.counts`.
        other: Another one of the same shape.
        distances: How far each is from the other, of the same shape.
        edges: Rising edges of bands: the first band begins at the first edge, the last ends before the last.

    Raises:
        ParameterError: Shapes differ, a matrix has no flow, or edges do not rise.

    Example:
        >>> found = flow_errors([[6, 2], [1, 1]], [[5, 3], [1, 1]], distances=[[0, 9], [9, 0]], edges=[0, 5, 10])
        >>> found.round(4).tolist()
        [0.05, 0.05]
    """
    one, two, far = (
        _matrix(value, name) for value, name in ((found, "found"), (other, "other"), (distances, "distances"))
    )
    if not one.shape == two.shape == far.shape or one.ndim != 2:  # noqa: PLR2004 # rows and columns
        raise ParameterError("distances", "an array", "must have the shape of both matrices of flows")
    for value, name in ((one, "found"), (two, "other")):
        if (value < 0).any() or value.sum() <= 0:
            raise ParameterError(name, "an array", "must have flows of at least 0, some above it")
    bounds = [real(edge, "edges") for edge in listed(edges, "edges", of="numbers")]
    if len(bounds) < 2 or any(low >= high for low, high in pairwise(bounds)):  # noqa: PLR2004 # two ends
        raise ParameterError("edges", "a list", "must have at least two numbers, each above the one before")
    apart = np.abs(one / one.sum() - two / two.sum()) / 2
    return np.array([apart[(far >= low) & (far < high)].sum() for low, high in pairwise(bounds)])


def _outlines(regions: Mapping[str, Any], name: str) -> dict[Any, Any]:
    """The largest outline of each polygon by its place: longitude and latitude."""
    found = {}
    for feature in features_of(regions, "regions"):
        geometry = feature.get("geometry") or {}
        try:
            rings = geometry["coordinates"]
            outline = rings[0] if geometry["type"] == "Polygon" else max((one[0] for one in rings), key=len)
            found[(feature.get("properties") or {})[name]] = np.array([corner[:2] for corner in outline], dtype=float)
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise ParameterError("regions", "features", f"must be polygons with a property {name!r}") from error
    return found


def _matrix(value: Any, name: str) -> NDArray[np.float64]:
    try:
        found = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ParameterError(name, type(value).__name__, "must be a matrix of numbers") from error
    if not np.isfinite(found).all():
        raise ParameterError(name, "an array", "must hold finite numbers")
    return found
