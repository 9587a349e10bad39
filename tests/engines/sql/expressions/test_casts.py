"""What SQL makes of a stored value is what `values.typed` makes of it."""

import math
from datetime import date
from decimal import Decimal
from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engines.in_sql import database, values_of
from tests.engines.stored_values import (
    AMOUNTS_AS_READ,
    BOOLEANS_AS_READ,
    IDS_AS_READ,
    NUMBERS_AS_READ,
    TIMES_AS_READ,
    WHOLE_ID,
)
from tests.expressions_of import DAYS, TIMESTAMPS, WORDS
from tests.strategies import POISON, STORED

from sfumato.engines.sql.expressions.casts import is_number, is_whole, lower_typed
from sfumato.query.model.kinds import TIMES, Kind
from sfumato.query.model.schema import Column, integer
from sfumato.query.values.cells import typed
from sfumato.query.values.numbers import LARGEST, LIMIT

AS_READ = (*NUMBERS_AS_READ, *IDS_AS_READ, *AMOUNTS_AS_READ, *BOOLEANS_AS_READ, *TIMES_AS_READ)
TEXTS = (*POISON, *WORDS, *(row[0] for row in AS_READ))
TEXTS = tuple(dict.fromkeys(cell for cell in TEXTS if isinstance(cell, str)))
PLAIN = [kind for kind in Kind if kind not in TIMES]
EXACT_STORED = {
    pa.string(): st.sampled_from(TEXTS)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
    | st.from_regex(r" ?[+-]?\d{0,20}\.?\d{0,20}(e-?\d{1,3})? ?")
    | st.from_regex(r" ?\d{3,4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d{1,6})?)?)?"),
    pa.large_string(): st.sampled_from(TEXTS),
    pa.uint64(): st.integers(0, 2**64 - 1),
    pa.uint32(): st.integers(0, 2**32 - 1),
    pa.int16(): st.integers(-(2**15), 2**15 - 1),
    pa.uint8(): st.integers(0, 255),
    pa.int8(): st.integers(-128, 127),
    pa.float32(): st.floats(width=32),
    pa.decimal128(38, 10): st.decimals(-(10**20), 10**20, places=10, allow_nan=False),
    pa.decimal128(9, 0): st.integers(-(10**8), 10**8).map(Decimal),
} | {kind: values for kind, values in STORED.items() if kind != pa.string()}


def in_sql(array, column):
    """A stored column as a declared one."""
    database().register("stored", pa.table({"v": array}))
    ((_, storage, *_),) = database().execute("DESCRIBE stored").fetchall()
    database().unregister("stored")
    return values_of(lower_typed("v", column, storage.split("(")[0]), {"v": array})


def same(first, second):
    return type(first) is type(second) and first == second


def assert_read_alike(array, columns):
    for column in columns:
        for found, value in zip(in_sql(array, column), array.to_pylist(), strict=True):
            assert same(found, typed(value, column)), f"{value!r} as {column.kind}"


@pytest.mark.parametrize("stored", EXACT_STORED, ids=str)
@given(st.data())
def test_sql_and_python_read_a_stored_value_alike(stored, data):
    cells = data.draw(st.lists(st.none() | EXACT_STORED[stored], min_size=1, max_size=20))
    kinds = [kind for kind in Kind if not (kind is Kind.TEXT and pa.types.is_floating(stored))]  # see below
    assert_read_alike(pa.array(cells, stored), [*(Column(kind=kind) for kind in kinds), WHOLE_ID, integer(0, 9)])


@pytest.mark.parametrize("column", [*(Column(kind=kind) for kind in Kind), WHOLE_ID, integer(0, 9)])
def test_every_poison_is_read_alike(column):
    assert_read_alike(pa.array(TEXTS), [column])


@pytest.mark.parametrize("cell", [2**63 - 1, 2**63, 2**64 - 1])
def test_an_unsigned_number_beyond_64_bits_counts_as_the_bound_it_lies_beyond(cell):
    assert in_sql(pa.array([cell], pa.uint64()), integer(0, 9)) == [2**63 - 1]


@pytest.mark.parametrize(("cells", "stored"), [(DAYS, pa.date32()), (TIMESTAMPS, pa.timestamp("us"))])
def test_days_and_times_are_read_alike(cells, stored):
    assert_read_alike(pa.array([*cells, None], stored), [Column(kind=kind) for kind in TIMES])


@pytest.mark.parametrize("kind", sorted(TIMES))
@pytest.mark.parametrize("cells", [[20260131], [1.5], [True]])
def test_numbers_and_truths_are_no_times(kind, cells):
    assert in_sql(pa.array(cells), Column(kind=kind)) == [None]


def test_whole_doubles_as_text_are_the_integers_that_they_were():
    cells = pa.array([1.0, -3.0, 2.0**53, 0.5, math.nan, None])
    found = in_sql(cells, Column(kind=Kind.TEXT))
    assert found[:2] == ["1", "-3"]
    assert found[3:] == ["0.5", None, None]


@pytest.mark.parametrize("cells", [["0.25", "-0.50", "0.00"], ["0.05", "-0.99", None]])
def test_a_decimal_of_fractions_alone_has_a_digit_before_its_point(cells):
    stored = pa.array([None if cell is None else Decimal(cell) for cell in cells], pa.decimal128(2, 2))
    assert in_sql(stored, Column(kind=Kind.TEXT)) == cells
    assert_read_alike(stored, [Column(kind=kind) for kind in Kind])


@pytest.mark.parametrize("kind", [kind for kind in Kind if kind not in TIMES])
def test_what_is_beyond_the_range_is_null(kind):
    beyond = [math.nan, math.inf, -math.inf, LIMIT, -LIMIT, 1e308]
    assert in_sql(pa.array(beyond), Column(kind=kind)) == [None] * len(beyond)
    assert_read_alike(pa.array([-LARGEST, LARGEST, 5e-324]), [Column(kind=kind) for kind in PLAIN[:2]])


@pytest.mark.parametrize(("lower", "upper", "nearest"), [(3, 9, 3), (-9, -3, -3), (-9, 3, 0)])
@pytest.mark.parametrize("kind", [Kind.INTEGER, Kind.FLOAT])
def test_a_column_that_is_not_nullable_has_the_bound_nearest_to_zero_for_null(kind, lower, upper, nearest):
    column = Column(kind=kind, lower=Fraction(lower), upper=Fraction(upper), nullable=False)
    array = pa.array(["7", "word", None])
    assert in_sql(array, column) == [7, nearest, nearest]
    assert_read_alike(array, [column])


def test_types_of_storage_are_told_apart():
    assert all(map(is_whole, ("TINYINT", "UBIGINT", "HUGEINT", "INTEGER")))
    assert not any(map(is_whole, ("DOUBLE", "DECIMAL", "VARCHAR")))
    assert all(map(is_number, ("FLOAT", "DOUBLE", "DECIMAL", "SMALLINT")))
    assert not any(map(is_number, ("VARCHAR", "DATE", "BOOLEAN")))


def test_other_types_of_storage_are_read_as_their_text():
    array = pa.array([date(2026, 1, 31)], pa.date32())
    assert in_sql(array, Column(kind=Kind.TEXT)) == ["2026-01-31"]
    assert in_sql(array, Column(kind=Kind.INTEGER)) == [None]
