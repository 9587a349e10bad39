from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction

import pytest
from sqlglot import exp
from tests.query.asking import expression_of

from sfumato.errors import NotPrivateError, ParameterError
from sfumato.query.model.expressions import Call, ColumnRef, Literal
from sfumato.query.model.functions import Function
from sfumato.query.model.kinds import Kind
from sfumato.query.sql.expressions.constants import (
    Parameters,
    bare,
    constant,
    midnight,
    negated,
    number,
    time_constant,
    whole,
)

TWO = Literal(Fraction(2))
TWO_POINT_ZERO = Call(Function.TO_FLOAT, (TWO,))


@pytest.mark.parametrize(
    ("text", "value"),
    [("2", TWO), ("0.1", Literal(Fraction(1, 10))), ("2.0", TWO_POINT_ZERO), ("2e0", TWO_POINT_ZERO)],
)
def test_a_number_is_taken_at_its_word_and_one_with_a_point_is_a_float(text, value):
    assert number(text) == value


def test_a_whole_number_with_a_point_can_stand_where_a_constant_must():
    assert bare(TWO_POINT_ZERO) == TWO
    assert bare(ColumnRef("a")) == ColumnRef("a")


def test_the_opposite_of_a_constant_is_a_constant():
    assert negated(TWO) == Literal(Fraction(-2))
    assert bare(negated(TWO_POINT_ZERO)) == Literal(Fraction(-2))
    assert negated(ColumnRef("a")) == Call(Function.NEGATE, (ColumnRef("a"),))


def test_what_is_no_constant_is_refused_where_one_must_stand():
    node = exp.column("a")
    assert constant(TWO, node) == TWO
    with pytest.raises(NotPrivateError, match="a: only a constant"):
        constant(ColumnRef("a"), node)


@pytest.mark.parametrize("value", [Fraction(5), Fraction(-1), Fraction(1, 2), "2"])
def test_a_whole_number_lies_in_its_range(value):
    assert whole(TWO, exp.null(), lower=0, upper=4, name="digits") == 2
    with pytest.raises(ParameterError, match="from 0 to 4"):
        whole(Literal(value), exp.null(), lower=0, upper=4, name="digits")


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("2026-01-31", Kind.DATE, date(2026, 1, 31)),
        ("2026-01-31", Kind.TIMESTAMP, datetime(2026, 1, 31)),  # noqa: DTZ001 # timestamps are without a zone
        ("2026-01-31 12:30", Kind.TIMESTAMP, datetime(2026, 1, 31, 12, 30)),  # noqa: DTZ001 # the same
        ("2026-01-31T12:30:01.5", Kind.TIMESTAMP, datetime(2026, 1, 31, 12, 30, 1, 500_000)),  # noqa: DTZ001 # the same
    ],
)
def test_a_time_is_read_as_iso_8601_writes_it(text, kind, value):
    assert time_constant(text, kind).value == value


@pytest.mark.parametrize(
    "text", ["2026-02-30", "20260131", "2026-1-31", "0000-01-01", "2026-01-31 12:00Z", "today", ""]
)
@pytest.mark.parametrize("kind", [Kind.DATE, Kind.TIMESTAMP])
def test_what_is_no_time_is_refused(text, kind):
    with pytest.raises(ParameterError, match=f"must be a {kind} such as"):
        time_constant(text, kind)


def test_a_day_begins_at_midnight():
    assert midnight(date(2026, 1, 31)).value == datetime(2026, 1, 31)  # noqa: DTZ001 # timestamps are without a zone


@pytest.mark.parametrize(
    ("value", "expression"),
    [
        (3, Literal(Fraction(3))),
        (0.1, Literal(Fraction(1, 10))),
        (2.0, TWO_POINT_ZERO),
        (Decimal("2.0"), TWO_POINT_ZERO),
        ("x", Literal("x")),
        (True, Literal(True)),  # a value
        (date(2026, 1, 31), Literal(date(2026, 1, 31))),
    ],
)
def test_parameters_are_constants_of_their_type(value, expression):
    assert expression_of("$1", parameters=[value]) == expression
    assert expression_of(":value", parameters={"value": value}) == expression


@pytest.mark.parametrize(
    ("sql", "values"),
    [("$2", [1]), ("$1", []), (":a", {"b": 1}), ("$1", {"a": 1}), (":a", [1]), ("?", [1]), ("@a", [1]), ("$1", {1: 1})],
)
def test_a_parameter_without_a_value_is_refused(sql, values):
    with pytest.raises(ParameterError, match="parameters"):
        expression_of(sql, parameters=values)


def test_null_is_no_value_of_a_parameter():
    with pytest.raises(NotPrivateError, match="IS NULL"):
        expression_of("$1", parameters=[None])


def test_the_values_of_parameters_are_listed_or_named():
    with pytest.raises(ParameterError, match="sequence"):
        Parameters("ab")
    Parameters([]).check_used()
    with pytest.raises(ParameterError, match=r"\$1, \$2"):
        Parameters([1, 2]).check_used()
