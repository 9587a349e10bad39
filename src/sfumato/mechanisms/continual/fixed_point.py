"""Multiplication of whole numbers by a number between 0 and 1, rounded down, the same in machine and Python integers.

A running counter is restored bit by bit, and its sensitivity counts every rounding; so all of it is whole numbers.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Final

from sfumato.noise.uniform.integers import Integers, largest

DIGITS: Final = 31
"""The binary digits of a multiplier."""

_SPLIT: Final = DIGITS - 1  # no shift is smaller
_LOW: Final = (1 << _SPLIT) - 1
_LARGEST: Final = 1 << 61


@dataclass(frozen=True, slots=True)
class Multiplier:
    """significand·2^−shift: a number above 0 and at most 1, in so few digits that products are machine integers.

    Args:
        significand: At least 1 and below 2^31.
        shift: At least 30.

    Example:
        >>> import numpy as np
        >>> third = Multiplier.near(Fraction(1, 3))  # and 2^−32 of it more
        >>> third.times_one(10**12), third.times(np.array([10**12, -3])).tolist()
        (333333333488, [333333333488, -2])
    """

    significand: int
    shift: int

    @classmethod
    def near(cls, value: Fraction) -> "Multiplier":
        """The nearest one to a number above 0 and at most 1, within a relative 2^−30."""
        shift = DIGITS - 1 + value.denominator.bit_length() - value.numerator.bit_length()
        significand = floor(value * (1 << shift) + Fraction(1, 2))
        return cls(significand, shift) if significand < 1 << DIGITS else cls(significand >> 1, shift - 1)

    @property
    def value(self) -> Fraction:
        """The number itself."""
        return Fraction(self.significand, 1 << self.shift)

    def times_one(self, value: int) -> int:
        """⌊value·significand/2^shift⌋."""
        return value * self.significand >> self.shift

    def times(self, values: Integers) -> Integers:
        """`times_one` of each number.

        Machine integers are taken apart into their last 30 digits and the rest, so that neither product is too large; a
        floor of a floor is the floor of the whole.
        """
        if values.dtype == object or largest(values) >= _LARGEST:
            return (values.astype(object) * self.significand) >> self.shift
        high = (values >> _SPLIT) * self.significand + ((values & _LOW) * self.significand >> _SPLIT)
        return high >> min(self.shift - _SPLIT, 63)
