"""Every function has a signature, and what it says of sums is as sharp as it can be."""

from dataclasses import replace
from datetime import date, datetime
from fractions import Fraction

import pytest
from tests.expressions_of import CALLS, INEXACT

from sfumato.errors import ParameterError
from sfumato.query.analysis.inference import facts_of
from sfumato.query.analysis.signatures import SIGNATURES, check_parameters, literal_integer
from sfumato.query.model.expressions import (
    Call,
    Case,
    ColumnRef,
    Literal,
    Null,
)
from sfumato.query.model.facts import Edition, Facts, of_column
from sfumato.query.model.functions import Function
from sfumato.query.model.intervals import ANYTHING, Interval, place_of
from sfumato.query.model.kinds import Kind
from sfumato.query.model.schema import date as day
from sfumato.query.model.schema import timestamp


def test_every_function_has_a_signature_and_is_drawn():
    drawn = {call[0] for calls in (*CALLS.values(), INEXACT) for call in calls}
    assert set(SIGNATURES) == set(Function)
    assert drawn | {Function.NULL_IF} == set(Function)


def call(function, *arguments):
    return Call(function, tuple(Literal(a) if isinstance(a, Fraction | str | bool | date) else a for a in arguments))


def between(lower, upper):
    return Interval(*(None if end is None else Fraction(end) for end in (lower, upper)))


PRICE = Facts(kind=Kind.FLOAT, interval=between(0, 100), resolution=Fraction(1, 100))
COUNT = Facts(kind=Kind.INTEGER, interval=between(1, 10), nullable=False)
SHOP = {"price": PRICE, "count": COUNT, "any": Facts(kind=Kind.INTEGER), "paid": Facts(kind=Kind.BOOLEAN)}
P, C, ANY, PAID = map(ColumnRef, SHOP)


@pytest.mark.parametrize(
    ("expression", "interval", "resolution"),
    [
        (call(Function.MULTIPLY, P, C), between(0, 1000), Fraction(1, 100)),
        (call(Function.ADD, P, Fraction(1, 2)), between("1/2", "201/2"), Fraction(1, 100)),
        (call(Function.SUBTRACT, Fraction(1), P), between(-99, 1), Fraction(1, 100)),
        (call(Function.DIVIDE, P, C), between(0, 100), None),
        (call(Function.DIVIDE, C, Fraction(3)), between(0, 4), Fraction(1)),
        (call(Function.DIVIDE, P, ANY), ANYTHING, None),
        (call(Function.MODULO, ANY, Fraction(7)), between(-6, 6), Fraction(1)),
        (call(Function.MODULO, C, Fraction(7)), between(0, 6), Fraction(1)),
        (call(Function.MODULO, C, ANY), ANYTHING, Fraction(1)),
        (call(Function.NEGATE, P), between(-100, 0), Fraction(1, 100)),
        (call(Function.ABS, call(Function.SUBTRACT, C, Fraction(4))), between(0, 6), Fraction(1)),
        (call(Function.SIGN, P), between(-1, 1), Fraction(1)),
        (call(Function.FLOOR, call(Function.DIVIDE, P, Fraction(8))), between(0, 13), Fraction(1)),
        (call(Function.ROUND, P, Fraction(1)), between(0, 100), Fraction(1, 10)),
        (call(Function.ROUND, C, Fraction(1)), between(1, 10), Fraction(1)),
        (call(Function.SQRT, P), between(0, 10), None),
        (call(Function.LN, P), between(None, "4828871/1048576"), None),
        (call(Function.LN, ANY), ANYTHING, None),
        (call(Function.LEAST, ANY, Fraction(5)), between(None, 5), Fraction(1)),
        (call(Function.GREATEST, call(Function.LEAST, ANY, Fraction(5)), Fraction(0)), between(0, 5), Fraction(1)),
        (call(Function.LEAST, P, Fraction(5)), between(0, 5), Fraction(1, 100)),
        (call(Function.LEAST, P, ANY), between(None, None), Fraction(1, 100)),
        (call(Function.COALESCE, P, Fraction(-1)), between(-1, 100), Fraction(1, 100)),
        (call(Function.TO_INTEGER, call(Function.DIVIDE, P, Fraction(8))), between(0, 13), Fraction(1)),
        (call(Function.TO_FLOAT, C), between(1, 10), Fraction(1)),
        (call(Function.TO_INTEGER, PAID), between(0, 1), Fraction(1)),
        (call(Function.NULL_IF, P, Fraction(0)), between(0, 100), Fraction(1, 100)),
        (Case(((PAID, P),), Null(Kind.FLOAT)), between(0, 100), Fraction(1, 100)),
        (Case(((PAID, P),), Literal(Fraction(0))), between(0, 100), Fraction(1, 100)),
        (Case(((PAID, C),), Null(Kind.INTEGER)), between(1, 10), Fraction(1)),
    ],
)
def test_sums_of_computed_numbers_need_no_bounds_of_their_own(expression, interval, resolution):
    facts = facts_of(expression, SHOP)
    assert (facts.interval, facts.resolution) == (interval, resolution)


MARCH = {
    "d": of_column(day("2026-02-27", "2026-03-31")),
    "t": of_column(timestamp("2026-03-30 22:00", "2026-03-31 01:00")),
}
D, T = map(ColumnRef, MARCH)


def days(first, last):
    return Interval(*(place_of(date.fromisoformat(end)) for end in (first, last)))


def times(first, last):
    return Interval(*(place_of(datetime.fromisoformat(end)) for end in (first, last)))


