"""Mass, tails and half-widths of discrete Laplace and Gaussian noise, as pure functions of their public parameters.

Tails and half-widths are worked out to 60 decimal digits, so that they stay right at scales of 2^50 lattice steps,
where a double can no longer tell neighboring integers apart. Sampling is the business of `sfumato.noise`.
"""

import math
from collections.abc import Callable
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.numeric.rationals import Number, exact

_WIDE: Final = 4  # from here on the sum over integers is the integral but for a relative e^−300
_CONTEXT: Final = Context(prec=60, Emin=MIN_EMIN, Emax=MAX_EMAX)
_ROUNDED_UP: Final = 1 + Decimal("1e-35")  # far above the error of 60 digits, far below one lattice step
_PI: Final = Decimal("3.14159265358979323846264338327950288419716939937510582097494459")
_ENUMERATED_STDDEV: Final = 64  # up to here a Gaussian tail is summed term by term
_SERIES_END: Final = 2  # erfc by a series up to here, by a continued fraction beyond
_TILTS: Final = 64  # tried for Chernoff's bound
_MARGIN: Final = 1e-9  # above the error of its floats
_SUMMED_SCALE: Final = 2_000  # up to here the masses of shares are summed
_SUMMED_SHAPE: Final = 4
_SUMMED_FAILURE: Final = Fraction(1, 10**10)
_ROUNDING: Final = 1e-12  # above what the convolution and the sums round, and what they leave out


def discrete_laplace_log_pmf(scale: Fraction, k: NDArray[Any]) -> NDArray[np.float64]:
    """The log-mass ln P(X = k) = ln tanh(1/(2·scale)) − |k|/scale, for an array of integers.

    Example:
        >>> discrete_laplace_log_pmf(Fraction(1), np.array([0, 1])).round(3).tolist()
        [-0.772, -1.772]
    """
    magnitudes: NDArray[np.float64] = np.abs(k).astype(np.float64)
    return math.log(math.tanh(0.5 / float(scale))) - magnitudes / float(scale)


def discrete_gaussian_log_pmf(stddev: Fraction, k: NDArray[Any]) -> NDArray[np.float64]:
    """The log-mass ln P(X = k) = −k²/(2·stddev²) − ln Σ_j exp(−j²/(2·stddev²)), for an array of integers.

    Example:
        >>> discrete_gaussian_log_pmf(Fraction(1), np.array([0, 1])).round(3).tolist()
        [-0.919, -1.419]
    """
    variance = float(stddev) ** 2
    if stddev < 1:
        total = 1 + 2 * sum(math.exp(-j * j / (2 * variance)) for j in range(1, 10))
    else:  # Poisson's summation formula; its next term is below e^−78
        total = math.sqrt(2 * math.pi * variance) * (1 + 2 * math.exp(-2 * math.pi**2 * variance))
    return -(k.astype(np.float64) ** 2) / (2 * variance) - math.log(total)


def discrete_laplace_tail(scale: Fraction, k: int) -> float:
    """P(|X| > k) = 2·q^(k+1)/(1 + q) with q = exp(−1/scale); 1 for k < 0.

    Example:
        >>> round(discrete_laplace_tail(Fraction(1), 3), 4)
        0.0268
    """
    return float(_laplace_tail(scale, k))


def discrete_gaussian_tail(stddev: Fraction, k: int) -> float:
    """P(|X| > k); 1 for k < 0.

    Up to stddev 64 it is summed; above, it is erfc((k + ½)/(√2·stddev)), which is never too small and at most a
    relative (1 + (k/stddev)²)/(24·stddev²) too large: the mass function is convex beyond stddev, concave before.

    Example:
        >>> round(discrete_gaussian_tail(Fraction(10), 19), 4)
        0.0511
    """
    return float(_gaussian_tail(stddev, k))


def discrete_laplace_cdf(scale: Fraction, k: int) -> float:
    """P(X ≤ k).

    Example:
        >>> round(discrete_laplace_cdf(Fraction(1), 0), 4)
        0.7311
    """
    return _cdf(lambda point: _laplace_tail(scale, point), k)


def discrete_gaussian_cdf(stddev: Fraction, k: int) -> float:
    """P(X ≤ k), as precise as `discrete_gaussian_tail`.

    Example:
        >>> round(discrete_gaussian_cdf(Fraction(1), 0), 4)
        0.6995
    """
    return _cdf(lambda point: _gaussian_tail(stddev, point), k)


