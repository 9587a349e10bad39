"""What Polars makes of a stored value is what `values.typed` makes of it."""

import math
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engines.in_frames import frame, values_of
from tests.engines.stored_values import BOOLEANS_AS_READ, NUMBERS_AS_READ, TIMES_AS_READ
from tests.expressions_of import DAYS, TIMESTAMPS, WORDS
from tests.strategies import POISON, STORED

from sfumato.engines.frames.casts import lower_typed
from sfumato.engines.values import typed
from sfumato.query.kinds import TIMES, Kind
from sfumato.query.schema import Column

TEXTS = (*POISON, *WORDS, *(row[0] for row in (*NUMBERS_AS_READ, *BOOLEANS_AS_READ, *TIMES_AS_READ)))
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


def in_polars(array, column):
    """A stored column as a declared one."""
    return values_of(lower_typed("v", column, frame({"v": array}).collect_schema()["v"]), {"v": array})


def same(first, second):
    return type(first) is type(second) and first == second


def assert_read_alike(array, columns):
    for column in columns:
        for found, value in zip(in_polars(array, column), array.to_pylist(), strict=True):
            assert same(found, typed(value, column)), f"{value!r} as {column.kind}"


@pytest.mark.parametrize("stored", EXACT_STORED, ids=str)
@given(st.data())
@settings(max_examples=25, deadline=None)
def test_polars_and_python_read_a_stored_value_alike(stored, data):
    cells = data.draw(st.lists(st.none() | EXACT_STORED[stored], min_size=1, max_size=20))
    assert_read_alike(pa.array(cells, stored), [Column(kind=kind) for kind in Kind])


@pytest.mark.parametrize("kind", Kind)
def test_every_poison_is_read_alike(kind):
    assert_read_alike(pa.array(TEXTS), [Column(kind=kind)])


@pytest.mark.parametrize(("cells", "stored"), [(DAYS, pa.date32()), (TIMESTAMPS, pa.timestamp("us"))])
def test_days_and_times_are_read_alike(cells, stored):
    assert_read_alike(pa.array([*cells, None], stored), [Column(kind=kind) for kind in TIMES])


@pytest.mark.parametrize("kind", sorted(TIMES))
@pytest.mark.parametrize("cells", [[20260131], [1.5], [True]])
def test_numbers_and_truths_are_no_times(kind, cells):
    assert in_polars(pa.array(cells), Column(kind=kind)) == [None]


def test_whole_doubles_as_text_are_the_integers_that_they_were():
    cells = pa.array([1.0, -3.0, 2.0**53, 0.5, math.nan, None])
    found = in_polars(cells, Column(kind=Kind.TEXT))
    assert found[:2] == ["1", "-3"]
    assert found[3:] == ["0.5", None, None]


@pytest.mark.parametrize("cells", [["0.25", "-0.50", "0.00"], ["0.05", "-0.99", None]])
def test_a_decimal_of_fractions_alone_has_a_digit_before_its_point(cells):
    stored = pa.array([None if cell is None else Decimal(cell) for cell in cells], pa.decimal128(2, 2))
    assert in_polars(stored, Column(kind=Kind.TEXT)) == cells
    assert_read_alike(stored, [Column(kind=kind) for kind in Kind])


def test_nan_is_null_and_infinity_is_not():
    cells = pa.array([math.nan, math.inf, -math.inf])
    assert in_polars(cells, Column(kind=Kind.FLOAT)) == [None, math.inf, -math.inf]
    assert in_polars(cells, Column(kind=Kind.INTEGER)) == [None] * 3


@pytest.mark.parametrize(("lower", "upper", "nearest"), [(3, 9, 3), (-9, -3, -3), (-9, 3, 0)])
@pytest.mark.parametrize("kind", [Kind.INTEGER, Kind.FLOAT])
def test_a_column_that_is_not_nullable_has_the_bound_nearest_to_zero_for_null(kind, lower, upper, nearest):
    column = Column(kind=kind, lower=Fraction(lower), upper=Fraction(upper), nullable=False)
    array = pa.array(["7", "word", None])
    assert in_polars(array, column) == [7, nearest, nearest]
    assert_read_alike(array, [column])


@pytest.mark.parametrize("stored", [pl.Categorical(), pl.Enum(["39", "word"])])
def test_categories_are_read_as_their_text(stored):
    cells = pl.Series("v", ["39", "word", None], dtype=stored).to_frame().lazy()
    read = lower_typed("v", Column(kind=Kind.INTEGER), stored)
    assert cells.select(read.alias("v")).collect()["v"].to_list() == [39, None, None]


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "Asia/Tokyo"])
def test_times_of_any_unit_and_zone_are_times_in_utc(unit, zone):
    stored = pl.Datetime(unit, zone)
    cells = (
        pl.Series("v", [1_700_000_000_000 * {"ms": 1, "us": 10**3, "ns": 10**6}[unit], None]).cast(stored).to_frame()
    )
    read = lower_typed("v", Column(kind=Kind.TIMESTAMP), stored)
    assert cells.select(read.alias("v"))["v"].to_list() == [datetime.fromisoformat("2023-11-14 22:13:20"), None]


@pytest.mark.parametrize("unit", ["ms", "us"])
@pytest.mark.parametrize("kind", sorted(TIMES))
def test_times_beyond_the_years_are_null(unit, kind):
    cells = pl.Series("v", [2**62, -(2**62), 253_402_300_800_000 * (1 if unit == "ms" else 1_000)]).cast(
        pl.Datetime(unit)
    )
    read = lower_typed("v", Column(kind=kind), cells.dtype)
    assert cells.to_frame().select(read.alias("v"))["v"].to_list() == [None] * 3


def test_days_beyond_the_years_are_null():
    cells = pl.Series("v", [2**30, 0, 2_932_897], dtype=pl.Int32).cast(pl.Date)
    read = lower_typed("v", Column(kind=Kind.DATE), pl.Date())
    assert cells.to_frame().select(read.alias("v"))["v"].to_list() == [None, date(1970, 1, 1), None]
