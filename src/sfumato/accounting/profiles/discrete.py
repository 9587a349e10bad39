"""Privacy profiles of noise on the integers, and the tails of the discrete Gaussian, rounded outward."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final, Protocol

import numpy as np
from scipy.special import erfcx

from sfumato.accounting.core.integer_moves import longest_move
from sfumato.accounting.gaussian.discrete_gaussian import bound_above, leaks_over
from sfumato.accounting.profiles.profile import (
    MARGIN,
    TINY,
    ULP,
    Array,
    GaussianProfile,
    Profile,
    exp_down,
    exp_up,
    share,
)
from sfumato.numeric.rationals import sqrt_up
from sfumato.numeric.rounding import float_up

_DIRECT_LIMIT: Final = 1024  # beyond this σ the expansion is right to 1e-13 in the bulk
_FAR: Final = 37  # standard deviations; e^(−37²/2) is 5e-298


class LatticeTails(Protocol):
    """Bounds of Pr[X ≥ m] for arrays of integers m."""

    @property
    def peak_up(self) -> float:
        """At or above Pr[X = 0]."""

    def up(self, first: Array) -> Array:
        """At or above Pr[X ≥ m]."""

    def down(self, first: Array) -> Array:
        """At or below Pr[X ≥ m]."""

    def log_down(self, first: Array) -> tuple[Array, Array | float]:
        """About ln Pr[X ≥ m], and an error by which it may be too large; far out a lower bound."""


@lru_cache(maxsize=128)
def lattice_tails(stddev: Fraction) -> LatticeTails:
    """The tails of the distribution ∝ e^(−k²/2σ²)."""
    if stddev <= _DIRECT_LIMIT:
        return _table(stddev)
    # By Poisson summation Z = σ√(2π)(1 + 2e^(−2π²σ²) + …), where the dots and what is before them are below 1e-300.
    return _Expansion(float(stddev), float(stddev) * math.sqrt(2 * math.pi))


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """Sums from the far end, for m from −reach to reach."""

    stddev: float
    reach: int
    tails: Array
    log_tails: Array
    error: float
    """Relative, of a sum, apart from what the exponents add."""
    total: float

    @property
    def peak_up(self) -> float:
        return (1 + self.error) / self.total

    def up(self, first: Array) -> Array:
        index = np.clip(first, -self.reach, self.reach)
        return np.minimum(self.tails[self._places(index)] * (1 + self._error(index)) + TINY, 1.0)

    def down(self, first: Array) -> Array:
        index = np.clip(first, -self.reach, self.reach)
        return np.where(first > self.reach, 0.0, self.tails[self._places(index)] * (1 - self._error(index)))

    def log_down(self, first: Array) -> tuple[Array, Array | float]:
        index = np.clip(first, -self.reach, self.reach)
        first_term = -((first / self.stddev) ** 2) / 2 - math.log(self.total)
        logs = np.where(first > self.reach, first_term, self.log_tails[self._places(index)])
        return logs, self._error(first)

    def _places(self, index: Array) -> np.ndarray[tuple[int, ...], np.dtype[np.intp]]:
        return (index + self.reach).astype(np.intp)

    def _error(self, first: Array) -> Array:
        return self.error + 4 * ULP * (np.maximum(first, 0.0) / self.stddev) ** 2


def _table(stddev: Fraction) -> _Table:
    """Summed in rows of about √n, so that no sum has more than 2√n roundings of half an ULP."""
    reach = math.ceil(_FAR * stddev) + 1
    width = math.isqrt(2 * reach) + 1
    descending = np.arange(reach, reach - width * width, -1, dtype=np.float64)
    with np.errstate(under="ignore"):
        masses = np.exp(-((descending / float(stddev)) ** 2) / 2).reshape(width, width)
    rows = np.cumsum(masses, axis=1)
    before = np.concatenate([[0.0], np.cumsum(rows[:, -1])[:-1]])
    sums = (rows + before[:, None]).ravel()[: 2 * reach + 1]
    total = float(sums[-1])
    tails = sums[::-1] / total
    first_terms = -((descending[: 2 * reach + 1][::-1] / float(stddev)) ** 2) / 2 - math.log(total)
    logs = np.where(tails > TINY, np.log(np.maximum(tails, TINY)), first_terms)
    return _Table(float(stddev), reach, tails, logs, width * ULP + MARGIN, total)


@dataclass(frozen=True, slots=True)
class _Expansion:
    """Euler-Maclaurin of order 4, as in `numeric.gaussian_sums`, for m on the right of 0; mirrored on the left."""

    stddev: float
    total: float

    @property
    def peak_up(self) -> float:
        return (1 + MARGIN) / self.total

    def up(self, first: Array) -> Array:
        ratio, error = self._ratio(np.abs(first - 0.5) + 0.5)
        return self._tail(first, ratio * (1 + np.where(first > 0, error, -error)), sign=1)

    def down(self, first: Array) -> Array:
        ratio, error = self._ratio(np.abs(first - 0.5) + 0.5)
        return np.maximum(self._tail(first, ratio * (1 - np.where(first > 0, error, -error)), sign=-1), 0.0)

    def log_down(self, first: Array) -> tuple[Array, Array | float]:
        ratio, error = self._ratio(np.abs(first - 0.5) + 0.5)
        z = first / self.stddev
        outer = -(z**2) / 2 + np.log(ratio / self.total)
        inner = np.log(np.maximum(self._tail(np.minimum(first, 0.0), ratio, sign=0), 0.5))
        return np.where(first > 0, outer, inner), 2 * error + 4 * ULP * z**2

    def _tail(self, first: Array, ratio: Array, *, sign: int) -> Array:
        """Pr[X ≥ m] = e^(−m²/2σ²) R(m)/Z, and 1 − Pr[X ≥ 1 − m] for m ≤ 0; moved outward by the sign."""
        place = np.minimum(np.abs(first - 0.5) + 0.5, 2.0 * _FAR * self.stddev)
        exponent = -((place / self.stddev) ** 2) / 2
        right = np.exp(exponent) * ratio / self.total
        error = MARGIN + 4 * ULP * np.abs(exponent)
        outer = right * (1 + sign * error) + (sign > 0) * TINY
        return np.where(first > 0, outer, 1 - right * (1 - sign * error) + sign * MARGIN)

    def _ratio(self, place: Array) -> tuple[Array, Array]:
        """The sum from `place` on divided by its first term, and a relative error."""
        z, step = np.minimum(place / self.stddev, 1e9), 1 / self.stddev
        integral = math.sqrt(math.pi / 2) * erfcx(z / math.sqrt(2))
        ratio = integral / step + 0.5 + z * step / 12 - ((z * step) ** 3 - 3 * z * step**3) / 720
        remainder = ((z * step) ** 3 + (9 * z + 12 * integral) * step**3) / 720
        near = z * step < 1
        return np.where(near, ratio, 1.0), np.where(near, remainder / ratio + MARGIN, 0.0)


@dataclass(frozen=True, slots=True)
class DiscreteLaplaceProfile(Profile):
    """Noise ∝ e^(−|k|/scale) on an integer that moves by `shift`.

    At ε = (shift − 2k)/scale, for integers k from 0 to shift, δ = 1 − e^(−k/scale), and between them it is linear in
    e^ε; above all of them it is 0.

    **Guarantee**: dominates the same noise on every vector of integers that moves by at most `shift` in L1, in either
    order; the bounds of δ are within 1e-14 of δ + ε + shift/scale.
    """

    scale: Fraction
    shift: int

    def delta_up(self, epsilon: Array) -> Array:
        """An upper bound on δ at each ε."""
        step = float(1 / self.scale)
        steps, rest = self._place(epsilon)
        before, after = -np.expm1(-steps * step), -np.expm1(-(steps - 1) * step)
        error = 4 * ULP * (epsilon + self.highest_loss)
        # (e^rest − 1)/(e^(2·step) − 1), for 0 ≤ rest ≤ 2·step
        part = np.exp(np.maximum(rest - 2 * step, -700.0)) * np.expm1(-rest) / math.expm1(-2 * step)
        part = np.clip(part, 0.0, 1.0)
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


@dataclass(frozen=True, slots=True)
class DiscreteGaussianProfile(Profile):
    """Noise X ∝ e^(−k²/2σ²) on an integer that moves by `shift`.

    δ(ε) = Pr[X ≥ m] − e^ε Pr[X ≥ m + shift], with m the smallest integer above εσ²/shift − shift/2.

    **Guarantee**: dominates the same noise on an integer that moves by at most `shift`, in either order.

    References:
        [CKS20] Theorem 7.
    """

    stddev: Fraction
    shift: int

    def delta_up(self, epsilon: Array) -> Array:
        """An upper bound on δ at each ε."""
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

    def _first(self, epsilon: Array, *, rounding: int) -> Array:
        """m; with `rounding` −1, not more than m, and less only where the loss at m − 1 is ε up to rounding."""
        raw = epsilon * float(self.stddev**2 / self.shift)
        half = self.shift / 2
        return np.floor(raw - half + rounding * 4 * ULP * (raw + half)) + 1

    def _tails(self) -> LatticeTails:
        return lattice_tails(self.stddev)


@dataclass(frozen=True, slots=True)
class RoundedGaussianProfile(Profile):
    """Discrete Gaussian noise on a vector of integers, by the continuous noise that it rounds.

    δ(ε) ≤ e^(f/2) δ_μ(ε − f), with μ and f of `accounting.gaussian.discrete_gaussian`.

    **Guarantee**: for every vector that moves by at most `l2_sensitivity` in L2 and in at most `l0_sensitivity`
    coordinates, in either order. Tested by one coordinate alone, moved by as many whole steps.

    Args:
        stddev: σ, at least 2.
        l2_sensitivity: In lattice steps, at least 1.
        l0_sensitivity: The most coordinates that one unit changes.
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
        continuous = GaussianProfile(1 / sqrt_up(bound.squared_mu))
        delta = continuous.delta_up(np.maximum(epsilon - factor, 0.0) * (1 - 2 * ULP))
        return share((delta + np.where(epsilon < 2 * factor, factor, 0.0)) * (1 + factor + MARGIN))

    def test_down(self, epsilon: Array) -> tuple[Array, Array]:
        """Of one coordinate."""
        return DiscreteGaussianProfile(self.stddev, math.floor(self.l2_sensitivity)).test_down(epsilon)
