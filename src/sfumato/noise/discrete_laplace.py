"""Exact discrete Laplace noise, also called two-sided geometric [GRS09], by the method of [CKS20]."""

from fractions import Fraction

import numpy as np

from sfumato.noise.bernoulli import bernoulli, bernoulli_exp
from sfumato.noise.domain import drawable
from sfumato.noise.geometric import geometric
from sfumato.noise.integers import Integers, floor_divide, multiply_add
from sfumato.noise.rejection import accepted
from sfumato.noise.uniform import uniform_below


def discrete_laplace(scale: Fraction, size: int) -> Integers:
    """`size` independent integers k with P(k) = tanh(1/(2·scale)) · exp(−|k|/scale), exactly.

    Args:
        scale: A rational between 1/1000 and 2^50.
        size: How many, 0 or more.

    Returns:
        int64; Python integers if one of them does not fit, which at scale 2^50 has a chance below e^−8000.

    Raises:
        ParameterError: The scale or the size lies outside.

    Example:
        >>> len(discrete_laplace(Fraction(10, 3), 5))
        5

    References:
        [CKS20] Algorithm 2.
    """
    numerator, denominator = drawable(scale, "scale").as_integer_ratio()
    return accepted(lambda count: _attempts(numerator, denominator, count), size)


def _attempts(numerator: int, denominator: int, count: int) -> Integers:
    """Magnitudes by blocks of `numerator` fine steps, `denominator` fine steps to a whole one; then a sign."""
    remainders = uniform_below(numerator, count)
    remainders = remainders[bernoulli_exp(remainders, numerator)]
    fine_steps = multiply_add(numerator, geometric(len(remainders)), remainders)
    magnitudes = floor_divide(fine_steps, denominator)
    negative = bernoulli(Fraction(1, 2), len(magnitudes))
    signed: Integers = np.where(negative, -magnitudes, magnitudes)
    kept: Integers = signed[~(negative & (magnitudes == 0))]  # +0 and −0 together would count zero twice
    return kept
