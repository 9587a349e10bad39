"""Totals of groups: of rows that are units each, and of the entries of owners that are kept."""

import polars as pl
import pytest
from tests.engines.in_frames import rows_of

from sfumato.engines.frames.bounding import Bounding
from sfumato.engines.frames.entries import marked
from sfumato.engines.frames.rows import Rows
from sfumato.engines.frames.totals import counts_cells, totals_of_rows, totals_of_units
from sfumato.engines.sampling import Sampling
from sfumato.engines.sql.limits import binding_limits
from sfumato.privacy.neighbors import EACH_ROW, UnitColumn
from sfumato.query.expressions import ColumnRef
from sfumato.query.measures import CellCount, RowCount, UnitCount, ValueCount
from sfumato.query.relations import Source
from sfumato.query.schema import Limits, Table, integer, text
from sfumato.query.shape import shape_of
from sfumato.query.statement import KeyColumn, Statement, Values

COLUMNS = {"k": text(), "v": integer()}
ROWS = Source(Table(name="t", columns=COLUMNS, unit=EACH_ROW))
OWNED = Source(Table(name="t", columns=COLUMNS, unit=UnitColumn("k"), limits=Limits(max_rows_per_unit=9)))
CELL = Values(value=ColumnRef("v"), values=None)
COUNTS = (RowCount(), ValueCount((ColumnRef("v"),)), UnitCount())
OF_CELLS = (CellCount(), UnitCount(), RowCount())
KEYS = (KeyColumn(name="k", values=None),)
CELLS = pl.LazyFrame(
    {"u": ["a", "a", "a", "b", "b", "a"], "c0": ["x", "x", "y", "x", "x", "x"], "c1": [1, 1, 2, 2, None, 2]}
)


def totals(source, *, cell=None, measures=COUNTS, keys=KEYS, **limits):
    asked = Statement(rows=source, keys=keys, measures=measures, cell=cell, limits=Limits(**limits))
    found = marked(asked, Rows(frame=CELLS, shape=shape_of(source)))
    shown = found.keys if counts_cells(measures) else found.marks
    if source is ROWS:
        return rows_of(totals_of_rows(found, measures, shown))
    own = Bounding(
        marked=found, limits=binding_limits(asked), salt="0" * 32, sampling=Sampling.MD5, measures=measures
    )  # fmt: skip
    return rows_of(totals_of_units(own, shown))


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({}, [("x", 5, 5, 4, 5), ("y", 1, 1, 1, 1)]),
        ({"keys": (), "measures": (UnitCount(),)}, [(6, 6)]),
        ({"cell": CELL}, [("x", 1, 2, 2, 2, 2), ("x", 2, 2, 2, 2, 2), ("y", 2, 1, 1, 1, 1)]),
        ({"cell": CELL, "measures": OF_CELLS}, [("x", 4, 2, 4, 4), ("y", 1, 1, 1, 1)]),
    ],
)
def test_where_each_row_is_a_unit_no_row_is_left_out(asked, expected):
    assert totals(ROWS, **asked) == expected


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({}, [("x", 2, 5, 4, 2), ("y", 1, 1, 1, 1)]),
        ({"keys": (), "measures": (UnitCount(),)}, [(2, 2)]),
        ({"keys": (), "measures": (UnitCount(),), "max_rows_per_unit": 1}, [(2, 2)]),
        ({"max_rows_per_group_per_unit": 1}, [("x", 2, 2, 2, 2), ("y", 1, 1, 1, 1)]),
        ({"max_groups_per_unit": 1, "measures": (RowCount(),), "keys": ()}, [(2, 6)]),
        ({"cell": CELL}, [("x", 1, 1, 2, 2, 1), ("x", 2, 2, 2, 2, 2), ("y", 2, 1, 1, 1, 1)]),
        ({"cell": CELL, "measures": OF_CELLS}, [("x", 3, 2, 2, 4), ("y", 1, 1, 1, 1)]),
    ],
)
def test_the_entries_of_owners_are_added_up(asked, expected):
    assert totals(OWNED, **asked) == expected


def test_cells_are_counted_after_units_are_cut():
    ((kept, cells, units, rows),) = totals(OWNED, cell=CELL, measures=OF_CELLS, max_rows_per_unit=1, keys=())
    assert (kept, units, rows) == (2, 2, 2)
    assert cells in {1, 2}
