import math
from datetime import date, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engines.stored_values import (
    AMOUNTS_AS_READ,
    BOOLEANS_AS_READ,
    IDS_AS_READ,
    MOMENTS_AS_READ,
    NUMBERS_AS_READ,
    TIMES_AS_READ,
    WHOLE_ID,
)

from sfumato.query.model.kinds import Kind
from sfumato.query.model.schema import Column, integer, real
from sfumato.query.values.cells import MAX_INT64, MIN_INT64, converted, greatest_of, least_of, null_cell, typed
from sfumato.query.values.numbers import LARGEST

ANYTHING = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.decimals(allow_nan=False)
    | st.dates() | st.datetimes(timezones=st.none() | st.timezones()) | st.timedeltas()
    | st.lists(st.integers(), max_size=2)
)  # fmt: skip
CELLS = {
    Kind.INTEGER: int, Kind.FLOAT: float, Kind.TEXT: str, Kind.BOOLEAN: bool, Kind.DATE: date, Kind.TIMESTAMP: datetime,
}  # fmt: skip


@given(ANYTHING.filter(lambda v: not (isinstance(v, int | Decimal) and abs(v) > 10**300)), st.sampled_from(list(Kind)))
def test_reading_is_total_and_gives_the_declared_type_or_null(stored, kind):
    value = typed(stored, Column(kind=kind))
    assert value is None or type(value) is CELLS[kind]
    if kind is Kind.INTEGER and value is not None:
        assert MIN_INT64 <= value <= MAX_INT64
    if kind is Kind.FLOAT and value is not None:
        assert abs(value) <= LARGEST
        assert value != 0 or math.copysign(1, value) == 1


@pytest.mark.parametrize("stored", [-0.0, "-0", "-0.0", "-1e-400", Decimal("-0.0")])
def test_a_zero_has_no_sign(stored):
    assert str(typed(stored, Column(kind=Kind.FLOAT))) == "0.0"


@pytest.mark.parametrize(("stored", "whole", "number"), NUMBERS_AS_READ)
def test_numbers_are_read_as_the_contract_says(stored, whole, number):
    assert typed(stored, Column(kind=Kind.INTEGER)) == whole
    assert typed(stored, Column(kind=Kind.FLOAT)) == number


@pytest.mark.parametrize(("stored", "meant"), IDS_AS_READ)
def test_ids_are_read_as_the_contract_says(stored, meant):
    assert typed(stored, WHOLE_ID) == meant


@pytest.mark.parametrize(("stored", "whole"), AMOUNTS_AS_READ)
def test_amounts_are_read_as_the_contract_says(stored, whole):
    assert typed(stored, integer(-5, 7)) == whole
    if whole is None:
        assert typed(stored, integer(-5, 7, nullable=False)) == 0


@given(st.integers(-(10**400), 10**400), st.integers(0, 9), st.sampled_from(["", "+"]), st.integers(0, 9))
def test_an_id_is_the_number_however_it_is_written(number, noughts, sign, spaces):
    size = "0" * noughts + str(abs(number))
    written = " " * spaces + (f"-{size}" if number < 0 else sign + size)
    assert typed(written, WHOLE_ID) == typed(str(number), WHOLE_ID)
    assert typed(str(number + 1), WHOLE_ID) != typed(written, WHOLE_ID) != typed(str(-number - 1), WHOLE_ID)


@given(ANYTHING.filter(lambda v: not (isinstance(v, int | Decimal) and abs(v) > 10**300)))
def test_reading_ids_and_amounts_is_total(stored):
    assert isinstance(typed(stored, WHOLE_ID), str | None)
    whole = typed(stored, integer(-5, 7))
    assert whole is None or MIN_INT64 <= whole <= MAX_INT64


@pytest.mark.parametrize(("stored", "meant"), BOOLEANS_AS_READ)
def test_booleans_are_read_as_the_contract_says(stored, meant):
    assert typed(stored, Column(kind=Kind.BOOLEAN)) is meant


@pytest.mark.parametrize(("stored", "moment"), TIMES_AS_READ + MOMENTS_AS_READ)
def test_days_and_times_are_read_as_the_contract_says(stored, moment):
    assert typed(stored, Column(kind=Kind.TIMESTAMP)) == moment
    assert typed(stored, Column(kind=Kind.DATE)) == (None if moment is None else moment.date())


@pytest.mark.parametrize(
    ("stored", "meant"),
    [(1.0, "1"), (-0.0, "0"), (0.5, "0.5"), (True, "true"), (date(1, 2, 3), "0001-02-03"), (Decimal("1.50"), "1.50"),
     (math.nan, None), (1e150, "1e+150"), (1e151, None), (" x ", " x ")],
)  # fmt: skip
def test_text_is_what_is_stored(stored, meant):
    assert typed(stored, Column(kind=Kind.TEXT)) == meant


@pytest.mark.parametrize(
    ("column", "cell"),
    [
        (integer(3, 9, nullable=False), 3),
        (integer(-9, -3, nullable=False), -3),
        (integer(-9, 3, nullable=False), 0),
        (real(3, 9, nullable=False), 3.0),
        (real("-9", "-0.1", nullable=False), -0.1),
        (real(-1, 1, nullable=False), 0.0),
        (integer(3, 9), None),
        (integer(), None),
    ],
)
def test_null_is_the_bound_nearest_to_zero_where_a_column_is_not_nullable(column, cell):
    for stored in (None, "word", math.nan):
        found = typed(stored, column)
        assert (found, type(found)) == (cell, type(cell))
    assert null_cell(column) == cell


@given(st.floats(allow_nan=False))
def test_a_cell_becomes_another_kind_as_a_stored_value_is_read(value):
    assert converted(value, Kind.INTEGER) == typed(value, Column(kind=Kind.INTEGER))
    assert converted(None, Kind.TEXT) is None


def test_text_is_ordered_by_code_points():
    words = ["é", "z", "Z", "\uffff", "\U00010000"]
    assert (least_of(words), greatest_of(words)) == ("Z", "\U00010000")
    assert least_of([]) is greatest_of([]) is None
