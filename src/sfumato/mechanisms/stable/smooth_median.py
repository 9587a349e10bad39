"""The median with noise in proportion to its smooth sensitivity."""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from sfumato.mechanisms.lattice import as_resolution
from sfumato.mechanisms.quantiles.grid import OnGrid
from sfumato.mechanisms.stable.median import median, ordered, smooth_sensitivity_up, width_of
from sfumato.mechanisms.stable.smooth_sensitivity import SmoothedValue, SmoothSensitivity
from sfumato.numeric.rationals import Number, exact, set_fields
from sfumato.privacy.events import ApproxEvent, PureEvent
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, NeighboringRelation, as_relation
from sfumato.privacy.secret import Secret


@dataclass(frozen=True, slots=True, init=False)
class SmoothMedian(OnGrid):
    """The median of values on a public grid, plus `SmoothSensitivity` noise, moved back onto the grid.

    One person may move a median from one end of the range to the other, but only if the data are spread so; the noise
    follows how far k more or fewer people would move the median of these data, the farther the less k is likely.

    **Guarantee**: (ε, δ)-differential privacy under `neighboring_relation`, where a unit has one value; under add or
    remove also for the number of values.
    Proof: proofs/mechanisms/stable/median.md, proofs/mechanisms/stable/smooth_sensitivity.md.

    ====================================  =================================================
    Edge case                             Answer
    ====================================  =================================================
    no values                             the lowest grid point, with noise as wide as the grid
    an even number of values              the lower of the two in the middle, with noise
    a value outside the bounds, ±∞        counts as the nearest grid point
    NaN, None                             count as 0, or as the grid point nearest to it
    all values equal                      noise of the scale of one step, or a little more
    a grid of one point, of 2^50 steps    ParameterError when constructed
    ====================================  =================================================

    There is no `accuracy`: the size of the noise depends on the data, and telling it would cost.

    Args:
        lower: The public lower bound of the values.
        upper: The public upper bound of the values.
        epsilon: The privacy parameter of one release, above 0.
        delta: Below 1; 0 for Cauchy noise and pure differential privacy, more for Laplace noise.
        resolution: The width of a step of the grid, above 0.
        neighboring_relation: How a database may differ from its neighbor.

    Raises:
        ParameterError: A parameter is out of range, or the noise could not be drawn for some data.

    Example:
        >>> age = SmoothMedian(lower=0, upper=120, epsilon=1)
        >>> 0 <= age.release([31, 32, 33] * 1000) <= 120  # most often 31, 32 or 33
        True

    References:
        [NRS07] Section 3.1.
    """

    lower: Fraction
    upper: Fraction
    epsilon: Fraction
    delta: Fraction
    resolution: Fraction
    neighboring_relation: NeighboringRelation
    noise: SmoothSensitivity = field(repr=False)
    """How the noise follows the data."""

    def __init__(
        self,
        *,
        lower: Number,
        upper: Number,
        epsilon: Number,
        delta: Number = 0,
        resolution: Number = 1,
        neighboring_relation: NeighboringRelation = ADD_OR_REMOVE_ONE,
    ) -> None:
        set_fields(
            self,
            lower=exact(lower, "lower"),
            upper=exact(upper, "upper"),
            resolution=as_resolution(resolution),
            neighboring_relation=as_relation(neighboring_relation),
        )
        noise = SmoothSensitivity(epsilon=epsilon, delta=delta, largest_sensitivity=width_of(self._grid))
        set_fields(self, noise=noise, epsilon=noise.epsilon, delta=noise.delta)

    @property
    def event(self) -> PureEvent | ApproxEvent:
        """The event of one release, for accountants."""
        return self.noise.event

    def release(self, values: Any | Secret[Any]) -> Fraction:
        """A grid point near the median.

        Args:
            values: A sequence of numbers, one for each unit, in any order.

        Raises:
            ParameterError: It is no sequence, or holds something that is no number.
        """
        grid, relation = self._grid, self.neighboring_relation
        data = ordered(grid, values)
        bound = smooth_sensitivity_up(data, smoothness=self.noise.smoothness, neighboring_relation=relation)
        noisy = self.noise.release(SmoothedValue(median(data), bound))
        return min(max(noisy, grid.first), grid.last) * self.resolution
