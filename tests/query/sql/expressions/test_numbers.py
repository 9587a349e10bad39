from datetime import date, datetime
from fractions import Fraction

import pytest
from tests.query.asking import expression_of

from sfumato.errors import NotPrivateError, ParameterError
from sfumato.query.analysis.inference import facts_of
from sfumato.query.model.expressions import Call, Case, ColumnRef, Compare, Comparison, IsNull, Literal, Not, Null
from sfumato.query.model.facts import Facts
from sfumato.query.model.functions import Function
from sfumato.query.model.kinds import Kind

AGE, PAY, SEX = ColumnRef("age"), ColumnRef("pay"), ColumnRef("Sex")


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


@pytest.mark.parametrize(
    ("sql", "meaning"),
    [
        ("CAST(pay AS integer)", Call(Function.TO_INTEGER, (PAY,))),
        ("pay::bigint", Call(Function.TO_INTEGER, (PAY,))),
        ("age::double precision", Call(Function.TO_FLOAT, (AGE,))),
        ("age::numeric", Call(Function.TO_FLOAT, (AGE,))),
        ("age::text", Call(Function.TO_TEXT, (AGE,))),
        ("age::boolean", Call(Function.TO_BOOLEAN, (AGE,))),
        ("sex::date", Call(Function.TO_DATE, (SEX,))),
        ("sex::timestamp", Call(Function.TO_TIMESTAMP, (SEX,))),
        ("CAST(NULL AS date)", Null(Kind.DATE)),
        ("DATE '2026-01-31'", Literal(date(2026, 1, 31))),
        ("'2026-01-31'::timestamp", Literal(datetime(2026, 1, 31))),  # noqa: DTZ001 # without a zone
    ],
)
def test_conversions(sql, meaning):
    assert expression_of(sql) == meaning


@pytest.mark.parametrize(
    "target",
    ["integer(3)", "char", "uuid", "json", "int[]", "timestamptz", "timestamp(0)", "nosuch"],
)
def test_other_types_are_refused(target):
    with pytest.raises(NotPrivateError, match=r"type|Leave it out"):
        expression_of(f"CAST(sex AS {target})")


@pytest.mark.parametrize("sql", ["pay::text", "smoker::date", "age::timestamp"])
def test_conversions_that_have_no_meaning_are_refused(sql):
    with pytest.raises(ParameterError, match="must be of"):
        expression_of(sql)


def rounded(value, digits):
    return Call(Function.ROUND, (value, one(digits)))


def test_a_numeric_with_a_scale_is_rounded_and_null_where_it_has_no_room():
    assert expression_of("pay::numeric(10, 2)") == rounded(Call(Function.TO_FLOAT, (PAY,)), 2)
    value = rounded(Call(Function.TO_FLOAT, (AGE,)), 0)
    fits = Compare(Comparison.LESS, Call(Function.ABS, (value,)), one(100))
    assert expression_of("age::numeric(2)") == Case(((fits, value),), Null(Kind.FLOAT))


@pytest.mark.parametrize("target", ["numeric(0)", "numeric(39)", "numeric(3, 4)", "numeric(20, 16)", "varchar(0)"])
def test_sizes_of_types_have_their_range(target):
    with pytest.raises(ParameterError, match="whole number from"):
        expression_of(f"CAST(pay AS {target})" if "num" in target else f"CAST(sex AS {target})")


def test_a_varchar_with_a_length_is_cut():
    first = (one(1), one(3))
    assert expression_of("sex::varchar(3)") == Call(
        Function.SUBSTRING, (Call(Function.TO_TEXT, (ColumnRef("Sex"),)), *first)
    )


def test_buckets_have_public_numbers():
    asked = expression_of("WIDTH_BUCKET(pay, 0, 10, 4)")
    starts = [(Fraction(10), 5), (Fraction(15, 2), 4), (Fraction(5), 3), (Fraction(5, 2), 2), (Fraction(0), 1)]
    at_least = [(Compare(Comparison.GREATER_EQUAL, PAY, Literal(start)), one(place)) for start, place in starts]
    assert asked == Case((*at_least, (Not(IsNull(PAY)), one(0))), Null(Kind.INTEGER))
    facts = facts_of(asked, {"pay": Facts(kind=Kind.FLOAT)})
    assert set(facts.values) == {0, 1, 2, 3, 4, 5}


@pytest.mark.parametrize(
    "arguments", ["10, 0, 4", "0, 0, 4", "0, 10, 0", "0, 10, 1001", "0, 10, 2.5", "'a', 10, 4", "age, 10, 4"]
)
def test_buckets_have_constant_ends_in_order(arguments):
    with pytest.raises((ParameterError, NotPrivateError)):
        expression_of(f"WIDTH_BUCKET(pay, {arguments})")
