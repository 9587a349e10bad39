"""Real numbers onto the lattice of multiples of a public resolution, where exact noise can hide them.

Nothing here fails on a data value: a NaN, an infinity or a number of any size has its lattice point.
"""

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor, isfinite, isnan
from typing import Any, Final

import numpy as np

from sfumato.errors import ParameterError
from sfumato.noise.integers import Integers, narrow, python_integers
from sfumato.numeric.rationals import exact, sqrt_up

LARGEST_STEP: Final = 1 << 62
_LARGEST_EXPONENT: Final = 400  # decimals beyond 10^400 count as infinite, below 10^−400 as 0
_HALF: Final = Fraction(1, 2)


def to_lattice(value: object, resolution: Fraction) -> int:
    """⌊value/resolution + ½⌋ in exact arithmetic: the nearest lattice step, halves upward.

    Rounding halves upward commutes with shifts by whole steps; to the even neighbour, as `round` does, it would not,
    and values one step apart could end up two steps apart.

    Edge cases: NaN and None are 0; ±∞ and whatever lies beyond ±2^62 steps are ±2^62.

    Args:
        value: A number; a float counts as its shortest decimal.
        resolution: The width of a step, above 0, in the unit of the value.

    Raises:
        ParameterError: The value is no number at all, which its column's public type decides.

    Example:
        >>> [to_lattice(value, Fraction(1, 10)) for value in (0.25, -0.25, 1e300)] == [3, -2, 2**62]
        True
    """
    steps = floor(as_rational(value) / resolution + _HALF)
    return max(-LARGEST_STEP, min(LARGEST_STEP, steps))


def as_rational(value: object) -> Fraction:
    """The rational a data value stands for: never an error on a number, and never decreasing in it."""
    if value is None:
        return Fraction(0)
    if isinstance(value, int | np.integer | np.bool_):
        return Fraction(int(value))
    if isinstance(value, Fraction):
        return value
    if isinstance(value, float | np.floating):
        return _from_float(float(value))
    if isinstance(value, Decimal):
        return _from_decimal(value)
    raise ParameterError("exact", type(value).__name__, "must be a number")


def _from_float(value: float) -> Fraction:
    if isnan(value):
        return Fraction(0)
    return exact(value, "exact") if isfinite(value) else _infinity(positive=value > 0)


def _from_decimal(value: Decimal) -> Fraction:
    if value.is_nan():
        return Fraction(0)
    if value.is_infinite() or value.adjusted() >= _LARGEST_EXPONENT:
        return _infinity(positive=value > 0)
    return Fraction(value) if value.adjusted() >= -_LARGEST_EXPONENT else Fraction(0)


def _infinity(*, positive: bool) -> Fraction:
    """Beyond every float."""
    return Fraction(10**_LARGEST_EXPONENT) * (1 if positive else -1)


def lattice_steps(values: Sequence[object] | np.ndarray[Any, Any], resolution: Fraction) -> Integers:
    """`to_lattice` of each value."""
    return narrow(python_integers(to_lattice(value, resolution) for value in values))


def lattice_l1_sensitivity(l1_sensitivity: Fraction, *, resolution: Fraction | None, dimension: int) -> Fraction:
    """How many steps, added over all coordinates, one unit moves a vector of `dimension` numbers on the lattice.

    ⌈Δ/resolution⌉ + dimension − 1, because each coordinate may round away from its neighbour by less than one step:
    Σ⌈δᵢ⌉ < Σ(δᵢ + 1) for Σδᵢ = Δ/resolution. Without a resolution the values are integers already, and Δ is unchanged.

    Example:
        >>> lattice_l1_sensitivity(Fraction(1), resolution=Fraction(2, 5), dimension=1)
        Fraction(3, 1)
    """
    if resolution is None or l1_sensitivity == 0:
        return l1_sensitivity
    return Fraction(ceil(l1_sensitivity / resolution) + dimension - 1)


def lattice_l2_sensitivity(l2_sensitivity: Fraction, *, resolution: Fraction | None, l0_sensitivity: int) -> Fraction:
    """How far, in steps and in L2, one unit moves a vector on the lattice if it moves `l0_sensitivity` coordinates.

    ⌈Δ/resolution⌉ for one coordinate, Δ/resolution + √l0_sensitivity (rounded up) for more.
    """
    if resolution is None or l2_sensitivity == 0:
        return l2_sensitivity
    steps = l2_sensitivity / resolution
    return Fraction(ceil(steps)) if l0_sensitivity == 1 else steps + sqrt_up(Fraction(l0_sensitivity))
