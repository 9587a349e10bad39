"""The Gaussian on the integers, the noise that is really drawn: its privacy curve, calibration and continuous bounds.

For small standard deviations the continuous formula is wrong in both directions: at σ = 1 and ε = 5.3 it reports
less than half of the true δ. Here the distribution itself is summed (proof: proofs/accounting/gaussian/gaussian.md).

If several coordinates move, or several releases are composed, it is held between continuous distributions. The discrete
distribution of variance σ² is nearly what a continuous one of variance σ² - τ² becomes when it is rounded at random to
an integer nearby; and the discrete distribution plus continuous noise of variance τ² is nearly a continuous one of
variance σ² + τ². How nearly falls like e^(-4π²τ²) and e^(-2π²τ²) (proof:
proofs/accounting/gaussian/discrete_gaussian.md).
"""

import math
from fractions import Fraction
from functools import lru_cache
from math import floor, isqrt
from typing import Final

from sfumato.accounting.core.integer_moves import attained_move, longest_move
from sfumato.accounting.gaussian.gaussian import (
    GaussianBound,
    as_delta,
    certifiable_down,
    certified_stddev,
    in_range,
    in_range_or_zero,
)
from sfumato.accounting.gaussian.zcdp import zcdp_delta_up
from sfumato.errors import ParameterError
from sfumato.numeric.gaussian_sums import tail_ratio
from sfumato.numeric.rationals import Number, open_probability, probability
from sfumato.numeric.rounding import dyadic_up, exp_down, exp_up, float_up, log_near
from sfumato.numeric.search import smallest_dyadic
from sfumato.privacy.events import moved_coordinates


def discrete_stddev(
    *, l2_sensitivity: Number, epsilon: Number, delta: Number, l0_sensitivity: int | None = None
) -> Fraction:
    """The smallest standard deviation σ of discrete Gaussian noise for (ε, δ), rounded up to a short dyadic.

    Solves `discrete_gaussian_delta_up(σ) ≤ δ`.

    **Guarantee**: at the returned σ the certified δ of the discrete distribution is at most the δ asked for, for the
    neighboring relation of the sensitivity.

    Args:
        l2_sensitivity: The most by which one unit changes the vector of integers in L2, at least 1 lattice step.
        epsilon: 0 or more.
        delta: Between 0 and 1, both excluded.
        l0_sensitivity: The most coordinates that one unit changes; 1 is calibrated exactly, more by the best bound.
            None: unknown, so that the guarantee holds for every vector of integers of that length.

    Raises:
        ParameterError: A parameter is out of range.

    Example:
        >>> round(float(discrete_stddev(l2_sensitivity=1, epsilon=1, delta="1e-6")), 4)
        4.2308

    References:
        [CKS20] Theorem 7.
    """
    distance = in_range(l2_sensitivity, "l2_sensitivity")
    if distance < 1:
        raise ParameterError(
            "l2_sensitivity", l2_sensitivity, "must be at least 1, the smallest difference between two integers"
        )
    return _stddev(
        distance,
        in_range_or_zero(epsilon, "epsilon"),
        open_probability(delta, "delta"),
        moved_coordinates(distance, l0_sensitivity),
    )


def discrete_gaussian_delta_up(
    *, stddev: Number, l2_sensitivity: Number, epsilon: Number, l0_sensitivity: int | None = None
) -> float:
    """The smallest δ at ε of discrete Gaussian noise, rounded up.

    If one coordinate changes, by Δ = ⌊l2_sensitivity⌋, with X the noise,
    δ(ε) = Pr[X > εσ²/Δ - Δ/2] - e^ε Pr[X > εσ²/Δ + Δ/2]; if several do, the smaller of the bound from ρ = Δ²/(2σ²)
    zCDP and the one from continuous noise, which is 1% loose at σ = 4, and less with more noise.

    **Guarantee**: at or above the exact value of the discrete distribution, never below 1e-304 where anything moves.

    Args:
        stddev: The parameter σ of the distribution ∝ exp(-k²/2σ²) on the integers, in lattice steps.
        l2_sensitivity: The most by which one unit changes the vector of integers in L2, in lattice steps.
        epsilon: 0 or more.
        l0_sensitivity: The most coordinates that one unit changes; None where that is unknown: ⌊l2_sensitivity²⌋, which
            holds for every vector of integers.

    Raises:
        ParameterError: A parameter is out of range.

    Example:
        >>> round(discrete_gaussian_delta_up(stddev=1, l2_sensitivity=1, epsilon=1), 6)
        0.141351

    References:
        [CKS20] Theorem 7.
    """
    distance = in_range(l2_sensitivity, "l2_sensitivity")
    return _delta_up(
        in_range(stddev, "stddev"),
        distance,
        in_range_or_zero(epsilon, "epsilon"),
        moved_coordinates(distance, l0_sensitivity),
    )


