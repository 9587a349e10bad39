"""Draws from a table that names every value: for scales up to about a hundred."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sfumato.noise import entropy
from sfumato.noise.tables.word_table import MIXED, WordTable
from sfumato.noise.uniform.rejection import BATCH

_UNSETTLED: Final = np.iinfo(np.int16).min  # no value of a table is that far out


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
        """`size` of them."""
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
        """One of them."""
        atom = self._table.atom(int.from_bytes(entropy.random_bytes(8)))
        return (atom >> 1) ^ -(atom & 1)


def zigzag(atoms: NDArray[Any]) -> NDArray[Any]:
    """The values that atoms stand for: 0, −1, 1, −2, 2 for the atoms 0, 1, 2, 3, 4, and so on."""
    values: NDArray[Any] = (atoms >> 1) ^ -(atoms & 1)
    return values
