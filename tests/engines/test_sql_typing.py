"""What SQL makes of a stored value is what `values.typed` makes of it."""

import math
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import POISON, STORED

from sfumato.engines.duckdb import DuckDBEngine
from sfumato.engines.sources import open_source
from sfumato.engines.sql_typing import is_number, is_whole
from sfumato.engines.values import typed
from sfumato.query.schema import Column, Kind, Table

COLUMNS = {kind.value: Column(kind=kind) for kind in Kind}
EXACT_STORED = {
    pa.string(): st.sampled_from(POISON)
    | st.text(max_size=8)
    | st.from_regex(r" ?[+-]?\d{0,20}\.?\d{0,20}(e-?\d{1,3})? ?"),
    pa.large_string(): st.sampled_from(POISON),
    pa.uint64(): st.integers(0, 2**64 - 1),
    pa.uint32(): st.integers(0, 2**32 - 1),
    pa.int16(): st.integers(-(2**15), 2**15 - 1),
    pa.uint8(): st.integers(0, 255),
    pa.int8(): st.integers(-128, 127),
    pa.decimal128(38, 10): st.decimals(-(10**20), 10**20, places=10, allow_nan=False),
    pa.decimal128(9, 0): st.integers(-(10**8), 10**8).map(Decimal),
} | {kind: values for kind, values in STORED.items() if kind != pa.string()}


def in_sql(values, kind):
    names = list(COLUMNS)
    data = pa.table({name: pa.array(values, kind) for name in names})
    table = Table(name="t", columns=COLUMNS)
    engine = DuckDBEngine({"t": open_source(data)})
    engine._prepare(table)
    rows = engine._database.execute('SELECT * FROM typed."t"').fetchall()
    engine.close()
    return [dict(zip(names, row, strict=True)) for row in rows]


def same(first, second):
    return type(first) is type(second) and (first == second or (first != first and second != second))  # noqa: PLR0124


@pytest.mark.parametrize("kind", EXACT_STORED, ids=str)
@given(st.data())
@settings(max_examples=25, deadline=None)
def test_sql_and_python_read_a_stored_value_alike(kind, data):
    stored = data.draw(st.lists(st.none() | EXACT_STORED[kind], min_size=1, max_size=20))
    array = pa.array(stored, kind)
    for value, row in zip(array.to_pylist(), in_sql(stored, kind), strict=True):
        for name, column in COLUMNS.items():
            assert same(row[name], typed(value, column)), f"{value!r} as {name}"


def test_every_poison_is_read_alike():
    for value, row in zip(POISON, in_sql(list(POISON), pa.string()), strict=True):
        assert all(same(row[name], typed(value, column)) for name, column in COLUMNS.items())


def test_nan_is_null_and_infinity_is_not():
    rows = in_sql([math.nan, math.inf, -math.inf], pa.float64())
    assert [row["float"] for row in rows] == [None, math.inf, -math.inf]
    assert [row["integer"] for row in rows] == [None] * 3


def test_types_of_storage_are_told_apart():
    assert all(map(is_whole, ("TINYINT", "UBIGINT", "HUGEINT", "INTEGER")))
    assert not any(map(is_whole, ("DOUBLE", "DECIMAL", "VARCHAR")))
    assert all(map(is_number, ("FLOAT", "DOUBLE", "DECIMAL", "SMALLINT")))
    assert not any(map(is_number, ("VARCHAR", "DATE", "BOOLEAN")))
