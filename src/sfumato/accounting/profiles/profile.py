"""Privacy profiles: what they are, the arithmetic of their bounds, and those of continuous additive noise."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfc, erfcx

from sfumato.numeric.rationals import sqrt_up
from sfumato.numeric.rounding import float_up

Array: TypeAlias = NDArray[np.float64]


class Profile(Protocol):
    """The privacy profile δ(ε) = sup over sets S of P(S) − e^ε Q(S), for one order of a pair of distributions (P, Q).

    It is only ever asked for ε ≥ 0: what happens below 0 is the profile of the pair in the other order, since
    δ_PQ(−ε) = 1 − e^−ε + e^−ε δ_QP(ε).
    """

    __slots__ = ()

    def delta_up(self, epsilon: Array) -> Array:
        """At or above δ at each ε of 0 or more, and never above 1; not increasing in ε."""

    def test_down(self, epsilon: Array) -> tuple[Array, Array]:
        """Of a set S for each ε, about the one that attains δ: P(S) rounded down, and Q(S) rounded up.

        The sets are of a pair of distributions that the event really allows, the same pair for every ε and for both
        orders, so that P(S) − e^ε' Q(S) is a lower bound of δ at every ε'. Zeros where no such pair is known, as by
        default.
        """
        return np.zeros_like(epsilon), np.zeros_like(epsilon)

    @property
    def highest_loss(self) -> float:
        """The smallest ε known at which δ is as small as it gets; infinite where it keeps falling, as by default."""
        return math.inf


@dataclass(frozen=True, slots=True)
class DominatingPair:
    """The profiles of the distributions with the unit against without it, and without it against with it.

    **Guarantee**: a mechanism has this pair if, for all its neighbors (D with the unit, D' without), its profile from
    D to D' is at most `forward`, and from D' to D at most `backward`. Such pairs compose: the profiles of products of
    dominating distributions bound adaptive composition [ZDW22]. For replaced units the two are the same.
    """

    forward: Profile
    backward: Profile

    @property
    def is_symmetric(self) -> bool:
        """Whether both orders have the same profile."""
        return self.forward == self.backward

    def reversed(self) -> "DominatingPair":
        """The same pair from the database without the unit."""
        return DominatingPair(self.backward, self.forward)


def symmetric(profile: Profile) -> DominatingPair:
    """The pair with one profile for both orders."""
    return DominatingPair(profile, profile)


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


@dataclass(frozen=True, slots=True)
class GaussianProfile(Profile):
    """N(0, σ²) against N(−1, σ²): δ(ε) = Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ), μ = 1/σ.

    **Guarantee**: dominates Gaussian noise on every vector that moves by at most 1/σ standard deviations in L2, in
    either order; the bounds of δ are within 1e-14 + 4e-16·low² of P(S), low = εσ − 1/2σ, and never below 1e-304.

    References:
        [BW18] Theorem 8.
    """

    noise_multiplier: Fraction

    def delta_up(self, epsilon: Array) -> Array:
        """An upper bound on δ at each ε."""
        low, high, error = self._thresholds(epsilon)
        near = np.clip(low, -FAR, FAR)
        spread = 2 * (np.abs(near) + 1) * error + 4 * ULP * near**2
        second = scaled_tail_down(high, -(near**2) / 2, error=spread)
        bound = tail_up(low, error=error) - np.where(np.abs(low) < FAR, second, 0.0)
        return share(bound, most=self._total_variation_up())

    def test_down(self, epsilon: Array) -> tuple[Array, Array]:
        """Of the half-line beyond which the loss exceeds ε."""
        low, high, error = self._thresholds(epsilon)
        return tail_down(low, error=error), tail_up(high, error=error)

    def _thresholds(self, epsilon: Array) -> tuple[Array, Array, Array]:
        """εσ ∓ 1/2σ, and the absolute error of each."""
        center, half = epsilon * float(self.noise_multiplier), float(1 / (2 * self.noise_multiplier))
        return center - half, center + half, 2 * ULP * (center + half)

    def _total_variation_up(self) -> float:
        return min(math.erf(float(1 / (2 * self.noise_multiplier)) / _ROOT_TWO) * (1 + MARGIN), 1.0)


@dataclass(frozen=True, slots=True)
class LaplaceProfile(Profile):
    """Laplace noise of scale b on an answer that moves by 1: δ(ε) = 1 − e^((ε − 1/b)/2) for ε ≤ 1/b, then 0.

    **Guarantee**: dominates Laplace noise on every vector that moves by at most 1/b scales in L1, in either order; the
    bounds of δ are within 1e-14 of δ + ε + 1/b.
    """

    noise_multiplier: Fraction

    def delta_up(self, epsilon: Array) -> Array:
        """An upper bound on δ at each ε."""
        missing = epsilon - self.highest_loss
        error = 2 * ULP * (epsilon + self.highest_loss)
        bound = -np.expm1(np.minimum(missing - error, 0.0) / 2) * (1 + MARGIN)
        return np.where(missing >= 0, 0.0, share(bound))

    def test_down(self, epsilon: Array) -> tuple[Array, Array]:
        """Of the half-line beyond which the loss exceeds ε: the noise is above (ε − 1/b)/2 scales."""
        error = 4 * ULP * (epsilon + self.highest_loss)
        included = epsilon < self.highest_loss
        missing = (np.minimum(epsilon, self.highest_loss) - self.highest_loss) / 2
        first = (1 - exp_up(missing, error=error) / 2) * (1 - MARGIN)
        second = exp_up(-(epsilon + self.highest_loss) / 2, error=error) / 2
        return np.where(included, first, 0.0), np.where(included, second, 0.0)

    @property
    def highest_loss(self) -> float:
        """1/b, rounded up."""
        return float_up(1 / self.noise_multiplier)


_LOG_EXCESSES: Final = np.linspace(-300, 300, 1201)  # ln(α − 1) of the orders that are tried first


@dataclass(frozen=True, slots=True)
class ConcentratedProfile(Profile):
    """All mechanisms with D_α ≤ αρ for every α > 1.

    ln δ(ε) ≤ min over α of (α − 1)(αρ − ε) + α ln(1 − 1/α) − ln(α − 1); every α gives a valid δ.

    **Guarantee**: at or above δ of every ρ-zCDP mechanism, in either order. The tests are those of Gaussian noise of
    σ² = 1/2ρ, which is one.

    References:
        [CKS20] Proposition 12; [BS16] Proposition 1.6.
    """

    rho: Fraction

    def delta_up(self, epsilon: Array) -> Array:
        """An upper bound on δ at each ε."""
        rho = float_up(self.rho)
        excess = np.exp(self._best_log_excess(epsilon, rho))
        logs = -excess * np.log1p(1 / excess) - np.log1p(excess)
        moment = excess * ((1 + excess) * rho - epsilon)
        size = np.abs(logs) + excess * ((1 + excess) * rho + epsilon)
        exponent = moment + logs
        return share(np.where(exponent < 0, exp_up(exponent, error=8 * ULP * size), 1.0) * (1 + MARGIN))

    def test_down(self, epsilon: Array) -> tuple[Array, Array]:
        """Of the half-line of Gaussian noise beyond which the loss exceeds ε."""
        return GaussianProfile(sqrt_up(1 / (2 * self.rho))).test_down(epsilon)

    def _best_log_excess(self, epsilon: Array, rho: float) -> Array:
        """About the best ln(α − 1): the root of (2α − 1)ρ + ln(1 − 1/α) = ε, whose left side grows with α."""

        def balance(log_excess: Array) -> tuple[Array, Array]:
            excess = np.exp(log_excess)
            return (2 * excess + 1) * rho - np.log1p(1 / excess), 2 * excess * rho + 1 / (1 + excess)

        return below_roots(balance, epsilon, grid=_LOG_EXCESSES)
