"""What a privacy profile is, and the arithmetic of its bounds: arrays rounded outward, normal tails, roots."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfc, erfcx

from sfumato.numeric.rounding import float_up

Array: TypeAlias = NDArray[np.float64]


class Profile(Protocol):
    """The privacy profile δ(ε) = sup over sets S of P(S) − e^ε Q(S), for one order of a pair of laws (P, Q).

    It is only ever asked for ε ≥ 0: what happens below 0 is the profile of the pair in the other order, since
    δ_PQ(−ε) = 1 − e^−ε + e^−ε δ_QP(ε).
    """

    def delta_up(self, epsilon: Array) -> Array:
        """At or above δ at each ε of 0 or more, and never above 1; not increasing in ε."""

    def test_down(self, epsilon: Array) -> tuple[Array, Array]:
        """Of a set S for each ε, about the one that attains δ: P(S) rounded down, and Q(S) rounded up.

        The sets are of a pair of laws that the event really allows, the same pair for every ε and for both orders, so
        that P(S) − e^ε' Q(S) is a lower bound of δ at every ε'. Zeros where no such pair is known.
        """

    @property
    def highest_loss(self) -> float:
        """The smallest ε known at which δ is as small as it gets; infinite where it keeps falling."""


@dataclass(frozen=True, slots=True)
class DominatingPair:
    """The profiles of the laws with the unit against without it, and without it against with it.

    **Guarantee**: a mechanism has this pair if, for all its neighbours (D with the unit, D' without), its profile from
    D to D' is at most `forward`, and from D' to D at most `backward`. Such pairs compose: the profiles of products of
    dominating laws bound adaptive composition [ZDW22]. For replaced units the two are the same.
    """

    forward: Profile
    backward: Profile

    @property
    def is_symmetric(self) -> bool:
        """Whether both orders have the same profile."""
        return self.forward == self.backward


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


_STEPS: Final = 40
_NEAR: Final = 2e-15


def below_roots(curve: Callable[[Array], tuple[Array, Array]], targets: Array, *, grid: Array) -> Array:
    """For each target an x, as near below the root as found, at which a growing function is not above the target.

    The grid brackets each root; Newton's method goes on from there, halving where it leaves the bracket. What is
    returned was itself tested; where even the first point of the grid lies above the target, that point is returned.

    Args:
        curve: The function and its slope.
        targets: What the function shall be.
        grid: Growing points.
    """
    values = np.maximum.accumulate(curve(grid)[0])
    place = np.searchsorted(values, targets, side="right")
    lows, highs = grid[np.maximum(place - 1, 0)], grid[np.minimum(place, grid.size - 1)]
    x, active = np.interp(targets, values, grid), np.arange(targets.size)
    for _ in range(_STEPS):
        value, slope = curve(x[active])
        target, tried = targets[active], x[active]
        is_below = value <= target
        low, high = np.where(is_below, tried, lows[active]), np.where(is_below, highs[active], tried)
        lows[active], highs[active] = low, high
        slack = _NEAR * (1 + np.abs(tried))
        with np.errstate(over="ignore"):
            step = (target - value) / np.maximum(slope, 1e-300)
        newton = tried + np.clip(step, low - high, high - low) - slack  # so that it ends on the side below
        x[active] = np.where((newton > low) & (newton < high), newton, (low + high) / 2)
        active = active[(high - low > 4 * slack) & ~(is_below & (step <= 4 * slack))]
        if not active.size:
            break
    return lows
