"""What a counter releases at a tick: a running total, the sum of a sliding window, or a decaying sum.

All are computed from noisy increments that are already private, so nothing here can cost anything.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import expm1, log
from typing import Final, TypeAlias, assert_never

import numpy as np

from sfumato.errors import ParameterError
from sfumato.mechanisms.continual.fixed_point import Multiplier
from sfumato.noise.uniform.integers import SAFE, Integers, add, largest, multiply_add, narrow
from sfumato.numeric.rationals import Number, exact, positive, positive_integer, set_fields

_LARGEST_WIDTH: Final = 1 << 24
_DECAY_BITS: Final = 16  # of a decaying sum, behind those of its noise, so that rounding at each tick adds up to little


@dataclass(frozen=True, slots=True)
class RunningTotal:
    """y_t = x_1 + … + x_t."""


@dataclass(frozen=True, slots=True)
class SlidingWindow:
    """y_t = x_{t−width+1} + … + x_t: the sum of the last `width` ticks, of fewer at the beginning.

    Raises:
        ParameterError: The width is no integer from 1 to 2^24.
    """

    width: int

    def __post_init__(self) -> None:
        positive_integer(self.width, "width", most=_LARGEST_WIDTH)


@dataclass(frozen=True, slots=True, init=False)
class DecayingSum:
    """y_t = x_t + factor·y_{t−1}: at each tick, what was before is multiplied by a factor between 0 and 1.

    1 − factor is kept to 31 binary digits.

    Raises:
        ParameterError: The factor does not lie between 0 and 1, both excluded.

    Example:
        >>> DecayingSum("0.5").factor, round(float(DecayingSum.of_half_life(7).factor), 6)
        (Fraction(1, 2), 0.905724)
    """

    factor: Fraction

    def __init__(self, factor: Number) -> None:
        share = exact(factor, "factor")
        if not 0 < share < 1:
            raise ParameterError("factor", factor, "must lie between 0 and 1, both excluded")
        set_fields(self, factor=1 - Multiplier.near(1 - share).value)
        if self.factor == 0:
            raise ParameterError("factor", factor, "must be at least 2^-31")

    @classmethod
    def of_half_life(cls, ticks: Number) -> "DecayingSum":
        """The factor that halves a sum in so many ticks.

        Raises:
            ParameterError: The ticks are not above 0, or too many or too few for such a factor.
        """
        return cls(1 + Fraction(expm1(-log(2) / float(positive(ticks, "ticks")))))

    @property
    def loss(self) -> Multiplier:
        """1 − factor."""
        return Multiplier.near(1 - self.factor)


Sums: TypeAlias = RunningTotal | SlidingWindow | DecayingSum
RUNNING_TOTAL: Final = RunningTotal()


class Readout:
    """The sums of what was released so far, as ticks go on; all whole numbers, of any size.

    Args:
        sums: Which.
        numbers: How many side by side.

    Example:
        >>> window = Readout(SlidingWindow(2), numbers=1)
        >>> window.read(np.array([[1], [2], [3]])).ravel().tolist(), window.read(np.array([[4]])).tolist()
        ([1, 3, 5], [[7]])
    """

    __slots__ = ("_past", "_place", "_sums", "_total")

    def __init__(self, sums: Sums, numbers: int) -> None:
        self._sums = sums
        self._total: Integers = np.zeros(numbers, dtype=np.int64)
        width = sums.width if isinstance(sums, SlidingWindow) else 0
        self._past: Integers = np.zeros((width, numbers), dtype=np.int64)  # the last totals, in turn
        self._place = 0

    def read(self, increments: Integers) -> Integers:
        """The sums at the next ticks.

        Args:
            increments: Ticks × numbers.
        """
        match self._sums:
            case RunningTotal():
                return self._totals(increments)
            case SlidingWindow(width):
                parts = [increments[start : start + width] for start in range(0, len(increments), width)]
                return np.concatenate([self._windows(part) for part in parts]) if parts else increments
            case DecayingSum():
                return self._decayed(increments, self._sums.loss)
            case _:
                assert_never(self._sums)

    def state(self) -> dict[str, Integers]:
        """All that later sums depend on."""
        return {"total": self._total, "past": self._past, "place": np.array([self._place])}

    def restore(self, arrays: Mapping[str, Integers]) -> None:
        """Take a `state` over.

        Raises:
            KeyError: Something is not there.
            ValueError: It has another shape.
        """
        if arrays["total"].shape != self._total.shape or arrays["past"].shape != self._past.shape:
            raise ValueError("a state of another shape")
        self._total, self._past, self._place = arrays["total"], arrays["past"], int(arrays["place"][0])

    def _totals(self, increments: Integers) -> Integers:
        if largest(self._total) + largest(increments) * len(increments) > SAFE:
            increments = increments.astype(object)
        totals: Integers = np.cumsum(increments, axis=0) + self._total
        if len(totals):
            self._total = narrow(totals[-1].copy())  # the totals are the caller's, to change as well
        return totals

    def _windows(self, increments: Integers) -> Integers:
        """Of at most `width` ticks: each total less the one `width` ticks before."""
        totals = self._totals(increments)
        places = (self._place + np.arange(len(totals))) % len(self._past)
        if totals.dtype == object and self._past.dtype != object:
            self._past = self._past.astype(object)
        windows: Integers = totals - self._past[places]
        self._past[places] = totals
        self._place += len(totals)
        return windows

    def _decayed(self, increments: Integers, loss: Multiplier) -> Integers:
        rows = []
        for added in multiply_add(1 << _DECAY_BITS, increments, np.zeros_like(increments)):
            self._total = add(self._total - loss.times(self._total), added)
            rows.append(self._total >> _DECAY_BITS)
        return np.stack(rows) if rows else increments
