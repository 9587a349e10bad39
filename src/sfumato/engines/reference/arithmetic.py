"""The functions of numbers: whole ones exactly, all others in binary doubles, operation by operation.

None is where there is no value. Whole numbers beyond 64 bits and doubles beyond the range of `doubles` are turned into
NULL by `scalars`, for every function alike.
"""

import math
from collections.abc import Callable
from typing import TypeAlias

from sfumato.engines.doubles import LARGEST_EXPONENT, bases, factor

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
