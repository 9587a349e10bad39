from datetime import date, datetime
from fractions import Fraction

import pytest
from tests.query.frames import PEOPLE, frame, value

from sfumato.errors import NotPrivateError, ParameterError
from sfumato.query.handles.columns import ColumnExpression
from sfumato.query.model.expressions import And, Call, ColumnRef, Compare, Comparison, Literal, Not
from sfumato.query.model.functions import Function
from sfumato.query.model.kinds import Kind

people = frame(PEOPLE)
NOON = datetime.fromisoformat("2026-01-31T12:00")
MIDNIGHT = datetime.fromisoformat("2026-01-31T00:00")
DAY = date(2026, 1, 31)

ARITHMETIC = [
    (people.age + 2, {"age": 5}, 7),
    (2 + people.age, {"age": 5}, 7),
    (people.age - 2, {"age": 5}, 3),
    (2 - people.age, {"age": 5}, -3),
    (people.age * 2, {"age": 5}, 10),
    (2 * people.age, {"age": 5}, 10),
    (people.age / 2, {"age": 5}, 2.5),
    (2 / people.age, {"age": 4}, 0.5),
    (people.age / people.pay, {"age": 5, "pay": 2.0}, 2.5),
    (people.age / 0, {"age": 5}, None),
    (people.age // 2, {"age": -5}, -2),
    (11 // people.age, {"age": 5}, 2),
    (people.pay // 2, {"pay": -5.0}, -2.0),
    (people.age % 3, {"age": -5}, -2),
    (13 % people.age, {"age": 5}, 3),
    (people.age**2, {"age": 5}, 25.0),
    (-people.age, {"age": 5}, -5),
    (abs(people.age), {"age": -5}, 5),
    (people.age + people.pay, {"age": 5, "pay": 0.5}, 5.5),
    (people.age + 1, {"age": None}, None),
    (people.sex + "!", {"sex": "m"}, "m!"),
    ("!" + people.sex, {"sex": "m"}, "!m"),
    (people.born - date(2026, 1, 1), {"born": DAY}, 30),
    (DAY - people.born, {"born": date(2026, 1, 1)}, 30),
    (people.age.fill_null(7), {"age": None}, 7),
    (people.age.null_if(7), {"age": 7}, None),
    (people.age.null_if(7), {"age": 8}, 8),
    (people.age.cast("text") + "x", {"age": 8}, "8x"),
    (people.pay.cast("integer"), {"pay": 2.5}, 3),
    (people.sex.cast("float"), {"sex": "2.5"}, 2.5),
    (people.age.cast("boolean"), {"age": 1}, True),
    (people.seen.cast("date"), {"seen": NOON}, DAY),
    (people.born.cast("timestamp"), {"born": DAY}, MIDNIGHT),
]
CONDITIONS = [
    (people.age == 5, {"age": 5}, True),
    (people.age != 5, {"age": 5}, False),
    (people.age < 5, {"age": 5}, False),
    (people.age <= 5, {"age": 5}, True),
    (people.age > 4.5, {"age": 5}, True),
    (5 > people.age, {"age": 5}, False),  # noqa: SIM300 # the constant on the left
    (people.age >= people.pay, {"age": 5, "pay": 5.0}, True),
    (people.age == 5, {"age": None}, None),
    (people.smoker & (people.age > 4), {"age": 5, "smoker": True}, True),
    (people.smoker | (people.age > 4), {"age": 5, "smoker": None}, True),
    (people.smoker & True, {"smoker": None}, None),
    (True | people.smoker, {"smoker": None}, True),
    (True & people.smoker, {"smoker": None}, None),
    (~people.smoker, {"smoker": False}, True),
    (people.smoker == False, {"smoker": False}, True),  # noqa: E712 # what an analyst may write
    (people.age.between(1, 5), {"age": 5}, True),
    (people.age.between(people.pay, 5), {"age": 1, "pay": 2.0}, False),
    (people.age.is_in([1, 5]), {"age": 5}, True),
    (people.sex.is_in({"f"}), {"sex": "m"}, False),
    (people.age.is_null(), {"age": None}, True),
    (people.born >= DAY, {"born": DAY}, True),
    (people.seen >= NOON, {"seen": NOON}, True),
    (people.seen >= DAY, {"seen": MIDNIGHT}, True),
    (people.seen.between(DAY, NOON), {"seen": NOON}, True),
    (people.seen.is_in([DAY]), {"seen": NOON}, False),
]


@pytest.mark.parametrize(("handle", "cells", "result"), ARITHMETIC + CONDITIONS)
def test_a_handle_has_the_value_of_its_operators(handle, cells, result):
    found = value(handle, **cells)
    assert (found, type(found)) == (result, type(result))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: people.age > "x", "integer > text"),
        (lambda: people.sex == 1, "text = integer"),
        (lambda: people.smoker == 1, "boolean = integer"),
        (lambda: people.born == NOON, "date = timestamp"),
        (lambda: people.age == [1], "literal = 'list'"),
        (lambda: people.sex == "\ud800", "Unicode"),
        (lambda: people.age.is_in([]), "at least one"),
        (lambda: people.age.is_in([1, "x"]), "constants of the kind"),
        (lambda: people.age.is_in([float("nan")]), "finite"),
        (lambda: people.sex * 2, "multiply.*must be of float or integer"),
        (lambda: people.sex + 2, "concat"),
        (lambda: people.pay % 2, "modulo"),
        (lambda: people.age & people.smoker, "true or false"),
        (lambda: ~people.age, "true or false"),
        (lambda: people.age.cast("money"), "must be one of: integer"),
        (lambda: people.age.cast("date"), "to_date"),
        (lambda: people.age.fill_null("none"), "one kind"),
        (lambda: people.age ** float("inf"), "exponent"),
        (lambda: people.age > 5 and people.age < 9, "combined with &"),
        (lambda: 1 < people.age < 9, "combined with &"),
        (lambda: people.age in [people.pay, 1], "combined with &"),
        (lambda: people.age > 5 & people.pay < 9, "parentheses"),
        (lambda: people.smoker & people.age, "parentheses"),
        (lambda: people.sex.is_in("fm"), "several constants"),
        (lambda: people.age.is_in(5), "several constants"),
    ],
)
def test_a_wrong_step_is_refused_at_once_with_what_to_write(wrong, message):
    with pytest.raises(ParameterError, match=message):
        wrong()


