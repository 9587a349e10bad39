from datetime import date, datetime
from fractions import Fraction

import pytest
from tests.query.asking import condition_of, expression_of

from sfumato.errors import NotPrivateError, ParameterError
from sfumato.query.analysis.inference import facts_of
from sfumato.query.model.expressions import Call, ColumnRef, Compare, Comparison, Literal
from sfumato.query.model.facts import Facts
from sfumato.query.model.functions import Function
from sfumato.query.model.kinds import Kind
from sfumato.query.values.evaluation import evaluate

PLACED, TOTAL = ColumnRef("placed"), ColumnRef("total")


def moved(function, value, amount):
    return Call(function, (value, Literal(Fraction(amount))))


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("YEAR", Function.YEAR),
        ("quarter", Function.QUARTER),
        ("month", Function.MONTH),
        ("week", Function.WEEK),
        ("day", Function.DAY),
        ("dow", Function.DAY_OF_WEEK),
        ("isodow", Function.ISO_DAY_OF_WEEK),
        ("doy", Function.DAY_OF_YEAR),
        ("hour", Function.HOUR),
        ("minute", Function.MINUTE),
        ("second", Function.SECOND),
    ],
)
def test_parts_of_a_time(name, function):
    assert expression_of(f"EXTRACT({name} FROM placed)", "orders") == Call(function, (PLACED,))
    assert expression_of(f"DATE_PART('{name}', placed)", "orders") == Call(function, (PLACED,))


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("YEAR", Function.YEAR),
        ("QUARTER", Function.QUARTER),
        ("MONTH", Function.MONTH),
        ("WEEK", Function.WEEK),
        ("WEEKOFYEAR", Function.WEEK),
        ("DAY", Function.DAY),
        ("DAYOFMONTH", Function.DAY),
        ("DAYOFWEEK", Function.DAY_OF_WEEK),
        ("ISODOW", Function.ISO_DAY_OF_WEEK),
        ("DAYOFYEAR", Function.DAY_OF_YEAR),
        ("HOUR", Function.HOUR),
        ("MINUTE", Function.MINUTE),
        ("second", Function.SECOND),
    ],
)
def test_parts_of_a_time_by_their_own_names(name, function):
    assert expression_of(f"{name}(placed)", "orders") == Call(function, (PLACED,))


@pytest.mark.parametrize("unit", ["year", "quarter", "month", "week", "day", "hour", "MINUTE"])
def test_times_are_truncated_to_a_unit(unit):
    truncated = Call(Function.TRUNCATE, (PLACED, Literal(unit.lower())))
    assert expression_of(f"DATE_TRUNC('{unit}', placed)", "orders") == truncated


def test_a_date_is_truncated_to_an_hour_as_its_midnight():
    midnight = Call(Function.TO_TIMESTAMP, (ColumnRef("day"),))
    assert expression_of("DATE_TRUNC('hour', day)", "visits") == Call(Function.TRUNCATE, (midnight, Literal("hour")))


@pytest.mark.parametrize(
    ("sql", "meaning"),
    [
        ("placed + INTERVAL '1 day'", moved(Function.ADD_DAYS, PLACED, 1)),
        ("placed - INTERVAL '2 weeks'", moved(Function.ADD_DAYS, PLACED, -14)),
        ("placed + INTERVAL '3' MONTH", moved(Function.ADD_MONTHS, PLACED, 3)),
        ("INTERVAL '1 year' + placed", moved(Function.ADD_MONTHS, PLACED, 12)),
        ("placed - INTERVAL '-1 hours'", moved(Function.ADD_SECONDS, PLACED, 3600)),
        ("placed + INTERVAL '5 min'", moved(Function.ADD_SECONDS, PLACED, 300)),
        ("placed + INTERVAL '7' SECOND", moved(Function.ADD_SECONDS, PLACED, 7)),
        ("total + 1", Call(Function.ADD, (TOTAL, Literal(Fraction(1))))),
        ("total - order_id", Call(Function.SUBTRACT, (TOTAL, ColumnRef("order_id")))),
    ],
)
def test_sums_move_times_and_add_numbers(sql, meaning):
    assert expression_of(sql, "orders") == meaning


