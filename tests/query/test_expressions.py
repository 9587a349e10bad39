from fractions import Fraction

from sfumato.query.expressions import (
    And,
    ColumnRef,
    Compare,
    Comparison,
    IsIn,
    IsNull,
    IsTrue,
    Literal,
    Not,
    Or,
    columns_of,
    depth,
)

A, B, C, D = map(ColumnRef, "abcd")
ONE = Literal(Fraction(1))


def test_the_columns_of_a_condition_are_those_it_reads():
    condition = And((Or((Compare(Comparison.LESS, A, B), Not(IsNull(C)))), IsIn(A, (ONE,)), IsTrue(D)))
    assert columns_of(condition) == {"a", "b", "c", "d"}
    assert columns_of(And(())) == frozenset()


def test_depth_counts_connectives_and_not_their_width():
    assert depth(IsTrue(A)) == 0
    assert depth(And((IsTrue(A),) * 1_000)) == 1
    assert depth(Not(Or((IsTrue(A), And((IsTrue(A),)))))) == 3


def test_no_depth_is_too_much_to_count():
    condition = IsTrue(A)
    for _ in range(50_000):
        condition = Not(condition)
    assert depth(condition) == 50_000
    while isinstance(condition, Not):  # taken apart from outside, as the stack is too short to do it from inside
        condition = condition.condition
