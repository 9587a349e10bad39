"""Choices among whole numbers and floats are floats, whichever of them a row has."""

from fractions import Fraction

import pytest
from hypothesis import given
from tests.expressions_of import COLUMNS, expressions

from sfumato.query.analysis.inference import facts_of
from sfumato.query.analysis.unmixed import unmixed, unmixed_cell, unmixed_measure
from sfumato.query.model.expressions import (
    And,
    Call,
    Case,
    ColumnRef,
    Compare,
    Comparison,
    IsIn,
    IsNull,
    Literal,
    Not,
    Null,
    Or,
)
from sfumato.query.model.facts import Facts
from sfumato.query.model.functions import Function
from sfumato.query.model.kinds import Kind
from sfumato.query.model.statement import Bins, LatticeValue, RowCount, StepProduct, StepSum, ValueCount, Values
from sfumato.query.values.evaluation import evaluate

FACTS = {name: Facts(kind=kind) for name, kind in COLUMNS.items()}
N, X, T = ColumnRef("integer 1"), ColumnRef("float 1"), ColumnRef("text 1")
NOTHING = Null(Kind.INTEGER)
ONE, TWO = Literal(Fraction(1)), Literal(Fraction(2))
ROW = {"integer 1": 1, "float 1": None, "text 1": None}
MIXED = [
    Call(Function.COALESCE, (X, N)),
    Call(Function.LEAST, (N, X)),
    Call(Function.GREATEST, (X, N)),
    Case(((IsNull(X), N),), X),
    Case(((IsNull(N), X),), ONE),
]


@pytest.mark.parametrize("choice", MIXED)
def test_a_whole_number_among_floats_is_a_float_also_if_the_floats_are_null(choice):
    half = unmixed(Call(Function.DIVIDE, (choice, TWO)), FACTS)
    assert evaluate(half, ROW) == 0.5
    assert isinstance(evaluate(unmixed(choice, FACTS), ROW), float)


def test_what_is_mixed_in_a_condition_is_found_too():
    """Half of 1 is more than 0, but among whole numbers it is 0."""
    more = Compare(Comparison.GREATER, Call(Function.DIVIDE, (MIXED[0], TWO)), Literal(Fraction(0)))
    ways = [
        more,
        Not(Not(more)),
        And((more,)),
        Or((more,)),
        IsIn(more, (Literal(True),)),
        Not(IsNull(Case(((more, N),), NOTHING))),
    ]
    for condition in (*ways, Case(((more, Literal(True)),), Literal(False))):
        assert evaluate(unmixed(condition, FACTS), ROW) is True


@pytest.mark.parametrize(
    "choice",
    [
        Call(Function.COALESCE, (N, ONE)),
        Case(((IsNull(X), N),), ONE),
        Compare(Comparison.LESS, N, X),
        Call(Function.NULL_IF, (N, X)),
        Call(Function.ADD, (N, X)),
        Call(Function.COALESCE, (T, T)),
    ],
)
def test_what_is_not_mixed_stays_as_it_is(choice):
    assert unmixed(choice, FACTS) == choice


@given(expressions(Kind.FLOAT))
def test_facts_stay_those_of_the_expression_and_nothing_is_left_to_do(expression):
    plain = unmixed(expression, FACTS)
    assert facts_of(plain, FACTS).kind is Kind.FLOAT
    assert unmixed(plain, FACTS) == plain


def test_measures_and_cells_are_over_plain_expressions():
    mixed, plain = MIXED[0], unmixed(MIXED[0], FACTS)

    def steps(value):
        return LatticeValue(value=value, resolution=Fraction(1), lower=0, upper=9, offset=0, nullable=True)

    for make in (
        lambda value: StepSum(steps(value)),
        lambda value: StepProduct(steps(value), steps(value)),
        lambda value: ValueCount((N, value)),
        lambda _: RowCount(),
    ):
        assert unmixed_measure(make(mixed), FACTS) == make(plain)
    assert unmixed_cell(Bins(steps=steps(mixed), width=2), FACTS) == Bins(steps=steps(plain), width=2)
    assert unmixed_cell(Values(value=mixed, values=None), FACTS) == Values(value=plain, values=None)
