from fractions import Fraction

import pytest
from tests.query.asking import condition_of, expression_of

from sfumato.errors import NotPrivateError, ParameterError
from sfumato.query.model.expressions import (
    FALSE,
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
)
from sfumato.query.model.functions import Function
from sfumato.query.model.kinds import Kind

AGE, PAY, SEX, SMOKER = map(ColumnRef, ("age", "pay", "Sex", "smoker"))


def one(value):
    return Literal(Fraction(value))


def equal(left, right):
    return Compare(Comparison.EQUAL, left, right)


@pytest.mark.parametrize(
    ("sql", "meaning"),
    [
        ("age = 1", equal(AGE, one(1))),
        ("age <> 1", Compare(Comparison.NOT_EQUAL, AGE, one(1))),
        ("age != 1", Compare(Comparison.NOT_EQUAL, AGE, one(1))),
        ("age < 1.0", Compare(Comparison.LESS, AGE, one(1))),
        ("pay >= age", Compare(Comparison.GREATER_EQUAL, PAY, AGE)),
        ("smoker = TRUE", equal(SMOKER, Literal(True))),  # a value
        ("smoker AND age = 1 AND pay = 2", And((SMOKER, equal(AGE, one(1)), equal(PAY, one(2))))),
        ("smoker OR NOT smoker", Or((SMOKER, Not(SMOKER)))),
        ("smoker OR TRUE", Or((SMOKER, TRUE))),
        ("age IN (1, 2.0)", IsIn(AGE, (one(1), one(2)))),
        ("age NOT IN (1)", Not(IsIn(AGE, (one(1),)))),
        ("age IS NULL", IsNull(AGE)),
        ("age IS NOT NULL", Not(IsNull(AGE))),
        ("smoker IS UNKNOWN", IsNull(SMOKER)),
        ("smoker IS TRUE", And((Not(IsNull(SMOKER)), SMOKER))),
        ("smoker IS NOT TRUE", Not(And((Not(IsNull(SMOKER)), SMOKER)))),
        ("smoker IS FALSE", And((Not(IsNull(SMOKER)), Not(SMOKER)))),
        ("age IS NOT DISTINCT FROM NULL", IsNull(AGE)),
        ("NULL IS DISTINCT FROM age", Not(IsNull(AGE))),
        ("1 = 1", TRUE),
        ("'a' > 'b'", FALSE),
        ("1 = 1.0000000000000000001", FALSE),
    ],
)
def test_conditions_mean_what_they_say(sql, meaning):
    assert expression_of(sql) == meaning


def test_between_is_two_comparisons():
    low, high = Compare(Comparison.GREATER_EQUAL, AGE, one(1)), Compare(Comparison.LESS_EQUAL, AGE, PAY)
    assert expression_of("age BETWEEN 1 AND pay") == And((low, high))
    assert expression_of("age NOT BETWEEN 1 AND pay") == Not(And((low, high)))


def test_values_that_are_not_distinct_are_equal_or_both_null():
    both_null, neither = And((IsNull(AGE), IsNull(PAY))), (Not(IsNull(AGE)), Not(IsNull(PAY)))
    same = Or((both_null, And((*neither, equal(AGE, PAY)))))
    assert expression_of("age IS NOT DISTINCT FROM pay") == same
    assert expression_of("age IS DISTINCT FROM pay") == Not(same)


def test_case_has_two_forms():
    assert expression_of("CASE WHEN smoker THEN age ELSE 0 END") == Case(((SMOKER, AGE),), one(0))
    branches = ((equal(SEX, Literal("m")), AGE), (equal(SEX, Literal("f")), Null(Kind.INTEGER)))
    assert expression_of("CASE sex WHEN 'm' THEN age WHEN 'f' THEN NULL END") == Case(branches, Null(Kind.INTEGER))


def test_null_has_functions_of_its_own():
    assert expression_of("COALESCE(age, NULL, 0)") == Call(Function.COALESCE, (AGE, Null(Kind.INTEGER), one(0)))
    assert expression_of("NULLIF(age, 0)") == Call(Function.NULL_IF, (AGE, one(0)))


@pytest.mark.parametrize("sql", ["age = NULL", "NULL < age", "age BETWEEN NULL AND 1", "age IN (NULL)", "(NULL) = 1"])
def test_nothing_compares_with_null(sql):
    with pytest.raises(NotPrivateError, match="IS NULL"):
        condition_of(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "age = 'x'",
        "smoker < 1",
        "1 = 'a'",
        "CASE WHEN smoker THEN 1 ELSE 'x' END = 1",
        "COALESCE(age, 'x') = 1",
        "NULLIF(sex, 1) = 'x'",
        "age IN ('x')",
        "day = 'tomorrow'",
    ],
)
def test_values_of_different_kinds_do_not_meet(sql):
    with pytest.raises(ParameterError, match=r"kind|must be a date|column"):
        condition_of(sql)


@pytest.mark.parametrize(
    "sql", ["smoker AND age", "NOT sex", "age OR smoker", "age IS TRUE", "(CASE WHEN 1 THEN 2 END) = 1"]
)
def test_what_is_connected_is_true_or_false(sql):
    with pytest.raises(ParameterError, match="true or false"):
        condition_of(sql)


@pytest.mark.parametrize("sql", ["0 < age < 9", "smoker = smoker = TRUE", "age = (pay) < 9"])
def test_comparisons_are_not_chained(sql):
    with pytest.raises(NotPrivateError, match="chained"):
        condition_of(sql)
    condition_of("(age < 9) = smoker")
