"""Nearly the largest value, or the smallest: the point that just so many values reach, by permute-and-flip."""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, inf
from typing import Any, Final

import numpy as np

from sfumato.errors import ParameterError
from sfumato.mechanisms.lattice import as_resolution
from sfumato.mechanisms.quantiles.grid import OnGrid
from sfumato.mechanisms.selection.permute_and_flip import PermuteAndFlip
from sfumato.noise.uniform.integers import Integers
from sfumato.numeric.rationals import Number, exact, flag, nonnegative, set_fields
from sfumato.numeric.rounding import log_up
from sfumato.privacy.events import LaplaceEvent, PureEvent
from sfumato.privacy.secret import Secret

MOST_POINTS: Final = 1 << 20
_FAILURE: Final = Fraction(1, 20)
"""How often, at most, the answer may lie beyond all values."""
_MOST_RANKS: Final = 1 << 62
"""More than there are values, and room for differences of ranks in 64 bits, however small ε is."""


@dataclass(frozen=True, slots=True, init=False)
class Extreme(OnGrid):
    """Chooses the t-th largest of the values (or smallest), with t as small as the noise allows.

    The distance of a grid point x is its error in ranks, for the largest

        distance(x) = max(0, #{v > x} − (t − 1), t − #{v ≥ x}),

    which is 0 at the t-th largest value alone; permute-and-flip chooses a point of small distance. An exact maximum is
    one person's value and cannot be released: t = ⌈(2/ε)·ln(20·points)⌉ (from 1 to 2^62) is the least that keeps the
    choice from running past all values more often than once in 20.

    **Guarantee**: ε-differential privacy for adding or removing one value, because each distance then changes by at
    most 1; for replacing one, 2ε. The probabilities are exact. Proof: proofs/mechanisms/quantiles/extreme.md.

    ==================================  ======================================================
    Edge case                           Answer
    ==================================  ======================================================
    epsilon = 0                         any grid point, each as likely
    fewer than t values                 drawn to the other end of the grid
    a value outside the bounds, ±∞      counts as the nearest grid point
    NaN, None                           count as 0, or as the grid point nearest to it
    ==================================  ======================================================

    Args:
        largest: True for the largest value, False for the smallest.
        lower: The public lower bound of the values.
        upper: The public upper bound of the values.
        epsilon: The privacy parameter of one release, 0 or more.
        resolution: The spacing of the grid, above 0; it may have at most 2^20 points.

    Raises:
        ParameterError: A parameter is out of range, or the grid has no point or too many.

    Example:
        >>> oldest = Extreme(largest=True, lower=0, upper=120, epsilon=1)
        >>> oldest.rank
        16
        >>> 80 <= oldest.release(list(range(100)) * 10) < 100
        True

    References:
        [MS20] for the choice; [Smi11] for ranks as utilities.
    """

    largest: bool
    lower: Fraction
    upper: Fraction
    epsilon: Fraction
    resolution: Fraction

    def __init__(self, *, largest: bool, lower: Number, upper: Number, epsilon: Number, resolution: Number = 1) -> None:
        set_fields(
            self,
            largest=flag(largest, "largest"),
            lower=exact(lower, "lower"),
            upper=exact(upper, "upper"),
            epsilon=nonnegative(epsilon, "epsilon"),
            resolution=as_resolution(resolution),
        )
        if len(self._grid) > MOST_POINTS:
            raise ParameterError("resolution", resolution, f"must leave at most {MOST_POINTS:,} points in the bounds")

    @property
    def rank(self) -> int:
        """t: the rank of the sought value, counted from the extreme one."""
        if self.epsilon == 0:
            return 1
        return min(max(1, ceil(2 * Fraction(log_up(len(self._grid) / _FAILURE)) / self.epsilon)), _MOST_RANKS)

    @property
    def event(self) -> LaplaceEvent | PureEvent:
        """The event of one release, for accountants."""
        return self._choice.event

    def release(self, values: Any | Secret[Any]) -> Fraction:
        """A grid point near the extreme value.

        Args:
            values: A sequence of numbers, in any order.

        Raises:
            ParameterError: A value is no number.
        """
        grid = self._grid
        steps = np.asarray(grid.steps(values), dtype=np.int64)
        counts = np.bincount(steps - grid.first, minlength=len(grid))
        return (grid.first + self._choice.release(-self._distances(counts))) * self.resolution

    def accuracy(self, confidence: Number = "0.95") -> float:
        """How far the distance of the answer, in ranks, stays from 0 with this confidence; infinite at ε = 0."""
        return float(self._choice.accuracy(confidence, candidates=len(self._grid))) if self.epsilon else inf

    def _distances(self, counts: Integers) -> Integers:
        """The error in ranks of every grid point, given how many values it holds."""
        towards = counts if self.largest else counts[::-1]
        reached = np.cumsum(towards[::-1])[::-1]  # #{v ≥ x}
        beyond = reached - towards  # #{v > x}
        distances: Integers = np.maximum(0, np.maximum(beyond - (self.rank - 1), self.rank - reached))
        return distances if self.largest else distances[::-1]

    @property
    def _choice(self) -> PermuteAndFlip:
        return PermuteAndFlip(utility_sensitivity=1, epsilon=self.epsilon)
