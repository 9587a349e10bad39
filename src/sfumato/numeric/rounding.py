"""Directed rounding: floats, rationals and integers that are certain to lie on the side their name says.

The C library's exp, log and log1p and SciPy's erf family are right to a few units in the last place; the margins here
are at least ten times that, and swallow a chain of such steps. `exp_bounds` and `log_bounds` do without floats, at any
precision.
"""

import math
from fractions import Fraction
from typing import Final

from sfumato.errors import ParameterError

RELATIVE_MARGIN: Final = 1e-12
"""What `inflated` adds and `deflated` takes off: above the error of any sum or special function it is used on."""

_SMALLEST_EXPONENT: Final = -700  # below it floats turn subnormal and lose their relative precision
_LARGEST_EXPONENT: Final = 709
_EXP_FLOOR: Final = 1e-304  # above e^-700
_ULP: Final = math.ulp(1.0)
_SAFE_ULPS: Final = 8
_NEAR_ONE: Final = Fraction(1, 2**60)  # nearer than this, ln x ≤ x - 1 is tight enough


def inflated(value: float) -> float:
    """A value of at least 0, enlarged by `RELATIVE_MARGIN`."""
    return value * (1 + RELATIVE_MARGIN)


def deflated(value: float) -> float:
    """A value of at least 0, reduced by `RELATIVE_MARGIN`."""
    return value * (1 - RELATIVE_MARGIN)


def float_up(value: Fraction) -> float:
    """The smallest float that is not below a rational.

    Example:
        >>> Fraction(float_up(Fraction(1, 10))) >= Fraction(1, 10)
        True
    """
    try:
        nearest = float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.nextafter(math.inf, 0)
    return nearest if nearest >= value else math.nextafter(nearest, math.inf)


def exp_up(exponent: Fraction) -> float:
    """A float at or above e^exponent: 1 at 0, infinite above 709, and 1e-304 for all exponents below -700.

    Example:
        >>> exp_up(Fraction(0)), exp_up(Fraction(1)) >= math.e
        (1.0, True)
    """
    if exponent > _LARGEST_EXPONENT:
        return math.inf
    if exponent < _SMALLEST_EXPONENT:
        return _EXP_FLOOR
    return math.exp(float(exponent)) * (1 + _exp_error(exponent))


def exp_down(exponent: Fraction) -> float:
    """A float at or below e^exponent: 1 at 0, the largest float above 709, and 0 below -700."""
    if exponent > _LARGEST_EXPONENT:
        return math.exp(_LARGEST_EXPONENT)
    if exponent < _SMALLEST_EXPONENT:
        return 0.0
    return math.exp(float(exponent)) * (1 - _exp_error(exponent))


def log_up(value: Fraction) -> Fraction:
    """A rational at or above ln(value), exact at 1, within a relative 1e-14.

    Raises:
        ParameterError: The value is 0 or less.

    Example:
        >>> log_up(Fraction(1)), float(log_up(Fraction(2)))
        (Fraction(0, 1), 0.6931471805599502)
    """
    if value <= 0:
        raise ParameterError("value", value, "must be above 0 to have a logarithm")
    if abs(value - 1) < _NEAR_ONE:
        return value - 1
    nearest = log_near(value)
    return Fraction(nearest + abs(nearest) * 4 * _SAFE_ULPS * _ULP)


def log_near(value: Fraction) -> float:
    """ln(value) of a value above 0, to a few units in the last place, also near 1 and beyond the range of floats."""
    if abs(value - 1) < Fraction(1, 2):
        return math.log1p(float(value - 1))
    octave = value.numerator.bit_length() - value.denominator.bit_length()
    return math.log(value / Fraction(2) ** octave) + octave * math.log(2)


def dyadic_up(value: Fraction, bits: int = 40) -> Fraction:
    """The smallest multiple of a power of two, of `bits` significant bits, that is not below a value above 0.

    Example:
        >>> dyadic_up(Fraction(1, 3), bits=3)
        Fraction(3, 8)
    """
    octave = value.numerator.bit_length() - value.denominator.bit_length()
    unit = Fraction(2) ** (octave + 1 - bits)
    return math.ceil(value / unit) * unit