def discrete_laplace_variance(scale: Fraction) -> float:
    """Var X = 2q/(1 − q)² with q = exp(−1/scale): at most 2·scale², and close to it for large scales.

    Example:
        >>> round(discrete_laplace_variance(Fraction(10)), 2)
        199.83
    """
    return 0.5 / math.sinh(0.5 / float(scale)) ** 2 if scale > Fraction(1, 700) else 0.0


def discrete_gaussian_variance(stddev: Fraction) -> float:
    """Var X = Σ k²·exp(−k²/(2·stddev²)) over Σ exp(−k²/(2·stddev²)): at most stddev², and that in doubles from 4 on.

    Example:
        >>> discrete_gaussian_variance(Fraction(10)), round(discrete_gaussian_variance(Fraction(1, 2)), 4)
        (100.0, 0.215)
    """
    squared = float(stddev) ** 2
    if stddev >= _WIDE:
        return squared
    masses = [math.exp(-k * k / (2 * squared)) for k in range(1, 10 * _WIDE)]
    return 2 * math.fsum(k * k * mass for k, mass in enumerate(masses, 1)) / (1 + 2 * math.fsum(masses))


def discrete_laplace_half_width(scale: Fraction, confidence: Number) -> int:
    """The smallest integer t with P(|X| ≤ t) ≥ confidence.

    Never too small; one too large at most where the probability equals the confidence to 35 digits.

    Args:
        scale: Above 0, in lattice steps.
        confidence: Between 0 and 1, both excluded.

    Raises:
        ParameterError: The confidence is out of range.

    Example:
        >>> discrete_laplace_half_width(Fraction(10), "0.95")
        30
    """
    return _laplace_half_width(scale, failure_probability(confidence))


def polya_difference_half_width(shape: Fraction, scale: Fraction, confidence: Number) -> int:
    """An integer t with P(|X| ≤ t) ≥ confidence, for X the difference of two independent Pólya integers.

    Exactly the smallest for shape 1, where X is discrete Laplace, and up to scale 2,000 and failures of 1e-10 the
    smallest or one more, from the masses. Otherwise Chernoff's bound, at most about twice as large: P(|X| > t) ≤
    2·e^(−θ(t + 1))·((1 − q)²/((1 − q·e^θ)(1 − q·e^−θ)))^shape, at the best of some θ < 1/scale.

    Args:
        shape: The shape of both, above 0.
        scale: q = e^(−1/scale).
        confidence: Between 0 and 1, both excluded.

    Raises:
        ParameterError: The confidence is out of range.

    Example:
        >>> polya_difference_half_width(Fraction(1), Fraction(10), "0.95")
        30
        >>> polya_difference_half_width(Fraction(10, 9), Fraction(10), "0.95")
        31
    """
    if shape == 1:
        return discrete_laplace_half_width(scale, confidence)
    failure = failure_probability(confidence)
    if Fraction(1, 20) <= scale <= _SUMMED_SCALE and shape <= _SUMMED_SHAPE and failure >= _SUMMED_FAILURE:
        return _summed_half_width(shape, scale, failure)
    allowed = math.log(2 * failure.denominator) - math.log(failure.numerator)  # a small one is no float
    rate = float(1 / scale)
    spread = 2 * math.log(-math.expm1(-rate))

    def bound(tilt: float) -> float:
        tilted = math.log(-math.expm1(-(1 - tilt) * rate)) + math.log(-math.expm1(-(1 + tilt) * rate))
        return (allowed + float(shape) * (spread - tilted)) / (tilt * rate)

    steps = min(bound(tilt / _TILTS) for tilt in range(1, _TILTS))
    return max(0, math.ceil(steps * (1 + _MARGIN)) - 1)


def discrete_gaussian_half_width(stddev: Fraction, confidence: Number) -> int:
    """The smallest integer t with P(|X| ≤ t) ≥ confidence, or one more; never less.

    Args:
        stddev: Above 0, in lattice steps: the parameter σ of the distribution.
        confidence: Between 0 and 1, both excluded.

    Raises:
        ParameterError: The confidence is out of range.

    Example:
        >>> discrete_gaussian_half_width(Fraction(10), "0.95")
        20
    """
    return _gaussian_half_width(stddev, failure_probability(confidence))


