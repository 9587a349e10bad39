"""Several quantiles at once: the middle one first, then those on either side of it among the values there."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import Any, Final

from sfumato.errors import ParameterError
from sfumato.mechanisms.lattice import as_resolution
from sfumato.mechanisms.quantiles.grid import OnGrid, ascending, choose_step, rank_range
from sfumato.noise.uniform.integers import Integers
from sfumato.noise.uniform.uniform import uniform_below
from sfumato.numeric.distributions import failure_probability
from sfumato.numeric.rationals import Number, exact, nonnegative, set_fields
from sfumato.numeric.rounding import float_up, log_up
from sfumato.privacy.events import ExponentialEvent, SelfComposedEvent
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE, NeighboringRelation, as_relation
from sfumato.privacy.secret import Secret

PLACES: Final = 1 << 20
"""Each grid point is split into so many places, and each of its values is put into one of them at random."""

_LARGEST_STEP: Final = 1 << 40  # times PLACES it still is an int64


@dataclass(frozen=True, slots=True)
class _Node:
    """One choice of the recursion: quantile `index`, which is the quantile `fraction` of the values left to it."""

    index: int
    fraction: Fraction
    level: int
    left: "_Node | None"
    right: "_Node | None"


@dataclass(frozen=True, slots=True, init=False)
class Quantiles(OnGrid):
    """Several quantiles in ascending order, by about log₂ of their number of choices one below the other.

    The middle quantile is chosen as `Quantile` does; values up to it go left, the others right; and so on with the
    quantiles on either side. With L levels each level costs ε/L, because a value takes part in one choice of a level
    only; so the error grows with the square of the logarithm of their number, not with their number. Beforehand, each
    value is put into one of 2^20 places within its grid point at random, so that many equal values can be divided.

    **Guarantee**: ε-differential privacy under `neighboring_relation`, where a unit has one value. The probabilities
    are exact. Proof: proofs/mechanisms/quantiles/quantiles.md.

    ==================================  ======================================================
    Edge case                           Answer
    ==================================  ======================================================
    no values, or epsilon = 0           grid points without regard to the data, ascending
    a value outside the bounds, ±∞      counts as the nearest grid point
    NaN, None                           count as 0, or as the grid point nearest to it
    lower = upper                       that point for each quantile
    ==================================  ======================================================

    Args:
        quantiles: Ascending, each between 0 and 1, none twice, at least one.
        lower: The public lower bound of the values.
        upper: The public upper bound of the values.
        epsilon: 0 or more, for all quantiles together.
        resolution: The spacing of the grid, above 0; at most 2^40 grid points lie between 0 and a bound.
        neighboring_relation: How a database may differ from its neighbor.

    Raises:
        ParameterError: A parameter is out of range, or the grid has no point.

    Example:
        >>> ages = Quantiles(quantiles=["0.2", "0.5", "0.8"], lower=0, upper=120, epsilon=1)
        >>> [10 * round(age / 10) for age in ages.release(list(range(101)) * 1000)]
        [20, 50, 80]

    References:
        [KSS22] Algorithm 1.
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
        if max(-self._grid.first, self._grid.last) > _LARGEST_STEP:
            raise ParameterError(
                "resolution", self.resolution, "must leave at most 2^40 lattice points between 0 and each bound"
            )

    @property
    def levels(self) -> int:
        """L = ⌊log₂ of the number of quantiles⌋ + 1, how many choices one value can take part in."""
        return len(self.quantiles).bit_length()

    @property
    def event(self) -> SelfComposedEvent:
        """The event of one release, for accountants: one choice for each level."""
        return SelfComposedEvent(ExponentialEvent(self.epsilon / self.levels), self.levels)

    def release(self, values: Any | Secret[Any]) -> tuple[Fraction, ...]:
        """A grid point near each quantile, in the order of the quantiles.

        Args:
            values: A sequence of numbers, one for each unit, in any order.

        Raises:
            ParameterError: A value is no number.
        """
        steps = self._grid.steps(values)
        places = steps * PLACES + uniform_below(PLACES, len(steps))
        ends = (self._grid.first * PLACES, self._grid.last * PLACES + PLACES - 1)
        chosen = self._chosen(self._root, places, ends)
        return tuple(chosen[index] // PLACES * self.resolution for index in range(len(self.quantiles)))

    def accuracy(self, confidence: Number = "0.95") -> float:
        """The t for which #{v < xⱼ} − t ≤ qⱼ·n ≤ #{v ≤ xⱼ} + t holds of all answers xⱼ at once, with this confidence.

        v are the values as they are counted: moved to the nearest grid point.

        Each choice adds its own error, by the union bound over all choices, to a mean of those of the two between which
        it lies: the largest of these sums. Values that share a grid point and a place, about one in 2^20 of those of
        the point, may add to it once a level. Infinite at ε = 0.
        """
        ratio = len(self._grid) * PLACES * len(self.quantiles) / failure_probability(confidence)
        return float_up(log_up(ratio) * self._largest_error(self._root)) if self.epsilon else inf

    @property
    def _root(self) -> _Node | None:
        return _subtree(self.quantiles, range(len(self.quantiles)), (Fraction(0), Fraction(1)), 0)

    def _rate(self, node: _Node) -> Fraction:
        """How much a rank of distance adds to an exponent: such that its level costs ε/levels.

        A replaced value stays in one choice (at the first level, always), or leaves one and enters another.
        """
        apart = rank_range(node.fraction, ADD_OR_REMOVE_ONE)
        if self.neighboring_relation is REPLACE_ONE:
            apart = 2 * apart if node.level else rank_range(node.fraction, REPLACE_ONE)
        return self.epsilon / (self.levels * apart)

    def _largest_error(
        self, node: _Node | None, below: Fraction = Fraction(0), above: Fraction = Fraction(0)
    ) -> Fraction:  # fmt: skip
        """That of a node and of all below it, where an exponent grows by 1, given those of the choices around it."""
        if node is None:
            return Fraction(0)
        own = 1 / self._rate(node) + (1 - node.fraction) * below + node.fraction * above
        return max(own, self._largest_error(node.left, below, own), self._largest_error(node.right, own, above))

    def _chosen(self, node: _Node | None, places: Integers, ends: tuple[int, int]) -> dict[int, int]:
        """The place of each quantile below a node."""
        if node is None:
            return {}
        place = choose_step(places, ends, node.fraction, self._rate(node))
        left = self._chosen(node.left, places[places <= place], (ends[0], place))
        right = self._chosen(node.right, places[places > place], (place, ends[1]))
        return left | {node.index: place} | right


def _subtree(
    quantiles: tuple[Fraction, ...], indexes: range, between: tuple[Fraction, Fraction], level: int
) -> _Node | None:
    """The choices of `indexes`, among values `between` two quantiles: their shape does not depend on the data."""
    if not indexes:
        return None
    middle = indexes[len(indexes) // 2]
    below, quantile, above = between[0], quantiles[middle], between[1]
    return _Node(
        index=middle,
        fraction=(quantile - below) / (above - below),
        level=level,
        left=_subtree(quantiles, range(indexes.start, middle), (below, quantile), level + 1),
        right=_subtree(quantiles, range(middle + 1, indexes.stop), (quantile, above), level + 1),
    )
