"""Quantiles by the exponential mechanism: points of a public grid with about the right number of values below them.

`Quantile` chooses one near the quantile, `QuantileEnd` one that lies surely on one side of it.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, inf
from typing import Any, Final

from sfumato.errors import ParameterError
from sfumato.mechanisms.lattice import as_resolution
from sfumato.mechanisms.quantiles.grid import OnGrid, ValueGrid, choose_step, rank_range
from sfumato.numeric.distributions import failure_probability
from sfumato.numeric.rationals import Number, exact, flag, nonnegative, probability, set_fields
from sfumato.numeric.rounding import float_up, log_up
from sfumato.privacy.events import ExponentialEvent
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, NeighboringRelation, as_relation
from sfumato.privacy.secret import Secret

_MOST_ADDED: Final = 1 << 61
"""More than there are values, and room for differences of ranks in 64 bits, however small ε is."""


@dataclass(frozen=True, slots=True, init=False)
class Quantile(OnGrid):
    """Chooses a grid point x with probability ∝ exp(−ε·distance(x)/W), where the distance is its error in ranks.

    For n values v and the quantile q,

        distance(x) = max(0, #{v < x} − q·n, q·n − #{v ≤ x}),

    and W is the most by which one value can change the distances of two grid points apart: 2·max(q, 1 − q) if it is
    added or removed, 2 if it is replaced, and just 1 for q = 0 and q = 1.

    **Guarantee**: ε-differential privacy under `neighboring_relation`, where a unit has one value; for the number of
    values too under add or remove. The probabilities are exact. Proof: proofs/mechanisms/quantiles/quantile.md.

    ==================================  ======================================================
    Edge case                           Answer
    ==================================  ======================================================
    no values, or epsilon = 0           any grid point, each as likely
    a value outside the bounds, ±∞      counts as the nearest grid point
    NaN, None                           count as 0, or as the grid point nearest to it
    q = 0, q = 1                        a point at or below all values; at or above all
    lower = upper                       the only point there is
    ==================================  ======================================================

    Args:
        quantile: q, from 0 (the minimum) to 1 (the maximum); 1/2 is the median.
        lower: The public lower bound of the values.
        upper: The public upper bound of the values.
        epsilon: The privacy parameter of one release, 0 or more.
        resolution: The spacing of the grid, above 0; at most 2^60 grid points lie between 0 and a bound.
        neighboring_relation: How a database may differ from its neighbor.

    Raises:
        ParameterError: A parameter is out of range, or the grid has no point.

    Example:
        >>> median_age = Quantile(quantile="1/2", lower=0, upper=120, epsilon=1)
        >>> 20 < median_age.release([31, 32, 33] * 1000) < 40
        True

    References:
        [Smi11] Algorithm 2, with ties counted on both sides; [MT07].
    """

    quantile: Fraction
    lower: Fraction
    upper: Fraction
    epsilon: Fraction
    resolution: Fraction
    neighboring_relation: NeighboringRelation

    def __init__(
        self,
        *,
        quantile: Number,
        lower: Number,
        upper: Number,
        epsilon: Number,
        resolution: Number = 1,
        neighboring_relation: NeighboringRelation = ADD_OR_REMOVE_ONE,
    ) -> None:
        set_fields(
            self,
            quantile=probability(quantile, "quantile"),
            lower=exact(lower, "lower"),
            upper=exact(upper, "upper"),
            epsilon=nonnegative(epsilon, "epsilon"),
            resolution=as_resolution(resolution),
            neighboring_relation=as_relation(neighboring_relation),
        )
        ValueGrid(self.lower, self.upper, self.resolution)

    @property
    def rank_range(self) -> Fraction:
        """W, the most by which one value can change the distances of two grid points apart, in ranks."""
        return rank_range(self.quantile, self.neighboring_relation)

    @property
    def event(self) -> ExponentialEvent:
        """The event of one release, for accountants."""
        return ExponentialEvent(self.epsilon)

    def release(self, values: Any | Secret[Any]) -> Fraction:
        """A grid point near the quantile.

        Args:
            values: A sequence of numbers, one for each unit, in any order.

        Raises:
            ParameterError: A value is no number.
        """
        grid = self._grid
        return choose_step(grid.steps(values), (grid.first, grid.last), self.quantile, self._rate) * self.resolution

    def accuracy(self, confidence: Number = "0.95") -> float:
        """The t for which #{v < x} − t ≤ q·n ≤ #{v ≤ x} + t holds of the answer x, with this confidence.

        v are the values as they are counted: moved to the nearest grid point.

        t = (W/ε)·(ln of the number of grid points − ln(1 − confidence)) ranks, rounded up; infinite at ε = 0.
        """
        ratio = len(self._grid) / failure_probability(confidence)
        return float_up(log_up(ratio) / self._rate) if self.epsilon else inf

    @property
    def _rate(self) -> Fraction:
        """How much a rank of distance adds to the exponent of a grid point."""
        return self.epsilon / self.rank_range


@dataclass(frozen=True, slots=True, init=False)
class QuantileEnd(OnGrid):
    """Chooses a grid point that lies at or below a quantile (or at or above) with a stated confidence.

    It is the choice of `Quantile` after t values were added at the lower end of the grid, without which the quantile is
    still sought: with probability ∝ exp(−ε·distance(x)/W), where for n values v, the t added ones a, and the quantile q

        distance(x) = max(0, #{v, a < x} − q·n, q·n − #{v, a ≤ x}).

    A point with more than q·n values below it has a distance above t = ⌈(W/ε)·ln(grid points / (1 − confidence))⌉, and
    some point has 0. So #{v < x} ≤ q·n holds of the choice x with the confidence; by 2·t ranks it is too low at most,
    as often. The upper end is the lower one of the mirrored values and of 1 − q.

    **Guarantee**: ε-differential privacy under `neighboring_relation`, where a unit has one value; for the number of
    values too under add or remove. The probabilities are exact. Proof: proofs/mechanisms/quantiles/quantile.md.

    ==================================  ======================================================
    Edge case                           Answer
    ==================================  ======================================================
    epsilon = 0                         any grid point, each as likely; nothing is held
    fewer values than t                 mostly the end of the grid itself
    a value outside the bounds, ±∞      counts as the nearest grid point
    NaN, None                           count as 0, or as the grid point nearest to it
    q = 0, q = 1                        ParameterError: an extreme has no values beyond it
    ==================================  ======================================================

    Args:
        quantile: q, between 0 and 1, both excluded.
        is_upper: Whether the point is to lie at or above the quantile.
        lower: The public lower bound of the values.
        upper: The public upper bound of the values.
        epsilon: The privacy parameter of one release, 0 or more.
        resolution: The spacing of the grid, above 0; at most 2^60 grid points lie between 0 and a bound.
        confidence: How often the point lies on its side, between 0 and 1; of an interval with two ends 0.975 each.
        neighboring_relation: How a database may differ from its neighbor.

    Raises:
        ParameterError: A parameter is out of range, or the grid has no point.

    Example:
        >>> low = QuantileEnd(quantile="1/2", is_upper=False, lower=0, upper=120, epsilon=1)
        >>> low.margin
        9
        >>> low.release([31, 32, 33] * 1000) <= 32
        True

    References:
        [Smi11] Algorithm 2 for the choice; [MT07].
    """

    quantile: Fraction
    is_upper: bool
    lower: Fraction
    upper: Fraction
    epsilon: Fraction
    resolution: Fraction
    confidence: Fraction
    neighboring_relation: NeighboringRelation

    def __init__(
        self,
        *,
        quantile: Number,
        is_upper: bool,
        lower: Number,
        upper: Number,
        epsilon: Number,
        resolution: Number = 1,
        confidence: Number = "0.975",
        neighboring_relation: NeighboringRelation = ADD_OR_REMOVE_ONE,
    ) -> None:
        near = Quantile(
            quantile=quantile, lower=lower, upper=upper, epsilon=epsilon, resolution=resolution,
            neighboring_relation=neighboring_relation,
        )  # fmt: skip
        if near.quantile in {0, 1}:
            raise ParameterError(
                "quantile", quantile, "must lie between 0 and 1, both excluded: an extreme has no interval"
            )
        shared = ("quantile", "lower", "upper", "epsilon", "resolution", "neighboring_relation")
        set_fields(self, **{name: getattr(near, name) for name in shared})
        set_fields(self, is_upper=flag(is_upper, "is_upper"), confidence=1 - failure_probability(confidence))

    @property
    def margin(self) -> int:
        """t, how many values are added beyond the end: so many ranks the noise passes with 1 − confidence at most."""
        if not self.epsilon:
            return 0
        return min(ceil(self._near.accuracy(self.confidence)), _MOST_ADDED)

    @property
    def event(self) -> ExponentialEvent:
        """The event of one release, for accountants."""
        return ExponentialEvent(self.epsilon)

    def release(self, values: Any | Secret[Any]) -> Fraction:
        """A grid point at or below the quantile, or at or above it.

        Args:
            values: A sequence of numbers, one for each unit, in any order.

        Raises:
            ParameterError: A value is no number.
        """
        grid = self._grid
        steps, rate = grid.steps(values), self.epsilon / self._near.rank_range
        if self.is_upper:
            mirrored = (-grid.last, -grid.first)
            return -choose_step(-steps, mirrored, 1 - self.quantile, rate, added=self.margin) * self.resolution
        return choose_step(steps, (grid.first, grid.last), self.quantile, rate, added=self.margin) * self.resolution

    def accuracy(self, confidence: Number = "0.95") -> float:
        """How many ranks the answer lies from the quantile at most, with this confidence; infinite at ε = 0."""
        return self.margin + self._near.accuracy(confidence) if self.epsilon else inf

    @property
    def _near(self) -> Quantile:
        return Quantile(
            quantile=self.quantile, lower=self.lower, upper=self.upper, epsilon=self.epsilon,
            resolution=self.resolution, neighboring_relation=self.neighboring_relation,
        )  # fmt: skip
