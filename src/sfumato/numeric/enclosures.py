"""Integers that enclose an exponential or a logarithm: bounds that are certain, at any precision, without floats."""

from fractions import Fraction

from sfumato.errors import ParameterError


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
