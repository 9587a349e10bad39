"""Certified sums of exp(-k²/2σ²) over the integers of a half-line."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
from scipy.special import erfcx

from sfumato.numeric.rounding import deflated, inflated

_DIRECT_LIMIT: Final = 1024  # up to this σ at most 10,240 terms are added; beyond it the expansion is right to 1e-9
_FAR: Final = 10**9  # standard deviations, beyond which the general bounds are enough
_CUT: Final = 50  # terms below e^-50 of the first are left to the margin


@dataclass(frozen=True, slots=True)
class Enclosure:
    """Two floats with the exact value between them."""

    low: float
    high: float


def tail_ratio(stddev: Fraction, first: int) -> Enclosure:
    """The sum over integers k ≥ first of exp(-k²/2σ²), divided by its first term, for first ≥ 0.

    The ratio lies between 1 and 1 + σ√(π/2), whatever `first`; the first term, which may be tiny, is left to the
    caller, who knows its exponent exactly.

    Example:
        >>> ratio = tail_ratio(Fraction(1), 0)
        >>> round(ratio.low, 9), round(ratio.high, 9)
        (1.753314144, 1.753314144)
    """
    if first > _FAR * stddev:
        return Enclosure(1.0, 1 + inflated(float(stddev) * math.sqrt(math.pi / 2)))
    return _direct(float(stddev), float(first)) if stddev <= _DIRECT_LIMIT else _expansion(stddev, first)


def _direct(stddev: float, first: float) -> Enclosure:
    """Term by term. What is cut is at most e^-50 of the whole, because the distribution is log-concave."""
    cut = 2 * _CUT * stddev**2
    steps = np.arange(math.ceil(cut / (first + math.sqrt(first**2 + cut))) + 1, dtype=np.float64)
    ratio = float(np.exp(-steps * (2 * first + steps) / (2 * stddev**2)).sum())
    return Enclosure(deflated(ratio), inflated(ratio))


def _expansion(stddev: Fraction, first: int) -> Enclosure:
    """Euler-Maclaurin of order 4: integral, half the first term, first and third derivative, bounded remainder.

    The remainder is at most ∫|f''''|/720, and |f''''| ≤ (z⁴ + 6z² + 3) e^(-z²/2)/σ⁴ with z = k/σ, which integrates
    to the bound below.
    """
    z, step = float(first / stddev), float(1 / stddev)
    integral = math.sqrt(math.pi / 2) * float(erfcx(z / math.sqrt(2)))
    ratio = integral / step + 0.5 + z * step / 12 - ((z * step) ** 3 - 3 * z * step**3) / 720
    remainder = ((z * step) ** 3 + (9 * z + 12 * integral) * step**3) / 720
    return Enclosure(max(1.0, deflated(ratio - remainder)), inflated(ratio + remainder))
