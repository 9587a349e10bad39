"""Several quantiles by one choice: all points at once, by the distance of the one farthest from its quantile."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf, log, prod
from typing import Any, Final, Self

import numpy as np

from sfumato.mechanisms.lattice import as_resolution
from sfumato.mechanisms.quantiles.grid import OnGrid, ValueGrid, ascending, stretches
from sfumato.noise.choice.selection import HOPELESS, LargeWeights, exponential_choice_of
from sfumato.noise.uniform.bernoulli import Floats, exponents_in_floats
from sfumato.noise.uniform.integers import SAFE, Integers, multiply_add
from sfumato.noise.uniform.uniform import uniform_below
from sfumato.numeric.distributions import failure_probability
from sfumato.numeric.rationals import Number, exact, nonnegative, set_fields
from sfumato.numeric.rounding import float_up, log_up
from sfumato.privacy.events import ExponentialEvent
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, NeighboringRelation, as_relation
from sfumato.privacy.secret import Secret

PARTS: Final = 1 << 10
"""Distances are rounded up to whole parts of 1, so that those of all quantiles have one unit."""


@dataclass(frozen=True, slots=True, init=False)
class JointQuantiles(OnGrid):
    """Chooses grid points x₁, …, x_m near several quantiles with probability ∝ exp(−(ε/2)·largest distance).

    For n values v and quantiles q₁ < … < q_m, the distance of xⱼ is its error in ranks over the most that one value
    changes it by, rounded up to a multiple of 1/1024,

        distanceⱼ = max(0, #{v < xⱼ} − qⱼ·n, qⱼ·n − #{v ≤ xⱼ}) / moveⱼ,

    where moveⱼ = max(qⱼ, 1 − qⱼ) if a value is added or removed, and 1 if one is replaced. One value then changes each
    distance, and so the largest of them, by at most 1, however many quantiles there are: none of them pays for the
    others. The points are returned in ascending order.

    With the same ε for all together, every error that is certified is smaller than if each quantile were chosen apart
    with an equal share of it; so are the errors themselves, by a quarter to nine tenths in benchmarks. Those of
    `Quantiles` are about as small, and smaller if there are more than ten quantiles, but it certifies larger ones.

    **Guarantee**: ε-differential privacy under `neighboring_relation`, where a unit has one value; for the number of
    values too under add or remove. The probabilities are exact. Proof: proofs/mechanisms/quantiles/joint.md.

    ==================================  ======================================================
    Edge case                           Answer
    ==================================  ======================================================
    no values, or epsilon = 0           any grid points, each as likely, in ascending order
    a value outside the bounds, ±∞      counts as the nearest grid point
    NaN, None                           count as 0, or as the grid point nearest to it
    lower = upper                       that point for each quantile
    ==================================  ======================================================

    Args:
        quantiles: Ascending, each between 0 and 1, none twice, at least one.
        lower: The public lower bound of the values.
        upper: The public upper bound of the values.
        epsilon: 0 or more, for all quantiles together.
        resolution: The spacing of the grid, above 0; at most 2^60 grid points lie between 0 and a bound.
        neighboring_relation: How a database may differ from its neighbor.

    Raises:
        ParameterError: A parameter is out of range, or the grid has no point.

    Example:
        >>> ages = JointQuantiles(quantiles=["0.2", "0.5", "0.8"], lower=0, upper=120, epsilon=1)
        >>> [10 * round(age / 10) for age in ages.release(list(range(101)) * 1000)]
        [20, 50, 80]

    References:
        [MT07]; [GJK21] for one choice of several quantiles, there by the sum of the errors of the gaps between them.
    """

    quantiles: tuple[Fraction, ...]
    lower: Fraction
    upper: Fraction
    epsilon: Fraction
    resolution: Fraction
    neighboring_relation: NeighboringRelation

    def __init__(
        self,
        *,
        quantiles: Sequence[Number],
        lower: Number,
        upper: Number,
        epsilon: Number,
        resolution: Number = 1,
        neighboring_relation: NeighboringRelation = ADD_OR_REMOVE_ONE,
    ) -> None:
        set_fields(
            self,
            quantiles=ascending(quantiles),
            lower=exact(lower, "lower"),
            upper=exact(upper, "upper"),
            epsilon=nonnegative(epsilon, "epsilon"),
            resolution=as_resolution(resolution),
            neighboring_relation=as_relation(neighboring_relation),
        )
        ValueGrid(self.lower, self.upper, self.resolution)

    @property
    def event(self) -> ExponentialEvent:
        """The event of one release, for accountants: one choice, whatever the number of quantiles."""
        return ExponentialEvent(self.epsilon)

    def release(self, values: Any | Secret[Any]) -> tuple[Fraction, ...]:
        """A grid point near each quantile, in the order of the quantiles.

        Args:
            values: A sequence of numbers, one for each unit, in any order.

        Raises:
            ParameterError: A value is no number.
        """
        grid = self._grid
        ranks = _Ranks.of(grid.steps(values), (grid.first, grid.last), self.quantiles, self.moves)
        rate = self.epsilon / (2 * PARTS)
        distances = np.concatenate(ranks.distances)
        exponents = multiply_add(rate.numerator, distances, np.zeros_like(distances))
        weights = ranks.weights(exponents_in_floats(exponents, rate.denominator))
        chosen = int(exponential_choice_of(exponents, rate.denominator, 1, weights=weights)[0])
        points = [first + int(uniform_below(count, 1)[0]) for first, count in ranks.ranges(chosen)]
        return tuple(point * self.resolution for point in sorted(points))

    def accuracies(self, confidence: Number = "0.95") -> tuple[float, ...]:
        """The tⱼ for which #{v < xⱼ} − tⱼ ≤ qⱼ·n ≤ #{v ≤ xⱼ} + tⱼ holds of all answers xⱼ at once.

        With this confidence. v are the values as they are counted: moved to the nearest grid point.

        tⱼ = moveⱼ·(2/ε)·(m·ln of the number of grid points − ln(1 − confidence)) ranks, rounded up; infinite at ε = 0.
        """
        if not self.epsilon:
            return (inf,) * len(self.quantiles)
        ratio = len(self._grid) ** len(self.quantiles) / failure_probability(confidence)
        return tuple(float_up(log_up(ratio) * 2 * move / self.epsilon) for move in self.moves)

    def accuracy(self, confidence: Number = "0.95") -> float:
        """The largest of the `accuracies`."""
        return max(self.accuracies(confidence))

    @property
    def moves(self) -> tuple[Fraction, ...]:
        """How much one value can change the error in ranks of each quantile, at most."""
        is_added = self.neighboring_relation is ADD_OR_REMOVE_ONE
        return tuple(max(q, 1 - q) if is_added else Fraction(1) for q in self.quantiles)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ranks:
    """The distances of all grid points from each quantile, in parts.

    They are constant on stretches of the grid: from the first end to the last, by turns a gap between values and a
    value.

    Attributes:
        starts: Where each stretch starts; last, the point after the last end.
        over: For each quantile, how far too many values lie below the points of each stretch; it ascends.
        under: For each quantile, how far too few lie at or below them; it descends.
        distances: For each quantile, the larger of both, or 0.
    """

    starts: Integers
    over: tuple[Integers, ...]
    under: tuple[Integers, ...]
    distances: tuple[Integers, ...]

    @classmethod
    def of(
        cls, steps: Integers, ends: tuple[int, int], quantiles: Sequence[Fraction], moves: Sequence[Fraction]
    ) -> Self:  # fmt: skip
        """The ranks of values; for qⱼ = a/b they are multiples of 1/b, and moveⱼ is one, too."""
        starts, _, below, up_to = stretches(steps, ends)
        n = len(steps)
        if PARTS * max(q.denominator for q in quantiles) * max(1, n) > SAFE:
            below, up_to = below.astype(object), up_to.astype(object)
        over, under = list[Integers](), list[Integers]()
        for q, move in zip(quantiles, moves, strict=True):
            target, most = q.numerator * n, int(move * q.denominator)
            over.append(-((target - below * q.denominator) * PARTS // most))
            under.append(-((up_to * q.denominator - target) * PARTS // most))
        distances = tuple(np.maximum(0, np.maximum(*both)) for both in zip(over, under, strict=True))
        return cls(
            starts=np.append(starts, ends[1] + 1), over=tuple(over), under=tuple(under), distances=distances
        )  # fmt: skip

    def weights(self, exponents: Floats) -> LargeWeights:
        """For each quantile and stretch, one after the other, how many tuples have their largest distance there first.

        That is: in so many tuples this quantile's point lies in this stretch, those of the quantiles before it are
        less far, and those of the quantiles after it are as far at most. Every tuple is in exactly one of these sets.
        Where all tuples together would be hopeless, by the exponents, there are at most as many as those.
        """
        widths, quantiles = np.diff(self.starts), range(len(self.distances))
        all_tuples = len(quantiles) * log(self.starts[-1] - self.starts[0])
        logarithms = np.full((len(quantiles), len(widths)), all_tuples)
        near = exponents.reshape(logarithms.shape) <= all_tuples + HOPELESS
        with np.errstate(divide="ignore"):
            for quantile in quantiles:
                places = np.flatnonzero(near[quantile])
                total, distances = np.log(widths[places]), self.distances[quantile][places]
                for other in quantiles:
                    if other != quantile:
                        first, after = self._within(other, distances, is_closer=other < quantile)
                        total += np.log(after - first)
                logarithms[quantile, places] = total
        return LargeWeights(logarithms.ravel(), lambda index: prod(count for _, count in self.ranges(index)))

    def ranges(self, candidate: int) -> list[tuple[int, int]]:
        """For each quantile, the first of the points that it may have in a candidate's tuples, and their number."""
        quantile, stretch = divmod(candidate, len(self.starts) - 1)
        distance = self.distances[quantile][stretch : stretch + 1]
        found = list[tuple[int, int]]()
        for other in range(len(self.distances)):
            if other == quantile:
                first, after = self.starts[stretch], self.starts[stretch + 1]
            else:
                ((first,), (after,)) = self._within(other, distance, is_closer=other < quantile)
            found.append((int(first), int(after) - int(first)))
        return found

    def _within(self, quantile: int, distances: Integers, *, is_closer: bool) -> tuple[Integers, Integers]:
        """The first point as far from a quantile as some distances at most, or closer, and the one after the last."""
        over, under = self.over[quantile], self.under[quantile]
        first = self.starts[np.searchsorted(-under, -distances, side="right" if is_closer else "left")]
        after = self.starts[np.searchsorted(over, distances, side="left" if is_closer else "right")]
        return first, np.where(distances > 0, after, first) if is_closer else after