def exp_bounds(exponent: Fraction, bits: int) -> tuple[int, int]:
    """Integers `lower` ≤ 2^bits · e^(−exponent) ≤ `upper`, no more than a few apart.

    The exponent is halved until it is small, the Taylor series summed in integers rounded down, and the result squared
    as often as the exponent was halved; every rounding is counted.

    Args:
        exponent: 0 or more.
        bits: The precision, 1 or more.

    Raises:
        ParameterError: The exponent is negative.

    Example:
        >>> exp_bounds(Fraction(1), 16)  # 2^16/e is 24109.3…
        (24109, 24110)
    """
    if exponent < 0:
        raise ParameterError("exponent", exponent, "must be 0 or more")
    if exponent == 0:
        return 1 << bits, 1 << bits
    if exponent > bits:  # e^−bits is below 2^−bits
        return 0, 1
    numerator, denominator = exponent.as_integer_ratio()
    halvings = max(0, numerator.bit_length() - denominator.bit_length() + 8)
    precision = bits + halvings + 16
    lower, upper = _exp_of_small((numerator << precision) // (denominator << halvings), precision)
    for _ in range(halvings):
        lower, upper = lower * lower >> precision, -(-upper * upper >> precision)
    return lower >> precision - bits, min(-(-upper >> precision - bits), 1 << bits)


def log_bounds(value: Fraction, bits: int) -> tuple[int, int]:
    """Integers `lower` ≤ 2^bits · ln(value) ≤ `upper`, no more than a few apart.

    ln(value) = k·ln 2 + 2·artanh((m − 1)/(m + 1)) for value = m·2^k, and ln 2 = 2·artanh(1/3).

    Raises:
        ParameterError: The value is 0 or less.

    Example:
        >>> log_bounds(Fraction(2), 16)  # 2^16·ln 2 is 45426.09…
        (45426, 45427)
    """
    if value <= 0:
        raise ParameterError("value", value, "must be above 0 to have a logarithm")
    octaves = value.numerator.bit_length() - value.denominator.bit_length()
    mantissa = value / Fraction(2) ** octaves
    precision = bits + octaves.bit_length() + 16
    rest_lower, rest_upper = _artanh((mantissa - 1) / (mantissa + 1), precision)
    two_lower, two_upper = _artanh(Fraction(1, 3), precision)
    octave_bounds = sorted((octaves * two_lower, octaves * two_upper))
    drop = precision - bits - 1  # one bit less, for the factor 2 of both terms
    return rest_lower + octave_bounds[0] >> drop, -(-(rest_upper + octave_bounds[1]) >> drop)


def _exp_error(exponent: Fraction) -> float:
    """A relative error above those of rounding the exponent and of exp itself; none at 0."""
    return (abs(float(exponent)) + _SAFE_ULPS) * _ULP if exponent else 0.0


def _exp_of_small(steps: int, precision: int) -> tuple[int, int]:
    """Bounds of 2^precision · e^−r, for r between `steps` and steps + 1 units of 2^−precision, and below 1/64."""
    total = term = 1 << precision
    count = 0
    while term:
        count += 1
        term = term * steps // (count << precision)
        total += -term if count % 2 else term
    slack = 2 * count + 3  # each term lacks less than 2 units, and what follows the last less than that
    return total - slack - 1, total + slack


def _artanh(value: Fraction, precision: int) -> tuple[int, int]:
    """Bounds of 2^precision · artanh(value), for |value| ≤ 1/3, from its odd power series."""
    if value < 0:
        lower, upper = _artanh(-value, precision)
        return -upper, -lower
    numerator, denominator = value.as_integer_ratio()
    power = (numerator << precision) // denominator
    square = power * power >> precision
    total, count = 0, 0
    while power:
        total += power // (2 * count + 1)
        power = power * square >> precision
        count += 1
    return total, total + 4 * count + 4  # a power lacks less than 3 units, its quotient one more