def test_a_null_is_compared_by_its_own_method():
    for wrong in (lambda: people.age == None, lambda: people.age.is_in([None])):  # noqa: E711 # what one may write
        with pytest.raises(NotPrivateError, match="is_null"):
            wrong()


def test_comparisons_are_as_they_are_written():
    assert (people.age >= 3).expression == Compare(Comparison.GREATER_EQUAL, ColumnRef("age"), Literal(Fraction(3)))
    mirrored = 3 >= people.age  # noqa: SIM300 # the constant on the left
    assert mirrored.expression == Compare(Comparison.LESS_EQUAL, ColumnRef("age"), Literal(Fraction(3)))


def test_a_chain_of_one_connective_is_wide_and_not_deep():
    both = (people.age > 1) & (people.age > 2) & ((people.age > 3) & (people.age > 4))
    assert isinstance(both.expression, And)
    assert len(both.expression.conditions) == 4
    assert len((both | people.smoker | people.smoker).expression.conditions) == 3


def test_division_of_whole_numbers_is_a_fraction_unless_it_is_to_be_whole():
    assert (people.age / 2).facts.kind is Kind.FLOAT
    assert (people.age // 2).facts.kind is Kind.INTEGER


def test_a_column_is_no_key_of_a_dictionary():
    with pytest.raises(TypeError):
        hash(people.age)


rows = frame(PEOPLE)


def test_a_handle_stays_itself_and_a_constant_becomes_one():
    assert ColumnExpression.of(rows.age).expression == ColumnRef("age")
    assert ColumnExpression.of(3).expression == Literal(Fraction(3))
    assert ColumnExpression.of(3).facts.kind is Kind.INTEGER


@pytest.mark.parametrize(
    ("wrong", "error"), [(None, NotPrivateError), ([1], ParameterError), (object(), ParameterError)]
)
def test_anything_else_is_refused(wrong, error):
    with pytest.raises(error):
        ColumnExpression.of(wrong)


def test_what_is_made_of_handles_is_of_their_expressions_and_facts():
    made = ColumnExpression.call(Function.ADD, rows.age, 1)
    assert made.expression == Call(Function.ADD, (ColumnRef("age"), Literal(Fraction(1))))
    assert (made.facts.interval.lower, made.facts.interval.upper) == (1, 101)


def test_kinds_are_checked_when_a_handle_is_made():
    with pytest.raises(ParameterError, match="true or false"):
        ColumnExpression.made(Not, rows.age)


def test_a_sum_of_sums_of_sums_costs_no_more_than_its_steps():
    twice = rows.age
    for _ in range(2_000):
        twice = twice + twice  # 2^2000 terms, were they counted
    assert twice.facts.kind is Kind.INTEGER


def test_a_handle_has_no_truth():
    with pytest.raises(ParameterError, match="combined with &"):
        bool(rows.smoker)


def test_a_handle_is_not_changed():
    with pytest.raises(AttributeError):
        rows.age.expression = ColumnRef("pay")
