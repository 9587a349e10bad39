"""The best place to report, given noise and a public belief of where people are: post-processing, at no cost."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.geo.locations.planar_laplace import Location, PlanarLaplace
from sfumato.geo.planes.grid import Whole
from sfumato.mechanisms.base import opened
from sfumato.noise.uniform.integers import Integers
from sfumato.numeric.arguments import column, of_kind
from sfumato.numeric.rationals import set_fields
from sfumato.privacy.promises import MetricDP
from sfumato.privacy.secret import Secret

MOST_REMAPPED: Final = 2500
"""The most cells of a grid whose distances are all compared."""


@dataclass(frozen=True, slots=True, init=False, eq=False)
class OptimalRemap:
    """Reports the cell with the least expected distance to the true one, for a prior that is public.

    The noisy cell z of `PlanarLaplace` is drawn first. With the prior p, a true cell x then has probability
    ∝ p(x)·exp(−ε·cell·|z − x|), and the cell that is nearest to such an x on average is reported. Only z is looked at,
    never the place.

    **Guarantee**: that of the mechanism, whatever the prior: nothing but its output is read. Proof:
    proofs/geo/locations/remap.md.

    Edge cases: a prior that is wrong makes reports worse and never less private; a prior made of the data to be
    protected would be a release of its own, so make it from public counts.

    Args:
        mechanism: The noise, on a grid of at most 2,500 cells.
        prior: A weight for each cell, 0 or more, not all 0.

    Raises:
        ParameterError: An argument is out of range.

    Example:
        >>> from sfumato.geo.planes.grid import Grid
        >>> noisy = PlanarLaplace(Grid.around(0, 0, width=500, height=500, cell=100), epsilon="0.001")
        >>> prior = [0] * 24 + [1]  # all are in the last cell
        >>> OptimalRemap(noisy, prior).release((0, 0)) == noisy.place(24)
        True

    References:
        [CEP17] for the remap.
    """

    mechanism: PlanarLaplace
    prior: NDArray[np.float64]
    _distances: NDArray[np.float64]

    def __init__(self, mechanism: PlanarLaplace, prior: Any) -> None:
        noisy = of_kind(mechanism, "mechanism", PlanarLaplace, "a PlanarLaplace")
        weights, grid = column(prior, "prior"), noisy.grid
        if len(grid) > MOST_REMAPPED:
            raise ParameterError("mechanism", f"{len(grid):,} cells", f"must have a grid of at most {MOST_REMAPPED:,}")
        if len(weights) != len(grid) or not np.isfinite(weights).all() or (weights < 0).any() or not weights.any():
            requirement = f"must be {len(grid):,} weights, one for each cell, 0 or more and not all 0"
            raise ParameterError("prior", f"{len(weights)} weights", requirement)
        columns, rows = grid.places_of(np.arange(len(grid)))
        apart = np.hypot(columns[:, None] - columns[None, :], rows[:, None] - rows[None, :])
        set_fields(self, mechanism=noisy, prior=weights / weights.max(), _distances=apart)

    @property
    def guarantee(self) -> MetricDP:
        """That of the mechanism."""
        return self.mechanism.guarantee

    def release(self, exact: Any | Secret[Any]) -> Location:
        """A report of one place.

        Raises:
            ParameterError: It is no pair of numbers.
        """
        places = self.mechanism.noisy_places(self.mechanism.cell_of(opened(exact)))
        return self.mechanism.place(int(self.remap(places)[0]))

    def remap(self, places: Integers) -> Whole:
        """The best cells for columns and rows of the whole plane."""
        grid, rate = self.mechanism.grid, 1 / float(self.mechanism.scale)
        columns, rows = grid.places_of(np.arange(len(grid)))
        with np.errstate(divide="ignore"):
            believed = np.log(self.prior)
        found = np.empty(len(places), dtype=np.int64)
        for i, (across, up) in enumerate(places.tolist()):
            logarithms = believed - rate * np.hypot(columns - float(across), rows - float(up))
            posterior = np.exp(logarithms - logarithms.max())
            found[i] = int(np.argmin(self._distances @ posterior))
        return found
