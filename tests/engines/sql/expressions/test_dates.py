"""Days and times in SQL are moved and cut as `dates` says, within the years 1 to 9999."""

from datetime import date, datetime
from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engines.in_sql import ARROW, values_of
from tests.expressions_of import DAYS, INTEGERS, TIMESTAMPS, UNITS

from sfumato.engines.sql.expressions.dates import DATES, months_added, truncated
from sfumato.engines.sql.expressions.kinds import Term
from sfumato.engines.sql.expressions.terms import column
from sfumato.query.model.expressions import Call, ColumnRef, Literal
from sfumato.query.model.functions import Function
from sfumato.query.model.kinds import Kind
from sfumato.query.values.evaluation import evaluate

MOMENTS = {
    Kind.DATE: st.sampled_from(DAYS) | st.dates(),
    Kind.TIMESTAMP: st.sampled_from(TIMESTAMPS) | st.datetimes(),
}
PARTS = [function for function in DATES if function.value not in {"add_days", "add_seconds", "days_between"}]
CLOCK = {Function.HOUR, Function.MINUTE, Function.SECOND}
COUNTS = st.sampled_from(INTEGERS) | st.integers(-4_000_000, 4_000_000) | st.integers(-(10**12), 10**12)


def drawn(data, kind):
    return data.draw(st.lists(MOMENTS[kind], min_size=1, max_size=20))


def in_sql(term, kind, cells, **others):
    return values_of(term.settled, {"x": pa.array(cells, ARROW[kind])} | others)


def in_python(function, rows):
    call = Call(function, tuple(ColumnRef(name) for name in rows[0]))
    return [evaluate(call, row) for row in rows]


@pytest.mark.parametrize(
    ("function", "kind"), [(f, k) for f in PARTS for k in MOMENTS if k in "timestamp" or f not in CLOCK]
)
@given(st.data())
@settings(max_examples=15)
def test_parts_are_those_of_python(function, kind, data):
    cells = drawn(data, kind)
    term = DATES[function]([Term(sql=column("x"), kind=kind)])
    assert in_sql(term, kind, cells) == in_python(function, [{"x": cell} for cell in cells])


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("kind", MOMENTS)
@given(st.data())
@settings(max_examples=15)
def test_what_is_truncated_is_of_its_own_kind(unit, kind, data):
    cells = drawn(data, kind)
    call = Call(Function.TRUNCATE, (ColumnRef("x"), Literal(unit)))
    found = in_sql(truncated(Term(sql=column("x"), kind=kind), unit), kind, cells)
    assert found == [evaluate(call, {"x": cell}) for cell in cells]
    assert {type(value) for value in found} == {date if kind is Kind.DATE else datetime}


@pytest.mark.parametrize("kind", MOMENTS)
@pytest.mark.parametrize("months", [*INTEGERS, 12 * 9998, -12 * 9998, -13])
@given(st.data())
@settings(max_examples=5)
def test_months_are_added_within_the_years(kind, months, data):
    cells = drawn(data, kind)
    call = Call(Function.ADD_MONTHS, (ColumnRef("x"), Literal(Fraction(months))))
    found = in_sql(months_added(Term(sql=column("x"), kind=kind), months), kind, cells)
    assert found == [evaluate(call, {"x": cell}) for cell in cells]


@pytest.mark.parametrize(
    ("function", "kind"),
    [(Function.ADD_DAYS, Kind.DATE), (Function.ADD_DAYS, Kind.TIMESTAMP), (Function.ADD_SECONDS, Kind.TIMESTAMP)],
)
@given(st.data())
def test_days_and_seconds_are_added_within_the_years(function, kind, data):
    rows = data.draw(st.lists(st.tuples(MOMENTS[kind], COUNTS), min_size=1, max_size=20))
    term = DATES[function]([Term(sql=column("x"), kind=kind), Term(sql=column("y"), kind=Kind.INTEGER)])
    found = in_sql(term, kind, [x for x, _ in rows], y=pa.array([y for _, y in rows]))
    assert found == in_python(function, [{"x": x, "y": y} for x, y in rows])


def test_days_between_are_counted_over_all_years():
    term = DATES[Function.DAYS_BETWEEN]([Term(sql=column(name), kind=Kind.DATE) for name in "xy"])
    found = in_sql(term, Kind.DATE, [date.max, date.min, None], y=pa.array([date.min, date.max, date.min]))
    assert found == [3_652_058, -3_652_058, None]
