import math
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.query.asking import PEOPLE, parsed
from tests.strategies import conditions

from sfumato.engines.conditions import holds
from sfumato.query.bounding import enforce_limits
from sfumato.query.canonical import question_hash, question_text, simplify
from sfumato.query.expressions import And, ColumnRef, Compare, Comparison, IsIn, IsTrue, Literal, Not, Or
from sfumato.query.relations import Part, Source

NUMBER_CELLS = st.none() | st.sampled_from([0, 1, -1, 2, 3, 39, 2**53, 2**53 + 1, 0.5, 2.5, 1e300, math.inf, -math.inf])
ROWS = st.fixed_dictionaries(
    {
        "u": st.sampled_from(["a", None]),
        "k": st.sampled_from(["x", "y", "é", "", None]),
        "j": NUMBER_CELLS,
        "i": NUMBER_CELLS,
        "f": NUMBER_CELLS,
        "b": st.sampled_from([True, False, None]),
    }
)
ONE, TWO, V, B = Literal(Fraction(1)), Literal(Fraction(2)), ColumnRef("v"), IsTrue(ColumnRef("b"))


@given(conditions(), ROWS)
@settings(max_examples=2_000, deadline=None)
def test_simplifying_keeps_the_truth_of_every_row_null_too(condition, row):
    assert holds(simplify(condition), row) is holds(condition, row)


@given(conditions())
@settings(max_examples=500, deadline=None)
def test_what_is_simple_stays_as_it_is(condition):
    assert simplify(simplify(condition)) == simplify(condition)


@pytest.mark.parametrize(
    ("condition", "simple"),
    [
        (And((And((B,)), And(()))), B),
        (Or((B, And(()))), And(())),
        (And((B, Or(()))), Or(())),
        (Not(And((Not(B), B))), Or((B, Not(B)))),
        (Not(Compare(Comparison.LESS, V, ONE)), Compare(Comparison.GREATER_EQUAL, V, ONE)),
        (Compare(Comparison.LESS, ONE, V), Compare(Comparison.GREATER, V, ONE)),
        (IsIn(V, (TWO, ONE, TWO)), IsIn(V, (ONE, TWO))),
        (IsIn(V, (ONE, ONE)), Compare(Comparison.EQUAL, V, ONE)),
        (Not(IsIn(V, (ONE,))), Compare(Comparison.NOT_EQUAL, V, ONE)),
        (Compare(Comparison.LESS, ONE, TWO), And(())),
        (Not(Compare(Comparison.EQUAL, ONE, ONE)), Or(())),
    ],
)
def test_some_conditions_and_what_becomes_of_them(condition, simple):
    assert simplify(condition) == simple


@pytest.mark.parametrize("comparison", Comparison)
@pytest.mark.parametrize(("left", "right"), [(ONE, TWO), (TWO, TWO), (Literal("b"), Literal("a"))])
def test_constants_are_compared_when_the_question_is_read(comparison, left, right):
    simple = simplify(Compare(comparison, left, right))
    assert holds(simple, {}) is holds(Compare(comparison, left, right), {})


def test_the_text_the_number_and_the_truth_of_one_are_three_things():
    conditions_of = [Compare(Comparison.EQUAL, V, Literal(value)) for value in ("1", Fraction(1), True, "true")]
    bases = [
        replace(parsed("SELECT COUNT(*) FROM people WHERE smoker").child.child, condition=c) for c in conditions_of
    ]
    question = parsed("SELECT COUNT(*) FROM people")
    hashes = {question_hash(replace(question, child=replace(question.child, child=base))) for base in bases}
    assert len(hashes) == len(conditions_of)


def test_the_part_the_limits_and_the_order_of_statistics_tell_questions_apart():
    def part(value, salt):
        return Part(child=Source(PEOPLE), by="Sex", values=("m", "f"), value=value, max_parts_per_unit=1, salt=salt)

    question = parsed("SELECT COUNT(*), SUM(age) FROM people")
    of_rows = [Source(PEOPLE), part("m", "00"), part("f", "00"), part("m", "11")]
    asked = [replace(question, child=replace(question.child, child=rows)) for rows in of_rows]
    asked.append(parsed("SELECT SUM(age), COUNT(*) FROM people"))
    assert len({question_hash(q) for q in asked}) == len(asked)


def test_the_canonical_text_is_one_line_and_names_the_unit():
    text = question_text(enforce_limits(parsed("SELECT COUNT(*) FROM people WHERE age > 3")))
    assert "\n" not in text
    assert '"unit":"each row"' in text
