"""How far the difference of two Pólya integers strays: what shares of discrete Laplace noise add up to."""

from fractions import Fraction
from math import ceil, expm1, log
from typing import Final

from sfumato.numeric.distributions import discrete_laplace_half_width, failure_probability
from sfumato.numeric.rationals import Number

_TILTS: Final = 64  # tried for the bound
_MARGIN: Final = 1e-9  # above the error of floats


def polya_difference_half_width(shape: Fraction, scale: Fraction, confidence: Number) -> int:
    """An integer t with P(|X| ≤ t) ≥ confidence, for X the difference of two independent Pólya integers.

    Exactly the smallest for shape 1, where X is discrete Laplace; otherwise Chernoff's bound, at most about twice as
    large: P(|X| > t) ≤ 2·e^(−θ(t + 1))·((1 − q)²/((1 − q·e^θ)(1 − q·e^−θ)))^shape, at the best of some θ < 1/scale.

    Args:
        shape: The shape of both, above 0.
        scale: q = e^(−1/scale).
        confidence: Between 0 and 1, both excluded.

    Raises:
        ParameterError: The confidence lies outside.

    Example:
        >>> polya_difference_half_width(Fraction(1), Fraction(10), "0.95")
        30
        >>> polya_difference_half_width(Fraction(10, 9), Fraction(10), "0.95")
        60
    """
    if shape == 1:
        return discrete_laplace_half_width(scale, confidence)
    allowed = log(2 / failure_probability(confidence))
    rate = float(1 / scale)

    def bound(tilt: float) -> float:
        spread = 2 * log(-expm1(-rate)) - log(-expm1(-(1 - tilt) * rate)) - log(-expm1(-(1 + tilt) * rate))
        return (allowed + float(shape) * spread) / (tilt * rate)

    steps = min(bound(tilt / _TILTS) for tilt in range(1, _TILTS))
    return max(0, ceil(steps * (1 + _MARGIN)) - 1)
