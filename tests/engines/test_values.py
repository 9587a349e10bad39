import math
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engines.engine_contract import BOOLEANS_AS_READ, NUMBERS_AS_READ

from sfumato.engines.values import MAX_INT64, MIN_INT64, clamped_steps, contribution, typed
from sfumato.query.measures import RowCount, StepSum, ValueCount, step_sum
from sfumato.query.schema import Column, Kind, Table, real

ANYTHING = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.decimals(allow_nan=False)
    | st.dates() | st.datetimes() | st.timedeltas() | st.lists(st.integers(), max_size=2)
)  # fmt: skip
CELLS = {Kind.INTEGER: int, Kind.FLOAT: float, Kind.TEXT: str, Kind.BOOLEAN: bool}


@given(ANYTHING.filter(lambda v: not (isinstance(v, int | Decimal) and abs(v) > 10**300)), st.sampled_from(list(Kind)))
def test_reading_is_total_and_gives_the_declared_type_or_null(stored, kind):
    value = typed(stored, Column(kind=kind))
    assert value is None or type(value) is CELLS[kind]
    if kind is Kind.INTEGER and value is not None:
        assert MIN_INT64 <= value <= MAX_INT64
    if kind is Kind.FLOAT and value is not None:
        assert not math.isnan(value)


@pytest.mark.parametrize(("stored", "whole", "number"), NUMBERS_AS_READ)
def test_numbers_are_read_as_the_contract_says(stored, whole, number):
    assert typed(stored, Column(kind=Kind.INTEGER)) == whole
    assert typed(stored, Column(kind=Kind.FLOAT)) == number


@pytest.mark.parametrize(("stored", "meant"), BOOLEANS_AS_READ)
def test_booleans_are_read_as_the_contract_says(stored, meant):
    assert typed(stored, Column(kind=Kind.BOOLEAN)) is meant


@given(st.floats(allow_nan=False), st.integers(-1_000, 999), st.integers(1, 1_000), st.sampled_from([1.0, 0.5, 0.25]))
def test_a_clamped_value_is_the_lattice_point_nearest_to_it_in_the_bounds(value, lower, width, resolution):
    measure = StepSum(column="v", lower=lower, upper=lower + width, offset=0, nullable=True)
    steps = clamped_steps(value, measure, resolution)
    assert lower <= steps <= lower + width
    if not math.isinf(value):
        exact = math.floor(Fraction(value) / Fraction(resolution) + Fraction(1, 2))
        assert abs(steps - min(max(exact, lower), lower + width)) <= (1 if abs(value) < 2.0**-52 else 0)


@given(st.floats(allow_nan=False), st.floats(allow_nan=False))
def test_clamping_keeps_the_order_of_values(first, second):
    measure = StepSum(column="v", lower=-100, upper=100, offset=0, nullable=True)
    low, high = sorted((first, second))
    assert clamped_steps(low, measure, 0.01) <= clamped_steps(high, measure, 0.01)


def test_what_a_row_adds():
    table = Table(name="t", columns={"v": real(3, 9, resolution="0.5", nullable=False), "w": real(3, 9)})
    row = {"v": None, "w": None}
    fixed, optional = (step_sum(table, name, centred=False) for name in "vw")
    added = [contribution(m, row, table) for m in (RowCount(), ValueCount("w", nullable=True), fixed, optional)]
    assert added == [1, 0, 6, 0]
    assert contribution(ValueCount("v", nullable=False), row, table) == 1
