"""Geo-indistinguishability: a place reported with planar noise on a public grid."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from sfumato.errors import ParameterError
from sfumato.geo.locations.levels import PrivacyLevel, level_of
from sfumato.geo.planes.grid import Grid, Whole
from sfumato.geo.planes.planar_noise import planar_half_width
from sfumato.geo.planes.projection import pair_of
from sfumato.mechanisms.base import opened
from sfumato.noise.laws.planar_laplace import planar_laplace
from sfumato.noise.uniform.integers import Integers, add
from sfumato.numeric.arguments import of_kind
from sfumato.numeric.rationals import Number, positive, set_fields
from sfumato.numeric.rounding import inflated
from sfumato.privacy.promises import MetricDP
from sfumato.privacy.secret import Secret


class Location(NamedTuple):
    """A reported place, in degrees: the center of a cell."""

    latitude: float
    longitude: float


@dataclass(frozen=True, slots=True, init=False)
class PlanarLaplace:
    """Reports the center of a cell near a place: planar Laplace noise, on whole cells, moved back into the region.

    The place is snapped to its cell x. A cell z of the whole plane is drawn with P(z | x) ∝ exp(−ε·cell·|z − x|). The
    normalizer is the same for all x, because the plane has no edge. The noise is added in full, however far it goes;
    only the sum is moved to the nearest cell of the grid, which is post-processing.

    **Guarantee**: ε·d between the centers of cells, in the plane: `snapped_guarantee`. Between true places of the
    region at ground distance d it is ε·(s·d + √2·cell), where s bounds the projection: `guarantee` has s·ε per meter
    and ε·√2·cell as its offset. The offset says that two places of one cell may be told from two of the next one by a
    whole cell. Probabilities are exact. Proof: proofs/geo/locations/planar_laplace.md.

    ========================================  ==================================================================
    Edge case                                 Behavior
    ========================================  ==================================================================
    a place outside of the grid               counts as the nearest cell: then d is that of the plane
    NaN, or a missing place                   counts as the middle of the grid, at the same cost
    the same place again                      a fresh report, which costs ε again; see `TileMemory`
    k places of a trace                       cost k·ε: `guarantee.repeated(k)`
    ========================================  ==================================================================

    Args:
        grid: The region, in public cells.
        epsilon: ε per meter, above 0.
        level: A level instead of ε: low, medium, high, or a `PrivacyLevel`.

    Raises:
        ParameterError: Neither or both are given, one is out of range, or the noise cannot be drawn on these cells.

    Example:
        >>> grid = Grid.around("48.8566", "2.3522", width=20_000, height=20_000, cell=50)
        >>> noisy = PlanarLaplace(grid, level="low")
        >>> place = noisy.release((48.8606, 2.3376))
        >>> bool(grid.cells(*place) >= 0), round(float(noisy.accuracy("0.5")))
        (True, 286)
        >>> str(noisy.snapped_guarantee), str(noisy.guarantee)
        ('ε ≈0.00693147 per meter', 'ε ≈0.00694924 per meter, offset ≈0.490129')

    References:
        [ABCP13]; [CABP13] Section 3 for rounding.
    """

    grid: Grid
    epsilon: Fraction

    def __init__(self, grid: Grid, *, epsilon: Number | None = None, level: PrivacyLevel | str | None = None) -> None:
        if (epsilon is None) == (level is None):
            raise ParameterError("epsilon", epsilon, "must be given, or level instead of it")
        rate = (
            level_of(level).epsilon if level is not None else positive(epsilon if epsilon is not None else 0, "epsilon")
        )
        set_fields(self, grid=of_kind(grid, "grid", Grid, "a Grid"), epsilon=rate)
        planar_laplace(self.scale, 0)

    @property
    def scale(self) -> Fraction:
        """The scale of the noise in cells, 1/(ε·cell)."""
        return 1 / (self.epsilon * self.grid.cell)

    @property
    def snapped_guarantee(self) -> MetricDP:
        """What a report promises between the centers of cells, in meters of the plane."""
        return MetricDP(self.epsilon, "meter")

    @property
    def guarantee(self) -> MetricDP:
        """What a report promises between true places of the region, in meters on the ground."""
        return self.promise_of(self.grid.displacement)

    def promise_of(self, displacement: Fraction) -> MetricDP:
        """What a report promises between true places that were moved by so many meters first."""
        stretch = Fraction(self.grid.projection.stretch(self.grid.reach).most)
        return MetricDP(self.epsilon * stretch, "meter", 2 * displacement * self.epsilon)

    def release(self, exact: Any | Secret[Any]) -> Location:
        """A report of one place, which is a latitude and a longitude.

        Raises:
            ParameterError: It is no pair of numbers.
        """
        return self.place(int(self.release_cells(self.cell_of(exact))[0]))

    def release_many(self, latitudes: Any | Secret[Any], longitudes: Any | Secret[Any]) -> tuple[Any, Any]:
        """Reports of many places, as latitudes and longitudes. Each costs the guarantee of its own person again."""
        cells = self.grid.nearest_cells(np.atleast_1d(opened(latitudes)), np.atleast_1d(opened(longitudes)))
        return self.grid.centers(self.release_cells(cells))

    def release_cells(self, cells: Whole) -> Whole:
        """Reports of places that were snapped already, as numbers of cells.

        Raises:
            ParameterError: A number is that of no cell.
        """
        return self.nearest(self.noisy_places(cells))

    def noisy_places(self, cells: Whole) -> Integers:
        """Columns and rows of reports on the whole plane, before they are moved into the grid."""
        columns, rows = self.grid.places_of(cells)
        return add(np.stack([columns, rows], axis=1), planar_laplace(self.scale, len(columns)))

    def nearest(self, places: Integers) -> Whole:
        """The cells of the grid nearest to columns and rows of the whole plane."""
        columns, rows = np.clip(places, 0, [self.grid.columns - 1, self.grid.rows - 1]).astype(np.int64).T
        found: Whole = rows * self.grid.columns + columns
        return found

    def cell_of(self, exact: Any | Secret[Any]) -> Whole:
        """The cell of a place, as an array of one."""
        latitude, longitude = pair_of(opened(exact), "exact")
        try:
            return self.grid.nearest_cells([latitude], [longitude])
        except ParameterError:
            raise ParameterError("exact", "a place", "must be a latitude and a longitude in degrees") from None

    def place(self, cell: int) -> Location:
        """The center of a cell."""
        latitude, longitude = self.grid.centers(cell)
        return Location(float(latitude), float(longitude))

    def accuracy(self, confidence: Number = "0.95") -> float:
        """Ground meters within which a report of a place of the grid stays, with this confidence, rounded up.

        The distance of the noise, and half a diagonal of a cell. Moving a report back into the grid only helps.
        """
        planar = planar_half_width(self.scale, confidence) * float(self.grid.cell) + float(self.grid.displacement)
        return inflated(planar / self.grid.projection.stretch(self.grid.reach).least)
