"""The privacy loss as a random variable, for pictures and summaries."""

from dataclasses import dataclass

import numpy as np

from sfumato.accounting.pld.law import Law
from sfumato.accounting.profiles.profile import Array
from sfumato.numeric.rationals import Number, nonnegative


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PrivacyLoss:
    """L = ln(P(x)/Q(x)) for x drawn from P, between two laws that reveal at least as much as some releases together.

    **Guarantee**: `delta` is at or above the releases' δ, for the accountant's neighboring relation and order.
    """

    losses: Array
    probabilities: Array
    infinite_mass: float
    """With which L is infinite."""

    @classmethod
    def of(cls, law: Law) -> "PrivacyLoss":
        """What a law on a grid says."""
        return cls(losses=law.losses, probabilities=law.masses, infinite_mass=law.infinite_mass)

    @property
    def mean(self) -> float:
        """E[L] over the finite losses, to rounding: the Kullback-Leibler divergence of P from Q, if all are finite."""
        return float((self.losses * self.probabilities).sum())

    def tail(self, epsilon: Number) -> float:
        """Pr[L > ε], to rounding: a δ for that ε, though not the smallest."""
        above = self.losses > float(nonnegative(epsilon, "epsilon"))
        return min(1.0, float(self.probabilities[above].sum()) + self.infinite_mass)

    def delta(self, epsilon: Number) -> float:
        """δ(ε) = E[(1 − e^(ε − L))₊], to rounding."""
        excess = self.losses - float(nonnegative(epsilon, "epsilon"))
        gains = -np.expm1(-np.maximum(excess, 0.0)) * self.probabilities
        return min(1.0, float(gains.sum()) + self.infinite_mass)
