"""Exact discrete Laplace noise, also called two-sided geometric [GRS09]; also truncated: never drawn beyond a bound."""

from fractions import Fraction
from functools import lru_cache, partial

import numpy as np

from sfumato.errors import ParameterError
from sfumato.noise import entropy
from sfumato.noise.laws.geometric import ATTEMPT_BITS, geometric_attempts, geometric_one
from sfumato.noise.tables.block_table import BlockTable, DirectTable, LaplaceShape
from sfumato.noise.tables.supply import KEPT, LARGEST_DIRECT_SCALE, NoiseTable, Supply
from sfumato.noise.tables.word_table import AtomWeights, WordTable, laplace_weights
from sfumato.noise.uniform.bernoulli import rational_coins
from sfumato.noise.uniform.integers import SAFE, Integers, drawable, multiply_add
from sfumato.noise.uniform.uniform import accepted, uniform_below


def discrete_laplace(scale: Fraction, size: int) -> Integers:
    """`size` independent integers k with P(k) = tanh(1/(2·scale)) · exp(−|k|/scale), exactly.

    Two tiers with the same law: a certified table where many draws of one scale are asked for, otherwise
    `universal_laplace`. Tables are kept, so a scale that is itself secret belongs there.

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
        [CKS20] Algorithm 2 for the universal tier.
    """
    return _supply(*scale.as_integer_ratio()).draw(size)


def discrete_laplace_one(scale: Fraction) -> int:
    """One draw of `discrete_laplace`."""
    return _supply(*scale.as_integer_ratio()).one()


def truncated_laplace(scale: Fraction, bound: int, size: int) -> Integers:
    """`size` independent integers with P(k) ∝ exp(−|k|/scale) for |k| ≤ bound, and 0 beyond, exactly.

    Where the bound is a scale or more away, draws of `discrete_laplace` within it are kept; where it is nearer, uniform
    integers, each with probability exp(−|k|/scale). At least one in e is kept either way.

    **Guarantee**: the law is exact. Proof: proofs/noise/laws/discrete_laplace.md.

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


def universal_laplace(scale: Fraction, size: int) -> Integers:
    """As `discrete_laplace`: `size` independent integers k with P(k) ∝ exp(−|k|/scale), exactly.

    A geometric magnitude and a sign, zero counted once. Nothing is kept between calls, so this is also the sampler for
    a scale that is itself secret.

    **Guarantee**: no table is built for the scale and none is looked up. Proof: proofs/noise/laws/discrete_laplace.md.

    Example:
        >>> len(universal_laplace(Fraction(10, 3), 5))
        5
    """
    drawable(scale, "scale")
    return accepted(lambda count: laplace_attempts(scale, count), size)


def universal_laplace_one(scale: Fraction) -> int:
    """One draw of `universal_laplace`, of a scale that is known to be drawable."""
    while True:
        bits = int.from_bytes(entropy.random_bytes(ATTEMPT_BITS // 8 + 1))
        magnitude, negative = geometric_one(scale, bits >> 8), bits & 1
        if magnitude or (magnitude == 0 and not negative):
            return -magnitude if negative else magnitude


def laplace_attempts(scale: Fraction, count: int) -> Integers:
    """The draws that come out of `count` attempts, in order: a fair sign for each magnitude.

    −0 is discarded, or +0 and −0 together would count zero twice.
    """
    magnitudes = geometric_attempts(scale, entropy.random_words(count))
    octets = np.frombuffer(entropy.random_bytes(len(magnitudes) + 7 >> 3), dtype=np.uint8)
    negative = np.unpackbits(octets, count=len(magnitudes)).astype(np.int64)
    signed: Integers = (magnitudes ^ -negative) + negative
    kept: Integers = signed[(magnitudes | (1 - negative)) != 0]
    return kept


def laplace_table(scale: Fraction) -> NoiseTable:
    """The certified table of a scale, as fast as it gets; 2 to 18 ms to set up."""
    if scale <= LARGEST_DIRECT_SCALE:
        return DirectTable(WordTable(AtomWeights(laplace_weights(scale), 1, 2)))
    width_bits = int(scale / 32).bit_length() - 1  # 32 to 64 blocks to a scale
    return BlockTable(LaplaceShape(scale, width_bits))


@lru_cache(maxsize=KEPT)
def _supply(numerator: int, denominator: int) -> Supply:
    scale = drawable(Fraction(numerator, denominator), "scale")
    return Supply(
        build=partial(laplace_table, scale),
        universal=partial(universal_laplace, scale),
        universal_one=partial(universal_laplace_one, scale),
    )


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
