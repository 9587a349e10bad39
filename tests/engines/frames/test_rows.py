"""Relations in Polars know their columns by their places."""

import polars as pl
import pytest
from tests.engines.in_frames import frame, rows_of

from sfumato.engines.frames.rows import Rows, grouped, names_of
from sfumato.engines.sampling import encoded
from sfumato.privacy.neighbors import EACH_ROW, UnitColumn
from sfumato.query.expressions import Call, ColumnRef
from sfumato.query.functions import Function
from sfumato.query.kinds import Kind
from sfumato.query.relations import Source
from sfumato.query.schema import Limits, Table, integer, text
from sfumato.query.shape import shape_of

COLUMNS = {'a"b': text(), "u": integer(), "c0": integer(), "RANK": text()}
CELLS = frame({"u": ["x", "y"], "c0": ["p", None], "c1": [1, 2], "c2": [3, 4], "c3": ["r", "s"]})


def rows(unit):
    limits = Limits() if unit == EACH_ROW else Limits(max_rows_per_unit=1)
    return Rows(
        frame=CELLS, shape=shape_of(Source(Table(name="t", columns=COLUMNS, unit=unit, limits=limits)))
    )  # fmt: skip


OWNED, NOBODYS = rows(UnitColumn('a"b')), rows(EACH_ROW)


def test_columns_are_called_by_their_places_whatever_their_names():
    assert names_of(COLUMNS) == {'a"b': "c0", "u": "c1", "c0": "c2", "RANK": "c3"}
    assert OWNED.selected == ["u", "c0", "c1", "c2", "c3"]
    assert NOBODYS.selected == ["c0", "c1", "c2", "c3"]
    assert (OWNED.kind("u"), OWNED.has_owners, NOBODYS.has_owners, NOBODYS.unit) == (Kind.INTEGER, True, False, [])


def test_expressions_read_the_columns_they_name():
    both = Call(Function.ADD, (ColumnRef("u"), ColumnRef("c0")))
    assert rows_of(CELLS.select(OWNED.value(both).alias("x"))) == [(4,), (6,)]


@pytest.mark.parametrize(("own", "first"), [(OWNED, [encoded("x")]), (NOBODYS, [])])
def test_rows_are_encoded_value_by_value_behind_their_unit(own, first):
    together = pl.concat_str(*own.unit_encoding, *own.encodings).alias("x")
    found = CELLS.select(together).collect()["x"].to_list()
    assert found[0] == "".join([*first, *map(encoded, ("p", 1, 3, "r"))])


def test_of_no_columns_there_is_one_group_also_of_nothing():
    count = [pl.len().cast(pl.Int64).alias("n")]
    assert rows_of(grouped(CELLS, ["c2"], count)) == [(3, 1), (4, 1)]
    assert rows_of(grouped(CELLS, [], count)) == [(2,)]
    assert rows_of(grouped(CELLS.filter(pl.lit(value=False)), [], count)) == [(0,)]
    assert rows_of(grouped(CELLS.filter(pl.lit(value=False)), ["c2"], count)) == []