def failure_probability(confidence: Number) -> Fraction:
    """1 − confidence, exactly.

    Raises:
        ParameterError: The confidence does not lie between 0 and 1, both excluded.

    Example:
        >>> failure_probability(0.95)
        Fraction(1, 20)
    """
    level = exact(confidence, "confidence")
    if not 0 < level < 1:
        raise ParameterError("confidence", confidence, "must lie between 0 and 1, both excluded, such as 0.95")
    return 1 - level


@lru_cache(maxsize=1024)
def _summed_half_width(shape: Fraction, scale: Fraction, failure: Fraction) -> int:
    """From the masses of both Pólya integers, of which a reach of 64·(scale + 1) leaves out less than 1e-17."""
    power, rate = float(shape), float(1 / scale)
    values = np.arange(1, math.ceil(64 * (scale + 1)) + 1)
    growth = np.concatenate(([0.0], np.cumsum(np.log1p((power - 1) / values) - rate)))
    masses = np.exp(growth + power * math.log(-math.expm1(-rate)))
    size = 1 << len(masses).bit_length() + 1
    spectrum = np.fft.rfft(masses, size) * np.fft.rfft(masses[::-1], size)
    tails = 2 * np.cumsum(np.fft.irfft(spectrum, size)[: len(masses) - 1])[::-1]  # P(|X| > t) at t
    enough = np.flatnonzero(tails * (1 + _MARGIN) + _ROUNDING <= float(failure))
    return int(enough[0])


@lru_cache(maxsize=1024)
def _laplace_half_width(scale: Fraction, failure: Fraction) -> int:
    """Keyed by exact numbers: a float equals and hashes like the rational it is stored as, but stands for another."""
    with localcontext(_CONTEXT):
        ratio = (-1 / _decimal(scale)).exp()
        steps = _decimal(scale) * (2 / ((1 + ratio) * _decimal(failure))).ln()
        return max(0, int((steps * _ROUNDED_UP).to_integral_value(ROUND_CEILING)) - 1)


@lru_cache(maxsize=1024)
def _gaussian_half_width(stddev: Fraction, failure: Fraction) -> int:
    with localcontext(_CONTEXT):
        allowed = _decimal(failure)
        high = 1
        while _gaussian_tail(stddev, high) > allowed:
            high *= 2
        low = -1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if _gaussian_tail(stddev, middle) <= allowed else (middle, high)
        return high


def _cdf(tail: Callable[[int], Decimal], k: int) -> float:
    """The distribution function of a symmetric distribution on the integers from its two-sided tail."""
    return float(1 - tail(k) / 2) if k >= 0 else float(tail(-k - 1) / 2)


def _laplace_tail(scale: Fraction, k: int) -> Decimal:
    if k < 0:
        return Decimal(1)
    with localcontext(_CONTEXT):
        return 2 * (-(k + 1) / _decimal(scale)).exp() / (1 + (-1 / _decimal(scale)).exp())


def _gaussian_tail(stddev: Fraction, k: int) -> Decimal:
    if k < 0:
        return Decimal(1)
    with localcontext(_CONTEXT):
        if stddev > _ENUMERATED_STDDEV:
            return _erfc((k + Decimal("0.5")) / (_decimal(stddev) * Decimal(2).sqrt())) * _ROUNDED_UP
        variance = _decimal(stddev * stddev)
        upper = 2 * _upper_sum(variance, 1)
        return (upper if k == 0 else 2 * _upper_sum(variance, k + 1)) / (1 + upper) * _ROUNDED_UP


def _upper_sum(variance: Decimal, first: int) -> Decimal:
    """Σ over j ≥ first of exp(−j²/(2·variance)), each term from the last: their ratios shrink by exp(−1/variance)."""
    term = (-first * first / (2 * variance)).exp()
    ratio, shrink = (-(2 * first + 1) / (2 * variance)).exp(), (-1 / variance).exp()
    total = Decimal(0)
    while term > total * Decimal("1e-50"):
        total, term, ratio = total + term, term * ratio, ratio * shrink
    return total


def _erfc(x: Decimal) -> Decimal:
    """erfc(x) for x > 0 to 35 digits: a series of positive terms up to 2, Laplace's continued fraction above."""
    gauss = (-x * x).exp() / _PI.sqrt()
    if x < _SERIES_END:
        total, term, n = Decimal(0), 2 * x, 0
        while term > Decimal("1e-60"):
            total, n = total + term, n + 1
            term *= 2 * x * x / (2 * n + 1)
        return 1 - gauss * total
    fraction = x
    for n in range(400, 0, -1):
        fraction = x + Decimal(n) / 2 / fraction
    return gauss / fraction


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)
