"""Totals of groups: of rows that are units each, and of the entries of owners that are kept."""

import pyarrow as pa
import pytest
from tests.engines.in_sql import run

from sfumato.engines.duckdb.dialect import DUCKDB, sql
from sfumato.engines.sampling import Sampling
from sfumato.engines.sql.bounding import Bounding, binding_limits
from sfumato.engines.sql.entries import marked
from sfumato.engines.sql.queries import select, table
from sfumato.engines.sql.rows import Rows
from sfumato.engines.sql.totals import KEPT, counts_cells, totals_of_rows, totals_of_units
from sfumato.privacy.neighbors import EACH_ROW, UnitColumn
from sfumato.query.analysis.shape import shape_of
from sfumato.query.model.expressions import ColumnRef
from sfumato.query.model.measures import CellCount, RowCount, UnitCount, ValueCount
from sfumato.query.model.relations import Source
from sfumato.query.model.schema import Limits, Table, integer, text
from sfumato.query.model.statement import KeyColumn, Statement, Values

COLUMNS = {"k": text(), "v": integer()}
ROWS = Source(Table(name="t", columns=COLUMNS, unit=EACH_ROW))
OWNED = Source(Table(name="t", columns=COLUMNS, unit=UnitColumn("k"), limits=Limits(max_rows_per_unit=9)))
CELL = Values(value=ColumnRef("v"), values=None)
COUNTS = (RowCount(), ValueCount((ColumnRef("v"),)), UnitCount())
KEYS = (KeyColumn(name="k", values=None),)
CELLS = pa.table(
    {
        "u": ["a", "a", "a", "b", "b", "a"], "c0": ["x", "x", "y", "x", "x", "x"],
        "c1": pa.array([1, 1, 2, 2, None, 2], pa.int64()),
    }
)  # fmt: skip


def totals(source, *, cell=None, measures=COUNTS, keys=KEYS, **limits):
    asked = Statement(rows=source, keys=keys, measures=measures, cell=cell, limits=Limits(**limits))
    found = marked(asked, Rows(query=select([], table("cells")), shape=shape_of(source)))
    shown = found.keys if counts_cells(measures) else found.marks
    if source is ROWS:
        query = totals_of_rows(found, measures, shown)
    else:
        own = Bounding(
            marked=found, limits=binding_limits(asked), salt="0" * 32, sampling=Sampling.MD5, measures=measures,
            dialect=DUCKDB,
        )  # fmt: skip
        query = totals_of_units(own, shown)
    return query, sorted(run(query, cells=CELLS))


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({}, [("x", 5, 5, 4, 5), ("y", 1, 1, 1, 1)]),
        ({"cell": CELL}, [("x", 1, 2, 2, 2, 2), ("x", 2, 2, 2, 2, 2), ("y", 2, 1, 1, 1, 1)]),
        ({"cell": CELL, "measures": (CellCount(), UnitCount(), RowCount())}, [("x", 4, 2, 4, 4), ("y", 1, 1, 1, 1)]),
    ],
)
def test_where_each_row_is_a_unit_no_row_is_left_out(asked, expected):
    assert totals(ROWS, **asked)[1] == expected


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({}, [("x", 2, 5, 4, 2), ("y", 1, 1, 1, 1)]),
        ({"max_rows_per_group_per_unit": 1}, [("x", 2, 2, 2, 2), ("y", 1, 1, 1, 1)]),
        ({"cell": CELL}, [("x", 1, 1, 2, 2, 1), ("x", 2, 2, 2, 2, 2), ("y", 2, 1, 1, 1, 1)]),
        ({"cell": CELL, "measures": (CellCount(), UnitCount(), RowCount())}, [("x", 3, 2, 2, 4), ("y", 1, 1, 1, 1)]),
        (
            {"cell": CELL, "measures": (CellCount(), UnitCount(), RowCount()), "max_rows_per_unit": 1, "keys": ()},
            [(2, None, 2, 2)],
        ),
    ],
)
def test_the_entries_of_owners_are_added_up(asked, expected):
    found = totals(OWNED, **asked)[1]
    assert [
        tuple(a if b is not None else None for a, b in zip(*rows, strict=True))
        for rows in zip(found, expected, strict=True)
    ] == expected


def test_entries_are_stored_only_if_units_have_to_be_looked_at():
    simple, ordered = (
        sql(totals(OWNED, **limits)[0]) for limits in ({"max_rows_per_group_per_unit": 1}, {"max_rows_per_unit": 1})
    )
    assert ("MATERIALIZED" in simple, "MD5" in simple) == (False, False)
    assert ("MATERIALIZED" in ordered, "MD5" in ordered) == (True, True)


def test_the_names_of_totals_are_those_of_their_measures():
    assert [name in sql(totals(ROWS)[0]) for name in (KEPT, "t0", "t2", "t3")] == [True, True, True, False]
