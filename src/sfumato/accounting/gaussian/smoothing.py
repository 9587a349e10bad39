"""Discrete Gaussian noise held between continuous laws: any number of coordinates, whole compositions.

The discrete law of variance σ² is nearly what a continuous one of variance σ² - τ² becomes when it is rounded at
random to an integer nearby; and the discrete law plus continuous noise of variance τ² is nearly a continuous one of
variance σ² + τ². How nearly falls like e^(-4π²τ²) and e^(-2π²τ²) (proof: proofs/accounting/gaussian/smoothing.md).
"""

import math
from fractions import Fraction
from functools import lru_cache
from math import floor, isqrt
from typing import Final

from sfumato.accounting.gaussian.gaussian_bound import GaussianBound
from sfumato.errors import ParameterError
from sfumato.numeric.rounding import dyadic_up, exp_up, float_up, log_near

SMALLEST_STDDEV: Final = Fraction(2)
"""Below it the price through zCDP is the lower one, and these bounds are refused."""

LEAKS: Final = tuple(Fraction(1, 2**bits) for bits in (4, 7, 10, 14, 20, 28, 40))
"""How far apart the laws may be, in logarithms: the nearer they are, the more of the variance it takes."""

_MANY_COORDINATES: Final = 2**20  # whose smallest leaks together are still a factor below 1 + 2^-18
_PI_DOWN: Final = Fraction(314159265358979, 10**14)
_VAST: Final = Fraction(2**64)  # beyond this variance τ² depends on it no more
_COORDINATES_OF_ANY_LENGTH: Final = 4  # every whole number is the sum of four squares
_PAIR: Final = 2
_LARGEST_SEARCHED: Final = 10**6  # squared; the next sum of two squares is at most about 90 lower
_NO_THREE_SQUARES: Final = 7  # modulo 8


def leaks_over(coordinates: int) -> tuple[Fraction, ...]:
    """`LEAKS`, and where very many coordinates may move also their shares of one coordinate, the smallest last."""
    if coordinates <= _MANY_COORDINATES:
        return LEAKS
    return LEAKS + tuple(leak / coordinates for leak in LEAKS)


def longest_move(l2_sensitivity: Fraction, l0_sensitivity: int) -> tuple[int, int]:
    """The squared length of a move of a vector of integers, and how many coordinates can change: both at most.

    The length is attained, but for moves of two coordinates longer than 1000.
    """
    square = floor(l2_sensitivity**2)
    return _largest_sum(square, l0_sensitivity), min(l0_sensitivity, square)


@lru_cache(maxsize=4096)
def _largest_sum(most: int, count: int) -> int:
    """The largest sum of so many squares that is not above a limit; the limit itself where that is hard to say."""
    if count == 1:
        return isqrt(most) ** 2
    if count >= _COORDINATES_OF_ANY_LENGTH or (count == _PAIR and most > _LARGEST_SEARCHED):
        return most
    is_sum = _is_sum_of_two_squares if count == _PAIR else _is_sum_of_three_squares
    return next(square for square in range(most, -1, -1) if is_sum(square))


def _is_sum_of_two_squares(square: int) -> bool:
    return any(isqrt(square - side**2) ** 2 == square - side**2 for side in range(isqrt(square // 2) + 1))


def _is_sum_of_three_squares(square: int) -> bool:
    """All but 4^a (8b + 7), by Legendre's theorem."""
    while square and square % 4 == 0:
        square //= 4
    return square % 8 != _NO_THREE_SQUARES


def _attained_move(l2_sensitivity: Fraction, l0_sensitivity: int) -> tuple[int, int]:
    """The squared length of a move that exists, nearly the longest, and how many coordinates it changes at most."""
    square, coordinates = longest_move(l2_sensitivity, l0_sensitivity)
    if coordinates == _PAIR and square > _LARGEST_SEARCHED:
        side = isqrt(square) ** 2
        square = side + isqrt(square - side) ** 2
    return square, min(coordinates, _COORDINATES_OF_ANY_LENGTH)


@lru_cache(maxsize=4096)
def bound_above(stddev: Fraction, l2_sensitivity: Fraction, l0_sensitivity: int, leak: Fraction) -> GaussianBound:
    """A bound from above for discrete Gaussian noise whose laws are about `leak` apart in each coordinate.

    **Guarantee**: for all integer vectors of squared length at most ⌊l2²⌋ with at most l0 nonzero coordinates; bounds
    of adaptively chosen releases add up. Rounded up.

    Args:
        stddev: σ, at least 2.
        l2_sensitivity: How far one unit moves the vector of integers, in L2.
        l0_sensitivity: How many coordinates one unit moves.
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
    square, coordinates = _attained_move(l2_sensitivity, l0_sensitivity)
    kept = Fraction(min(_needed(leak), 0.9 * float(min(variance, _VAST))))
    added = kept * variance / (variance - kept)
    log_factor = _log_factor_up(coordinates, _ripple_up(kept))
    return GaussianBound(Fraction(-float_up(-square / (variance + added))), log_factor)


def _variance(stddev: Fraction) -> Fraction:
    if stddev < SMALLEST_STDDEV:
        raise ParameterError("stddev", stddev, f"must be at least {SMALLEST_STDDEV} to be near a continuous law")
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
