from decimal import Decimal
from fractions import Fraction

import pytest
from tests.query.asking import PEOPLE

from sfumato.errors import NotPrivateError, ParameterError
from sfumato.query.conditions import compare, family, is_in, is_true, literal
from sfumato.query.expressions import ColumnRef, Comparison, Literal

AGE, SEX, SMOKER = ColumnRef("age"), ColumnRef("Sex"), ColumnRef("smoker")


@pytest.mark.parametrize(
    ("value", "meant"),
    [(1, Fraction(1)), (0.1, Fraction(1, 10)), (Decimal("0.10"), Fraction(1, 10)), (Fraction(1, 3), Fraction(1, 3)),
     ("x", "x"), (True, True), (False, False)],
)  # fmt: skip
def test_constants_are_exact(value, meant):
    assert literal(value) == Literal(meant)
    assert type(literal(value).value) is type(meant)


@pytest.mark.parametrize("value", [[1], {}, object(), b"x", float("nan"), float("inf"), "\ud800"])
def test_what_is_no_constant_is_refused(value):
    with pytest.raises(ParameterError):
        literal(value)


def test_null_is_no_constant():
    with pytest.raises(NotPrivateError, match="IS NULL"):
        literal(None)


def test_each_side_has_a_family():
    assert [family(PEOPLE, side) for side in (AGE, SEX, SMOKER, literal(1), literal("a"), literal(True))] == [
        "number", "text", "boolean", "number", "text", "boolean",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("left", "right"), [(AGE, SEX), (AGE, literal("1")), (SMOKER, literal(1)), (SEX, literal(True))]
)
def test_only_like_is_compared_with_like(left, right):
    for sides in ((left, right), (right, left)):
        with pytest.raises(ParameterError, match="one type"):
            compare(PEOPLE, Comparison.EQUAL, *sides)


def test_lists_and_truths_are_checked_too():
    with pytest.raises(ParameterError, match="at least one"):
        is_in(PEOPLE, AGE, ())
    with pytest.raises(ParameterError, match="one type"):
        is_in(PEOPLE, AGE, (literal(1), literal("1")))
    with pytest.raises(ParameterError, match="true or false"):
        is_true(PEOPLE, AGE)