@pytest.mark.parametrize(
    ("expression", "interval"),
    [
        (D, days("2026-02-27", "2026-03-31")),
        (call(Function.ADD_DAYS, D, Fraction(2)), days("2026-03-01", "2026-04-02")),
        (call(Function.ADD_MONTHS, D, Fraction(-1)), days("2026-01-27", "2026-02-28")),
        (call(Function.ADD_MONTHS, D, Fraction(12 * 9000)), ANYTHING),
        (call(Function.TRUNCATE, D, "month"), days("2026-02-01", "2026-03-01")),
        (call(Function.TRUNCATE, D, "hour"), days("2026-02-27", "2026-03-31")),
        (call(Function.TO_TIMESTAMP, D), times("2026-02-27 00:00", "2026-03-31 00:00")),
        (call(Function.YEAR, D), between(2026, 2026)),
        (call(Function.MONTH, D), between(1, 12)),
        (call(Function.DAYS_BETWEEN, D, date(2026, 3, 1)), between(-2, 30)),
        (call(Function.DAYS_BETWEEN, D, D), between(-32, 32)),
        (call(Function.GREATEST, D, date(2026, 3, 1)), days("2026-03-01", "2026-03-31")),
        (call(Function.ADD_SECONDS, T, Fraction(3600)), times("2026-03-30 23:00", "2026-03-31 02:00")),
        (call(Function.ADD_DAYS, T, Fraction(1)), times("2026-03-31 22:00", "2026-04-01 01:00")),
        (call(Function.TO_DATE, T), days("2026-03-30", "2026-03-31")),
        (call(Function.TRUNCATE, T, "hour"), times("2026-03-30 22:00", "2026-03-31 01:00")),
        (call(Function.YEAR, call(Function.TO_DATE, "2026-01-31")), between(1, 9999)),
    ],
)
def test_days_and_times_made_of_bounded_ones_are_bounded(expression, interval):
    assert facts_of(expression, MARCH).interval == interval


def test_what_is_moved_out_of_the_years_bounds_nothing_that_is_made_of_it():
    moved = call(Function.ADD_DAYS, D, Fraction(3_000_000))
    for made in (call(Function.TRUNCATE, moved, "month"), call(Function.TO_TIMESTAMP, moved)):
        assert facts_of(made, MARCH).interval == ANYTHING


def test_by_the_first_rules_constant_days_bound_nothing():
    bounded = call(Function.LEAST, call(Function.GREATEST, ColumnRef("any"), date(2026, 1, 1)), date(2026, 12, 31))
    columns = {"any": of_column(day())}
    assert facts_of(bounded, columns).interval == days("2026-01-01", "2026-12-31")
    assert facts_of(bounded, columns, Edition.FIRST).interval == ANYTHING


def test_a_lattice_is_no_finer_than_sums_have_room_for():
    fine = {"x": replace(PRICE, resolution=Fraction(1, 10**7))}
    assert facts_of(call(Function.MULTIPLY, ColumnRef("x"), ColumnRef("x")), fine).resolution is None


X = ColumnRef("x")


def number(value):
    return Literal(Fraction(value))


RIGHT = [
    Call(Function.ROUND, (X, number(15))),
    Call(Function.POWER, (X, number("-0.5"))),
    Call(Function.SUBSTRING, (X, number(1), number(0))),
    Call(Function.LIKE, (X, Literal("a%"))),
    Call(Function.TRUNCATE, (X, Literal("week"))),
    Call(Function.ADD_MONTHS, (X, number(-12))),
    Call(Function.CONCAT, (X, X, X)),
    Call(Function.POSITION, (X, Literal("a"))),
    Call(Function.REPLACE, (X, Literal("a"), Literal(""))),
    Call(Function.COALESCE, (X,)),
]
WRONG = [
    Call(Function.ADD, (X,)),
    Call(Function.ABS, (X, X)),
    Call(Function.COALESCE, ()),
    Call(Function.CONCAT, (X,)),
    Call(Function.POSITION, (X, Literal(""))),
    Call(Function.POSITION, (X, X)),
    Call(Function.REPLACE, (X, Literal(""), Literal("a"))),
    Call(Function.REPLACE, (X, Literal("a"), X)),
    Call(Function.REPLACE, (X, Literal("a"))),
    Call(Function.ROUND, (X, number(16))),
    Call(Function.ROUND, (X, number(-1))),
    Call(Function.ROUND, (X, number("0.5"))),
    Call(Function.ROUND, (X, X)),
    Call(Function.POWER, (X, X)),
    Call(Function.SUBSTRING, (X, number(0), number(1))),
    Call(Function.SUBSTRING, (X, number(1), number(-1))),
    Call(Function.LIKE, (X, X)),
    Call(Function.LIKE, (X, number(1))),
    Call(Function.TRUNCATE, (X, Literal("century"))),
    Call(Function.ADD_MONTHS, (X, X)),
    Call(Function.ADD_MONTHS, (X, number(10**20))),
]


@pytest.mark.parametrize("call", RIGHT, ids=lambda call: call.function.value)
def test_a_call_with_the_right_parameters_is_accepted(call):
    check_parameters(call)


@pytest.mark.parametrize("call", WRONG, ids=lambda call: call.function.value)
def test_a_call_with_other_parameters_is_refused(call):
    with pytest.raises(ParameterError):
        check_parameters(call)


def test_a_parameter_is_a_whole_number_written_out():
    assert literal_integer(number(3), "digits") == 3
    with pytest.raises(ParameterError, match="whole number"):
        literal_integer(X, "digits")
