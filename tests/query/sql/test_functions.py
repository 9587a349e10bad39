from datetime import date, datetime
from fractions import Fraction

import pytest
from tests.query.asking import condition_of, expression_of

from sfumato.errors import NotPrivateError, ParameterError
from sfumato.query.model.expressions import Call, ColumnRef, Compare, Comparison, Literal, Not, Null
from sfumato.query.model.functions import Function
from sfumato.query.model.kinds import Kind
from sfumato.query.sql.functions import MAX_CHARACTERS

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


PLACED, TOTAL = ColumnRef("placed"), ColumnRef("total")


def moved(function, value, amount):
    return Call(function, (value, Literal(Fraction(amount))))


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("YEAR", Function.YEAR),
        ("quarter", Function.QUARTER),
        ("month", Function.MONTH),
        ("week", Function.WEEK),
        ("day", Function.DAY),
        ("dow", Function.DAY_OF_WEEK),
        ("isodow", Function.ISO_DAY_OF_WEEK),
        ("doy", Function.DAY_OF_YEAR),
        ("hour", Function.HOUR),
        ("minute", Function.MINUTE),
        ("second", Function.SECOND),
    ],
)
def test_parts_of_a_time(name, function):
    assert expression_of(f"EXTRACT({name} FROM placed)", "orders") == Call(function, (PLACED,))
    assert expression_of(f"DATE_PART('{name}', placed)", "orders") == Call(function, (PLACED,))


@pytest.mark.parametrize("unit", ["year", "quarter", "month", "week", "day", "hour", "MINUTE"])
def test_times_are_truncated_to_a_unit(unit):
    truncated = Call(Function.TRUNCATE, (PLACED, Literal(unit.lower())))
    assert expression_of(f"DATE_TRUNC('{unit}', placed)", "orders") == truncated


def test_a_date_is_truncated_to_an_hour_as_its_midnight():
    midnight = Call(Function.TO_TIMESTAMP, (ColumnRef("day"),))
    assert expression_of("DATE_TRUNC('hour', day)", "visits") == Call(Function.TRUNCATE, (midnight, Literal("hour")))


@pytest.mark.parametrize(
    ("sql", "meaning"),
    [
        ("placed + INTERVAL '1 day'", moved(Function.ADD_DAYS, PLACED, 1)),
        ("placed - INTERVAL '2 weeks'", moved(Function.ADD_DAYS, PLACED, -14)),
        ("placed + INTERVAL '3' MONTH", moved(Function.ADD_MONTHS, PLACED, 3)),
        ("INTERVAL '1 year' + placed", moved(Function.ADD_MONTHS, PLACED, 12)),
        ("placed - INTERVAL '-1 hours'", moved(Function.ADD_SECONDS, PLACED, 3600)),
        ("placed + INTERVAL '5 min'", moved(Function.ADD_SECONDS, PLACED, 300)),
        ("placed + INTERVAL '7' SECOND", moved(Function.ADD_SECONDS, PLACED, 7)),
        ("total + 1", Call(Function.ADD, (TOTAL, Literal(Fraction(1))))),
        ("total - order_id", Call(Function.SUBTRACT, (TOTAL, ColumnRef("order_id")))),
    ],
)
def test_sums_move_times_and_add_numbers(sql, meaning):
    assert expression_of(sql, "orders") == meaning


def test_days_are_added_to_dates():
    day, number = ColumnRef("day"), Literal(Fraction(7))
    assert expression_of("day + 7", "visits") == Call(Function.ADD_DAYS, (day, number))
    assert expression_of("7 + day", "visits") == Call(Function.ADD_DAYS, (day, number))
    assert expression_of("day - 7", "visits") == Call(Function.ADD_DAYS, (day, Literal(Fraction(-7))))
    between = Call(Function.DAYS_BETWEEN, (day, Literal(date(2026, 1, 31))))
    assert expression_of("day - DATE '2026-01-31'", "visits") == between


def test_an_hour_after_a_date_is_a_timestamp():
    midnight = Call(Function.TO_TIMESTAMP, (ColumnRef("day"),))
    assert expression_of("day + INTERVAL '1 hour'", "visits") == moved(Function.ADD_SECONDS, midnight, 3600)


def test_times_compare_with_constant_text():
    day = Compare(Comparison.GREATER_EQUAL, ColumnRef("day"), Literal(date(2026, 1, 31)))
    assert condition_of("day >= '2026-01-31'", "visits") == day
    assert condition_of("day IN ('2026-01-31')", "visits").values == (Literal(date(2026, 1, 31)),)


@pytest.mark.parametrize(
    "interval",
    ["'1 month 2 days'", "'1.5 days'", "'1'", "'one day'", "'1 fortnight'", "'9999999999 days'", "'1' YEAR TO MONTH"],
)
def test_an_interval_is_one_whole_number_of_one_unit(interval):
    with pytest.raises(NotPrivateError, match=r"one constant whole number|Leave it out"):
        expression_of(f"placed + INTERVAL {interval}", "orders")


@pytest.mark.parametrize(
    "sql", ["placed - placed", "placed + 1", "placed - DATE '2026-01-31'", "1 - DATE '2026-01-31'"]
)
def test_times_are_not_added_to_times(sql):
    with pytest.raises(NotPrivateError, match="cannot be added or subtracted"):
        expression_of(sql, "orders")


def test_other_parts_and_units_are_refused():
    with pytest.raises(NotPrivateError, match=r"EPOCH.*YEAR"):
        expression_of("EXTRACT(EPOCH FROM placed)", "orders")
    with pytest.raises(NotPrivateError, match=r"(?i)century.*year"):
        expression_of("DATE_TRUNC('century', placed)", "orders")


@pytest.mark.parametrize("sql", ["EXTRACT(HOUR FROM day)", "EXTRACT(YEAR FROM ward)", "ward + INTERVAL '1 day'"])
def test_parts_are_of_times_that_have_them(sql):
    with pytest.raises(ParameterError, match="must be of"):
        expression_of(sql, "visits")
