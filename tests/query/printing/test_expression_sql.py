from datetime import date, datetime

import pytest
from tests.query.frames import PEOPLE, frame

from sfumato.query.analysis.simplify import simplify, text_of
from sfumato.query.handles.columns import coalesce, constant, greatest, when
from sfumato.query.model.expressions import And, ColumnRef, Null, Or
from sfumato.query.model.kinds import Kind
from sfumato.query.printing.expression_sql import Written, expression_sql, quoted
from sfumato.query.sql.questions import parse_question

people = frame(PEOPLE)
NOON = datetime.fromisoformat("2026-01-31T12:00:00")

CONDITIONS = [
    (people.age > 50, "age > 50"),
    (~(people.sex == "it's"), "NOT sex = 'it''s'"),
    ((people.smoker | people.age.is_null()) & people.age.is_in([1, 2]), "(smoker OR age IS NULL) AND age IN (1, 2)"),
    ((people.pay >= 0.25) & (people.smoker == False), "pay >= 0.25 AND smoker = FALSE"),  # noqa: E712 # as one may write
    (people.age.between(1, 2), "age >= 1 AND age <= 2"),
    (people.age + 1 > people.age * 2, "(age + 1) > (age * 2)"),
    (people.age // 2 - people.age % 3 < -people.age, "((age / 2) - (age % 3)) < -age"),
    (people.age / 2 > 1, "(CAST(age AS DOUBLE PRECISION) / 2) > 1"),
    (people.sex + "x" == "mx", "(sex || 'x') = 'mx'"),
    (people.sex.like("a%"), "sex LIKE 'a%'"),
    (people.sex.upper().trim().substring(1, 2) == "M", "SUBSTRING(TRIM(UPPER(sex)), 1, 2) = 'M'"),
    (people.sex.length() > 1, "LENGTH(sex) > 1"),
    (people.born >= date(2026, 1, 31), "born >= DATE '2026-01-31'"),
    (people.seen < NOON, "seen < TIMESTAMP '2026-01-31 12:00:00'"),
    (people.born.year == 2026, "EXTRACT(YEAR FROM born) = 2026"),
    (people.born.day_of_week == 0, "EXTRACT(DOW FROM born) = 0"),
    (people.seen.truncate("month") == NOON, "DATE_TRUNC('month', seen) = TIMESTAMP '2026-01-31 12:00:00'"),
    (people.born.add_days(3) > date(2026, 1, 1), "(born + INTERVAL '3 day') > DATE '2026-01-01'"),
    (people.born.add_months(-1) > date(2026, 1, 1), "(born + INTERVAL '-1 month') > DATE '2026-01-01'"),
    (people.born - date(2026, 1, 1) > 3, "(born - DATE '2026-01-01') > 3"),
    (abs(people.pay.round(1)) > 1, "ABS(ROUND(pay, 1)) > 1"),
    (people.pay.sqrt() + people.pay.log() > people.pay.exp(), "(SQRT(pay) + LN(pay)) > EXP(pay)"),
    (coalesce(people.age, 0) > greatest(people.age, 1), "COALESCE(age, 0) > GREATEST(age, 1)"),
    (people.age.null_if(0).is_null(), "NULLIF(age, 0) IS NULL"),
    (people.age.cast("text") == "1", "CAST(age AS TEXT) = '1'"),
    (when(people.age < 18, "young").otherwise("old") == "old",
     "CASE WHEN age < 18 THEN 'young' ELSE 'old' END = 'old'"),
    (when(people.age < 18, 1).otherwise() == 1, "CASE WHEN age < 18 THEN 1 END = 1"),
    ((people.age > 1) == people.smoker, "(age > 1) = smoker"),
]  # fmt: skip


@pytest.mark.parametrize(("handle", "text"), CONDITIONS, ids=[text for _, text in CONDITIONS])
def test_an_expression_is_written_as_people_write_it(handle, text):
    assert expression_sql(handle.expression) == text


@pytest.mark.parametrize(("handle", "text"), CONDITIONS, ids=[text for _, text in CONDITIONS])
def test_what_is_written_means_the_same(handle, text):
    read = parse_question(f"SELECT COUNT(*) AS n FROM people WHERE {text}", {"people": people.relation})
    assert text_of(simplify(read.child.child.child.condition)) == text_of(simplify(handle.expression))


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (And(()), "TRUE"),
        (Or(()), "FALSE"),
        (Null(Kind.INTEGER), "CAST(NULL AS BIGINT)"),
        ((-(people.age + 1)).expression, "-(age + 1)"),
        (constant(1.5).expression, "1.5"),
        (constant(True).expression, "TRUE"),
        (people.seen.add_seconds(people.age).expression, "seen + age * INTERVAL '1 second'"),
        (Written("COUNT(*)"), "COUNT(*)"),
    ],
)
def test_other_expressions(expression, text):
    assert expression_sql(expression) == text


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("age", "age"),
        ("Sex", "Sex"),
        ("x_1", "x_1"),
        ("select", '"select"'),
        ("Order", '"Order"'),
        ("1x", '"1x"'),
        ("a b", '"a b"'),
        ('say "x"', '"say ""x"""'),
        ("é", '"é"'),
        ("", '""'),
    ],
)
def test_names_stand_in_quotes_unless_they_are_plain_words(name, text):
    assert quoted(name) == text
    assert expression_sql(ColumnRef(name)) == text
