"""Hash functions that are exactly pairwise independent, and how many reports hash a value to what they report.

h(v) = ((a·v + b) mod 2^W) >> (W − L), with a and b uniform in [0, 2^W): for two values below 2^u, with u + L ≤ W + 1,
the pair of hashes is uniform [Die96]. A hash becomes one of g cells by ⌊h·g/2^L⌋, whose sizes differ by at most one.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.local.core.domain import Indexes
from sfumato.local.core.reports import Payloads
from sfumato.noise import entropy

Keys: TypeAlias = NDArray[Any]
"""A row of two unsigned words for each hash function: a and b."""

_FEW: Final = 2048  # reports that are quicker row by row
_CELLS: Final = 1 << 16  # numbers whose arrays stay in the processor's cache
_HALF: Final = 32


def random_keys(count: int, word_bits: int) -> Keys:
    """So many independent uniform hash functions of 32 or 64 bits.

    Example:
        >>> random_keys(3, 32).shape
        (3, 2)
    """
    width = word_bits // 8
    return np.frombuffer(entropy.random_bytes(2 * width * count), dtype=f"<u{width}").reshape(count, 2)


@dataclass(frozen=True, slots=True)
class HashFamily:
    """All functions of one word length into one number of cells.

    Attributes:
        word_bits: W, 32 or 64.
        hash_bits: L, at most W + 1 less the bits of a value, and at most 32.
        cells: g, from 2 to 2^L.
    """

    word_bits: int
    hash_bits: int
    cells: int

    @property
    def key_bytes(self) -> int:
        """The bytes of one function."""
        return 2 * self.word_bits // 8

    @property
    def collision_probability(self) -> Fraction:
        """How often two values share their cell: Σ P(cell)², which is 1/g or just above."""
        whole, larger = divmod(1 << self.hash_bits, self.cells)
        pairs = larger * (whole + 1) ** 2 + (self.cells - larger) * whole**2
        return Fraction(pairs, 1 << 2 * self.hash_bits)

    def cell_of(self, keys: Keys, indexes: Indexes) -> NDArray[np.int64]:
        """The cell of each value under the function beside it; of a row of values under functions in a column, all."""
        words = keys[..., 0] * indexes.astype(keys.dtype) + keys[..., 1]
        hashes = (words >> self._word(self.word_bits - self.hash_bits)).astype(np.uint64)
        cells: NDArray[np.int64] = (hashes * np.uint64(self.cells) >> np.uint64(self.hash_bits)).astype(np.int64)
        return cells

    def supports(self, keys: Keys, cells: NDArray[np.int64], indexes: Indexes) -> NDArray[np.int64]:
        """For each value, how many of the functions put it into the cell beside them.

        A cell is an interval of words, from `start`, of a `width`: a·v + (b − start) < width, in words that wrap. For
        many functions and values that follow one another, one addition leads from a value to the next.
        """
        first = np.arange(self.cells + 1) * (1 << self.hash_bits)
        edges = (-(-first // self.cells)).astype(np.uint64) << np.uint64(self.word_bits - self.hash_bits)
        starts = edges.astype(keys.dtype)  # the last one wraps to 0
        widths = (starts[1:] - starts[:-1])[cells]
        slopes, offsets = np.ascontiguousarray(keys[:, 0]), keys[:, 1] - starts[cells]
        count = _by_rows if len(keys) < _FEW else _by_columns
        return count(slopes, offsets, widths, indexes.astype(keys.dtype))

    def packed(self, keys: Keys) -> Payloads:
        """The functions as bytes, most significant first."""
        width = self.word_bits // 8
        return keys.astype(f">u{width}").view(np.uint8).reshape(len(keys), self.key_bytes)

    def unpacked(self, rows: Payloads) -> Keys:
        """The functions in these bytes."""
        width = self.word_bits // 8
        words = np.ascontiguousarray(rows).view(f">u{width}")
        return words.astype(f"<u{width}")

    def _word(self, number: int) -> Any:
        return np.uint32(number) if self.word_bits == _HALF else np.uint64(number)


def _by_rows(slopes: Keys, offsets: Keys, widths: Keys, values: Keys) -> NDArray[np.int64]:
    """Some functions at a time, each at all values."""
    total = np.zeros(len(values), dtype=np.int64)
    rows = max(1, _CELLS // max(1, len(values)))
    for start in range(0, len(slopes), rows):
        part = slice(start, start + rows)
        words = slopes[part, None] * values
        words += offsets[part, None]
        total += np.count_nonzero(words < widths[part, None], axis=0)
    return total


def _by_columns(slopes: Keys, offsets: Keys, widths: Keys, values: Keys) -> NDArray[np.int64]:
    """One value at a time, at all functions."""
    total = np.zeros(len(values), dtype=np.int64)
    words = np.empty_like(slopes)
    is_in = np.empty(len(slopes), dtype=np.bool_)
    before = None
    for place, value in enumerate(values.tolist()):
        if before is not None and value == before + 1:
            words += slopes
        else:
            np.multiply(slopes, values[place], out=words)
            words += offsets
        before = value
        np.less(words, widths, out=is_in)
        total[place] = np.count_nonzero(is_in)
    return total
