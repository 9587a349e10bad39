"""Amplification by sampling: profiles of a mechanism on a random part of the units, from its own profiles."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import isqrt
from typing import Final

import numpy as np

from sfumato.accounting.profiles.profile import MARGIN, TINY, ULP, Array, Profile, float_down, share
from sfumato.numeric.binomial import MASS_ERROR, Binomial
from sfumato.numeric.rounding import float_up, log_up
from sfumato.privacy.events import TruncatedPoissonSampledEvent

_BEYOND: Final = 2e-20  # of the mass lies outside what is summed, on both sides
_REACH: Final = 24  # it lies further than √(24·trials) from the mean [Hoe63]
_ERROR: Final = 2 * MASS_ERROR + MARGIN


@dataclass(frozen=True, slots=True)
class Truncation:
    """What a truncated Poisson sample of n units, at most B of them, does to one unit.

    Args:
        fits_up: At or above the probability that fewer than B of the n − 1 others are drawn.
        full_up: At or above the probability that at least B of them are.
        kept_up: At or above the probability that the unit is drawn and kept if they are.
    """

    fits_up: float
    full_up: float
    kept_up: Fraction


@lru_cache(maxsize=256)
def truncation(event: TruncatedPoissonSampledEvent) -> Truncation:
    """Of an event; τ = Pr[Bin(n − 1, q) ≥ B], and the unit is kept with (B/n) Pr[Bin(n, q) > B]/τ if they overflow."""
    size, most, q = event.source_size, event.max_sample_size, event.sampling_probability
    if most > size - 1 or q == 1:
        return Truncation(1.0, 0.0, q) if most > size - 1 else Truncation(0.0, 1.0, Fraction(most, size))
    log_odds = log_up(q / (1 - q))
    low, high = _tail(Binomial(size - 1, log_odds), most)
    kept = Fraction(most, size) * Fraction(_tail(Binomial(size, log_odds), most + 1)[1])
    return Truncation(min(1 - low, 1.0), high, min(q, kept / Fraction(low)) if low else q)


def _tail(law: Binomial, first: int) -> tuple[float, float]:
    """Bounds of Pr[X ≥ first]."""
    start = max(first, law.lowest)
    last = min(law.trials, max(start, law.mode) + isqrt(_REACH * law.trials) + 2)
    total = sum(float(masses.sum()) for _, masses in law.blocks(start, last))
    left_out = TINY if start == first and last == law.trials else _BEYOND
    return total * (1 - _ERROR), min(total * (1 + _ERROR) + left_out, 1.0)


@dataclass(frozen=True, slots=True)
class SampledForward(Profile):
    """(1 − q)Q + qP against Q: δ'(ε') = q δ(ε), e^ε = 1 + (e^ε' − 1)/q.

    **Guarantee**: exact, from the profile of P against Q. It holds too for (1 − q)R + qP against (1 − q)R + qQ, if the
    profile bounds P against both R and Q.

    References:
        [BBG18]; [ZDW22].
    """

    sampling_probability: Fraction
    base: Profile

    def delta_up(self, epsilon: Array) -> Array:
        """An upper bound on δ' at each ε'."""
        inner = inner_epsilon(epsilon, self.sampling_probability)
        q = float_up(self.sampling_probability)
        return share(q * self.base.delta_up(inner) * (1 + MARGIN))

    def test_down(self, epsilon: Array) -> tuple[Array, Array]:
        """Of the set that the base would choose at ε."""
        first, second = self.base.test_down(inner_epsilon(epsilon, self.sampling_probability))
        q = self.sampling_probability
        return (float_down(q) * first + float_down(1 - q) * second) * (1 - 4 * ULP), second

    @property
    def highest_loss(self) -> float:
        """ln(1 + q(e^ε − 1)) of the largest loss of the base."""
        return _outer_up(self.base.highest_loss, self.sampling_probability)


@dataclass(frozen=True, slots=True)
class SampledBackward(Profile):
    """Q against (1 − q)Q + qP: δ'(ε') = (1 − α(1 − q)) δ(ln(αq/(1 − α(1 − q)))), α = e^ε' < 1/(1 − q), else 0.

    **Guarantee**: exact, from the profile of Q against P.

    References:
        [BBG18]; [ZDW22].
    """

    sampling_probability: Fraction
    base: Profile

    def delta_up(self, epsilon: Array) -> Array:
        """An upper bound on δ' at each ε'."""
        weight, inner = self._inner(epsilon)
        return share(weight * self.base.delta_up(inner) * (1 + MARGIN))

    def test_down(self, epsilon: Array) -> tuple[Array, Array]:
        """Of the set that the base would choose at ε: there its P is Q here, and its Q is P."""
        weight, inner = self._inner(epsilon)
        first, second = self.base.test_down(inner)
        q = self.sampling_probability
        mixed = (float_up(q) * second + float_up(1 - q) * first) * (1 + 4 * ULP) + TINY
        return np.where(weight > 0, first, 0.0), np.where(weight > 0, mixed, 0.0)

    @property
    def highest_loss(self) -> float:
        """−ln(1 − q), or less where the base has a largest loss, and no certain ones."""
        q, top = float_up(self.sampling_probability), self.base.highest_loss
        is_last = top < math.inf and self.base.delta_up(np.array([top]))[0] == 0
        shrink = q * math.expm1(-top) if is_last else -q
        return abs(math.log1p(shrink)) * (1 + MARGIN) if shrink > -1 else math.inf

    def _inner(self, epsilon: Array) -> tuple[Array, Array]:
        """1 − α(1 − q), rounded up, and ε, rounded down."""
        q, others = float(self.sampling_probability), float(1 - self.sampling_probability)
        growth = np.expm1(np.minimum(epsilon, 700.0))
        weight = q - others * growth + 4 * ULP * (q + others * np.minimum(growth, q))
        weight = np.where(others * growth < 2 * q, np.maximum(weight, 0.0), 0.0)
        ratio = np.log(np.where(weight > 0, weight, 1.0) / q)
        return weight, np.maximum((epsilon - ratio) * (1 - 4 * ULP) - 2 * ULP * np.abs(ratio), 0.0)


@dataclass(frozen=True, slots=True)
class SampledReplacement(Profile):
    """(1 − q)R + qP against (1 − q)R + qQ: δ'(ε') ≤ q((1 − β) δ₁(ε) + β δ₂(ε)). Untested.

    β = e^(ε' − ε) = q/(q + (1 − q)(1 − e^−ε')).

    **Guarantee**: at or above δ', if `present` bounds P against R, and `replaced` P against Q.

    References:
        [BBG18] Theorem 2.
    """

    sampling_probability: Fraction
    present: Profile
    replaced: Profile

    def delta_up(self, epsilon: Array) -> Array:
        """An upper bound on δ' at each ε'."""
        inner = inner_epsilon(epsilon, self.sampling_probability)
        q, others = float(self.sampling_probability), float(1 - self.sampling_probability)
        growth = -others * np.expm1(-epsilon)
        either = growth / (q + growth) * self.present.delta_up(inner) + q / (q + growth) * self.replaced.delta_up(inner)
        return share(q * either * (1 + 2 * MARGIN))

    @property
    def highest_loss(self) -> float:
        """Of the worse of the two."""
        return _outer_up(max(self.present.highest_loss, self.replaced.highest_loss), self.sampling_probability)


def inner_epsilon(epsilon: Array, sampling_probability: Fraction) -> Array:
    """ln(1 + (e^ε' − 1)/q), rounded down; for a large ε' as ε' − ln q + ln(1 − (1 − q)e^−ε')."""
    q = float_up(sampling_probability)
    small = np.log1p(np.expm1(np.minimum(epsilon, 1.0)) / q)
    large = epsilon - math.log(q) + np.log1p(-(1 - q) * np.exp(-np.maximum(epsilon, 1.0)))
    return np.where(epsilon < 1, small, large) * (1 - 8 * ULP)


def _outer_up(epsilon: float, sampling_probability: Fraction) -> float:
    """ln(1 + q(e^ε − 1)), rounded up."""
    q = float_up(sampling_probability)
    if epsilon < 1:
        outer = math.log1p(q * math.expm1(epsilon))
    else:
        outer = epsilon + math.log(q + (1 - q) * math.exp(-epsilon)) if epsilon < math.inf else math.inf
    return max(outer * (1 + MARGIN) + 4 * ULP * epsilon, 0.0) if outer < math.inf else math.inf
