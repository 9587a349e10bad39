"""Tails of the standard normal law, in arrays, rounded outward."""

import math
from typing import Final

import numpy as np
from scipy.special import erfc, erfcx

from sfumato.accounting.profiles.outward import MARGIN, TINY, ULP, exp_down
from sfumato.accounting.profiles.profile import Array

FAR: Final = 37.4
"""Standard deviations; the tail beyond is 1e-306, about the smallest that floats hold."""

_ROOT_TWO: Final = math.sqrt(2)


def tail_up(z: Array, *, error: Array | float = 0.0) -> Array:
    """At or above Pr[N(0, 1) > z], for a z known up to an absolute `error`; no less than 1e-304."""
    lower = np.clip(z - error, -FAR, FAR)
    return np.minimum(_tail(lower) * (1 + MARGIN + 4 * ULP * lower**2) + TINY, 1.0)


def tail_down(z: Array, *, error: Array | float = 0.0) -> Array:
    """At or below Pr[N(0, 1) > z], for a z known up to an absolute `error`; 0 far out."""
    upper = z + error
    near = np.clip(upper, -FAR, FAR)
    return np.where(upper > FAR, 0.0, _tail(near) * (1 - MARGIN - 4 * ULP * near**2))


def scaled_tail_down(z: Array, exponent: Array, *, error: Array | float) -> Array:
    """At or below e^exponent · e^(z²/2) Pr[N(0, 1) > z], for z > 0 and an exponent known up to `error`."""
    return exp_down(exponent, error=error) * erfcx(z / _ROOT_TWO) / 2 * (1 - MARGIN)


def _tail(z: Array) -> Array:
    """For |z| ≤ 37.4, by erfc in the bulk, whose relative precision is lost far out, and by erfcx there."""
    outer = np.maximum(z, 0.0)
    return np.where(z < 0, erfc(z / _ROOT_TWO), np.exp(-(outer**2) / 2) * erfcx(outer / _ROOT_TWO)) / 2
