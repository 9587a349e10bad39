"""Privacy profiles of continuous additive noise, and of all mechanisms that are as concentrated as Gaussian noise."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np

from sfumato.accounting.profiles.profile import (
    FAR,
    MARGIN,
    ULP,
    Array,
    below_roots,
    exp_up,
    scaled_tail_down,
    share,
    tail_down,
    tail_up,
)
from sfumato.numeric.rationals import sqrt_up
from sfumato.numeric.rounding import float_up

_ROOT_TWO = math.sqrt(2)


@dataclass(frozen=True, slots=True)
class Gaussian:
    """N(0, σ²) against N(−1, σ²): δ(ε) = Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ), μ = 1/σ.

    **Guarantee**: dominates Gaussian noise on every vector that moves by at most 1/σ standard deviations in L2, in
    either order; the bounds of δ are within 1e-14 + 4e-16·low² of P(S), low = εσ − 1/2σ, and never below 1e-304.

    References:
        [BW18] Theorem 8.
    """

    noise_multiplier: Fraction

    def delta_up(self, epsilon: Array) -> Array:
        """At or above δ."""
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

    @property
    def highest_loss(self) -> float:
        """Without limit."""
        return math.inf

    def _thresholds(self, epsilon: Array) -> tuple[Array, Array, Array]:
        """εσ ∓ 1/2σ, and the absolute error of each."""
        center, half = epsilon * float(self.noise_multiplier), float(1 / (2 * self.noise_multiplier))
        return center - half, center + half, 2 * ULP * (center + half)

    def _total_variation_up(self) -> float:
        return min(math.erf(float(1 / (2 * self.noise_multiplier)) / _ROOT_TWO) * (1 + MARGIN), 1.0)


@dataclass(frozen=True, slots=True)
class Laplace:
    """Laplace noise of scale b on an answer that moves by 1: δ(ε) = 1 − e^((ε − 1/b)/2) for ε ≤ 1/b, then 0.

    **Guarantee**: dominates Laplace noise on every vector that moves by at most 1/b scales in L1, in either order; the
    bounds of δ are within 1e-14 of δ + ε + 1/b.
    """

    noise_multiplier: Fraction

    def delta_up(self, epsilon: Array) -> Array:
        """At or above δ."""
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
class Concentrated:
    """All mechanisms with D_α ≤ αρ for every α > 1.

    ln δ(ε) ≤ min over α of (α − 1)(αρ − ε) + α ln(1 − 1/α) − ln(α − 1); every α gives a valid δ.

    **Guarantee**: at or above δ of every ρ-zCDP mechanism, in either order. The tests are those of Gaussian noise of
    σ² = 1/2ρ, which is one.

    References:
        [CKS20] Proposition 12; [BS16] Proposition 1.6.
    """

    rho: Fraction

    def delta_up(self, epsilon: Array) -> Array:
        """At or above δ."""
        rho = float_up(self.rho)
        excess = np.exp(self._best_log_excess(epsilon, rho))
        logs = -excess * np.log1p(1 / excess) - np.log1p(excess)
        moment = excess * ((1 + excess) * rho - epsilon)
        size = np.abs(logs) + excess * ((1 + excess) * rho + epsilon)
        exponent = moment + logs
        return share(np.where(exponent < 0, exp_up(exponent, error=8 * ULP * size), 1.0) * (1 + MARGIN))

    def test_down(self, epsilon: Array) -> tuple[Array, Array]:
        """Of the half-line of Gaussian noise beyond which the loss exceeds ε."""
        return Gaussian(sqrt_up(1 / (2 * self.rho))).test_down(epsilon)

    @property
    def highest_loss(self) -> float:
        """Without limit."""
        return math.inf

    def _best_log_excess(self, epsilon: Array, rho: float) -> Array:
        """About the best ln(α − 1): the root of (2α − 1)ρ + ln(1 − 1/α) = ε, whose left side grows with α."""

        def balance(log_excess: Array) -> tuple[Array, Array]:
            excess = np.exp(log_excess)
            return (2 * excess + 1) * rho - np.log1p(1 / excess), 2 * excess * rho + 1 / (1 + excess)

        return below_roots(balance, epsilon, grid=_LOG_EXCESSES)
