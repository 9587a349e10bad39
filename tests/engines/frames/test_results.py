"""What Polars found, as keys and integers of Python."""

import numpy as np
import polars as pl

from sfumato.engines.frames.entries import Mark
from sfumato.engines.frames.lowering import Lowered
from sfumato.engines.frames.results import found
from sfumato.query.kinds import Kind

KEY = Mark(name="k0", kind=Kind.TEXT, values=("a", "b"))
CELL = Mark(name="x", kind=Kind.INTEGER, values=None)


def answer(amounts, cell=None):
    totals = pl.DataFrame({"k0": pl.Series(["b", "a"], dtype=pl.Enum(["a", "b"])), "x": [1, 2], "t0": amounts})
    return found(Lowered(totals=totals.lazy(), keys=(KEY,), cell=cell, measure_count=1), totals)


def test_keys_and_cells_are_values():
    assert (answer([1, 2]).keys, answer([1, 2]).cells) == ((["b", "a"],), None)
    assert answer([1, 2], CELL).cells == [1, 2]


def test_amounts_are_machine_integers_if_all_of_them_fit():
    narrow, held, wide = (
        answer(pl.Series(cells, dtype=kind)).amounts[0]
        for cells, kind in (([1, 2], pl.Int64), ([-(2**63), 2], pl.Int128), ([1, 2**63], pl.Int128))
    )
    assert (narrow.dtype, held.dtype, wide.dtype) == (np.int64, np.int64, np.object_)
    assert (held.tolist(), wide.tolist()) == ([-(2**63), 2], [1, 2**63])
