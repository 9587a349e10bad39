"""Exact discrete Laplace noise between two ends: what lies beyond is not clamped but never drawn."""

from fractions import Fraction

import numpy as np

from sfumato.errors import ParameterError
from sfumato.noise.domain import drawable
from sfumato.noise.laws.discrete_laplace import discrete_laplace
from sfumato.noise.uniform.acceptance import rational_coins
from sfumato.noise.uniform.integers import SAFE, Integers, multiply_add
from sfumato.noise.uniform.rejection import accepted
from sfumato.noise.uniform.uniform import uniform_below


def truncated_laplace(scale: Fraction, bound: int, size: int) -> Integers:
    """`size` independent integers with P(k) ∝ exp(−|k|/scale) for |k| ≤ bound, and 0 beyond, exactly.

    Where the bound is a scale or more away, draws of `discrete_laplace` within it are kept; where it is nearer, uniform
    integers, each with probability exp(−|k|/scale). At least one in e is kept either way.

    **Guarantee**: the law is exact. Proof: proofs/noise/laws/truncated_laplace.md.

    Args:
        scale: A rational between 1/1000 and 2^50.
        bound: A whole number from 0 to 2^60.
        size: How many, 0 or more.

    Returns:
        int64.

    Raises:
        ParameterError: A parameter lies outside.

    Example:
        >>> draws = truncated_laplace(Fraction(10), 4, 99)
        >>> bool((abs(draws) <= 4).all()), truncated_laplace(Fraction(10), 0, 3).tolist()
        (True, [0, 0, 0])
    """
    drawable(scale, "scale")
    if not 0 <= bound <= SAFE >> 2:
        raise ParameterError("bound", bound, "must lie between 0 and 2^60")
    attempt = _from_laplace if bound >= scale else _from_uniform
    return accepted(lambda count: attempt(scale, bound, count), size)


def _from_laplace(scale: Fraction, bound: int, count: int) -> Integers:
    draws = discrete_laplace(scale, count)
    kept: Integers = draws[np.abs(draws) <= bound]
    return kept


def _from_uniform(scale: Fraction, bound: int, count: int) -> Integers:
    draws = uniform_below(2 * bound + 1, count) - bound
    magnitudes = np.abs(draws)
    exponents = multiply_add(scale.denominator, magnitudes, np.zeros_like(magnitudes))
    kept: Integers = draws[rational_coins(exponents, scale.numerator)]
    return kept
