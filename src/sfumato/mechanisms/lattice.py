"""Real numbers onto the lattice of multiples of a public resolution, where exact noise can hide them.

Nothing here fails on a data value: a NaN, an infinity or a number of any size has its lattice point.
"""

from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.mechanisms.arrays import LARGEST, column, integer_column, present, within
from sfumato.noise.uniform.integers import Integers, narrow, python_integers
from sfumato.numeric.rationals import Number, exact, positive, sqrt_up

_SMALLEST_EXPONENT: Final = -400  # smaller decimals count as 0
LARGEST_STEP: Final = 1 << 62

_BOUND: Final = Fraction(LARGEST)
_HALF: Final = Fraction(1, 2)
_QUOTIENT_ERROR: Final = 2.0**-50
_SPARSE: Final = 1 << 53  # floats from here on are whole, and their shortest decimals need not be
_LARGEST_TERM: Final = 1 << 900  # times 2^64 steps, still a float


def to_lattice(value: object, resolution: Fraction) -> int:
    """⌊value/resolution + ½⌋ in exact arithmetic: the nearest lattice step, halves upward.

    Rounding halves upward commutes with shifts by whole steps; to the even neighbour, as `round` does, it would not,
    and values one step apart could end up two steps apart.

    Edge cases: NaN and None are 0; ±∞ and whatever lies beyond ±2^62 steps are ±2^62.

    Args:
        value: A number; a float below 2^53 counts as its shortest decimal.
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
    """The rational a data value stands for: never an error on a number, and never decreasing in it.

    A float is its shortest decimal below 2^53, and exactly itself from there on, where decimals would spread it. What
    lies beyond ±10^308 counts as that, whether an int, a float or a decimal holds it.
    """
    held: Any = present(value)
    match held:
        case int() | np.bool_() as number:
            return Fraction(within(int(number)))
        case np.integer() as number if number.dtype.kind in "iu":  # not a timedelta, which NumPy takes for one
            return Fraction(int(number))
        case Fraction() as number:
            return max(-_BOUND, min(_BOUND, number))
        case float() | np.floating():
            return _from_float(held)
        case Decimal() as number:
            return _from_decimal(number)
        case _:
            raise ParameterError("exact", type(value).__name__, "must be a number")


def _from_float(value: float | np.floating[Any]) -> Fraction:
    if not np.isfinite(value):
        return _BOUND if value > 0 else -_BOUND
    if isinstance(value, np.longdouble) or abs(float(value)) >= _SPARSE:
        return max(-_BOUND, min(_BOUND, Fraction(*value.as_integer_ratio())))
    return exact(float(value), "exact")


def _from_decimal(value: Decimal) -> Fraction:
    if value.is_nan() or not value:  # a zero may have any exponent
        return Fraction(0)
    if value.is_infinite() or value >= LARGEST or value <= -LARGEST:
        return _BOUND if value > 0 else -_BOUND
    return Fraction(value) if value.adjusted() >= _SMALLEST_EXPONENT else Fraction(0)


def lattice_steps(values: Iterable[Any], resolution: Fraction) -> Integers:
    """`to_lattice` of each value.

    Raises:
        ParameterError: The values are not one-dimensional or hold something that is no number.
    """
    plain = column(values)
    if isinstance(plain, np.ndarray) and plain.dtype.kind == "f":
        with np.errstate(all="ignore"):  # a long double may be beyond floats
            floats = plain.astype(np.float64, copy=False)
        return _float_steps(floats, resolution)
    exact_integers = integer_column(plain)
    if exact_integers is not None:
        if resolution == 1:
            return np.clip(exact_integers, -LARGEST_STEP, LARGEST_STEP).astype(np.int64)
        if exact_integers.dtype != object and _divides_in_int64(resolution):
            return _integer_steps(exact_integers, resolution)
    return narrow(python_integers(to_lattice(value, resolution) for value in plain))


def _divides_in_int64(resolution: Fraction) -> bool:
    """Whether the numbers on the way of `_integer_steps` stay below 2^63, whatever the values."""
    numerator, denominator = resolution.as_integer_ratio()
    return numerator * (2 * denominator + 1) <= LARGEST_STEP and denominator <= LARGEST_STEP >> 2


def _integer_steps(values: NDArray[np.int64], resolution: Fraction) -> NDArray[np.int64]:
    """⌊value/resolution + ½⌋ in machine integers.

    For a resolution p/q and value = a·p + b with 0 ≤ b < p it is a·q + ⌊(2bq + p)/(2p)⌋. An a so large that a·q lies
    beyond the last step counts as one just beyond.
    """
    numerator, denominator = resolution.as_integer_ratio()
    beyond = LARGEST_STEP // denominator + 3
    whole, remainder = (values, None) if numerator == 1 else np.divmod(values, numerator)
    steps: NDArray[np.int64] = whole.clip(-beyond, beyond) * denominator
    if remainder is not None:
        steps += (2 * denominator * remainder + numerator) // (2 * numerator)
    return steps.clip(-LARGEST_STEP, LARGEST_STEP)


def _float_steps(values: NDArray[np.float64], resolution: Fraction) -> NDArray[np.int64]:
    """⌊value/resolution + ½⌋ in floats, but in exact arithmetic for those so near a half that floats could err.

    A quotient of floats is off by less than 2^−50 of itself, the shortest decimal of the value included; NaN, ±∞ and
    what lies beyond 2^49 steps are never near enough to be trusted.
    """
    with np.errstate(all="ignore"):  # whatever the caller made of warnings, none may come of data
        quotients = values / float(resolution)
        below = np.floor(quotients)
        beyond_half = quotients - below - 0.5
        settled = np.abs(beyond_half) > np.abs(quotients) * _QUOTIENT_ERROR + _QUOTIENT_ERROR
        steps = (below + (beyond_half >= 0)).astype(np.int64)
    doubtful = np.flatnonzero(~settled)
    different, which = np.unique(values[doubtful], return_inverse=True)
    exact_steps = [to_lattice(value, resolution) for value in different.tolist()]
    steps[doubtful] = np.array(exact_steps, dtype=np.int64)[which]
    return steps


def lattice_floats(steps: Integers, resolution: Fraction) -> NDArray[np.float64]:
    """The lattice points as floats: a function of the steps alone, the nearest float where one is all it takes.

    That is so for up to 2^53 steps of a width 1/n, such as 0.01 or 2^−20; otherwise two roundings make it.
    """
    numerator, denominator = resolution.as_integer_ratio()
    return steps.astype(np.float64) * float(numerator) / float(denominator)


def as_resolution(resolution: Number) -> Fraction:
    """The width of a step, if floats can hold its terms and the steps times them.

    Raises:
        ParameterError: It is not above 0, or a term of it is too large.
    """
    step = positive(resolution, "resolution")
    if max(step.numerator, step.denominator) > _LARGEST_TERM:
        requirement = "must have a numerator and a denominator of at most 2^900"
        raise ParameterError("resolution", "a number", requirement)
    return step


def lattice_l1_sensitivity(l1_sensitivity: Fraction, *, resolution: Fraction | None, l0_sensitivity: int) -> Fraction:
    """How many steps, added over all coordinates, one unit moves a vector on the lattice if it moves `l0_sensitivity`.

    ⌈Δ/resolution⌉ + l0_sensitivity − 1, because each of them may round away from its neighbour by less than one step:
    Σ⌈δᵢ⌉ < Σ(δᵢ + 1) for Σδᵢ = Δ/resolution. Without a resolution the values are integers already, and Δ is unchanged.

    Example:
        >>> lattice_l1_sensitivity(Fraction(1), resolution=Fraction(2, 5), l0_sensitivity=1)
        Fraction(3, 1)
    """
    if resolution is None or l1_sensitivity == 0:
        return l1_sensitivity
    return Fraction(ceil(l1_sensitivity / resolution) + l0_sensitivity - 1)


def lattice_l2_sensitivity(l2_sensitivity: Fraction, *, resolution: Fraction | None, l0_sensitivity: int) -> Fraction:
    """How far, in steps and in L2, one unit moves a vector on the lattice if it moves `l0_sensitivity` coordinates.

    ⌈Δ/resolution⌉ for one coordinate, Δ/resolution + √l0_sensitivity (rounded up) for more.
    """
    if resolution is None or l2_sensitivity == 0:
        return l2_sensitivity
    steps = l2_sensitivity / resolution
    return Fraction(ceil(steps)) if l0_sensitivity == 1 else steps + sqrt_up(Fraction(l0_sensitivity))
