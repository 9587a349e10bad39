"""`Flows`: synthetic flows between declared places, and how they compare with others by distance."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import listed, real
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.query.model.schema import Key
from sfumato.session.releases.receipt import Receipt

if TYPE_CHECKING:
    import pyarrow as pa


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
        charge: What they cost.
        receipt: What was charged, and when.
    """

    origins: tuple[Key, ...]
    destinations: tuple[Key, ...]
    counts: NDArray[np.int64]
    priors: tuple[Fraction, ...]
    charge: PureDP | ApproxDP
    receipt: Receipt

    def to_arrow(self) -> "pa.Table":
        """All flows that are not 0: columns origin, destination and flow."""
        import pyarrow as pa  # noqa: PLC0415 # tables are made where somebody asks for one

        to, start = np.nonzero(self.counts)
        return pa.table(
            {
                "origin": [self.origins[at] for at in start],
                "destination": [self.destinations[at] for at in to],
                "flow": self.counts[to, start],
            }
        )


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


def _matrix(value: Any, name: str) -> NDArray[np.float64]:
    try:
        found = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ParameterError(name, type(value).__name__, "must be a matrix of numbers") from error
    if not np.isfinite(found).all():
        raise ParameterError(name, "an array", "must hold finite numbers")
    return found
