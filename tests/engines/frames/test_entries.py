"""Rows find their groups and cells, and those without one are left out."""

from fractions import Fraction

import polars as pl
import pytest
from tests.engines.in_frames import rows_of

from sfumato.engines.frames.entries import CELL, marked
from sfumato.engines.frames.rows import Rows
from sfumato.engines.sampling import encoded
from sfumato.query.expressions import ColumnRef
from sfumato.query.measures import RowCount, Steps
from sfumato.query.relations import Source
from sfumato.query.schema import Table, boolean, integer, real, text
from sfumato.query.shape import shape_of
from sfumato.query.statement import Bins, KeyColumn, Statement, Values

TABLE = Source(Table(name="t", columns={"k": text(), "j": integer(), "f": real(), "b": boolean()}))
CELLS = pl.LazyFrame(
    {
        "c0": ["y", "x", "x", "z", None],
        "c1": [1, 2, None, 2, 2],
        "c2": [0.0, 4.9, -99.0, 99.0, None],
        "c3": [True, False, None, True, True],
    }
)
ROWS = Rows(frame=CELLS, shape=shape_of(TABLE))
STEPS = Steps(value=ColumnRef("f"), resolution=Fraction(1), lower=-9, upper=9, offset=0, nullable=True)


def of(cell=None, **keys):
    columns = tuple(KeyColumn(name=name, values=values) for name, values in keys.items())
    return marked(Statement(rows=TABLE, keys=columns, measures=(RowCount(),), cell=cell), ROWS)


def found(cell=None, **keys):
    """The marks of every row that has them all."""
    own = of(cell, **keys)
    return rows_of(own.rows.frame.select(mark.name for mark in own.marks))


@pytest.mark.parametrize(
    ("keys", "rows"),
    [
        ({"k": ("y", "x")}, [("x",), ("x",), ("y",)]),
        ({"k": None}, [("x",), ("x",), ("y",), ("z",)]),
        ({"k": ("x", "y"), "j": (2, 1)}, [("x", 2), ("y", 1)]),
        ({"k": ("x", "y"), "j": (2, 9, 1)}, [("x", 2), ("y", 1)]),
        ({"k": ("x", "y"), "j": (9, 1)}, [("y", 1)]),
        ({"k": ("x", "y", "z"), "j": None}, [("x", 2), ("y", 1), ("z", 2)]),
        ({"b": (False, True)}, [(False,), (True,), (True,), (True,)]),
        ({"b": (True,)}, [(True,), (True,), (True,)]),
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
        (Values(value=ColumnRef("k"), values=("z", "y")), [("y",), ("z",)]),
    ],
)
def test_a_row_without_a_cell_is_left_out(cell, rows):
    assert found(cell) == rows


def test_without_keys_and_cells_no_row_is_left_out():
    assert len(rows_of(of().rows.frame)) == 5


def test_marks_are_encoded_as_the_hash_reads_them_whether_or_not_they_are_listed():
    own = of(k=("é", "y", "x"), j=None, b=(False, True))
    encodings = own.rows.frame.select(pl.concat_str(mark.encoding for mark in own.marks).alias("e"))
    assert rows_of(encodings) == sorted(
        [(encoded("x") + encoded(2) + encoded(False),), (encoded("y") + encoded(1) + encoded(True),)]
    )


def test_places_of_listed_text_are_in_the_order_of_its_code_points():
    own = of(k=("z", "x", "y"))
    assert own.rows.frame.sort("k0").collect()["k0"].to_list() == ["x", "x", "y", "z"]


def test_the_mark_of_a_cell_is_called_by_its_own_name():
    own = of(Bins(steps=STEPS, width=1))
    assert own.cell is not None
    assert own.cell.name == CELL
