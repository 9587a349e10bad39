import math
from fractions import Fraction
from itertools import product

import pytest

from sfumato.engines.conditions import holds, number
from sfumato.query.expressions import And, ColumnRef, Compare, Comparison, IsIn, IsNull, IsTrue, Literal, Not, Or

A, B, V = IsTrue(ColumnRef("a")), IsTrue(ColumnRef("b")), ColumnRef("v")
TRUTHS = (True, False, None)
AND = {(True, True): True, (True, None): None, (None, True): None, (None, None): None}
OR = {(False, False): False, (False, None): None, (None, False): None, (None, None): None}


@pytest.mark.parametrize(("a", "b"), list(product(TRUTHS, TRUTHS)))
def test_the_tables_of_truth_are_those_of_sql(a, b):
    row = {"a": a, "b": b}
    assert holds(And((A, B)), row) is AND.get((a, b), False)
    assert holds(Or((A, B)), row) is OR.get((a, b), True)


@pytest.mark.parametrize(("a", "opposite"), [(True, False), (False, True), (None, None)])
def test_not_turns_truth_around_and_leaves_null(a, opposite):
    assert holds(Not(A), {"a": a}) is opposite


def test_of_nothing_and_is_true_and_or_is_false():
    assert (holds(And(()), {}), holds(Or(()), {})) == (True, False)


@pytest.mark.parametrize("comparison", Comparison)
def test_a_comparison_with_null_is_null(comparison):
    for sides in ((V, Literal(Fraction(1))), (Literal(Fraction(1)), V), (V, V)):
        assert holds(Compare(comparison, *sides), {"v": None}) is None


def test_in_is_null_only_for_null_and_is_null_never():
    one = IsIn(V, (Literal(Fraction(1)), Literal(Fraction(2))))
    assert [holds(one, {"v": value}) for value in (2, 3, None)] == [True, False, None]
    assert [holds(IsNull(V), {"v": value}) for value in (2, None)] == [False, True]


@pytest.mark.parametrize(
    ("constant", "figure"),
    [
        (Fraction(3), 3),
        (Fraction(1, 2), 0.5),
        (Fraction(2**63 - 1), 2**63 - 1),
        (Fraction(2**63), 2.0**63),
        (Fraction(10**400), math.inf),
        (Fraction(-(10**400)), -math.inf),
        (Fraction(1, 10**400), 0.0),
    ],
)
def test_a_constant_is_a_machine_number(constant, figure):
    assert number(constant) == figure
    assert type(number(constant)) is type(figure)
