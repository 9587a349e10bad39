from datetime import date
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.expressions_of import COLUMNS, expressions, rows

from sfumato.errors import ParameterError
from sfumato.query.analysis.unmixed import unmixed
from sfumato.query.model.expressions import (
    FALSE,
    OPERATORS,
    TRUE,
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
    children,
    columns_of,
    depth,
    replaced,
)
from sfumato.query.model.facts import Facts
from sfumato.query.model.functions import Function
from sfumato.query.model.kinds import Kind
from sfumato.query.values.evaluation import evaluate

A, B, C, D = map(ColumnRef, "abcd")
ONE = Literal(Fraction(1))
LESS = Compare(Comparison.LESS, A, B)
FACTS = {name: Facts(kind=kind) for name, kind in COLUMNS.items()}


def test_a_truth_is_another_constant_than_the_number_that_python_takes_it_for():
    true, false = Literal(value=True), Literal(value=False)
    texts = [Call(Function.TO_TEXT, (literal,)) for literal in (ONE, true)]
    assert (ONE, true) == (Literal(Fraction(2, 2)), Literal(value=True))
    assert true != ONE
    assert Literal(Fraction(0)) != false
    assert len({ONE, true, *texts}) == 4
    assert [evaluate(text, {}) for text in texts] == ["1", "true"]
    assert Fraction(1) != ONE


@pytest.mark.parametrize(
    ("expression", "made_of"),
    [
        (A, ()),
        (ONE, ()),
        (Null(Kind.TEXT), ()),
        (Call(Function.ADD, (A, ONE)), (A, ONE)),
        (Case(((LESS, A), (C, B)), D), (LESS, A, C, B, D)),
        (LESS, (A, B)),
        (IsIn(A, (ONE,)), (A, ONE)),
        (IsNull(A), (A,)),
        (Not(C), (C,)),
        (And((C, D)), (C, D)),
        (Or((C, D)), (C, D)),
    ],
)
def test_an_expression_is_made_of_its_children(expression, made_of):
    assert children(expression) == made_of


def test_the_columns_of_an_expression_are_those_it_reads():
    condition = And((Or((LESS, Not(IsNull(C)))), IsIn(A, (ONE,)), Case(((D, ONE),), ONE)))
    assert columns_of(condition) == {"a", "b", "c", "d"}
    assert columns_of(TRUE) == columns_of(FALSE) == frozenset()


def test_depth_counts_what_is_nested_and_not_how_wide_it_is():
    assert depth(A) == 0
    assert depth(And((C,) * 1_000)) == 1
    assert depth(Not(Or((C, And((LESS,)))))) == 4


def test_no_depth_is_too_much_to_count():
    condition = A
    for _ in range(50_000):
        condition = Not(condition)
    assert depth(condition) == 50_000
    while isinstance(condition, Not):  # taken apart from outside, as the stack is too short to do it from inside
        condition = condition.condition


@given(st.sampled_from(list(Kind)).flatmap(expressions), rows())
def test_columns_are_replaced_wherever_they_stand(expression, row):
    renamed = {name: ColumnRef(f"new {name}") for name in COLUMNS}
    facts = {f"new {name}": own for name, own in FACTS.items()}
    moved = replaced(expression, renamed)
    assert columns_of(moved) == {f"new {name}" for name in columns_of(expression)}
    new_row = {f"new {name}": cell for name, cell in row.items()}
    assert repr(evaluate(unmixed(moved, facts), new_row)) == repr(evaluate(unmixed(expression, FACTS), row))


def test_a_list_of_nothing_is_refused_as_engines_do_not_agree_on_what_is_in_it():
    with pytest.raises(ParameterError, match="at least one constant"):
        IsIn(A, ())


def test_other_columns_stay():
    assert replaced(Call(Function.ADD, (A, B)), {"a": ONE}) == Call(Function.ADD, (ONE, B))


@pytest.mark.parametrize("comparison", Comparison)
def test_each_comparison_has_its_operator(comparison):
    low, high = date(2026, 1, 1), date(2026, 1, 2)
    meant = {"=": low == high, "<>": low != high, "<": True, "<=": True, ">": low > high, ">=": low >= high}
    assert OPERATORS[comparison](low, high) is meant[comparison]
    assert OPERATORS[comparison](low, low) is (comparison in {"=", "<=", ">="})
