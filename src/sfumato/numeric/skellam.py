"""Certified masses of the Skellam distribution e^(−2μ)·I_|k|(2μ), by a recurrence in integers."""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import isqrt
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.numeric.distributions import failure_probability
from sfumato.numeric.rationals import Number

Floats: TypeAlias = NDArray[np.float64]

LARGEST_MEAN: Final = Fraction(1 << 28)

_BITS: Final = 96
_ONE: Final = 1 << _BITS
_SMALLEST: Final = 1e-300  # what is smaller counts as 0 from below and as this from above


@dataclass(frozen=True, slots=True)
class SkellamMasses:
    """P(k)/P(0) for k = 0, 1, 2, …, between two arrays of floats, and a bound of what follows their end.

    `remainder` is at or above Σ P(k)/P(0) over the k beyond.
    """

    low: Floats
    high: Floats
    remainder: float

    def total(self) -> tuple[float, float]:
        """Bounds of 1/P(0), the sum over all integers k of both signs."""
        margin = _margin(len(self.low))
        low = (2 * float(self.low.sum()) - 1) * (1 - margin)
        return low, (2 * (float(self.high.sum()) + self.remainder) - 1) * (1 + margin)


@lru_cache(maxsize=16)
def skellam_masses(mean: Fraction, deviations: int) -> SkellamMasses:
    """The masses from 0 to `deviations` standard deviations and 32 more.

    The ratios r_k = I_(k+1)(2μ)/I_k(2μ), all between 0 and 1, obey r_(k−1) = 1/(k/μ + r_k). Started far out with
    0 ≤ r ≤ 1, the two bounds run towards each other as k falls; all divisions are of integers, rounded outward.

    Args:
        mean: μ, above 0 and at most 2^28; the variance is 2μ.
        deviations: How far the masses are wanted.

    Raises:
        ParameterError: The mean is out of range.

    Example:
        >>> masses = skellam_masses(Fraction(1, 2), 4)
        >>> round(float(masses.low[1]), 12), bool(((masses.high - masses.low) < 1e-12).all())
        (0.446389965897, True)
    """
    if not 0 < mean <= LARGEST_MEAN:
        raise ParameterError("mean", mean, "must be above 0 and at most 2^28, where Skellam masses are certified")
    stddev = isqrt(int(2 * mean)) + 1
    last = deviations * stddev + 32
    lows, highs = _ratios(mean, last, burn_in=2 * stddev + 32)
    margin = _margin(last)
    low = np.concatenate([[1.0], np.cumprod(lows) * (1 - margin)])
    high = np.concatenate([[1.0], np.cumprod(highs) * (1 + margin)])
    low[low < _SMALLEST] = 0.0
    high = np.maximum(high, _SMALLEST)
    ratio = highs[-1]  # ratios fall with k, so the rest is less than a geometric series
    return SkellamMasses(low, high, float(high[-1] * ratio / (1 - ratio)) * (1 + margin))


def skellam_half_width(mean: Fraction, confidence: Number) -> int:
    """The smallest integer t with P(|X| ≤ t) ≥ confidence, or a little more; never less.

    Args:
        mean: μ, above 0 and at most 2^28.
        confidence: Between 0 and 1, both excluded.

    Raises:
        ParameterError: A parameter is out of range.

    Example:
        >>> skellam_half_width(Fraction(50), "0.95")
        20
    """
    return _half_width(mean, failure_probability(confidence))


@lru_cache(maxsize=1024)
def _half_width(mean: Fraction, failure: Fraction) -> int:
    deviations = 8
    while True:
        masses = skellam_masses(mean, deviations)
        beyond = np.append(np.cumsum(masses.high[:0:-1])[::-1], 0.0) + masses.remainder
        tails = 2 * beyond * (1 + _margin(len(beyond))) / masses.total()[0]
        enough = np.flatnonzero(tails <= float(failure) * (1 - _margin(1)))
        if len(enough):
            return int(enough[0])
        deviations *= 2


def _ratios(mean: Fraction, last: int, *, burn_in: int) -> tuple[Floats, Floats]:
    """Bounds of r_0, …, r_(last − 1), as floats."""
    numerator, denominator = mean.as_integer_ratio()
    scaled, square = denominator << _BITS, numerator << 2 * _BITS
    low, high = 0, _ONE
    lows, highs = np.empty(last), np.empty(last)
    for k in range(last + burn_in, 0, -1):
        step = k * scaled
        low, high = square // (step + numerator * high), -(-square // (step + numerator * low))
        if k <= last:
            lows[k - 1], highs[k - 1] = low / _ONE, high / _ONE
    return lows, np.minimum(highs, 1.0)


def _margin(count: int) -> float:
    """Above the relative error of a sum or product of so many floats, each of which is rounded itself."""
    return (count + 8) * 2.0**-50