def discrete_gaussian_epsilon_up(
    *, stddev: Number, l2_sensitivity: Number, delta: Number, l0_sensitivity: int | None = None
) -> Fraction | float:
    """The smallest ε at δ of discrete Gaussian noise, rounded up: the inverse of `discrete_gaussian_delta_up`.

    Edge cases: δ = 0 has no finite ε, the result is infinite; a sensitivity below 1 lattice step moves nothing, 0.

    Raises:
        ParameterError: A parameter is out of range.

    Example:
        >>> round(float(discrete_gaussian_epsilon_up(stddev=1, l2_sensitivity=1, delta="1e-6")), 4)
        4.4996
    """
    distance = in_range(l2_sensitivity, "l2_sensitivity")
    return _epsilon_up(
        in_range(stddev, "stddev"),
        distance,
        probability(delta, "delta"),
        moved_coordinates(distance, l0_sensitivity),
    )


_LARGEST_RHO: Final = Fraction(2) ** 500
_JUST_BELOW: Final = 1 - Fraction(1, 2**36)


@lru_cache(maxsize=4096)
def _stddev(l2_sensitivity: Fraction, epsilon: Fraction, delta: Fraction, l0_sensitivity: int) -> Fraction:
    target = epsilon * _JUST_BELOW  # so that `discrete_gaussian_epsilon_up`, which rounds up too, stays within epsilon
    return certified_stddev(
        lambda stddev: _delta_up(stddev, l2_sensitivity, target, l0_sensitivity), delta, guess=l2_sensitivity
    )


@lru_cache(maxsize=4096)
def _epsilon_up(stddev: Fraction, l2_sensitivity: Fraction, delta: Fraction, l0_sensitivity: int) -> Fraction | float:
    if _delta_up(stddev, l2_sensitivity, Fraction(0), l0_sensitivity) <= delta:
        return Fraction(0)
    if delta == 0:
        return math.inf
    found = smallest_dyadic(
        lambda epsilon: _delta_up(stddev, l2_sensitivity, epsilon, l0_sensitivity) <= delta,
        guess=l2_sensitivity / stddev,
        bits=40,
    )
    return math.inf if found is None else found


def _delta_up(stddev: Fraction, l2_sensitivity: Fraction, epsilon: Fraction, l0_sensitivity: int) -> float:
    square, coordinates = longest_move(l2_sensitivity, l0_sensitivity)
    if not square:
        return 0.0
    if coordinates == 1:
        return _shift_delta_up(stddev, isqrt(square), epsilon)
    bounds = [_concentrated_delta_up(square / (2 * stddev**2), epsilon)]
    if stddev >= SMALLEST_STDDEV:
        bounds += [
            bound_above(stddev, l2_sensitivity, l0_sensitivity, leak).delta_up(epsilon)
            for leak in leaks_over(coordinates)
        ]
    return min(bounds)


def _concentrated_delta_up(rho: Fraction, epsilon: Fraction) -> float:
    """What ρ-zCDP implies; beyond what is certified, at a larger ρ and a smaller ε, or nothing."""
    if rho > _LARGEST_RHO:
        return 1.0
    return zcdp_delta_up(rho=max(rho, 1 / _LARGEST_RHO), epsilon=certifiable_down(epsilon))


def _shift_delta_up(stddev: Fraction, shift: int, epsilon: Fraction) -> float:
    """δ = (S(first) - e^ε S(first + shift)) / S(-∞), where S(m) sums exp(-k²/2σ²) over the integers k ≥ m."""
    first = floor(epsilon * stddev**2 / shift - Fraction(shift, 2)) + 1
    half = tail_ratio(stddev, 0)
    total_down, total_up = 2 * half.low - 1, 2 * half.high - 1
    if first > 0:
        gain = exp_up(-(Fraction(first) ** 2) / (2 * stddev**2)) * tail_ratio(stddev, first).high
    else:
        mirrored = 1 - first
        gain = total_up - exp_down(-(Fraction(mirrored) ** 2) / (2 * stddev**2)) * tail_ratio(stddev, mirrored).low
    second = first + shift
    loss = exp_down(epsilon - Fraction(second) ** 2 / (2 * stddev**2)) * tail_ratio(stddev, second).low
    return as_delta((gain - loss) / total_down, shift / total_down)


SMALLEST_STDDEV: Final = Fraction(2)
"""Below it the cost through zCDP is the lower one, and these bounds are refused."""

