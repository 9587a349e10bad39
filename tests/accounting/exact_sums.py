"""The discrete Gaussian's privacy by high-precision sums over the integers: slow, and sure."""

from fractions import Fraction

import mpmath

DIGITS = 60


def hockey_stick(stddev: Fraction, shift: int, epsilon: Fraction) -> mpmath.mpf:
    """Σ max(f(k) - e^ε f(k + shift), 0) over all integers that matter: the definition, no theorem about tails."""
    with mpmath.workdps(DIGITS):
        sigma, weight = _precise(stddev), mpmath.exp(_precise(epsilon))
        reach = int(16 * stddev) + 3 * shift + 3
        mass = {k: mpmath.exp(-(mpmath.mpf(k) ** 2) / (2 * sigma**2)) for k in range(-reach, reach + shift + 1)}
        gain = mpmath.fsum(max(mass[k] - weight * mass[k + shift], 0) for k in range(-reach, reach + 1))
        return gain / mpmath.fsum(mass.values())


def _precise(value: Fraction) -> mpmath.mpf:
    return mpmath.mpf(value.numerator) / value.denominator
