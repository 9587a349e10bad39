from datetime import date
from fractions import Fraction

import pytest
from tests.query.frames import PEOPLE, frame, value

import sfumato as sf
from sfumato.errors import ParameterError
from sfumato.query.handles.columns import coalesce, constant, expression_of, greatest, least, when
from sfumato.query.model.expressions import ColumnRef, Literal
from sfumato.query.model.kinds import Kind

people = frame(PEOPLE)
GROUP = when(people.age < 18, "child").when(people.age < 65, "adult").otherwise("old")


@pytest.mark.parametrize(("age", "group"), [(5, "child"), (18, "adult"), (65, "old"), (None, "old")])
def test_the_first_case_that_is_true_is_taken(age, group):
    assert value(GROUP, age=age) == group


def test_a_choice_of_constants_has_public_values():
    assert GROUP.facts.values == ("child", "adult", "old")


def test_a_case_without_a_value_is_null():
    assert value(when(people.smoker, None).otherwise(people.age), smoker=True, age=3) is None
    assert value(when(people.smoker, people.age).otherwise(), smoker=False, age=3) is None
    assert when(people.smoker, None).otherwise(1).facts.interval.upper == 1


def test_cases_mix_whole_numbers_and_fractions_but_no_other_kinds():
    assert when(people.smoker, people.age).otherwise(people.pay).facts.kind is Kind.FLOAT
    with pytest.raises(ParameterError, match="one kind"):
        when(people.smoker, people.age).otherwise("none")


def test_an_unfinished_choice_can_be_ended_in_several_ways():
    start = when(people.smoker, 1)
    assert value(start.otherwise(2), smoker=False) == 2
    assert value(start.when(people.age > 1, 3).otherwise(2), smoker=False, age=2) == 3


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: when(people.age, 1).otherwise(2), "true or false"),
        (lambda: when(people.smoker, None).otherwise(), "not NULL"),
        (least, "at least one"),
        (lambda: least(people.age, "x"), "one kind"),
        (lambda: expression_of(3), "name of a column"),
        (lambda: constant([1]), "literal"),
    ],
)
def test_what_means_nothing_is_refused(wrong, message):
    with pytest.raises(ParameterError, match=message):
        wrong()


def test_several_values_are_compared_without_null():
    assert value(least(people.age, 3, 7), age=5) == 3
    assert value(greatest(people.age, 3), age=None) == 3
    assert value(greatest(people.age, people.pay), age=3, pay=2.5) == 3.0
    assert value(coalesce(people.age, people.pay, 0), age=None, pay=None) == 0.0


def test_a_name_is_a_column_and_a_constant_is_one_by_its_function():
    assert expression_of("age") == ColumnRef("age")
    assert expression_of(people.age + 1) == (people.age + 1).expression
    assert constant("age").expression == Literal("age")
    assert constant(date(2026, 1, 31)).facts.kind is Kind.DATE


def test_null_alone_is_no_constant():
    with pytest.raises(sf.errors.NotPrivateError, match="IS NULL"):
        constant(None)
    assert constant(0.1).expression == Literal(Fraction(1, 10))
