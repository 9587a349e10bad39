"""Draws from certified tables: of every value for scales up to about a hundred, of blocks of values up to 2^50.

Of the latter, block j ≥ 0 holds the integers from j·w to j·w + w − 1, with w = 2^m, and block −1 − b the same number
below block −b. A block is drawn with the weight of its inner end, a place in it uniformly, and the integer x there kept
with probability exp(−(g(x) − g(inner end))), where exp(−g) is the distribution's weight.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.noise import entropy
from sfumato.noise.tables.word_table import MIXED, AtomWeights, WordTable, gaussian_weights, laplace_weights
from sfumato.noise.uniform.bernoulli import HALFWORD, WORD, Booleans, Floats, exact_coin, exp_coins, extended
from sfumato.noise.uniform.integers import Integers, multiply_add
from sfumato.noise.uniform.uniform import BATCH
from sfumato.numeric.rounding import exp_bounds

Int64s: TypeAlias = NDArray[np.int64]

_UNSETTLED: Final = np.iinfo(np.int16).min  # no value of a table is that far out
_MASK: Final = (1 << WORD) - 1
_SHORT: Final = 32  # places of up to so many bits come out of the word that also draws the block


class DirectTable:
    """Independent integers from a certified table of two-sided weights.

    A typical value takes 16 random bits and one look into the guide.
    """

    def __init__(self, table: WordTable) -> None:
        self._table = table
        values = zigzag(table.guide)
        values[table.guide == MIXED] = _UNSETTLED
        self._values = values

    def draw(self, size: int) -> NDArray[np.int64]:
        """`size` independent draws."""
        drawn = np.empty(size, dtype=np.int64)
        for start in range(0, size, BATCH):
            part = drawn[start : start + BATCH]
            leading = entropy.random_halfwords(len(part))
            found = self._values.take(leading)
            part[:] = found
            unsettled = np.flatnonzero(found == _UNSETTLED)
            if len(unsettled):
                part[unsettled] = zigzag(self._table.atoms(leading[unsettled]))
        return drawn

    def draw_one(self) -> int:
        """One draw."""
        atom = self._table.atom(int.from_bytes(entropy.random_bytes(8)))
        return (atom >> 1) ^ -(atom & 1)


def zigzag(atoms: NDArray[Any]) -> NDArray[Any]:
    """The values that atoms stand for: 0, −1, 1, −2, 2 for the atoms 0, 1, 2, 3, 4, and so on."""
    values: NDArray[Any] = (atoms >> 1) ^ -(atoms & 1)
    return values


class BlockShape(Protocol):
    """How a distribution falls within a block: from the inner end at distance b·w to t steps further out."""

    @property
    def width_bits(self) -> int:
        """m: a block holds 2^m integers."""
        ...

    @property
    def law(self) -> AtomWeights:
        """The weights of the blocks' inner ends."""
        ...

    def exponents(self, blocks: Int64s, steps: Int64s) -> Floats:
        """g(b·w + t) − g(b·w) as floats, right to a relative 2^−43."""
        ...

    def exponent(self, block: int, step: int) -> Fraction:
        """The same, exactly."""
        ...


@dataclass(frozen=True, slots=True)
class LaplaceShape:
    """g(x) = |x|/scale."""

    scale: Fraction

    width_bits: int

    @property
    def law(self) -> AtomWeights:
        """Geometric over blocks."""
        return AtomWeights(laplace_weights(self.scale / (1 << self.width_bits)), 2, 2)

    def exponents(self, blocks: Int64s, steps: Int64s) -> Floats:
        """t/scale, in whichever block."""
        del blocks
        return steps / float(self.scale)

    def exponent(self, block: int, step: int) -> Fraction:
        """t/scale."""
        del block
        return step / self.scale


@dataclass(frozen=True, slots=True)
class GaussianShape:
    """g(x) = x²/(2·variance)."""

    variance: Fraction

    width_bits: int

    @property
    def law(self) -> AtomWeights:
        """Gaussian over blocks."""
        return AtomWeights(gaussian_weights(self.variance / (1 << 2 * self.width_bits)), 2, 2)

    def exponents(self, blocks: Int64s, steps: Int64s) -> Floats:
        """t·(2·b·w + t)/(2·variance)."""
        twice_inner = np.ldexp(blocks.astype(np.float64), self.width_bits + 1)
        result: Floats = steps * (twice_inner + steps) * (0.5 / float(self.variance))
        return result

    def exponent(self, block: int, step: int) -> Fraction:
        """t·(2·b·w + t)/(2·variance)."""
        return step * ((block << self.width_bits + 1) + step) / (2 * self.variance)


