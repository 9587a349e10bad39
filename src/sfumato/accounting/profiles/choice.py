"""The privacy profile of choices by the exponential mechanism."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sfumato.accounting.profiles.finite import WorstPair
from sfumato.accounting.profiles.outward import MARGIN, ULP, share
from sfumato.accounting.profiles.profile import Array
from sfumato.numeric.rounding import float_up


@dataclass(frozen=True, slots=True)
class BoundedRange:
    """All mechanisms whose losses lie, for each pair of neighbours, in some interval [t − ε₀, t].

    δ(ε) = (1 − e^((ε − ε₀)/2))²/(1 − e^−ε₀) for ε ≤ ε₀, then 0: the largest of all pairs of two losses t and t − ε₀.

    **Guarantee**: dominates every mechanism of that range, so the exponential mechanism of parameter ε₀, in either
    order. The tests are those of randomized response of ε₀/2, whose range is ε₀.

    References:
        [DDR20]; [DR19].
    """

    epsilon: Fraction

    def delta_up(self, epsilon: Array) -> Array:
        """At or above δ."""
        missing = epsilon - self.highest_loss - 2 * ULP * (epsilon + self.highest_loss)
        root = np.expm1(np.minimum(missing, 0.0) / 2)
        bound = root**2 / -np.expm1(-self.highest_loss) * (1 + 2 * MARGIN)
        return np.where(epsilon >= self.highest_loss, 0.0, share(bound))

    def test_down(self, epsilon: Array) -> tuple[Array, Array]:
        """Of the answers of randomized response whose loss exceeds ε."""
        return WorstPair(self.epsilon / 2).test_down(epsilon)

    @property
    def highest_loss(self) -> float:
        """ε₀, rounded up."""
        return float_up(self.epsilon)