def test_days_are_added_to_dates():
    day, number = ColumnRef("day"), Literal(Fraction(7))
    assert expression_of("day + 7", "visits") == Call(Function.ADD_DAYS, (day, number))
    assert expression_of("7 + day", "visits") == Call(Function.ADD_DAYS, (day, number))
    assert expression_of("day - 7", "visits") == Call(Function.ADD_DAYS, (day, Literal(Fraction(-7))))
    between = Call(Function.DAYS_BETWEEN, (day, Literal(date(2026, 1, 31))))
    assert expression_of("day - DATE '2026-01-31'", "visits") == between


def test_an_hour_after_a_date_is_a_timestamp():
    midnight = Call(Function.TO_TIMESTAMP, (ColumnRef("day"),))
    assert expression_of("day + INTERVAL '1 hour'", "visits") == moved(Function.ADD_SECONDS, midnight, 3600)


def test_times_compare_with_constant_text():
    day = Compare(Comparison.GREATER_EQUAL, ColumnRef("day"), Literal(date(2026, 1, 31)))
    assert condition_of("day >= '2026-01-31'", "visits") == day
    assert condition_of("day IN ('2026-01-31')", "visits").values == (Literal(date(2026, 1, 31)),)


@pytest.mark.parametrize(
    "interval",
    ["'1 month 2 days'", "'1.5 days'", "'1'", "'one day'", "'1 fortnight'", "'9999999999 days'", "'1' YEAR TO MONTH"],
)
def test_an_interval_is_one_whole_number_of_one_unit(interval):
    with pytest.raises(NotPrivateError, match=r"one constant whole number|Leave it out"):
        expression_of(f"placed + INTERVAL {interval}", "orders")


@pytest.mark.parametrize(
    "sql", ["placed - placed", "placed + 1", "placed - DATE '2026-01-31'", "1 - DATE '2026-01-31'"]
)
def test_times_are_not_added_to_times(sql):
    with pytest.raises(NotPrivateError, match="cannot be added or subtracted"):
        expression_of(sql, "orders")


def test_other_parts_and_units_are_refused():
    with pytest.raises(NotPrivateError, match=r"EPOCH.*YEAR"):
        expression_of("EXTRACT(EPOCH FROM placed)", "orders")
    with pytest.raises(NotPrivateError, match=r"(?i)century.*year"):
        expression_of("DATE_TRUNC('century', placed)", "orders")


@pytest.mark.parametrize("sql", ["EXTRACT(HOUR FROM day)", "EXTRACT(YEAR FROM ward)", "ward + INTERVAL '1 day'"])
def test_parts_are_of_times_that_have_them(sql):
    with pytest.raises(ParameterError, match="must be of"):
        expression_of(sql, "visits")


PLACED_AT = datetime(2026, 3, 1, 7, 5, 9)  # noqa: DTZ001 # without a zone


@pytest.mark.parametrize(
    ("pattern", "shown"),
    [
        ("YYYY-MM-DD", "2026-03-01"),
        ("YYYY-MM", "2026-03"),
        ("MM/YYYY", "03/2026"),
        ("YY", "26"),
        ('YYYY"-Q"Q', "2026-Q1"),
        ("Dy, DD Mon YYYY", "Sun, 01 Mar 2026"),
        ("FMDay FMMonth", "Sunday March"),
        ("HH24:MI:SS", "07:05:09"),
        ("DDD D ID IW", "060 1 7 09"),
    ],
)
def test_a_time_is_shown_by_a_pattern(pattern, shown):
    expression = expression_of(f"TO_CHAR(placed, '{pattern}')", "orders")
    assert evaluate(expression, {"placed": PLACED_AT}) == shown
    assert evaluate(expression, {"placed": None}) is None


def test_texts_of_one_part_are_public():
    facts = facts_of(expression_of("TO_CHAR(day, 'Mon')", "visits"), {"day": Facts(kind=Kind.DATE)})
    assert facts.values[:2] == ("Jan", "Feb")
    assert len(facts.values) == 12


@pytest.mark.parametrize("pattern", ["", "Month", "yyyy", "YYYYx", "TZ", "HH12", '"open'])
def test_other_patterns_are_refused(pattern):
    with pytest.raises(NotPrivateError, match=r"pattern is not supported.*YYYY"):
        expression_of(f"TO_CHAR(placed, '{pattern}')", "orders")


@pytest.mark.parametrize("sql", ["TO_CHAR(total, '999')", "TO_CHAR(status, 'YYYY')"])
def test_only_times_are_shown_by_a_pattern(sql):
    with pytest.raises(NotPrivateError, match=r"not supported.*CAST"):
        expression_of(sql, "orders")
