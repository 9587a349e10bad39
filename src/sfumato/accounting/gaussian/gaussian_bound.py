"""Privacy curves held between curves of continuous Gaussian noise, and ε read off them on both sides."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from sfumato.accounting.gaussian.gaussian_curve import continuous_delta_down, continuous_delta_up
from sfumato.numeric.rationals import sqrt_up
from sfumato.numeric.rounding import exp_down, exp_up, float_up
from sfumato.numeric.search import smallest_dyadic

_LARGEST: Final = Fraction(2) ** 998  # of μ²; beyond it floats certify nothing
_LARGEST_EPSILON: Final = Fraction(2) ** 499
_JUST_BELOW: Final = tuple(1 - Fraction(1, 2**bits) for bits in (38, 32, 26, 20, 14, 7))  # rounding blurs the crossing


@dataclass(frozen=True, slots=True)
class GaussianBound:
    """A privacy curve held against the curve δ_μ of continuous Gaussian noise, for all ε.

    From above, δ(ε) ≤ e^(f/2) δ_μ(ε - f), or from below, δ(ε) ≥ e^-f δ_μ(ε + f), where f is `log_factor`. Bounds of
    the same kind compose: μ² and f add up.
    """

    squared_mu: Fraction
    log_factor: Fraction = Fraction(0)

    def delta_up(self, epsilon: Fraction) -> float:
        """δ at ε from above, rounded up. Below 0, δ_μ(x) ≤ δ_μ(0) + 1 - e^x."""
        if self.squared_mu == 0:
            return 0.0
        factor = exp_up(self.log_factor / 2)
        if self.squared_mu > _LARGEST or factor == math.inf:
            return 1.0
        multiplier = 1 / sqrt_up(max(self.squared_mu, 1 / _LARGEST))
        inner = min(epsilon - self.log_factor, _LARGEST_EPSILON)
        delta = Fraction(continuous_delta_up(multiplier, max(inner, Fraction(0))))
        if inner < 0:
            delta += 1 - Fraction(exp_down(inner))
        return min(float_up(Fraction(factor) * delta), 1.0)

    def delta_down(self, epsilon: Fraction) -> float:
        """δ at ε from below, rounded down."""
        inner = epsilon + self.log_factor
        if not 1 / _LARGEST < self.squared_mu < _LARGEST or inner > _LARGEST_EPSILON:
            return 0.0
        delta = Fraction(continuous_delta_down(sqrt_up(1 / self.squared_mu), inner))
        return max(-float_up(-Fraction(exp_down(-self.log_factor)) * delta), 0.0)


def certifiable_down(epsilon: Fraction) -> Fraction:
    """ε itself, or the next smaller one at which floats certify a δ: at most 2^499, and 0 where it is below 2^-499."""
    return min(epsilon, _LARGEST_EPSILON) if epsilon >= 1 / _LARGEST_EPSILON else Fraction(0)


def least_delta_up(bounds: Sequence[GaussianBound], epsilon: Fraction) -> float:
    """The best of some bounds from above, at ε."""
    return min(bound.delta_up(epsilon) for bound in bounds)


def least_epsilon_up(bounds: Sequence[GaussianBound], delta: Fraction) -> Fraction | float:
    """The smallest ε at which the best of some bounds from above is at most δ, rounded up."""
    if least_delta_up(bounds, Fraction(0)) <= delta:
        return Fraction(0)
    guess = min(bound.squared_mu for bound in bounds)
    found = smallest_dyadic(lambda epsilon: least_delta_up(bounds, epsilon) <= delta, guess=guess, bits=40)
    return math.inf if found is None else found


def epsilon_down(bounds: Sequence[GaussianBound], delta: Fraction) -> Fraction | float:
    """An ε that is too small for δ by one of some bounds from below, nearly the largest; 0 where none is known."""
    largest = max(bound.squared_mu for bound in bounds)
    if delta == 0:
        return math.inf if largest else Fraction(0)

    def fails(epsilon: Fraction) -> bool:
        return any(bound.delta_down(epsilon) > delta for bound in bounds)

    if not fails(Fraction(0)):
        return Fraction(0)
    found = smallest_dyadic(lambda epsilon: not fails(epsilon), guess=largest, bits=40)
    nearly = (found * factor for factor in _JUST_BELOW) if found else ()
    return next((epsilon for epsilon in nearly if fails(epsilon)), Fraction(0))
