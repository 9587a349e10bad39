"""Exact discrete Gaussian noise [CKS20]."""

from fractions import Fraction
from functools import lru_cache, partial
from math import isqrt
from typing import Final

import numpy as np

from sfumato.noise.laws.discrete_laplace import laplace_attempts, universal_laplace_one
from sfumato.noise.tables.block_table import BlockTable, DirectTable, GaussianShape
from sfumato.noise.tables.word_table import (
    KEPT,
    LARGEST_DIRECT_SCALE,
    AtomWeights,
    NoiseTable,
    Supply,
    WordTable,
    gaussian_weights,
)
from sfumato.noise.uniform.bernoulli import exp_coin, exp_coins
from sfumato.noise.uniform.integers import LARGEST_SCALE, Integers, drawable_variance
from sfumato.noise.uniform.uniform import accepted

_LARGEST: Final = 1000.0  # larger exponents are all alike to floats


def discrete_gaussian(variance: Fraction, size: int) -> Integers:
    """`size` independent integers k with P(k) ∝ exp(−k²/(2·variance)), exactly.

    Two tiers with the same law: a certified table where many draws of one variance are asked for, otherwise
    `universal_gaussian`. Tables are kept, so a variance that is itself secret belongs there.

    Args:
        variance: A rational between 1/1000² and 2^100: the square of the parameter σ. The variance of the distribution
            itself is at most this, and very nearly equal from σ = 1 on.
        size: How many, 0 or more.

    Returns:
        int64; Python integers if one of them does not fit, which at σ = 2^50 has a chance below e^−10^7.

    Raises:
        ParameterError: The variance or the size is out of range.

    Example:
        >>> len(discrete_gaussian(Fraction(100), 5))
        5

    References:
        [CKS20] Algorithm 3 for the universal tier.
    """
    return _supply(*variance.as_integer_ratio()).draw(size)


def discrete_gaussian_one(variance: Fraction) -> int:
    """One draw of `discrete_gaussian`."""
    return _supply(*variance.as_integer_ratio()).one()


def universal_gaussian(variance: Fraction, size: int) -> Integers:
    """As `discrete_gaussian`: `size` independent integers k with P(k) ∝ exp(−k²/(2·variance)), exactly.

    By rejection from a discrete Laplace distribution; this is also the sampler for a variance that is itself secret.

    **Guarantee**: no table is built for the variance and none is looked up.
    Proof: proofs/noise/laws/discrete_gaussian.md.

    Example:
        >>> len(universal_gaussian(Fraction(100), 5))
        5
    """
    drawable_variance(variance)
    return accepted(lambda count: _attempts(variance, _proposal_scale(variance), count), size)


def universal_gaussian_one(variance: Fraction) -> int:
    """One draw of `universal_gaussian`, of a variance that is known to be drawable."""
    scale = Fraction(_proposal_scale(variance))
    center, factor = float(variance / scale), 0.5 / float(variance)
    while True:
        proposal = universal_laplace_one(scale)
        exponent = min((abs(proposal) - center) ** 2 * factor, _LARGEST)
        if exp_coin(exponent, partial(_exponent, proposal, variance, scale)):
            return proposal


def gaussian_table(variance: Fraction) -> NoiseTable:
    """The certified table of a variance, as fast as it gets; 1 to 8 ms to set up."""
    if variance <= LARGEST_DIRECT_SCALE**2:
        return DirectTable(WordTable(AtomWeights(gaussian_weights(variance), 1, 2)))
    width_bits = (isqrt(int(variance)) // 64).bit_length() - 1  # 64 to 129 blocks to a standard deviation
    return BlockTable(GaussianShape(variance, width_bits))


@lru_cache(maxsize=KEPT)
def _supply(numerator: int, denominator: int) -> Supply:
    variance = drawable_variance(Fraction(numerator, denominator))
    return Supply(
        build=partial(gaussian_table, variance),
        universal=partial(universal_gaussian, variance),
        universal_one=partial(universal_gaussian_one, variance),
    )


def _proposal_scale(variance: Fraction) -> int:
    """Any whole scale is right, and about σ accepts most; above the largest one there is no discrete Laplace draw."""
    return min(isqrt(int(variance)) + 1, int(LARGEST_SCALE))


def _attempts(variance: Fraction, scale: int, count: int) -> Integers:
    """Discrete Laplace draws y, kept with probability exp(−(|y| − σ²/scale)² / (2σ²))."""
    proposals = laplace_attempts(Fraction(scale), count)
    distances = np.abs(proposals).astype(np.float64) - float(variance / scale)
    exponents = np.minimum(distances * distances * (0.5 / float(variance)), _LARGEST)
    kept: Integers = proposals[exp_coins(exponents, lambda i: _exponent(int(proposals[i]), variance, scale))]
    return kept


def _exponent(proposal: int, variance: Fraction, scale: int | Fraction) -> Fraction:
    return (abs(proposal) - variance / scale) ** 2 / (2 * variance)
