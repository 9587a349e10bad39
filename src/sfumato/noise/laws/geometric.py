"""Exact geometric integers of any rational scale, without any set-up for it [CKS20], and shares of them (Pólya).

One constant table, of the geometric law with ratio e^(−1/32), draws blocks of t fine steps; within a block a uniform
place U is kept with probability exp(−U/(32t)), which is at least e^(−1/32).
"""

from fractions import Fraction
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.noise import entropy
from sfumato.noise.tables.word_table import MIXED, AtomWeights, WordTable, laplace_weights
from sfumato.noise.uniform.bernoulli import HALFWORD, WORD, Halfwords, bernoulli, exact_coin, rational_coins
from sfumato.noise.uniform.integers import Integers, drawable, floor_divide, multiply_add, narrow
from sfumato.noise.uniform.uniform import accepted, scaled, uniform_below, uniform_below_each, uniform_one_below
from sfumato.numeric.enclosures import exp_bounds

ATTEMPT_BITS: Final = WORD + HALFWORD

_PARTS: Final = 32
_MASK: Final = (1 << WORD) - 1
_SURE: Final = exp_bounds(Fraction(1, _PARTS), HALFWORD)[0]
"""How many of the 2^16 leading parts of a coin keep every place in a block."""
_SHORT: Final = 1 << 24  # places of up to so many come out of 32 bits with few rejections


def geometric(scale: Fraction, size: int) -> Integers:
    """`size` independent integers v ≥ 0 with P(v) = (1 − e^(−1/scale))·exp(−v/scale), exactly.

    Args:
        scale: A rational between 1/1000 and 2^50.
        size: How many, 0 or more.

    Returns:
        int64; Python integers if one of them does not fit.

    Raises:
        ParameterError: The scale or the size lies outside.

    Example:
        >>> bool((geometric(Fraction(10), 100) >= 0).all())
        True
    """
    drawable(scale, "scale")
    return accepted(lambda count: geometric_attempts(scale, entropy.random_words(count)), size)


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


def polya(shape: Fraction, scale: Fraction, size: int) -> Integers:
    """`size` independent integers k ≥ 0 with P(k) = Γ(k + r)/(k!·Γ(r)) · (1 − q)^r · q^k, q = e^(−1/scale), exactly.

    n of them with r = 1/n add up to a geometric integer with ratio q, and the difference of two such sums is discrete
    Laplace noise. Here a geometric integer is broken into uniform pieces, as a stick is, and each piece is kept with
    probability r: about ln(scale) uniform integers and coins a draw.

    **Guarantee**: the law is exact. Proof: proofs/noise/laws/geometric.md.

    Args:
        shape: r, a rational above 0 and at most 1.
        scale: A rational between 1/1000 and 2^50.
        size: How many, 0 or more.

    Returns:
        int64; Python integers if one of them does not fit.

    Raises:
        ParameterError: A parameter lies outside.

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


@cache
def _table() -> WordTable:
    return WordTable(AtomWeights(laplace_weights(Fraction(_PARTS)), 1, 1))


def _blocks(leading: Halfwords) -> Integers:
    table = _table()
    blocks = table.guide.take(leading).astype(np.int64)
    unsettled = np.flatnonzero(blocks == MIXED)
    blocks[unsettled] = table.atoms(leading[unsettled])
    return blocks
