from fractions import Fraction

import pytest
from tests.query.frames import PEOPLE, frame

from sfumato.errors import NotPrivateError, ParameterError
from sfumato.query.handles.columns import ColumnHandle
from sfumato.query.model.expressions import Call, ColumnRef, Literal, Not
from sfumato.query.model.functions import Function
from sfumato.query.model.kinds import Kind

people = frame(PEOPLE)


def test_a_handle_stays_itself_and_a_constant_becomes_one():
    assert ColumnHandle.of(people.age).expression == ColumnRef("age")
    assert ColumnHandle.of(3).expression == Literal(Fraction(3))
    assert ColumnHandle.of(3).facts.kind is Kind.INTEGER


@pytest.mark.parametrize(
    ("wrong", "error"), [(None, NotPrivateError), ([1], ParameterError), (object(), ParameterError)]
)
def test_anything_else_is_refused(wrong, error):
    with pytest.raises(error):
        ColumnHandle.of(wrong)


def test_what_is_made_of_handles_is_of_their_expressions_and_facts():
    made = ColumnHandle.call(Function.ADD, people.age, 1)
    assert made.expression == Call(Function.ADD, (ColumnRef("age"), Literal(Fraction(1))))
    assert (made.facts.interval.lower, made.facts.interval.upper) == (1, 101)


def test_kinds_are_checked_when_a_handle_is_made():
    with pytest.raises(ParameterError, match="true or false"):
        ColumnHandle.made(Not, people.age)


def test_a_sum_of_sums_of_sums_costs_no_more_than_its_steps():
    twice = people.age
    for _ in range(2_000):
        twice = twice + twice  # 2^2000 terms, were they counted
    assert twice.facts.kind is Kind.INTEGER


def test_a_handle_has_no_truth():
    with pytest.raises(ParameterError, match="combined with &"):
        bool(people.smoker)


def test_a_handle_is_not_changed():
    with pytest.raises(AttributeError):
        people.age.expression = ColumnRef("pay")
