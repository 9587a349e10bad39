"""Exact discrete Laplace noise, also called two-sided geometric [GRS09]; truncated; and one-sided, whole and in shares.

Magnitudes are geometric integers of any rational scale, without any set-up for it [CKS20]. One constant table, of the
geometric distribution with ratio e^(−1/32), draws blocks of t fine steps; within a block a uniform place U is kept with
probability exp(−U/(32t)), which is at least e^(−1/32).
"""

from fractions import Fraction
from functools import cache, lru_cache, partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.noise import entropy
from sfumato.noise.tables.block_table import BlockTable, DirectTable, LaplaceShape
from sfumato.noise.tables.word_table import (
    KEPT,
    LARGEST_DIRECT_SCALE,
    MIXED,
    AtomWeights,
    NoiseTable,
    Supply,
    WordTable,
    laplace_weights,
)
from sfumato.noise.uniform.bernoulli import HALFWORD, WORD, Halfwords, bernoulli, exact_coin, rational_coins
from sfumato.noise.uniform.integers import SAFE, Integers, drawable, floor_divide, multiply_add, narrow
from sfumato.noise.uniform.uniform import accepted, scaled, uniform_below, uniform_below_each, uniform_one_below
from sfumato.numeric.rounding import exp_bounds

ATTEMPT_BITS: Final = WORD + HALFWORD

_PARTS: Final = 32
_MASK: Final = (1 << WORD) - 1
_SURE: Final = exp_bounds(Fraction(1, _PARTS), HALFWORD)[0]
"""How many of the 2^16 leading parts of a coin keep every place in a block."""
_SHORT: Final = 1 << 24  # places of up to so many come out of 32 bits with few rejections


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
        ParameterError: The scale or the size is out of range.

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

    **Guarantee**: the distribution is exact. Proof: proofs/noise/laws/discrete_laplace.md.

    Args:
        scale: A rational between 1/1000 and 2^50.
        bound: A whole number from 0 to 2^60.
        size: How many, 0 or more.

    Returns:
        int64.

    Raises:
        ParameterError: A parameter is out of range.

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


def geometric(scale: Fraction, size: int) -> Integers:
    """`size` independent integers v ≥ 0 with P(v) = (1 − e^(−1/scale))·exp(−v/scale), exactly.

    Args:
        scale: A rational between 1/1000 and 2^50.
        size: How many, 0 or more.

    Returns:
        int64; Python integers if one of them does not fit.

    Raises:
        ParameterError: The scale or the size is out of range.

    Example:
        >>> bool((geometric(Fraction(10), 100) >= 0).all())
        True
    """
    drawable(scale, "scale")
    return accepted(lambda count: geometric_attempts(scale, entropy.random_words(count)), size)


def polya(shape: Fraction, scale: Fraction, size: int) -> Integers:
    """`size` independent integers k ≥ 0 with P(k) = Γ(k + r)/(k!·Γ(r)) · (1 − q)^r · q^k, q = e^(−1/scale), exactly.

    n of them with r = 1/n add up to a geometric integer with ratio q, and the difference of two such sums is discrete
    Laplace noise. Here a geometric integer is broken into uniform pieces, as a stick is, and each piece is kept with
    probability r: about ln(scale) uniform integers and coins a draw.

    **Guarantee**: the distribution is exact. Proof: proofs/noise/laws/discrete_laplace.md.

    Args:
        shape: r, a rational above 0 and at most 1.
        scale: A rational between 1/1000 and 2^50.
        size: How many, 0 or more.

    Returns:
        int64; Python integers if one of them does not fit.

    Raises:
        ParameterError: A parameter is out of range.

    Example:
        >>> shares = [polya(Fraction(1, 3), Fraction(10), 1000) for _ in range(3)]
        >>> bool((sum(shares) >= 0).all())
        True

    References:
        [GX17] for the use; [BM73] for the urn behind the pieces.
    """
    if not 0 < shape <= 1:
        raise ParameterError("shape", shape, "must be above 0 and at most 1")
    remaining = geometric(scale, size)
    kept = np.zeros_like(remaining)
    active = np.flatnonzero(remaining > 0)
    while len(active):
        pieces = uniform_below_each(remaining[active]) + 1
        mine = bernoulli(shape, len(active))
        kept[active[mine]] += pieces[mine]
        remaining[active] -= pieces
        active = active[remaining[active] > 0]
    return narrow(kept)


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


def geometric_attempts(scale: Fraction, words: NDArray[np.uint64]) -> Integers:
    """The draws that come out of so many words: independent and geometric, in order, fewer than words."""
    numerator, denominator = scale.as_integer_ratio()
    halves = words.view("<u2").reshape(-1, 4)
    blocks = _blocks(halves[:, 0])
    if numerator <= _SHORT:
        high, kept = scaled(words >> np.uint64(32), numerator, 32)
        places: Integers = high.view(np.int64)
    else:
        places, kept = uniform_below(numerator, len(words)), np.ones(len(words), dtype=np.bool_)
    doubtful = np.flatnonzero(kept & (halves[:, 1] >= _SURE))
    kept[doubtful] = rational_coins(places[doubtful], numerator * _PARTS, leading=halves[doubtful, 1])
    fine_steps = multiply_add(numerator, blocks[kept], places[kept])
    return floor_divide(fine_steps, denominator * _PARTS)


def geometric_one(scale: Fraction, bits: int) -> int | None:
    """What comes out of one attempt at a draw, made of `ATTEMPT_BITS` random bits; None if it is discarded."""
    numerator, denominator = scale.as_integer_ratio()
    place, leading = uniform_one_below(numerator), bits >> WORD
    if leading < _SURE or exact_coin(Fraction(place, numerator * _PARTS), leading, HALFWORD):
        return (_table().atom(bits & _MASK) * numerator + place) // (denominator * _PARTS)
    return None


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


@cache
def _table() -> WordTable:
    return WordTable(AtomWeights(laplace_weights(Fraction(_PARTS)), 1, 1))


def _blocks(leading: Halfwords) -> Integers:
    table = _table()
    blocks = table.guide.take(leading).astype(np.int64)
    unsettled = np.flatnonzero(blocks == MIXED)
    blocks[unsettled] = table.atoms(leading[unsettled])
    return blocks


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
