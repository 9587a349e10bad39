from datetime import date, datetime
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.expressions_of import COLUMNS, expressions, rows

from sfumato.query.analysis.inference import facts_of
from sfumato.query.analysis.simplify import Origin, document_of, expression_of, simplify, text, text_of
from sfumato.query.analysis.unmixed import unmixed
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
from sfumato.query.values.evaluation import evaluate

FACTS = {name: Facts(kind=kind) for name, kind in COLUMNS.items()}
ANY = st.sampled_from(list(Kind)).flatmap(expressions)
ONE, TWO, V, W, B = Literal(Fraction(1)), Literal(Fraction(2)), ColumnRef("v"), ColumnRef("w"), ColumnRef("b")
TRUE, FALSE = Literal(True), Literal(False)


def less(left, right):
    return Compare(Comparison.LESS, left, right)


def value(expression, row):
    found = evaluate(unmixed(expression, FACTS), row)
    return type(found), repr(found)


@given(ANY, rows())
def test_a_simple_expression_has_the_same_value_on_every_row_to_the_bit(expression, row):
    assert value(simplify(expression), row) == value(expression, row)


@given(ANY)
def test_what_is_simple_stays_as_it_is_and_is_of_the_same_kind(expression):
    simple = simplify(expression)
    assert text_of(simplify(simple)) == text_of(simple)
    assert facts_of(simple, FACTS).kind is facts_of(expression, FACTS).kind


@st.composite
def reworded(draw, expression):
    """Another way to write an expression."""

    def again(inner):
        return draw(reworded(inner))

    match expression:
        case And(conditions) | Or(conditions):
            mixed = tuple(map(again, draw(st.permutations(conditions))))
            neutral = type(expression)(())
            return type(expression)(
                (*mixed, *draw(st.sampled_from([(), mixed, (neutral,), (type(expression)(mixed),)])))
            )
        case Not(And(conditions)):
            return Or(tuple(Not(again(condition)) for condition in conditions))
        case Not(Compare(comparison, left, right)) if comparison is Comparison.LESS:
            return Compare(Comparison.GREATER_EQUAL, again(left), again(right))
        case Not(condition):
            return draw(st.sampled_from([Not(again(condition)), Not(Not(Not(condition)))]))
        case Compare(Comparison.LESS, left, right):
            return draw(st.sampled_from([Compare(Comparison.GREATER, right, left), Not(Not(expression))]))
        case IsIn(tested, values):
            return IsIn(again(tested), (*draw(st.permutations(values)), values[0]))
        case Call(function, arguments) if function in {Function.ADD, Function.MULTIPLY, Function.LEAST}:
            return Call(function, tuple(draw(st.permutations(tuple(map(again, arguments))))))
        case Case(branches, default):
            return Case(tuple((again(condition), again(own)) for condition, own in branches), again(default))
        case _:
            return expression


@given(ANY.flatmap(lambda expression: st.tuples(st.just(expression), reworded(expression))))
def test_other_words_for_the_same_are_the_same(both):
    expression, again = both
    assert text_of(simplify(again)) == text_of(simplify(expression))


@pytest.mark.parametrize(
    ("expression", "simple"),
    [
        (And((And((B,)), And(()))), B),
        (And(()), TRUE),
        (Or(()), FALSE),
        (Or((B, And(()))), TRUE),
        (And((B, Or(()))), FALSE),
        (And((B, TRUE)), B),
        (Not(And((Not(B), B))), Or((B, Not(B)))),
        (Not(Not(B)), B),
        (Not(TRUE), FALSE),
        (Not(IsNull(B)), Not(IsNull(B))),
        (Not(less(V, ONE)), Compare(Comparison.GREATER_EQUAL, V, ONE)),
        (less(ONE, V), Compare(Comparison.GREATER, V, ONE)),
        (less(W, V), Compare(Comparison.GREATER, V, W)),
        (Compare(Comparison.EQUAL, B, And(())), Compare(Comparison.EQUAL, B, TRUE)),
        (IsIn(V, (TWO, ONE, TWO)), IsIn(V, (ONE, TWO))),
        (IsIn(V, (ONE, ONE)), Compare(Comparison.EQUAL, V, ONE)),
        (Not(IsIn(V, (ONE,))), Compare(Comparison.NOT_EQUAL, V, ONE)),
        (less(ONE, TWO), TRUE),
        (Not(Compare(Comparison.EQUAL, ONE, ONE)), FALSE),
        (less(Literal("a"), Literal("b")), TRUE),
        (less(Literal(date(2026, 1, 1)), Literal(date(2026, 1, 1))), FALSE),
        (Call(Function.ADD, (W, V)), Call(Function.ADD, (V, W))),
        (Call(Function.GREATEST, (W, ONE, V)), Call(Function.GREATEST, (V, W, ONE))),
        (Call(Function.SUBTRACT, (W, V)), Call(Function.SUBTRACT, (W, V))),
        (Case(((Not(Not(B)), V),), W), Case(((B, V),), W)),
    ],
)
def test_some_expressions_and_what_becomes_of_them(expression, simple):
    assert text_of(simplify(expression)) == text_of(simple)


