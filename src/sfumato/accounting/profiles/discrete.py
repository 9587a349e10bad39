"""Privacy profiles of noise on the integers."""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sfumato.accounting.gaussian.smoothing import bound_above, leaks_over, longest_move
from sfumato.accounting.profiles.additive import Gaussian
from sfumato.accounting.profiles.lattice_tails import LatticeTails, lattice_tails
from sfumato.accounting.profiles.outward import MARGIN, ULP, exp_down, exp_up, share
from sfumato.accounting.profiles.profile import Array
from sfumato.numeric.rationals import sqrt_up
from sfumato.numeric.rounding import float_up


@dataclass(frozen=True, slots=True)
class DiscreteLaplace:
    """Noise ∝ e^(−|k|/scale) on an integer that moves by `shift`.

    At ε = (shift − 2k)/scale, for integers k from 0 to shift, δ = 1 − e^(−k/scale), and between them it is linear in
    e^ε; above all of them it is 0.

    **Guarantee**: dominates the same noise on every vector of integers that moves by at most `shift` in L1, in either
    order; the bounds of δ are within 1e-14 of δ + ε + shift/scale.
    """

    scale: Fraction
    shift: int

    def delta_up(self, epsilon: Array) -> Array:
        """At or above δ."""
        step = float(1 / self.scale)
        steps, rest = self._place(epsilon)
        before, after = -np.expm1(-steps * step), -np.expm1(-(steps - 1) * step)
        error = 4 * ULP * (epsilon + self.highest_loss)
        part = np.clip(_ratio(rest, 2 * step), 0.0, 1.0)
        bound = ((1 - part) * before + part * after) * (1 + MARGIN) + error
        return np.where(epsilon >= self.highest_loss, 0.0, share(bound))

    def test_down(self, epsilon: Array) -> tuple[Array, Array]:
        """Of the noise from 1 − k on, for the smallest k with (shift − 2k)/scale ≤ ε."""
        step = float(1 / self.scale)
        steps, _ = self._place(epsilon)
        total = 1 + math.exp(-step)
        first = (1 - exp_up(-steps * step, error=2 * ULP * steps * step) / total) * (1 - MARGIN)
        second = exp_up(-(self.shift + 1 - steps) * step, error=2 * ULP * self.shift * step) / total * (1 + MARGIN)
        included = epsilon < self.highest_loss
        return np.where(included, np.maximum(first, 0.0), 0.0), np.where(included, second, 0.0)

    @property
    def highest_loss(self) -> float:
        """shift/scale, rounded up."""
        return float_up(self.shift / self.scale)

    def _place(self, epsilon: Array) -> tuple[Array, Array]:
        """The k of the lattice point at or below ε, at least 1, and how far ε is above that point."""
        scale = float(self.scale)
        below = np.minimum(epsilon, self.highest_loss) * scale
        steps = np.maximum(np.ceil((self.shift - below) / 2), 1.0)
        return steps, np.maximum(below - (self.shift - 2 * steps), 0.0) / scale


def _ratio(rest: Array, whole: float) -> Array:
    """(e^rest − 1)/(e^whole − 1), for 0 ≤ rest ≤ whole."""
    return np.exp(np.maximum(rest - whole, -700.0)) * np.expm1(-rest) / math.expm1(-whole)


@dataclass(frozen=True, slots=True)
class DiscreteGaussian:
    """Noise X ∝ e^(−k²/2σ²) on an integer that moves by `shift`.

    δ(ε) = Pr[X ≥ m] − e^ε Pr[X ≥ m + shift], with m the smallest integer above εσ²/shift − shift/2.

    **Guarantee**: dominates the same noise on an integer that moves by at most `shift`, in either order.

    References:
        [CKS20] Theorem 7.
    """

    stddev: Fraction
    shift: int

    def delta_up(self, epsilon: Array) -> Array:
        """At or above δ."""
        tails = self._tails()
        exact_error = 4 * ULP * (epsilon + float(self.shift**2 / (2 * self.stddev**2)))
        first = self._first(epsilon, rounding=-1)
        second, log_error = tails.log_down(first + self.shift)
        bound = tails.up(first) * (1 + 2 * exact_error)
        bound = bound - exp_down(epsilon + second, error=log_error + 4 * ULP * (epsilon + np.abs(second)))
        return share(bound, most=min(self.shift * tails.peak_up, 1.0))

    def test_down(self, epsilon: Array) -> tuple[Array, Array]:
        """Of the noise from m on."""
        tails, first = self._tails(), self._first(epsilon, rounding=0)
        return tails.down(first), tails.up(first + self.shift)

    @property
    def highest_loss(self) -> float:
        """Without limit."""
        return math.inf

    def _first(self, epsilon: Array, *, rounding: int) -> Array:
        """m; with `rounding` −1, not more than m, and less only where the loss at m − 1 is ε up to rounding."""
        raw = epsilon * float(self.stddev**2 / self.shift)
        half = self.shift / 2
        return np.floor(raw - half + rounding * 4 * ULP * (raw + half)) + 1

    def _tails(self) -> LatticeTails:
        return lattice_tails(self.stddev)


@dataclass(frozen=True, slots=True)
class RoundedGaussian:
    """Discrete Gaussian noise on a vector of integers, by the continuous noise that it rounds.

    δ(ε) ≤ e^(f/2) δ_μ(ε − f), with μ and f of `accounting.gaussian.smoothing`.

    **Guarantee**: for every vector that moves by at most `l2_sensitivity` in L2 and in at most `l0_sensitivity`
    coordinates, in either order. Tested by one coordinate alone, moved by as many whole steps.

    Args:
        stddev: σ, at least 2.
        l2_sensitivity: In lattice steps, at least 1.
        l0_sensitivity: The most coordinates that one unit moves.
    """

    stddev: Fraction
    l2_sensitivity: Fraction
    l0_sensitivity: int

    def delta_up(self, epsilon: Array) -> Array:
        """At or above δ; below 0, δ_μ(x) ≤ δ_μ(0) − x."""
        _, coordinates = longest_move(self.l2_sensitivity, self.l0_sensitivity)
        bound = bound_above(self.stddev, self.l2_sensitivity, self.l0_sensitivity, leaks_over(coordinates)[-1])
        factor = float_up(bound.log_factor)
        if factor > 1:
            return np.ones_like(epsilon)
        continuous = Gaussian(1 / sqrt_up(bound.squared_mu))
        delta = continuous.delta_up(np.maximum(epsilon - factor, 0.0) * (1 - 2 * ULP))
        return share((delta + np.where(epsilon < 2 * factor, factor, 0.0)) * (1 + factor + MARGIN))

    def test_down(self, epsilon: Array) -> tuple[Array, Array]:
        """Of one coordinate."""
        return DiscreteGaussian(self.stddev, math.floor(self.l2_sensitivity)).test_down(epsilon)

    @property
    def highest_loss(self) -> float:
        """Without limit."""
        return math.inf
