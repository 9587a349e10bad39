"""Exact discrete staircase noise: flat stairs of Δ integers, each e^ε less likely than the one before."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from sfumato.errors import ParameterError
from sfumato.noise.laws.discrete_laplace import geometric
from sfumato.noise.uniform.bernoulli import bernoulli, bernoulli_within
from sfumato.noise.uniform.integers import Integers, multiply_add, narrow
from sfumato.noise.uniform.uniform import size_of, uniform_below
from sfumato.numeric.rounding import exp_bounds


def staircase(sensitivity: int, width: int, epsilon: Fraction, size: int) -> Integers:
    """`size` independent integers k with P(k) ∝ exp(−ε·⌈(|k| + 1 − width)/sensitivity⌉), exactly.

    The top stair holds the |k| < width, each following one `sensitivity` magnitudes with both signs.

    **Guarantee**: the distribution is exact. Proof: proofs/noise/laws/staircase.md.

    Args:
        sensitivity: Δ, a whole number of at least 1.
        width: Between 1 and Δ.
        epsilon: ε, between 2^−50 and 1000.
        size: How many, 0 or more.

    Returns:
        int64; Python integers if one of them does not fit.

    Raises:
        ParameterError: A parameter is out of range.

    Example:
        >>> len(staircase(100, 20, Fraction(3), 5))
        5

    References:
        [GV16], which treats integers too; [GKOV15].
    """
    if not 1 <= width <= sensitivity:
        raise ParameterError("width", width, f"must lie between 1 and the sensitivity, {sensitivity}")
    lower = np.flatnonzero(~bernoulli_within(_on_top(sensitivity, width, epsilon), size_of(size)))
    noise = uniform_below(2 * width - 1, size) - (width - 1)
    stairs, places = geometric(1 / epsilon, len(lower)), uniform_below(sensitivity, len(lower)) + width
    magnitudes = multiply_add(sensitivity, stairs, places)
    if magnitudes.dtype == object:
        noise = noise.astype(object)
    noise[lower] = np.where(bernoulli(Fraction(1, 2), len(lower)), -magnitudes, magnitudes)
    return narrow(noise)


def _on_top(sensitivity: int, width: int, epsilon: Fraction) -> Callable[[int], tuple[int, int]]:
    """Bounds of the top stair's probability (2·width − 1)(1 − b)/((2·width − 1)(1 − b) + 2Δ·b), with b = e^−ε."""

    def bounds(bits: int) -> tuple[int, int]:
        whole, top = 1 << bits, 2 * width - 1
        lower, upper = (
            Fraction(top * (whole - ratio), top * (whole - ratio) + 2 * sensitivity * ratio)
            for ratio in reversed(exp_bounds(epsilon, bits))
        )
        return int(lower * whole), -int(-upper * whole // 1)

    return bounds
