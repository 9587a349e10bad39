"""The Gaussian on the integers, the noise that is really drawn: its own privacy curve and calibration.

For small standard deviations the continuous formula is wrong in both directions: at σ = 1 and ε = 5.3 it reports
less than half of the true δ. Here the law itself is summed (proof: proofs/accounting/gaussian/gaussian.md). If several
coordinates move, it is held against zCDP and against a continuous law (proof: proofs/accounting/gaussian/smoothing.md).
"""

import math
from fractions import Fraction
from functools import lru_cache
from math import floor, isqrt
from typing import Final

from sfumato.accounting.core.parameters import as_delta, certified_stddev, in_range, in_range_or_zero, open_delta
from sfumato.accounting.gaussian.gaussian_bound import certifiable_down
from sfumato.accounting.gaussian.smoothing import SMALLEST_STDDEV, bound_above, leaks_over, longest_move
from sfumato.accounting.gaussian.zcdp import zcdp_delta_up
from sfumato.errors import ParameterError
from sfumato.numeric.gaussian_sums import tail_ratio
from sfumato.numeric.rationals import Number, probability
from sfumato.numeric.rounding import exp_down, exp_up
from sfumato.numeric.search import smallest_dyadic
from sfumato.privacy.single_events import moved_coordinates


def discrete_stddev(
    *, l2_sensitivity: Number, epsilon: Number, delta: Number, l0_sensitivity: int | None = None
) -> Fraction:
    """The smallest standard deviation σ of discrete Gaussian noise for (ε, δ), rounded up to a short dyadic.

    Solves `discrete_gaussian_delta_up(σ) ≤ δ`.

    **Guarantee**: at the returned σ the certified δ of the discrete law is at most the δ asked for, for the
    neighbouring relation of the sensitivity.

    Args:
        l2_sensitivity: How far one unit moves the vector of integers in L2, at least 1 lattice step.
        epsilon: 0 or more.
        delta: Between 0 and 1, both excluded.
        l0_sensitivity: How many coordinates one unit moves; 1 is calibrated exactly, more by the best bound. None:
            unknown, so that the guarantee holds for every vector of integers of that length.

    Raises:
        ParameterError: A parameter lies outside.

    Example:
        >>> round(float(discrete_stddev(l2_sensitivity=1, epsilon=1, delta="1e-6")), 4)
        4.2308

    References:
        [CKS20] Theorem 7.
    """
    distance = in_range(l2_sensitivity, "l2_sensitivity")
    if distance < 1:
        raise ParameterError("l2_sensitivity", l2_sensitivity, "must be at least 1, the distance of two integers")
    return _stddev(
        distance,
        in_range_or_zero(epsilon, "epsilon"),
        open_delta(delta),
        moved_coordinates(distance, l0_sensitivity),
    )


def discrete_gaussian_delta_up(
    *, stddev: Number, l2_sensitivity: Number, epsilon: Number, l0_sensitivity: int | None = None
) -> float:
    """The smallest δ at ε of discrete Gaussian noise, rounded up.

    If one coordinate moves, by Δ = ⌊l2_sensitivity⌋, with X the noise,
    δ(ε) = Pr[X > εσ²/Δ - Δ/2] - e^ε Pr[X > εσ²/Δ + Δ/2]; if several do, the smaller of the bound from ρ = Δ²/(2σ²)
    zCDP and the one from continuous noise, which is 1% loose at σ = 4, and less with more noise.

    **Guarantee**: at or above the exact value of the discrete law, never below 1e-304 where anything moves.

    Args:
        stddev: The parameter σ of the law ∝ exp(-k²/2σ²) on the integers, in lattice steps.
        l2_sensitivity: How far one unit moves the vector of integers in L2, in lattice steps.
        epsilon: 0 or more.
        l0_sensitivity: How many coordinates one unit moves; None where that is unknown: ⌊l2_sensitivity²⌋, which holds
            for every vector of integers.

    Raises:
        ParameterError: A parameter lies outside.

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
        ParameterError: A parameter lies outside.

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
