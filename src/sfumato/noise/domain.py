"""The scales for which noise is drawn."""

from fractions import Fraction
from typing import Final

from sfumato.errors import ParameterError
from sfumato.numeric.rounding import dyadic_up

SMALLEST_SCALE: Final = Fraction(1, 1000)
LARGEST_SCALE: Final = Fraction(1 << 50)

_LONGEST_TERM: Final = 1 << 50  # times the blocks of a geometric draw, and as a divisor, still machine integers
_DIGITS: Final = 24


def drawable(scale: Fraction, name: str) -> Fraction:
    """The scale itself, if it lies between 1/1000 and 2^50 lattice steps.

    Below, the noise is 0 but for a chance of e^−1000, and above, an answer no longer fits an int64.

    Raises:
        ParameterError: The scale lies outside.
    """
    if not SMALLEST_SCALE <= scale <= LARGEST_SCALE:
        requirement = "must lie between 1/1000 and 2^50 lattice steps; change ε, the sensitivity or the resolution"
        raise ParameterError(name, scale, requirement)
    return scale


def short_scale(scale: Fraction) -> Fraction:
    """The scale itself if both of its terms are at most 2^50, otherwise the next larger one of 23 or 24 binary digits.

    Samplers calculate with the terms of a scale, in machine integers while those are short. More noise than was asked
    for only adds privacy, and this is less than 2^−22 of it.

    Example:
        >>> short_scale(Fraction(10, 3)), short_scale(1 / Fraction("0.03333333333333333"))
        (Fraction(10, 3), Fraction(7864321, 262144))
    """
    if max(scale.as_integer_ratio()) <= _LONGEST_TERM:
        return scale
    return dyadic_up(scale, bits=_DIGITS)


def drawable_variance(variance: Fraction) -> Fraction:
    """The variance itself, if its square root is `drawable`.

    Raises:
        ParameterError: The variance lies outside.
    """
    if not SMALLEST_SCALE**2 <= variance <= LARGEST_SCALE**2:
        raise ParameterError("variance", variance, "its square root must lie between 1/1000 and 2^50 lattice steps")
    return variance
