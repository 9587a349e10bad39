"""The scales for which noise is drawn."""

from fractions import Fraction
from typing import Final

from sfumato.errors import ParameterError

SMALLEST_SCALE: Final = Fraction(1, 1000)
LARGEST_SCALE: Final = Fraction(1 << 50)


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


def drawable_variance(variance: Fraction) -> Fraction:
    """The variance itself, if its square root is `drawable`.

    Raises:
        ParameterError: The variance lies outside.
    """
    if not SMALLEST_SCALE**2 <= variance <= LARGEST_SCALE**2:
        raise ParameterError("variance", variance, "its square root must lie between 1/1000 and 2^50 lattice steps")
    return variance
