"""Gaussian noise: its exact privacy curve, and the standard deviation for a wanted guarantee.

The continuous law is here; noise that is really drawn lies on a lattice, and its curve is in `discrete_gaussian`.
"""

import math
from fractions import Fraction
from functools import lru_cache

from sfumato.accounting.core.parameters import certified_stddev, in_range, in_range_or_zero, open_delta
from sfumato.accounting.gaussian.discrete_gaussian import (
    discrete_gaussian_delta_up,
    discrete_gaussian_epsilon_up,
    discrete_stddev,
)
from sfumato.accounting.gaussian.gaussian_curve import continuous_delta_up
from sfumato.errors import ParameterError
from sfumato.numeric.rationals import Number, positive, probability, sqrt_up
from sfumato.numeric.rounding import dyadic_up, log_up
from sfumato.numeric.search import smallest_dyadic

__all__ = [
    "analytic_stddev",
    "classic_stddev",
    "discrete_gaussian_delta_up",
    "discrete_gaussian_epsilon_up",
    "discrete_stddev",
    "gaussian_delta_up",
    "gaussian_epsilon_up",
]


def classic_stddev(*, l2_sensitivity: Number, epsilon: Number, delta: Number) -> Fraction:
    """The textbook standard deviation σ = Δ √(2 ln(1.25/δ)) / ε, rounded up.

    **Guarantee**: (ε, δ)-differential privacy of continuous noise, for the relation of the sensitivity, if ε < 1.
    It is up to 40% larger than `analytic_stddev`; at ε ≥ 1 the formula is unproven, and far beyond it is wrong.

    Args:
        l2_sensitivity: Δ, above 0.
        epsilon: Between 0 and 1, both excluded.
        delta: Between 0 and 1, both excluded.

    Raises:
        ParameterError: A parameter lies outside.

    Example:
        >>> float(classic_stddev(l2_sensitivity=1, epsilon="0.5", delta="1e-5"))
        9.689610525223543

    References:
        [DR14] Theorem A.1.
    """
    sensitivity, loss = positive(l2_sensitivity, "l2_sensitivity"), positive(epsilon, "epsilon")
    if loss >= 1:
        raise ParameterError("epsilon", epsilon, "must be below 1 for the classic formula; use analytic_stddev")
    root = sqrt_up(2 * log_up(Fraction(5, 4) / open_delta(delta)))
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
        ParameterError: A parameter lies outside.

    Example:
        >>> round(float(analytic_stddev(l2_sensitivity=1, epsilon=1, delta="1e-6")), 6)
        4.224679

    References:
        [BW18] Theorem 8.
    """
    return _analytic_stddev(
        in_range(l2_sensitivity, "l2_sensitivity"), in_range_or_zero(epsilon, "epsilon"), open_delta(delta)
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
        ParameterError: A parameter lies outside.

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
        ParameterError: A parameter lies outside.

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
