"""Continuous Gaussian noise: its exact privacy curve on both sides, calibration, and curves that are held against it.

δ(ε) = Q(low) - e^ε Q(high), with Q the upper tail of N(0, 1), low = ε/μ - μ/2 and high = ε/μ + μ/2. Both tails share
the factor e^(-low²/2), so that nothing over- or underflows (proof: proofs/accounting/gaussian/gaussian.md). Noise that
is really drawn lies on a lattice, and its curve is in `discrete_gaussian`.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final

from scipy.special import erf, erfc, erfcx

from sfumato.errors import ParameterError
from sfumato.numeric.rationals import Number, nonnegative, open_probability, positive, probability, sqrt_up
from sfumato.numeric.rounding import deflated, dyadic_up, exp_down, exp_up, float_up, inflated, log_up
from sfumato.numeric.search import smallest_dyadic


def classic_stddev(*, l2_sensitivity: Number, epsilon: Number, delta: Number) -> Fraction:
    """The textbook standard deviation σ = Δ √(2 ln(1.25/δ)) / ε, rounded up.

    **Guarantee**: (ε, δ)-differential privacy of continuous noise, for the relation of the sensitivity, if ε < 1.
    It is up to 40% larger than `analytic_stddev`; at ε ≥ 1 the formula is unproven, and far beyond it is wrong.

    Args:
        l2_sensitivity: Δ, above 0.
        epsilon: Between 0 and 1, both excluded.
        delta: Between 0 and 1, both excluded.

    Raises:
        ParameterError: A parameter is out of range.

    Example:
        >>> float(classic_stddev(l2_sensitivity=1, epsilon="0.5", delta="1e-5"))
        9.689610525223543

    References:
        [DR14] Theorem A.1.
    """
    sensitivity, loss = positive(l2_sensitivity, "l2_sensitivity"), positive(epsilon, "epsilon")
    if loss >= 1:
        raise ParameterError("epsilon", epsilon, "must be below 1 for the classic formula; use analytic_stddev")
    root = sqrt_up(2 * log_up(Fraction(5, 4) / open_probability(delta, "delta")))
    return dyadic_up(sensitivity * root / loss)


def analytic_stddev(*, l2_sensitivity: Number, epsilon: Number, delta: Number) -> Fraction:
    """The smallest standard deviation of continuous Gaussian noise for (ε, δ), rounded up to a short dyadic.

    Solves `gaussian_delta_up(σ/Δ, ε) ≤ δ`, for every ε of 0 or more.

    **Guarantee**: at the returned σ the certified δ is at most the δ asked for; σ is within 1e-9 of the optimum.

    Args:
        l2_sensitivity: Δ, above 0.
        epsilon: 0 or more.
        delta: Between 0 and 1, both excluded.

    Raises:
        ParameterError: A parameter is out of range.

    Example:
        >>> round(float(analytic_stddev(l2_sensitivity=1, epsilon=1, delta="1e-6")), 6)
        4.224679

    References:
        [BW18] Theorem 8.
    """
    return _analytic_stddev(
        in_range(l2_sensitivity, "l2_sensitivity"),
        in_range_or_zero(epsilon, "epsilon"),
        open_probability(delta, "delta"),
    )


@lru_cache(maxsize=4096)
def _analytic_stddev(l2_sensitivity: Fraction, epsilon: Fraction, delta: Fraction) -> Fraction:
    return certified_stddev(
        lambda stddev: continuous_delta_up(stddev / l2_sensitivity, epsilon), delta, guess=l2_sensitivity
    )


def gaussian_delta_up(*, noise_multiplier: Number, epsilon: Number) -> float:
    """The smallest δ at ε of continuous Gaussian noise with σ = noise_multiplier · Δ, rounded up.

    δ(ε) = Φ(μ/2 - ε/μ) - e^ε Φ(-μ/2 - ε/μ), with μ = 1/noise_multiplier.

    **Guarantee**: at or above the exact value, by at most 2e-12 of Φ(μ/2 - ε/μ); never below 1e-304.

    Args:
        noise_multiplier: Standard deviation over L2 sensitivity, above 0.
        epsilon: 0 or more.

    Raises:
        ParameterError: A parameter is out of range.

    Example:
        >>> round(gaussian_delta_up(noise_multiplier=1, epsilon=1), 12)
        0.126936737507

    References:
        [BW18] Theorem 8.
    """
    return continuous_delta_up(in_range(noise_multiplier, "noise_multiplier"), in_range_or_zero(epsilon, "epsilon"))


def gaussian_epsilon_up(*, noise_multiplier: Number, delta: Number) -> Fraction | float:
    """The smallest ε at δ of continuous Gaussian noise, rounded up: the inverse of `gaussian_delta_up`.

    Edge cases: δ = 0 has no finite ε, the result is infinite; where δ(0) ≤ δ the result is 0.

    Args:
        noise_multiplier: Standard deviation over L2 sensitivity, above 0.
        delta: Between 0 and 1.

    Raises:
        ParameterError: A parameter is out of range.

    Example:
        >>> round(float(gaussian_epsilon_up(noise_multiplier=1, delta="1e-6")), 6)
        4.886554
    """
    return _epsilon_up(in_range(noise_multiplier, "noise_multiplier"), probability(delta, "delta"))


@lru_cache(maxsize=4096)
def _epsilon_up(noise_multiplier: Fraction, delta: Fraction) -> Fraction | float:
    if continuous_delta_up(noise_multiplier, Fraction(0)) <= delta:
        return Fraction(0)
    found = smallest_dyadic(
        lambda epsilon: continuous_delta_up(noise_multiplier, epsilon) <= delta, guess=1 / noise_multiplier, bits=40
    )
    return math.inf if found is None else found


_FAR: Final = 38  # standard deviations; e^(-38²/2) is below what floats hold


def continuous_delta_up(noise_multiplier: Fraction, epsilon: Fraction) -> float:
    """δ at ε, rounded up; never below 1e-304. Both arguments at most 2^500."""
    low, high = _ends(noise_multiplier, epsilon)
    if low < -_FAR:
        return 1.0
    exponent = -low * low / 2
    # e^(high²/2) Q(high), which falls like 1/high.
    scaled_tail = deflated(float(erfcx(_scaled(high))) / 2) if high < _FAR**2 else 0.0
    second = exp_down(exponent) * scaled_tail
    return as_delta(_tail_up(low, exponent) - second, _total_variation_up(noise_multiplier))


def continuous_delta_down(noise_multiplier: Fraction, epsilon: Fraction) -> float:
    """δ at ε, rounded down; 0 where floats cannot tell the tails apart. Both arguments at most 2^500."""
    low, high = _ends(noise_multiplier, epsilon)
    exponent = -low * low / 2
    second = inflated(exp_up(exponent) * float(erfcx(_scaled(high))) / 2)
    return max(deflated(_tail_down(low, exponent) - second), 0.0)


def _ends(noise_multiplier: Fraction, epsilon: Fraction) -> tuple[Fraction, Fraction]:
    low = epsilon * noise_multiplier - 1 / (2 * noise_multiplier)
    return low, low + 1 / noise_multiplier


def _scaled(standard_deviations: Fraction) -> float:
    return float(standard_deviations) / math.sqrt(2)


def _tail_up(low: Fraction, exponent: Fraction) -> float:
    """Q(low), rounded up."""
    if low > _FAR:
        return exp_up(exponent)
    if low < 0:
        return inflated(float(erfc(_scaled(low))) / 2)
    return inflated(exp_up(exponent) * float(erfcx(_scaled(low))) / 2)


def _tail_down(low: Fraction, exponent: Fraction) -> float:
    """Q(low), rounded down."""
    if low < 0:
        return deflated(float(erfc(_scaled(low))) / 2)
    return deflated(exp_down(exponent) * float(erfcx(_scaled(low))) / 2)


def _total_variation_up(noise_multiplier: Fraction) -> float:
    """δ(0) = Φ(μ/2) - Φ(-μ/2), which bounds every δ and is sharp where the difference of tails is not."""
    half_shift = 1 / (2 * noise_multiplier)
    return inflated(float(erf(_scaled(half_shift)))) if half_shift < _FAR else 1.0


_LARGEST_SQUARED_MU: Final = Fraction(2) ** 998  # of μ²; beyond it floats certify nothing
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
        if self.squared_mu > _LARGEST_SQUARED_MU or factor == math.inf:
            return 1.0
        multiplier = 1 / sqrt_up(max(self.squared_mu, 1 / _LARGEST_SQUARED_MU))
        inner = min(epsilon - self.log_factor, _LARGEST_EPSILON)
        delta = Fraction(continuous_delta_up(multiplier, max(inner, Fraction(0))))
        if inner < 0:
            delta += 1 - Fraction(exp_down(inner))
        return min(float_up(Fraction(factor) * delta), 1.0)

    def delta_down(self, epsilon: Fraction) -> float:
        """δ at ε from below, rounded down."""
        inner = epsilon + self.log_factor
        if not 1 / _LARGEST_SQUARED_MU < self.squared_mu < _LARGEST_SQUARED_MU or inner > _LARGEST_EPSILON:
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


_LARGEST_PARAMETER: Final = 2**500  # beyond it squares leave the range of floats
_SMALLEST_DELTA: Final = 1e-304  # no smaller δ is ever certified


def in_range(value: Number, name: str) -> Fraction:
    """A number between 2^-500 and 2^500."""
    number = positive(value, name)
    if not Fraction(1, _LARGEST_PARAMETER) <= number <= _LARGEST_PARAMETER:
        raise ParameterError(name, value, "must lie between 2^-500 and 2^500, where floats certify Gaussian noise")
    return number


def in_range_or_zero(value: Number, name: str) -> Fraction:
    """An ε or ρ: 0, or as `in_range`."""
    return in_range(value, name) if nonnegative(value, name) else Fraction(0)


def as_delta(*bounds: float) -> float:
    """The least of some upper bounds on a δ, with the rounding errors of computing them."""
    return min(max(inflated(min(bounds)), _SMALLEST_DELTA), 1.0)


def certified_stddev(delta_up: Callable[[Fraction], float], delta: Fraction, *, guess: Fraction) -> Fraction:
    """The smallest standard deviation, as a short dyadic, at which a certified δ is at most the one asked for."""
    found = smallest_dyadic(lambda stddev: delta_up(stddev) <= delta, guess=guess)
    if found is None:
        raise ParameterError("delta", float(delta), "is too small to be certified at this ε; raise ε or δ")
    return found
