"""The privacy curve of continuous Gaussian noise between certified bounds.

δ(ε) = Q(low) - e^ε Q(high), with Q the upper tail of N(0, 1), low = ε/μ - μ/2 and high = ε/μ + μ/2. Both tails share
the factor e^(-low²/2), so that nothing over- or underflows (proof: proofs/accounting/gaussian/gaussian.md).
"""

import math
from fractions import Fraction
from typing import Final

from scipy.special import erf, erfc, erfcx

from sfumato.accounting.core.parameters import as_delta
from sfumato.numeric.rounding import deflated, exp_down, exp_up, inflated

_FAR: Final = 38  # standard deviations; e^(-38²/2) is below what floats hold


def continuous_delta_up(noise_multiplier: Fraction, epsilon: Fraction) -> float:
    """δ at ε, rounded up; never below 1e-304. Both arguments at most 2^500."""
    low, high = _ends(noise_multiplier, epsilon)
    if low < -_FAR:
        return 1.0
    exponent = -low * low / 2
    second = exp_down(exponent) * _scaled_tail_down(high)
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


def _scaled_tail_down(high: Fraction) -> float:
    """e^(high²/2) Q(high), rounded down, for high > 0; it falls like 1/high."""
    return deflated(float(erfcx(_scaled(high))) / 2) if high < _FAR**2 else 0.0


def _total_variation_up(noise_multiplier: Fraction) -> float:
    """δ(0) = Φ(μ/2) - Φ(-μ/2), which bounds every δ and is sharp where the difference of tails is not."""
    half_shift = 1 / (2 * noise_multiplier)
    return inflated(float(erf(_scaled(half_shift)))) if half_shift < _FAR else 1.0
