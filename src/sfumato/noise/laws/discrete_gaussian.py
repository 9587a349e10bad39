"""Exact discrete Gaussian noise [CKS20]."""

from fractions import Fraction
from functools import lru_cache, partial
from math import isqrt

from sfumato.noise.domain import drawable_variance
from sfumato.noise.laws.universal_gaussian import universal_gaussian, universal_gaussian_one
from sfumato.noise.tables.block_table import BlockTable, GaussianShape
from sfumato.noise.tables.direct_table import DirectTable
from sfumato.noise.tables.supply import KEPT, LARGEST_DIRECT_SCALE, Supply, Table
from sfumato.noise.tables.word_table import WordTable
from sfumato.noise.uniform.integers import Integers
from sfumato.noise.uniform.weights import Law, gaussian_weights


def discrete_gaussian(variance: Fraction, size: int) -> Integers:
    """`size` independent integers k with P(k) ∝ exp(−k²/(2·variance)), exactly.

    Two tiers with the same law: a certified table where many draws of one variance are asked for, otherwise
    `universal_gaussian`. Tables are kept, so a variance that is itself secret belongs there.

    Args:
        variance: A rational between 1/1000² and 2^100: the square of the parameter σ. The variance of the law itself
            is at most this, and very nearly equal from σ = 1 on.
        size: How many, 0 or more.

    Returns:
        int64; Python integers if one of them does not fit, which at σ = 2^50 has a chance below e^−10^7.

    Raises:
        ParameterError: The variance or the size lies outside.

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


def gaussian_table(variance: Fraction) -> Table:
    """The certified table of a variance, as fast as it gets; 1 to 8 ms to set up."""
    if variance <= LARGEST_DIRECT_SCALE**2:
        return DirectTable(WordTable(Law(gaussian_weights(variance), 1, 2)))
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
