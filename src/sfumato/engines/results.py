"""What a database gives back of a statement in SQL, column by column, as `Found`."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from sfumato.engines.base import Found, Integers
from sfumato.engines.lowering import LOW_BITS, Lowered
from sfumato.engines.sql.entries import Mark
from sfumato.query.model.kinds import TIMES, Kind
from sfumato.query.model.schema import Key

_FITTING: Final = (-2, 1)
"""What the upper part of a 64-bit integer lies between."""

_WIDEST: Final = 2 ** (63 + LOW_BITS) - 1
"""What the two parts can hold."""


def found(lowered: Lowered, columns: Mapping[str, npt.NDArray[Any]]) -> Found:
    """The groups of a statement.

    Args:
        lowered: The statement.
        columns: The columns of `presented`, by name.
    """
    amounts = (of_halves(columns[f"h{place}"], columns[f"l{place}"]) for place in range(lowered.measure_count))
    return Found(
        keys=tuple(_values(mark, columns[mark.name]) for mark in lowered.keys),
        cells=None if lowered.cell is None else _values(lowered.cell, columns[lowered.cell.name]),
        amounts=tuple(amounts),
    )  # fmt: skip


def _values(mark: Mark, column: npt.NDArray[Any]) -> Sequence[Key]:
    """Keys as Python has them; those of a list by their places in it."""
    if mark.values is not None:
        return [mark.values[place] for place in column.tolist()]
    if mark.kind in TIMES:
        column = column.astype("datetime64[D]" if mark.kind is Kind.DATE else "datetime64[us]")
    values: list[Key] = column.tolist()
    return values


def halves(numbers: npt.NDArray[np.int64] | Integers) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The parts of numbers beyond 62 bits and within them; of numbers beyond 125 bits those of the last within."""
    within: npt.NDArray[Any] = numbers if numbers.dtype == np.int64 else np.clip(numbers, -_WIDEST, _WIDEST)
    high, low = within >> LOW_BITS, within & ((1 << LOW_BITS) - 1)
    return high.astype(np.int64), low.astype(np.int64)


def of_halves(high: npt.NDArray[np.int64], low: npt.NDArray[np.int64]) -> npt.NDArray[np.int64] | Integers:
    """The numbers of which these are the parts beyond 62 bits and within them."""
    first, last = _FITTING
    if len(high) and (high.min() < first or high.max() > last):
        wide = [(above << LOW_BITS) + below for above, below in zip(high.tolist(), low.tolist(), strict=True)]
        return np.array(wide, dtype=object)
    return np.left_shift(high, LOW_BITS) + low