class BlockTable:
    """Independent integers of a two-sided distribution, by blocks of 2^m.

    A typical value takes one random word: 16 bits name the block, 16 keep the place, and the place is the top bits.
    What those leave in doubt is settled together, once all proposals are made.

    **Guarantee**: the distribution is exactly exp(−g(x))/Σ exp(−g). Proof: proofs/noise/tables/block_table.md.
    """

    def __init__(self, shape: BlockShape) -> None:
        self._shape, self._bits, self._width = shape, shape.width_bits, 1 << shape.width_bits
        self._table = table = WordTable(shape.law)
        blocks = zigzag(table.guide).astype(np.int64)
        settled = table.guide != MIXED
        distances = np.where(settled, np.where(blocks < 0, ~blocks, blocks), 0)
        self._sure_of_block = self._sure(int(distances.max()) + 1)
        self._starts = blocks << self._bits
        self._sure_of_leading = np.where(settled, self._sure_of_block[distances], 0).astype(np.uint16)

    def draw(self, size: int) -> Integers:
        """`size` of them: int64, or Python integers if one of them does not fit."""
        drawn: Integers = np.empty(size, dtype=np.int64)
        doubts = [np.empty((3, 0), dtype=np.int64)]
        for first in range(0, size, BATCH):
            part = drawn[first : first + BATCH]
            words = entropy.random_words(len(part))
            places = self._places(words)
            halves = words.view("<u2").reshape(-1, 4)
            np.add(self._starts.take(halves[:, 0]), places, out=part)
            doubtful = np.flatnonzero(halves[:, 1] >= self._sure_of_leading.take(halves[:, 0]))
            doubts.append(np.stack((doubtful + first, places[doubtful], halves[doubtful, :2].copy().view("<i4")[:, 0])))
        return self._settled(drawn, *np.concatenate(doubts, axis=1))

    def draw_one(self) -> int:
        """One draw."""
        while True:
            bits = int.from_bytes(entropy.random_bytes(18))
            atom, leading, rest = self._table.atom(bits & _MASK), bits >> WORD & 0xFFFF, bits >> WORD + HALFWORD
            block, mirrored = atom >> 1, atom & 1
            step = (rest & self._width - 1) + mirrored
            sure = self._sure_of_block.item(block) if block < len(self._sure_of_block) else 0
            if leading < sure or exact_coin(self._shape.exponent(block, step), leading, HALFWORD):
                value = (block << self._bits) + step
                return -value if mirrored else value

    def _places(self, words: NDArray[np.uint64]) -> Int64s:
        """Uniform numbers below the width: the top bits of a word whose other half is free, or of one of their own."""
        fresh = words if self._bits <= _SHORT else entropy.random_words(len(words))
        return (fresh >> np.uint64(WORD - self._bits)).view(np.int64)

    def _settled(self, drawn: Integers, positions: Int64s, places: Int64s, halves: Int64s) -> Integers:
        """Puts right the positions in doubt: the block settled, the proposal kept or drawn anew."""
        if not len(positions):
            return drawn
        leading, uniforms = halves & 0xFFFF, halves >> HALFWORD & 0xFFFF
        blocks = self._starts[leading] >> self._bits
        unsettled = np.flatnonzero(self._table.guide[leading] == MIXED)
        blocks[unsettled] = zigzag(self._table.atoms(leading[unsettled]))
        kept = self._coins(blocks, places, uniforms)
        values = multiply_add(self._width, blocks[kept], places[kept])
        again = self.draw(len(kept) - len(values))
        if object in (values.dtype, again.dtype):
            drawn = drawn.astype(object)
        drawn[positions[kept]], drawn[positions[~kept]] = values, again
        return drawn

    def _coins(self, blocks: Int64s, places: Int64s, leading: Int64s) -> Booleans:
        """Coins of exp(−(g(x) − g(inner end))) whose U begins with the bits given."""
        mirrored = blocks < 0
        distances, steps = np.where(mirrored, ~blocks, blocks), np.where(mirrored, self._width - places, places)
        return exp_coins(
            self._shape.exponents(distances, steps),
            lambda i: self._shape.exponent(int(distances[i]), int(steps[i])),
            uniforms=extended(leading),
        )

    def _sure(self, count: int) -> Int64s:
        """For each block, how many of the 2^16 leading parts of U keep every place in it."""
        ends = (self._shape.exponent(block, self._width) for block in range(count))
        return np.array([exp_bounds(end, HALFWORD)[0] for end in ends], dtype=np.int64)
