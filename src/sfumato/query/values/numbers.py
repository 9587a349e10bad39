"""Numbers: whole ones exactly, all others as binary doubles in the one range that every engine keeps.

A double of a query is less than 2^500 in size. What is larger, infinite or no number is NULL: as it is stored, as it
is cast, and as the result of each operation. What is multiplied, divided, divided by or raised to a power is first
rounded to a multiple of 2^-500, half to even. So a sum of two is at most 2^501, and a product or a quotient of two is
0 or between 2^-1000 and 2^1000: no operation overflows, none makes 0 of what is not 0, and no engine has to raise.

The functions give None where there is no value. What leaves the range, or 64 bits, `evaluation` turns into NULL, for
every function alike.
"""

import math
from collections.abc import Callable
from functools import cache
from typing import Final, TypeAlias

from sfumato.query.model.functions import RANGE

LIMIT: Final = 2.0**RANGE
"""Every double is less in size, about 3.27e150."""

LARGEST: Final = math.nextafter(LIMIT, 0.0)

FINEST: Final = -500
"""The exponent of two of which factors are multiples."""

FURTHEST: Final = 1000
"""Powers beyond two to this are not computed; they are NULL, or 0 below its inverse."""

LARGEST_EXPONENT: Final = 693.0
"""e to the power of this is just less than 2^1000."""

MOST_BITS, LAST_BIT = 1024, -1074
"""The exponents of two from which on doubles are infinite, and of the least of them above 0."""


def limited(value: float) -> float | None:
    """The double, never −0.0; None if it is 2^500 or more in size, infinite or no number.

    Example:
        >>> [limited(value) for value in (1e150, 1e151, float("nan"), -0.0)]
        [1e+150, None, None, 0.0]
    """
    return value + 0.0 if abs(value) < LIMIT else None


def factor(value: float) -> float:
    """The nearest multiple of 2^-500, as an operand of a product or a quotient: of doubles from 2^-448 on the double.

    Example:
        >>> [factor(value) for value in (0.1, 1e-200)]
        [0.1, 0.0]
    """
    return value * 2.0 ** (LAST_BIT - FINEST) * 2.0 ** (FINEST - LAST_BIT)  # the first rounds where doubles end


@cache
def bases(exponent: float) -> tuple[float, float]:
    """Between which sizes, ends included, a base has a power between 2^-1000 and 2^1000; all bases of exponents to 2.

    They are rounded toward 1, the power of which is always 1.
    """
    if abs(exponent) <= FURTHEST // -FINEST:
        return 0.0, LARGEST
    least, most = (math.pow(2.0, sign * FURTHEST / abs(exponent)) for sign in (-1, 1))
    return min(math.nextafter(least, 1.0), 1.0), max(math.nextafter(most, 1.0), 1.0)


Figure: TypeAlias = int | float


def product(x: Figure, y: Figure) -> Figure:
    """The product; of doubles rounded to `factor`s."""
    if isinstance(x, int) and isinstance(y, int):
        return x * y
    return factor(float(x)) * factor(float(y))


def divided(x: Figure, y: Figure) -> Figure | None:
    """The quotient; of two whole numbers cut off toward zero."""
    if isinstance(x, int) and isinstance(y, int):
        if y == 0:
            return None
        quotient = abs(x) // abs(y)
        return quotient if (x < 0) == (y < 0) else -quotient
    divisor = factor(float(y))
    return factor(float(x)) / divisor if divisor else None


def modulo(x: int, y: int) -> int | None:
    """What division of whole numbers leaves, with the sign of x; exactly, also where the quotient is beyond 64 bits."""
    rest = None if y == 0 else abs(x) % abs(y)
    return -rest if rest and x < 0 else rest


def sign(x: Figure) -> int:
    """−1, 0 or 1."""
    return (x > 0) - (x < 0)


def whole(round_to: Callable[[float], int], x: Figure) -> Figure:
    """A double rounded to a whole one by `math.floor`, `math.ceil` or `math.trunc`; a whole number as it is."""
    return x if isinstance(x, int) else float(round_to(x))


def rounded(x: Figure, digits: int) -> Figure:
    """A double to so many decimal places, half up: floor(x·10^digits + 1/2) / 10^digits; a whole number as it is."""
    if isinstance(x, int):
        return x
    power = float(10**digits)
    return whole(math.floor, x * power + 0.5) / power


def square_root(x: Figure) -> float | None:
    """Of numbers from 0."""
    return math.sqrt(x) if x >= 0 else None


def logarithm(log: Callable[[float], float], x: Figure) -> float | None:
    """`math.log` or `math.log10` of a number above 0, as a double."""
    return log(float(x)) if x > 0 else None


def exponential(x: Figure) -> float | None:
    """The power of e; 0 below 2^-1000."""
    if x > LARGEST_EXPONENT:
        return None
    return math.exp(x) if x >= -LARGEST_EXPONENT else 0.0


def power(x: Figure, y: Figure) -> float | None:
    """The y-th power of x, rounded to a `factor`, where it is a real number; 0 below 2^-1000."""
    base, exponent = factor(float(x)), float(y)
    if (base < 0 and not exponent.is_integer()) or (base == 0 and exponent < 0):
        return None
    least, most = bases(exponent)
    if least <= abs(base) <= most:
        return math.pow(base, exponent)
    return 0.0 if (abs(base) < least) == (exponent > 0) else None
