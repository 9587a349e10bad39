"""Directed rounding of arrays: bounds on the side their name says, within some units in the last place."""

import math
from fractions import Fraction
from typing import Final

import numpy as np

from sfumato.accounting.profiles.profile import Array
from sfumato.numeric.rounding import float_up

ULP: Final = math.ulp(1.0)
MARGIN: Final = 1e-14
"""Relative; above the error of a dozen roundings and of NumPy's and SciPy's special functions, which are right to 8."""

TINY: Final = 1e-304
"""What upper bounds add, because floats below 1e-307 lose their relative precision."""

_LARGEST: Final = 700.0


def exp_up(exponent: Array, *, error: Array | float = 0.0) -> Array:
    """At or above e^x, for an exponent known up to an absolute `error` below 1/2, and below 700."""
    return np.exp(np.minimum(exponent, _LARGEST)) * (1 + 2 * np.minimum(error, 0.5) + MARGIN) + TINY


def exp_down(exponent: Array, *, error: Array | float = 0.0) -> Array:
    """At or below e^x, and not below 0, for an exponent known up to an absolute `error`."""
    scale = np.maximum(1 - error - MARGIN, 0.0)
    return np.where(exponent < -_LARGEST, 0.0, np.exp(np.minimum(exponent, _LARGEST)) * scale)


def share(delta: Array, *, most: float = 1.0) -> Array:
    """A bound of δ, put back between 0 and its largest possible value, which it is where nothing is known."""
    return np.minimum(np.maximum(np.where(np.isnan(delta), most, delta), 0.0), most)


def float_down(value: Fraction) -> float:
    """The largest float that is not above a rational."""
    return -float_up(-value)
