"""Exact geometric integers of any rational scale, without any set-up for it [CKS20].

One constant table, of the geometric law with ratio e^(−1/32), draws blocks of t fine steps; within a block a uniform
place U is kept with probability exp(−U/(32t)), which is at least e^(−1/32).
"""

from fractions import Fraction
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sfumato.noise import entropy
from sfumato.noise.domain import drawable
from sfumato.noise.tables.word_table import MIXED, WordTable
from sfumato.noise.uniform.acceptance import HALFWORD, WORD, Halfwords, exact_coin, rational_coins
from sfumato.noise.uniform.integers import Integers, floor_divide, multiply_add
from sfumato.noise.uniform.rejection import accepted
from sfumato.noise.uniform.uniform import scaled, uniform_below, uniform_one_below
from sfumato.noise.uniform.weights import Law, laplace_weights
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


@cache
def _table() -> WordTable:
    return WordTable(Law(laplace_weights(Fraction(_PARTS)), 1, 1))


def _blocks(leading: Halfwords) -> Integers:
    table = _table()
    blocks = table.guide.take(leading).astype(np.int64)
    unsettled = np.flatnonzero(blocks == MIXED)
    blocks[unsettled] = table.atoms(leading[unsettled])
    return blocks
