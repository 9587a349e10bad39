from datetime import date, datetime
from fractions import Fraction

import pytest
from tests.query.asking import expression_of

from sfumato.errors import NotPrivateError, ParameterError
from sfumato.query.model.expressions import Call, ColumnRef, Literal, Not, Null
from sfumato.query.model.functions import Function
from sfumato.query.model.kinds import Kind
from sfumato.query.sql.texts import MAX_CHARACTERS

SEX, AGE, PAY = ColumnRef("Sex"), ColumnRef("age"), ColumnRef("pay")


def part(start, length):
    return Call(Function.SUBSTRING, (SEX, Literal(Fraction(start)), Literal(Fraction(length))))


def like(pattern):
    return Call(Function.LIKE, (SEX, Literal(pattern)))


@pytest.mark.parametrize(
    ("sql", "meaning"),
    [
        ("LOWER(sex)", Call(Function.LOWER, (SEX,))),
        ("UPPER(sex)", Call(Function.UPPER, (SEX,))),
        ("LENGTH(sex)", Call(Function.LENGTH, (SEX,))),
        ("CHAR_LENGTH(sex)", Call(Function.LENGTH, (SEX,))),
        ("SUBSTRING(sex FROM 2 FOR 3)", part(2, 3)),
        ("SUBSTRING(sex, 2)", part(2, MAX_CHARACTERS)),
        ("SUBSTRING(sex FOR 3)", part(1, 3)),
        ("SUBSTR(sex, 2, 0)", part(2, 0)),
        ("LEFT(sex, 3)", part(1, 3)),
        ("TRIM(sex)", Call(Function.TRIM, (SEX,))),
        ("TRIM(BOTH ' ' FROM sex)", Call(Function.TRIM, (SEX,))),
        ("BTRIM(sex, ' ')", Call(Function.TRIM, (SEX,))),
        ("LTRIM(sex)", Call(Function.LTRIM, (SEX,))),
        ("TRIM(TRAILING FROM sex)", Call(Function.RTRIM, (SEX,))),
        ("sex || '-' || sex", Call(Function.CONCAT, (SEX, Literal("-"), SEX))),
        ("CONCAT(sex, 'x')", Call(Function.CONCAT, (Call(Function.COALESCE, (SEX, Literal(""))), Literal("x")))),
        ("CONCAT('x')", Literal("x")),
        ("sex LIKE 'a%'", like("a%")),
        ("sex NOT LIKE '_\\%'", Not(like("_\\%"))),
        ("sex ILIKE 'ÉA%'", Call(Function.LIKE, (Call(Function.LOWER, (SEX,)), Literal("éa%")))),
        ("sex ILIKE 'Aẞİ%'", Call(Function.LIKE, (Call(Function.LOWER, (SEX,)), Literal("aẞİ%")))),
        ("sex NOT ILIKE 'a'", Not(Call(Function.LIKE, (Call(Function.LOWER, (SEX,)), Literal("a"))))),
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
def test_functions_of_text_and_conversions(sql, meaning):
    assert expression_of(sql) == meaning


@pytest.mark.parametrize("sql", ["SUBSTRING(sex, 0)", "SUBSTRING(sex, 1, -1)", "LEFT(sex, -1)", "LEFT(sex, 1.5)"])
def test_parts_of_text_are_counted_from_1(sql):
    with pytest.raises(ParameterError, match="whole number from"):
        expression_of(sql)


def test_parts_of_text_are_at_constant_places():
    with pytest.raises(NotPrivateError, match="age: only a constant"):
        expression_of("SUBSTRING(sex, age)")


def test_only_spaces_are_trimmed():
    with pytest.raises(NotPrivateError, match="only spaces"):
        expression_of("TRIM(BOTH 'x' FROM sex)")


@pytest.mark.parametrize("sql", ["sex LIKE sex", "sex LIKE 3", "sex LIKE 'a' || 'b'", "sex LIKE NULL"])
def test_patterns_are_constant_text(sql):
    with pytest.raises(NotPrivateError, match=r"constant|NULL"):
        expression_of(sql)


@pytest.mark.parametrize(
    "target", ["numeric(10, 2)", "varchar(3)", "char", "uuid", "json", "int[]", "timestamptz", "timestamp(0)", "nosuch"]
)
def test_other_types_are_refused(target):
    with pytest.raises(NotPrivateError, match=r"type|Leave it out"):
        expression_of(f"CAST(sex AS {target})")


@pytest.mark.parametrize("sql", ["pay::text", "smoker::date", "age::timestamp"])
def test_conversions_that_have_no_meaning_are_refused(sql):
    with pytest.raises(ParameterError, match="must be of"):
        expression_of(sql)


@pytest.mark.parametrize("sql", ["LOWER(age)", "age || sex", "CONCAT(age)", "age LIKE 'x'"])
def test_functions_of_text_are_of_text(sql):
    with pytest.raises(ParameterError, match="must be"):
        expression_of(sql)
