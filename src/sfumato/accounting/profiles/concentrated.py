"""The privacy profile that zero-concentrated differential privacy implies."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np

from sfumato.accounting.profiles.additive import Gaussian
from sfumato.accounting.profiles.outward import MARGIN, ULP, exp_up, share
from sfumato.accounting.profiles.profile import Array
from sfumato.accounting.profiles.solving import below_roots
from sfumato.numeric.rationals import sqrt_up
from sfumato.numeric.rounding import float_up

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
