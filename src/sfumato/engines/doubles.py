"""The one range of doubles that every engine keeps: how large they are, and how fine the operands of products are.

A double of a question is less than 2^500 in size. What is larger, infinite or no number is NULL: as it is stored, as it
is cast, and as the result of each operation. What is multiplied, divided, divided by or raised to a power is first
rounded to a multiple of 2^-500, half to even. So a sum of two is at most 2^501, and a product or a quotient of two is
0 or between 2^-1000 and 2^1000: no operation overflows, none makes 0 of what is not 0, and no engine has to raise.
"""

import math
from functools import cache
from typing import Final

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
