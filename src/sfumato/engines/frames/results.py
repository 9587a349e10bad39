"""What Polars gives back, column by column, as `Found`."""

import numpy as np
import numpy.typing as npt
import polars as pl

from sfumato.engines.base import Found, Integers
from sfumato.engines.frames.lowering import Lowered
from sfumato.engines.values import MAX_INT64, MIN_INT64


def found(lowered: Lowered, totals: pl.DataFrame) -> Found:
    """The groups of a statement.

    Args:
        lowered: The statement.
        totals: Its `totals`, computed.
    """
    return Found(
        keys=tuple(totals[mark.name].to_list() for mark in lowered.keys),
        cells=None if lowered.cell is None else totals[lowered.cell.name].to_list(),
        amounts=tuple(_amounts(totals[f"t{place}"]) for place in range(lowered.measure_count)),
    )


def _amounts(column: pl.Series) -> npt.NDArray[np.int64] | Integers:
    if column.dtype != pl.Int64:
        wide: list[int] = column.to_list()
        if any(not MIN_INT64 <= amount <= MAX_INT64 for amount in wide):
            return np.array(wide, dtype=object)
        column = pl.Series(wide, dtype=pl.Int64)
    return column.to_numpy()
