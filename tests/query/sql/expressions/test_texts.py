from fractions import Fraction

import pytest
from tests.query.asking import expression_of

from sfumato.errors import NotPrivateError, ParameterError
from sfumato.query.model.expressions import Call, ColumnRef, Literal, Not
from sfumato.query.model.functions import Function
from sfumato.query.sql.expressions.numbers import MAX_CHARACTERS

SEX = ColumnRef("Sex")


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
        (
            "SUBSTRING(sex FROM POSITION('-' IN sex) + 1)",
            Call(
                Function.SUFFIX,
                (SEX, Call(Function.ADD, (Call(Function.POSITION, (SEX, Literal("-"))), Literal(Fraction(1))))),
            ),
        ),
        (
            "RIGHT(sex, 2)",
            Call(
                Function.SUFFIX,
                (SEX, Call(Function.ADD, (Call(Function.LENGTH, (SEX,)), Literal(Fraction(-1))))),
            ),
        ),
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
        ("STARTS_WITH(sex, 'a%')", like("a\\%%")),
        ("sex ^@ 'a'", like("a%")),
        ("ENDS_WITH(sex, 'a_')", like("%a\\_")),
        ("CONTAINS(sex, '')", like("%%")),
        ("POSITION('b' IN sex)", Call(Function.POSITION, (SEX, Literal("b")))),
        ("STRPOS(sex, 'b')", Call(Function.POSITION, (SEX, Literal("b")))),
        ("REPLACE(sex, 'a', '')", Call(Function.REPLACE, (SEX, Literal("a"), Literal("")))),
        ("sex NOT ILIKE 'a'", Not(Call(Function.LIKE, (Call(Function.LOWER, (SEX,)), Literal("a"))))),
    ],
)
def test_functions_of_text(sql, meaning):
    assert expression_of(sql) == meaning


@pytest.mark.parametrize("sql", ["SUBSTRING(sex, 0)", "SUBSTRING(sex, 1, -1)", "LEFT(sex, -1)", "LEFT(sex, 1.5)"])
def test_parts_of_text_are_counted_from_1(sql):
    with pytest.raises(ParameterError, match="whole number from"):
        expression_of(sql)


def test_parts_of_text_are_at_constant_places():
    with pytest.raises(NotPrivateError, match="Leave out the length"):
        expression_of("SUBSTRING(sex, age, 2)")
    with pytest.raises(NotPrivateError, match="age: only a constant"):
        expression_of("SUBSTRING(sex, 2, age)")


def test_only_spaces_are_trimmed():
    with pytest.raises(NotPrivateError, match="only spaces"):
        expression_of("TRIM(BOTH 'x' FROM sex)")


@pytest.mark.parametrize("sql", ["sex LIKE sex", "sex LIKE 3", "sex LIKE 'a' || 'b'", "sex LIKE NULL"])
def test_patterns_are_constant_text(sql):
    with pytest.raises(NotPrivateError, match=r"constant|NULL"):
        expression_of(sql)


@pytest.mark.parametrize("sql", ["LOWER(age)", "age || sex", "CONCAT(age)", "age LIKE 'x'"])
def test_functions_of_text_are_of_text(sql):
    with pytest.raises(ParameterError, match="must be"):
        expression_of(sql)


@pytest.mark.parametrize("sql", ["STRPOS(sex, '')", "REPLACE(sex, '', 'x')", "POSITION('' IN sex)"])
def test_nothing_is_not_looked_for(sql):
    with pytest.raises(ParameterError, match="at least one character"):
        expression_of(sql)


@pytest.mark.parametrize("sql", ["STRPOS(sex, sex)", "REPLACE(sex, 'a', sex)", "STARTS_WITH(sex, 3)", "STRPOS(sex, 1)"])
def test_words_are_constant(sql):
    with pytest.raises(NotPrivateError, match="constant"):
        expression_of(sql)


@pytest.mark.parametrize("sql", ["POSITION('a')", "POSITION('a', sex)", "STRPOS(sex)", "REPLACE(sex, 'a')"])
def test_functions_have_their_arguments(sql):
    with pytest.raises(ParameterError, match="must"):
        expression_of(sql)