def test_sums_of_three_are_not_taken_apart():
    left, right = (Call(Function.ADD, (Call(Function.ADD, pair), other)) for pair, other in (((V, W), B), ((W, B), V)))
    assert text_of(simplify(left)) != text_of(simplify(right))


@pytest.mark.parametrize("comparison", Comparison)
@pytest.mark.parametrize(
    ("left", "right"),
    [
        (1, 2),
        (2, 2),
        ("1/10", Fraction(1, 10) + Fraction(1, 10**30)),
        (2**53, 2**53 + 1),
        (10**150, (10**150 + 1)),
        (10**150, 1),
    ],
)
def test_constants_are_compared_as_engines_would(comparison, left, right):
    asked = Compare(comparison, Literal(Fraction(left)), Literal(Fraction(right)))
    assert evaluate(simplify(asked), {}) is evaluate(asked, {})


def test_constants_of_other_kinds_are_told_apart():
    values = [
        "1",
        Fraction(1),
        True,
        "true",
        date(2026, 1, 1),
        datetime.fromisoformat("2026-01-01"),
        "2026-01-01",
        "1/2",
        Fraction(1, 2),
    ]
    others = [ColumnRef("1"), Null(Kind.TEXT), Null(Kind.INTEGER), IsNull(V), Not(V), ColumnRef('["column","1"]')]
    texts = {text_of(expression) for expression in [*map(Literal, values), *others]}
    assert len(texts) == len(values) + len(others)


def test_conditions_that_are_equal_in_python_but_not_in_kind_are_kept_apart():
    both = Or((Compare(Comparison.EQUAL, V, ONE), Compare(Comparison.EQUAL, V, TRUE)))
    assert len(simplify(both).conditions) == 2


def test_a_column_by_its_origin_is_that_document():
    origin = Origin(text(["left", document_of(V)]))
    assert document_of(origin) == ["left", ["column", "v"]]
    assert document_of(simplify(less(ONE, origin))) == ["compare", ">", ["left", ["column", "v"]], ["number", "1"]]


def test_nested_negations_cost_little():
    condition = less(V, ONE)
    for depth in range(38):
        side = Compare(Comparison.EQUAL, V, Literal(Fraction(depth)))
        condition = Not(And((condition, side))) if depth % 2 else Not(Or((condition, Not(side))))
    assert len(text_of(simplify(condition))) < 10_000


@given(ANY)
def test_an_expression_is_read_as_it_was_written(expression):
    assert expression_of(document_of(expression)) == expression


@pytest.mark.parametrize(
    "document",
    [None, 5, "x", [], ["column"], ["column", 5], ["call", "drop", ["column", "x"]], ["boolean", "yes"],
     ["number", "1/0"], ["date", "2026-02-30"], ["in", ["column", "x"], ["column", "y"]], ["null", "drug"],
     ["compare", "~", ["column", "x"], ["column", "y"]], ["case"], {"column": "x"}],
    ids=repr,
)  # fmt: skip
def test_what_is_no_expression_is_refused(document):
    with pytest.raises((TypeError, ValueError, KeyError, ArithmeticError)):
        expression_of(document)