LEAKS: Final = tuple(Fraction(1, 2**bits) for bits in (4, 7, 10, 14, 20, 28, 40))
"""How far apart the distributions may be, in logarithms: the nearer they are, the more of the variance it takes."""

_MANY_COORDINATES: Final = 2**20  # whose smallest leaks together are still a factor below 1 + 2^-18
_PI_DOWN: Final = Fraction(314159265358979, 10**14)
_VAST: Final = Fraction(2**64)  # beyond this variance τ² depends on it no more


def leaks_over(coordinates: int) -> tuple[Fraction, ...]:
    """`LEAKS`, and where very many coordinates may move also their shares of one coordinate, the smallest last."""
    if coordinates <= _MANY_COORDINATES:
        return LEAKS
    return LEAKS + tuple(leak / coordinates for leak in LEAKS)


@lru_cache(maxsize=4096)
def bound_above(stddev: Fraction, l2_sensitivity: Fraction, l0_sensitivity: int, leak: Fraction) -> GaussianBound:
    """A bound from above for discrete Gaussian noise whose distributions are about `leak` apart in each coordinate.

    **Guarantee**: for all integer vectors of squared length at most ⌊l2²⌋ with at most l0 nonzero coordinates; bounds
    of adaptively chosen releases add up. Rounded up.

    Args:
        stddev: σ, at least 2.
        l2_sensitivity: The most by which one unit changes the vector of integers, in L2.
        l0_sensitivity: The most coordinates that one unit changes.
        leak: Above 0, and at most 1/16; what is reached is computed, whatever was asked for.

    Raises:
        ParameterError: The standard deviation is below 2.
    """
    variance = _variance(stddev)
    square, coordinates = longest_move(l2_sensitivity, l0_sensitivity)
    taken = _taken(variance, leak)
    ripple = _ripple_up(taken)
    apart = ripple / (1 - ripple) * Fraction(_gauss_up(taken * (variance - taken) / variance))
    squared_mu = dyadic_up(square / (variance - taken), 64) if square else Fraction(0)
    return GaussianBound(squared_mu, _log_factor_up(coordinates, apart))


@lru_cache(maxsize=4096)
def bound_below(stddev: Fraction, l2_sensitivity: Fraction, l0_sensitivity: int, leak: Fraction) -> GaussianBound:
    """A bound from below: one move that is allowed has at least this privacy curve. As `bound_above`, rounded down.

    The move is as long as a sum of min(l0, 4) squares of integers can be.
    """
    variance = _variance(stddev)
    square, coordinates = attained_move(l2_sensitivity, l0_sensitivity)
    kept = Fraction(min(_needed(leak), 0.9 * float(min(variance, _VAST))))
    added = kept * variance / (variance - kept)
    log_factor = _log_factor_up(coordinates, _ripple_up(kept))
    return GaussianBound(Fraction(-float_up(-square / (variance + added))), log_factor)


def _variance(stddev: Fraction) -> Fraction:
    if stddev < SMALLEST_STDDEV:
        raise ParameterError(
            "stddev", stddev, f"must be at least {SMALLEST_STDDEV} to be close to the continuous Gaussian"
        )
    return stddev**2


def _log_factor_up(coordinates: int, apart: Fraction) -> Fraction:
    """ln((1 + κ)/(1 - κ)) ≤ 2κ/(1 - κ) for each coordinate."""
    return dyadic_up(coordinates * 2 * apart / (1 - apart), 64) if coordinates else Fraction(0)


def _needed(leak: Fraction) -> float:
    """About the v with 2 e^(-2π²v) = leak; at a leak of 1/16 the bounds already hold for every σ of 2 or more."""
    return (math.log(2) - log_near(min(leak, LEAKS[0]))) / (2 * math.pi**2)


def _taken(variance: Fraction, leak: Fraction) -> Fraction:
    """About the τ² with τ² + τ²(σ² - τ²)/σ² = v, at most three quarters of σ²."""
    limit = float(min(variance, _VAST))
    reach = min(_needed(leak), limit * 15 / 16)
    return Fraction(reach / (1 + math.sqrt(1 - reach / limit)))


def _ripple_up(variance: Fraction) -> Fraction:
    """η = 2 Σ_{n≥1} e^(-2π²vn²), how far a sum of Gaussian weights over integers swings; n² ≥ 1 + 3(n - 1)."""
    first = Fraction(_gauss_up(variance))
    return 2 * first / (1 - first**3)


def _gauss_up(variance: Fraction) -> float:
    """e^(-2π²v), rounded up."""
    return exp_up(-2 * _PI_DOWN**2 * variance)
