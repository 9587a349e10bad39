from fractions import Fraction

import pytest
from tests.query.asking import expression_of

from sfumato.errors import NotPrivateError, ParameterError
from sfumato.query.model.expressions import Call, ColumnRef, Literal
from sfumato.query.model.functions import Function

AGE, PAY = ColumnRef("age"), ColumnRef("pay")


def one(value):
    return Literal(Fraction(value))


@pytest.mark.parametrize(
    ("sql", "meaning"),
    [
        ("2", one(2)),
        ("-2", one(-2)),
        ("'x'", Literal("x")),
        ("age * pay", Call(Function.MULTIPLY, (AGE, PAY))),
        ("age / 2", Call(Function.DIVIDE, (AGE, one(2)))),
        ("age / 2.0", Call(Function.DIVIDE, (AGE, Call(Function.TO_FLOAT, (one(2),))))),
        ("age % 2", Call(Function.MODULO, (AGE, one(2)))),
        ("MOD(age, 2)", Call(Function.MODULO, (AGE, one(2)))),
        ("-age", Call(Function.NEGATE, (AGE,))),
        ("pay ^ 2", Call(Function.POWER, (PAY, one(2)))),
        ("POWER(pay, 0.5)", Call(Function.POWER, (PAY, one("0.5")))),
        ("ABS(pay)", Call(Function.ABS, (PAY,))),
        ("SIGN(pay)", Call(Function.SIGN, (PAY,))),
        ("FLOOR(pay)", Call(Function.FLOOR, (PAY,))),
        ("CEIL(pay)", Call(Function.CEIL, (PAY,))),
        ("CEILING(pay)", Call(Function.CEIL, (PAY,))),
        ("TRUNC(pay)", Call(Function.TRUNC, (PAY,))),
        ("ROUND(pay)", Call(Function.ROUND, (PAY, one(0)))),
        ("ROUND(pay, 2)", Call(Function.ROUND, (PAY, one(2)))),
        ("SQRT(pay)", Call(Function.SQRT, (PAY,))),
        ("LN(pay)", Call(Function.LN, (PAY,))),
        ("LOG(pay)", Call(Function.LOG10, (PAY,))),
        ("LOG10(pay)", Call(Function.LOG10, (PAY,))),
        ("LOG(10, pay)", Call(Function.LOG10, (PAY,))),
        ("EXP(pay)", Call(Function.EXP, (PAY,))),
        ("LEAST(age, pay, 3)", Call(Function.LEAST, (AGE, PAY, one(3)))),
        ("GREATEST(age, 0)", Call(Function.GREATEST, (AGE, one(0)))),
    ],
)
def test_functions_of_numbers(sql, meaning):
    assert expression_of(sql) == meaning


@pytest.mark.parametrize("digits", ["16", "-1", "1.5", "'x'", "age"])
def test_numbers_are_rounded_to_constant_places(digits):
    with pytest.raises((ParameterError, NotPrivateError), match=r"digits|constant"):
        expression_of(f"ROUND(pay, {digits})")


def test_powers_are_constant():
    with pytest.raises(NotPrivateError, match="age: only a constant"):
        expression_of("pay ^ age")


def test_logarithms_have_one_of_two_bases():
    with pytest.raises(NotPrivateError, match=r"LOG\(2, pay\).*LN"):
        expression_of("LOG(2, pay)")


@pytest.mark.parametrize("sql", ["age * 'x'", "ABS(sex)", "pay % 2", "-sex", "sex / 2"])
def test_arithmetic_is_of_numbers(sql):
    with pytest.raises(ParameterError, match="must be of"):
        expression_of(sql)


@pytest.mark.parametrize("sql", ["1e401", "9" * 201, "0x1f"])
def test_numbers_are_finite_and_short(sql):
    with pytest.raises((ParameterError, NotPrivateError)):
        expression_of(sql)
