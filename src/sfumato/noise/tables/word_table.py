"""A distribution as a table of 64-bit words, exact to its infinite tail; and when a universal sampler draws instead.

Weights of discrete Laplace, Gaussian and Skellam distributions are enclosed by integers at any precision. An atom is
drawn by inverse transform: U, uniform in [0, 1), is compared with the cumulative probabilities C_0 < C_1 < … Word i is
⌊2^64·C_i⌋, certified: it is computed from integers that enclose C_i, at a precision where both ends agree. The first 64
bits of U settle the atom unless they equal a word; then U is extended by fresh bits, and the C_i are enclosed anew at a
higher precision, until it is settled. The last word is 2^64 − 1, so whatever lies beyond it is such a tie too. A guide
maps the first 16 bits of U straight to the atom wherever no word lies among the numbers they begin.

A table draws once it pays, a universal sampler of exactly the same distribution until then: `Supply`. The choice
depends on the distribution's parameter and on how many draws were asked for: on what is public, but for the number of
keys nobody listed, which shows in time and memory in any case. A scale that is secret must not come here, because
tables are kept.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import repeat, starmap
from math import inf, isqrt
from typing import Any, Final, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.noise import entropy
from sfumato.noise.uniform.integers import Integers, narrow, python_integers
from sfumato.noise.uniform.uniform import size_of
from sfumato.numeric.rounding import exp_bounds

Bounds: TypeAlias = tuple[int, int]
WeightStream: TypeAlias = Callable[[int], Iterator[Bounds]]
"""Of a precision: integers around 2^precision · weight, for the magnitudes 0, 1, 2, …; the weight of 0 is 1."""
GUIDE_BITS: Final = 16
MIXED: Final = -1
"""What the guide says where 16 bits do not settle the atom."""
LARGEST_DIRECT_SCALE: Final = 128
"""Up to it a table names every value; beyond it, blocks of values."""
KEPT: Final = 64
"""How many distributions are remembered, each with a table of at most 1 MB."""

_GUARD: Final = 64  # bits of the first enclosure beyond those of a word
_MOST_GUARD: Final = 4 * _GUARD  # some C_i of an odd scale may lie as near a multiple of 2^−64 as its maker likes
_NEGLIGIBLE: Final = 32  # weights below 2^(32 − precision) are bounded together, as a tail
_WORD: Final = 64
_FEW: Final = 8  # draws that are quicker one by one
_CALL: Final = 1000  # what a call costs beyond its draws, in draws


@dataclass(frozen=True, slots=True)
class AtomWeights:
    """A discrete distribution by the weights of its magnitudes, which fall log-concavely.

    Atoms are numbered from 0 by growing magnitude: `first` atoms of magnitude 0, then `each` of every other one.
    """

    weights: WeightStream
    first: int
    each: int


def laplace_weights(scale: Fraction) -> WeightStream:
    """exp(−k/scale): powers of one ratio, whose errors add up linearly."""

    def stream(precision: int) -> Iterator[Bounds]:
        ratio, weight = exp_bounds(1 / scale, precision), (1 << precision, 1 << precision)
        while True:
            yield weight
            weight = _product(weight, ratio, precision)

    return stream


def gaussian_weights(variance: Fraction) -> WeightStream:
    """exp(−k²/(2·variance)): the ratio of neighbors, exp(−(2k + 1)/(2·variance)), falls by one factor each time."""

    def stream(precision: int) -> Iterator[Bounds]:
        ratio, factor = exp_bounds(1 / (2 * variance), precision), exp_bounds(1 / variance, precision)
        weight = (1 << precision, 1 << precision)
        while True:
            yield weight
            weight, ratio = _product(weight, ratio, precision), _product(ratio, factor, precision)

    return stream


def skellam_weights(mean: Fraction) -> WeightStream:
    """I_k(2·mean)/I_0(2·mean): products of ratios of neighbors, which fall as the distribution is log-concave."""

    def stream(precision: int) -> Iterator[Bounds]:
        weight = (1 << precision, 1 << precision)
        yield weight
        for ratio in _bessel_ratios(mean, precision):
            weight = _product(weight, ratio, precision)
            yield weight

    return stream


class WordTable:
    """The certified words of a distribution and their guide.

    **Guarantee**: `atoms` maps uniform words to independent atoms whose distribution is exactly that of the weights.
    Proof: proofs/noise/tables/word_table.md.

    Args:
        law: The weights of all atoms.
        word_bits: Length of a word; shorter ones only make ties more frequent, for tests.
        guide_bits: How many leading bits the guide reads.

    Raises:
        UncertifiedError: The distribution has no table, which its public parameters decide.
    """

    def __init__(self, law: AtomWeights, *, word_bits: int = _WORD, guide_bits: int = GUIDE_BITS) -> None:
        self._law, self._bits, self._rest = law, word_bits, word_bits - guide_bits
        self.words: Final = np.array(_words(law, word_bits), dtype=np.uint64)
        self.guide: Final = self._guide(guide_bits)

    def atoms(self, leading: NDArray[Any]) -> NDArray[np.int64]:
        """The atom of each U whose first bits are given: fresh bits follow them."""
        rest = entropy.random_words(len(leading)) >> np.uint64(_WORD - self._rest)
        prefixes = leading.astype(np.uint64) << np.uint64(self._rest) | rest
        found: NDArray[np.int64] = np.searchsorted(self.words, prefixes, side="right")
        ties = (found > 0) & (self.words[found - 1] == prefixes)
        for i in np.flatnonzero(ties).tolist():
            found[i] = self.settle(int(prefixes[i]))
        return found

    def atom(self, word: int) -> int:
        """The atom of the U that begins with these 64 bits."""
        prefix = word >> _WORD - self._bits
        found = self.guide.item(prefix >> self._rest)
        if found != MIXED:
            return int(found)
        found = int(self.words.searchsorted(np.uint64(prefix), side="right"))
        return self.settle(prefix) if found and int(self.words[found - 1]) == prefix else found

    def settle(self, prefix: int) -> int:
        """The atom of a U that begins with a word: U is extended until it lies on one side of every C_i."""
        bits = self._bits
        while True:
            prefix, bits = prefix << _WORD | int.from_bytes(entropy.random_bytes(8)), bits + _WORD
            found = _locate(_enclosed(self._law, bits + _GUARD), prefix, bits)
            if found is not None:
                return found

    def _guide(self, bits: int) -> NDArray[np.int16]:
        """For each leading part, the atom of all words that begin with it, if that is one and the same."""
        lowest = np.arange(1 << bits, dtype=np.uint64) << np.uint64(self._rest)
        highest = lowest | np.uint64((1 << self._rest) - 1)
        first = np.searchsorted(self.words, lowest, side="left")
        past = np.searchsorted(self.words, highest, side="right")
        return np.where(first == past, first, MIXED).astype(np.int16)


class UncertifiedError(Exception):
    """A word of this distribution cannot be certified at a reasonable precision: it is to be drawn without a table."""


class NoiseTable(Protocol):
    """A certified table of one distribution."""

    def draw(self, size: int) -> Integers:
        """`size` independent draws."""
        ...

    def draw_one(self) -> int:
        """One draw."""
        ...


@dataclass(slots=True, kw_only=True)
class Supply:
    """The draws of one law: counted until a table pays, and then out of the table."""

    build: Callable[[], NoiseTable]
    universal: Callable[[int], Integers]
    universal_one: Callable[[], int]
    pays: int = 300_000
    """Draws after which the time for a table is won back."""
    table: NoiseTable | None = None
    drawn: float = 0

    def one(self) -> int:
        """One draw."""
        return self.universal_one() if self.table is None else self.table.draw_one()

    def draw(self, size: int) -> Integers:
        """`size` independent draws: int64, or Python integers if one of them does not fit.

        Raises:
            ParameterError: The size is negative.
        """
        if size_of(size) <= _FEW:
            one = self.universal_one if self.table is None else self.table.draw_one
            draws = list(starmap(one, repeat((), size)))
            return narrow(python_integers(draws))
        if self.table is None:
            self.drawn += size + _CALL
            if self.drawn >= self.pays:
                self._try_table()
        return self.universal(size) if self.table is None else self.table.draw(size)

    def _try_table(self) -> None:
        try:
            self.table = self.build()
        except UncertifiedError:
            self.drawn = -inf


def _bessel_ratios(mean: Fraction, precision: int) -> Iterator[Bounds]:
    """I_(k+1)/I_k at 2·mean, for k = 0, 1, …, from r_(k−1) = 1/(k/mean + r_k), downward from a ratio between 0 and 1.

    Each step narrows what is not known by r². So where the start lies far enough out is a matter of width alone.
    """
    span = (isqrt(int(2 * mean)) + 4) * (isqrt(2 * precision) + 4)  # beyond it, weights are below 2^−precision
    first = 0
    while True:
        ratios: list[Bounds] = []
        bounds = (0, 1 << precision)
        for k in range(first + 2 * span, first, -1):
            bounds = _ratio_below(k / mean, bounds, precision)
            if k <= first + span:
                ratios.append(bounds)
        yield from reversed(ratios)
        first += span


def _ratio_below(slope: Fraction, above: Bounds, precision: int) -> Bounds:
    """1/(slope + r), of an r between bounds; it is below 1."""
    numerator, denominator = slope.as_integer_ratio()
    whole, one = (numerator << precision) // denominator, 1 << 2 * precision
    return one // (whole + 1 + above[1]), min(one // (whole + above[0]) + 1, 1 << precision)


def _product(first: Bounds, second: Bounds, precision: int) -> Bounds:
    return first[0] * second[0] >> precision, (first[1] * second[1] >> precision) + 1


@dataclass(frozen=True, slots=True)
class _Cumulative:
    """Sums of the weights of the first atoms, and of all, each between two integers."""

    sums: tuple[tuple[int, int], ...]
    total: tuple[int, int]


def _words(law: AtomWeights, bits: int) -> list[int]:
    """⌊2^bits·C_i⌋ for each atom i, up to the first that is 2^bits − 1."""
    for precision in range(bits + _GUARD, bits + _MOST_GUARD, _WORD):
        words = []
        for lower, upper in _word_bounds(_enclosed(law, precision), bits):
            if lower != upper:
                break
            words.append(lower)
            if lower == (1 << bits) - 1:
                return words
    raise UncertifiedError


def _word_bounds(enclosed: _Cumulative, bits: int) -> Iterator[tuple[int, int]]:
    """The least and the largest that each word can be; C_i is below 1 because the support is infinite."""
    last = (1 << bits) - 1
    for lower, upper in enclosed.sums:
        yield (lower << bits) // enclosed.total[1], min((upper << bits) // enclosed.total[0], last)


def _locate(enclosed: _Cumulative, prefix: int, bits: int) -> int | None:
    """The atom of every U that begins with `prefix`, if the enclosures tell that it is one and the same."""
    smallest, largest = enclosed.total
    for i, (lower, upper) in enumerate(enclosed.sums):
        if (prefix + 1) * largest <= lower << bits:
            return i
        if prefix * smallest < upper << bits:
            return None
    return None


def _enclosed(law: AtomWeights, precision: int) -> _Cumulative:
    """Sums of weights down to a negligible one, and the total, with a bound of what follows it.

    The ratio of neighboring weights never grows, so all that follow a weight w, whose predecessor was v, add up to at
    most w·r/(1 − r) with r = w/v.
    """
    sums: list[tuple[int, int]] = []
    lower = upper = before = 0
    for magnitude, (least, most) in enumerate(law.weights(precision)):
        for _ in repeat(None, law.each if magnitude else law.first):
            lower, upper = lower + least, upper + most
            sums.append((lower, upper))
        if most < before and most >> _NEGLIGIBLE == 0:
            tail = law.each * most * most // (before - most) + 1
            return _Cumulative(tuple(sums), (lower, upper + tail))
        before = least
    raise AssertionError  # the stream of weights is infinite
