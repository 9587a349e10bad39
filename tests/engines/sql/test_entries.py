"""Rows find their groups and cells by the places of these in sorted lists."""

from fractions import Fraction

import pyarrow as pa
import pytest
from tests.engines.in_sql import database

from sfumato.engines.duckdb.dialect import sql
from sfumato.engines.sampling import encoded
from sfumato.engines.sql.entries import CELL, grouped_rows, with_lists
from sfumato.engines.sql.expressions.terms import function, select, table
from sfumato.engines.sql.lists import list_table
from sfumato.engines.sql.rows import SqlRelation
from sfumato.query.analysis.shape import shape_of
from sfumato.query.model.expressions import ColumnRef
from sfumato.query.model.relations import Source
from sfumato.query.model.schema import Table, boolean, integer, real, text
from sfumato.query.model.statement import Bins, KeyColumn, LatticeValue, RowCount, Statement, Values

TABLE = Source(Table(name="t", columns={"k": text(), "j": integer(), "f": real(), "b": boolean()}))
CELLS = pa.table(
    {
        "c0": ["y", "x", "x", "z", None],
        "c1": pa.array([1, 2, None, 2, 2], pa.int64()),
        "c2": pa.array([0.0, 4.9, -99.0, 99.0, None]),
        "c3": pa.array([True, False, None, True, True]),
    }
)
ROWS = SqlRelation(query=select([], table("cells")), shape=shape_of(TABLE))
STEPS = LatticeValue(value=ColumnRef("f"), resolution=Fraction(1), lower=-9, upper=9, offset=0, nullable=True)


def found(cell=None, **keys):
    """The marks of every row that has them all."""
    columns = tuple(KeyColumn(name=name, values=values) for name, values in keys.items())
    own = grouped_rows(Statement(rows=TABLE, keys=columns, measures=(RowCount(),), cell=cell), ROWS)
    names = [group.table for group in own.group_columns if group.values is not None]
    for group in own.group_columns:
        if group.values is not None:
            database().register(group.table, list_table(group))
    database().register("cells", CELLS)
    query = select([group.column for group in own.group_columns], own.query)
    rows = sorted(database().execute(sql(query)).fetchall())
    for name in (*names, "cells"):
        database().unregister(name)
    return rows


@pytest.mark.parametrize(
    ("keys", "rows"),
    [
        ({"k": ("y", "x")}, [(0,), (0,), (1,)]),  # places in the sorted list, whatever its order
        ({"k": None}, [("x",), ("x",), ("y",), ("z",)]),
        ({"k": ("x", "y"), "j": (2, 1)}, [(0, 2), (1, 1)]),  # whole numbers without a gap need no list
        ({"k": ("x", "y"), "j": (2, 9, 1)}, [(0, 1), (1, 0)]),
        ({"k": ("x", "y", "z"), "j": None}, [(0, 2), (1, 1), (2, 2)]),
        ({"b": (False, True)}, [(0,), (1,), (1,), (1,)]),
    ],
)
def test_a_row_without_a_listed_key_is_in_no_group(keys, rows):
    assert found(**keys) == rows


@pytest.mark.parametrize(
    ("cell", "rows"),
    [
        (Bins(steps=STEPS, width=2), [(0,), (4,), (7,), (9,)]),
        (Values(value=ColumnRef("j"), values=None), [(1,), (2,), (2,), (2,)]),
        (Values(value=ColumnRef("j"), values=(2,)), [(2,), (2,), (2,)]),
        (Values(value=ColumnRef("j"), values=(2, 7)), [(0,), (0,), (0,)]),
        (Values(value=ColumnRef("k"), values=("z", "y")), [(0,), (1,)]),
    ],
)
def test_a_row_without_a_cell_is_left_out(cell, rows):
    assert found(cell) == rows


def test_the_encodings_of_lists_are_those_of_the_hash():
    keys = (KeyColumn(name="k", values=("é", "x")), KeyColumn(name="j", values=None))
    own = grouped_rows(Statement(rows=TABLE, keys=keys, measures=(RowCount(),)), ROWS)
    listed, private = own.keys
    database().register(listed.table, list_table(listed))
    database().register("cells", pa.table({"k0": [1, 0], "k1": [7, -7]}))
    query = with_lists(select([function("CONCAT", *listed.encoding, *private.encoding)], table("cells")), own.keys)
    assert sorted(database().execute(sql(query)).fetchall()) == sorted(
        [(encoded("é") + encoded(7),), (encoded("x") + encoded(-7),)]
    )
    for name in (listed.table, "cells"):
        database().unregister(name)


def test_the_mark_of_a_cell_is_called_by_its_own_name():
    own = grouped_rows(Statement(rows=TABLE, keys=(), measures=(RowCount(),), cell=Bins(steps=STEPS, width=1)), ROWS)
    assert own.cell is not None
    assert own.cell.name == CELL
