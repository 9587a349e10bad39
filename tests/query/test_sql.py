"""What SQL means here, what is refused, and that nothing but a typed error ever comes of any text."""

import logging

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.query.asking import hashed, parsed

from sfumato.errors import NotPrivateError, ParameterError, SfumatoError
from sfumato.query.canonical import question_hash
from sfumato.query.expressions import Or
from sfumato.query.sql import MAX_LENGTH

SAME = [
    # every statement of a line is the same question
    ["SELECT COUNT(*) FROM people", "select count(*) from PEOPLE;", "SELECT\n COUNT( * )\tFROM people -- all",
     "SELECT COUNT(*) AS n FROM people", "SELECT COUNT(*) FROM people AS p", "SELECT COUNT(*) FROM people /* x */",
     "SELECT COUNT(*) FROM people WHERE 1 = 1", "SELECT COUNT(*) FROM people WHERE TRUE",
     'SELECT COUNT(*) FROM "people"',
     "SELECT ALL COUNT(*) FROM people", "SELECT COUNT(*) FROM people WHERE NOT 'a' = 'b'"],
    ["SELECT COUNT(*) FROM people WHERE age >= 3", "SELECT COUNT(*) FROM people WHERE NOT age < 3",
     "SELECT COUNT(*) FROM people p WHERE p.age >= 3.0", "SELECT COUNT(*) FROM people WHERE 3 <= AGE",
     "SELECT COUNT(*) FROM people WHERE NOT (3 > age)", 'SELECT COUNT(*) FROM people WHERE "age" >= +3',
     "SELECT COUNT(*) FROM people WHERE ((age >= 3e0)) AND 1=1",
     "SELECT COUNT(*) FROM people WHERE age >= 3 OR age >= 3",
     "SELECT COUNT(*) FROM people WHERE NOT NOT age >= 3 OR 1 = 2"],
    ["SELECT COUNT(*) FROM people WHERE age > 3 AND Sex = 'm'",
     "SELECT COUNT(*) FROM people WHERE Sex = 'm' AND age > 3",
     "SELECT COUNT(*) FROM people WHERE NOT (age <= 3 OR Sex <> 'm')",
     "SELECT COUNT(*) FROM people WHERE 'm' = sex AND 3 < age"],
    ["SELECT COUNT(*) FROM people WHERE age IN (1, 2)", "SELECT COUNT(*) FROM people WHERE age IN (2, 1, 2.0)"],
    ["SELECT COUNT(*) FROM people WHERE Sex IN ('m')", "SELECT COUNT(*) FROM people WHERE Sex = 'm'"],
    ["SELECT COUNT(*) FROM people WHERE age BETWEEN 1 AND 5", "SELECT COUNT(*) FROM people WHERE age >= 1 AND age <= 5",
     "SELECT COUNT(*) FROM people WHERE 5 >= age AND NOT age < 1"],
    ["SELECT COUNT(*) FROM people WHERE age IS NOT NULL", "SELECT COUNT(*) FROM people WHERE NOT age IS NULL",
     "SELECT COUNT(*) FROM people WHERE age NOTNULL"],
    ["SELECT COUNT(*) FROM people WHERE age NOT IN (1, 2)", "SELECT COUNT(*) FROM people WHERE NOT age IN (2, 1)"],
    ["SELECT Sex, COUNT(*) FROM people GROUP BY Sex", "SELECT COUNT(*) AS n FROM people GROUP BY sex",
     "SELECT p.sex, COUNT(*) FROM people p GROUP BY 1", "SELECT Sex AS s, COUNT(*) FROM people GROUP BY s"],
    ["SELECT SUM(age) FROM people", "SELECT SUM(people.AGE) total FROM people"],
    ["SELECT COUNT(*) FROM people WHERE smoker", "SELECT COUNT(*) FROM people WHERE (smoker)"],
]  # fmt: skip

DIFFERENT = [
    ("WHERE age > 3", "WHERE age >= 3"), ("WHERE age > 3", "WHERE pay > 3"), ("WHERE Sex = '1'", "WHERE age = 1"),
    ("WHERE age IS NULL", "WHERE age IS NOT NULL"), ("WHERE smoker", "WHERE NOT smoker"),
    ("WHERE 1 = 2", "WHERE 1 = 1"),
    ("WHERE age > 1 AND age < 5", "WHERE age > 1 OR age < 5"), ("WHERE Sex = 'm'", "WHERE Sex = 'M'"),
    ("GROUP BY Sex, smoker", "GROUP BY smoker, Sex"), ("", "GROUP BY Sex"),
]  # fmt: skip

REFUSED = [
    # statement, error, what the message names, what it advises
    ("SELECT * FROM people", NotPrivateError, r"\*", "COUNT"),
    ("SELECT *, COUNT(*) FROM people", NotPrivateError, r"\*", "COUNT"),
    ("SELECT age FROM people", NotPrivateError, "age", "GROUP BY, or ask AVG"),
    ("SELECT age, COUNT(*) FROM people GROUP BY Sex", NotPrivateError, "age", "GROUP BY"),
    ("SELECT 1 FROM people", NotPrivateError, "1", "COUNT"),
    ("SELECT COUNT(1) FROM people", NotPrivateError, r"COUNT\(1\)", r"COUNT\(\*\)"),
    ("SELECT COUNT(DISTINCT age) FROM people", NotPrivateError, "DISTINCT", "COUNT"),
    ("SELECT COUNT(*) FILTER (WHERE age > 1) FROM people", NotPrivateError, "FILTER", "COUNT"),
    ("SELECT SUM(age) OVER () FROM people", NotPrivateError, "OVER", "SUM"),
    ("SELECT SUM(age) + 1 FROM people", NotPrivateError, r"\+ 1", "SUM"),
    ("SELECT SUM(age * 2) FROM people", NotPrivateError, r"\* 2", "SUM"),
    ("SELECT SUM(SUM(age)) FROM people", NotPrivateError, r"SUM\(SUM", "SUM"),
    ("SELECT SUM(DISTINCT age) FROM people", NotPrivateError, "DISTINCT", "SUM"),
    ("SELECT AVG(age ORDER BY pay) FROM people", NotPrivateError, "ORDER", "AVG"),
    ("SELECT MAX(age) FROM people", NotPrivateError, "MAX", "COUNT"),
    ("SELECT pg_sleep(10) FROM people", NotPrivateError, "PG_SLEEP", "COUNT"),
    ("SELECT COUNT(*)", NotPrivateError, "FROM", "Name one table"),
    ("SELECT COUNT(*) FROM (SELECT * FROM people) x", NotPrivateError, "SELECT", "Name one table"),
    ("SELECT COUNT(*) FROM read_csv('secret')", NotPrivateError, "READ_CSV", "Name one table"),
    ("SELECT COUNT(*) FROM main.people", NotPrivateError, "main.people", "Name one table"),
    ("SELECT COUNT(*) FROM ONLY people", NotPrivateError, "people", "Name the table alone"),
    ("SELECT COUNT(*) FROM people TABLESAMPLE BERNOULLI (10)", NotPrivateError, "TABLESAMPLE", "Name the table alone"),
    ("SELECT COUNT(*) FROM people AS p(a, b)", NotPrivateError, "p", "names of the policy"),
    ("SELECT COUNT(*) FROM people JOIN people b ON TRUE", NotPrivateError, "JOIN", "one table"),
    ("SELECT COUNT(*) FROM people, people", NotPrivateError, "JOIN", "one table"),
    ("WITH x AS (SELECT * FROM people) SELECT COUNT(*) FROM x", NotPrivateError, "WITH", "one SELECT"),
    ("SELECT COUNT(*) FROM people UNION SELECT COUNT(*) FROM people", NotPrivateError, "UNION", "SELECT"),
    ("SELECT COUNT(*) FROM people LIMIT 1", NotPrivateError, "LIMIT", "free"),
    ("SELECT COUNT(*) FROM people ORDER BY 1", NotPrivateError, "ORDER BY", "free"),
    ("SELECT COUNT(*) FROM people HAVING COUNT(*) > 1", NotPrivateError, "HAVING", "free"),
    ("SELECT DISTINCT COUNT(*) FROM people", NotPrivateError, "DISTINCT", "Group by"),
    ("SELECT COUNT(*) INTO x FROM people", NotPrivateError, "INTO", "Leave it out"),
    ("SELECT COUNT(*) FROM people FOR UPDATE", NotPrivateError, "LOCK", "Leave it out"),
    ("SELECT COUNT(*) FROM people GROUP BY ROLLUP (Sex)", NotPrivateError, "ROLLUP", "column"),
    ("SELECT COUNT(*) FROM people GROUP BY ALL", NotPrivateError, "ALL", "columns"),
    ("SELECT COUNT(*) FROM people GROUP BY age > 3", NotPrivateError, "age > 3", "column"),
    ("SELECT COUNT(*) FROM people WHERE age = NULL", NotPrivateError, "NULL", "IS NULL"),
    ("SELECT COUNT(*) FROM people WHERE 1", NotPrivateError, "1", "comparisons"),
    ("SELECT COUNT(*) FROM people WHERE 1 / (age - 42) > 0", NotPrivateError, "age - 42", "Write it out"),
    ("SELECT COUNT(*) FROM people WHERE CAST(Sex AS INT) = 1", NotPrivateError, "CAST", "Write it out"),
    ("SELECT COUNT(*) FROM people WHERE SQRT(age) > 1", NotPrivateError, "SQRT", "Write it out"),
    ("SELECT COUNT(*) FROM people WHERE Sex LIKE 'm%'", NotPrivateError, "LIKE", "comparisons"),
    ("SELECT COUNT(*) FROM people WHERE Sex ~ '(a+)+$'", NotPrivateError, "~", "comparisons"),
    ("SELECT COUNT(*) FROM people WHERE smoker IS TRUE", NotPrivateError, "IS TRUE", "comparisons"),
    ("SELECT COUNT(*) FROM people WHERE age IN (SELECT 1)", NotPrivateError, "SELECT 1", "comparisons"),
    ("SELECT COUNT(*) FROM people WHERE EXISTS (SELECT 1 FROM people)", NotPrivateError, "EXISTS", "comparisons"),
    ("SELECT COUNT(*) FROM people WHERE age BETWEEN SYMMETRIC 5 AND 1", NotPrivateError, "SYMMETRIC", "lower end"),
    ("SELECT COUNT(*) FROM people WHERE CASE WHEN smoker THEN TRUE END", NotPrivateError, "CASE", "comparisons"),
    ("SELECT COUNT(*) FROM people WHERE age = $1", NotPrivateError, r"\$1", "Write it out"),
    ("SELECT COUNT(*) FROM people WHERE age IN (pay)", NotPrivateError, "pay", "Write it out"),
    ("SELECT COUNT(*) AS n FROM people WHERE n > 3", NotPrivateError, "COUNT", "Write it out"),
    ("DROP TABLE people", NotPrivateError, "DROP TABLE people", "SELECT"),
    ("COPY people TO 'x'", NotPrivateError, "COPY", "SELECT"),
    ("VALUES (1)", NotPrivateError, "VALUES", "SELECT"),
    ("SELECT COUNT(*) FROM people WHERE smoker = 1", ParameterError, "boolean = number", "one type"),
    ("SELECT COUNT(*) FROM people WHERE age > 'x'", ParameterError, "number > text", "one type"),
    ("SELECT COUNT(*) FROM people WHERE age", ParameterError, "age", "compare"),
    ("SELECT COUNT(*) FROM people WHERE age IN ()", ParameterError, "IN", "at least one"),
    ("SELECT COUNT(*) FROM people WHERE age IN (1, 'm')", ParameterError, "number = text", "one type"),
    ("SELECT COUNT(*) FROM people WHERE age = 1e999999999", ParameterError, "1e999999999", "finite"),
    ("SELECT COUNT(*) FROM people WHERE nosuch = 1", ParameterError, "nosuch", "age, Sex, smoker"),
    ("SELECT SUM(nosuch) FROM people", ParameterError, "nosuch", "age, Sex, smoker"),
    ("SELECT COUNT(*) FROM nosuch", ParameterError, "nosuch", "people"),
    ("SELECT COUNT(*) FROM 'secret.csv'", ParameterError, "secret.csv", "people"),
    ('SELECT COUNT(*) FROM "people""; DROP TABLE x; --"', ParameterError, "DROP TABLE", "people"),
    ("SELECT Sex FROM people GROUP BY Sex", ParameterError, "statistics", "at least one"),
    ("SELECT COUNT(*) AS n, SUM(age) AS n FROM people", ParameterError, "n", "differ"),
    ("SELECT COUNT(* FROM people", ParameterError, "sql", "line 1, column"),
    ("SELECT COUNT(*) FROM people WHERE Sex = 'm", ParameterError, "sql", "well-formed"),
    ("", ParameterError, "sql", "SELECT"),
    (" ; ", ParameterError, "statements", "exactly one"),
    ("SELECT COUNT(*) FROM people; DROP TABLE people", ParameterError, "2 statements", "exactly one"),
    ("SELECT COUNT(*) FROM people WHERE Sex = '\ud800'", ParameterError, "sql", "Unicode"),
    ("SELECT COUNT(*) FROM people WHERE " + "(" * 10_000 + "smoker" + ")" * 10_000, ParameterError, "sql", "deeply"),
    ("SELECT COUNT(*) FROM people WHERE " + "NOT " * 10_000 + "smoker", ParameterError, "sql", "deeply"),
    ("SELECT COUNT(*) FROM people WHERE " + "NOT " * 45 + "smoker", ParameterError, "45 levels|46 levels", "at most"),
    ("S" * (MAX_LENGTH + 1), ParameterError, f"{MAX_LENGTH + 1} characters", str(MAX_LENGTH)),
]  # fmt: skip

TOKENS = [
    "SELECT", "COUNT", "(", "*", ")", ",", "FROM", "people", "p", "WHERE", "AND", "OR", "NOT", "age", "Sex",
    "smoker", "pay", "AVG", "SUM", "GROUP", "BY", "IN", "BETWEEN", "IS", "NULL", "=", "<", "<=", "<>", ">=", ">",
    "1", "2.5", "-3", "1e999", "'m'", "'x", "AS", "n", ";", "UNION", "WITH", "CASE", "WHEN", "THEN", "END", "JOIN",
    "ON", "ORDER", "LIMIT", "DISTINCT", "HAVING", '"', "--", "/*", "*/", ".", "::", "$1", "?", "EXISTS", "LIKE",
    "CAST", "OVER", "FILTER", "age.x", "people.age", "+", "||", "[", "]", "{", "}", "@", "#", "\\", "E'a'", "$$",
    "TRUE", "VALUES", "LATERAL", "UNNEST", "read_csv('x')", "WINDOW", "QUALIFY", "INTO", "ALL", "ANY", "INTERVAL",
    "DATE", "ARRAY", "ROW", "DROP", "SET", "COPY", "PIVOT", "GROUPING", "ROLLUP", "USING",
]  # fmt: skip
STARTS = ["", "SELECT", "SELECT COUNT(*) FROM people WHERE", "SELECT Sex, AVG(age) FROM people GROUP BY"]


@pytest.fixture(autouse=True)
def _quiet_parser():
    logging.getLogger("sqlglot").setLevel(logging.CRITICAL)


@pytest.mark.parametrize("same", SAME, ids=lambda same: same[0])
def test_ways_to_write_one_question_are_one_question(same):
    assert {hashed(sql) for sql in same} == {hashed(same[0])}


def test_questions_that_differ_are_told_apart():
    assert len({hashed(same[0]) for same in SAME}) == len(SAME)


@pytest.mark.parametrize(("first", "second"), DIFFERENT)
def test_clauses_that_differ_are_told_apart(first, second):
    assert hashed(f"SELECT COUNT(*) FROM people {first}") != hashed(f"SELECT COUNT(*) FROM people {second}")


@pytest.mark.parametrize(("sql", "error", "named", "advice"), REFUSED, ids=lambda value: str(value)[:60])
def test_what_has_no_privacy_meaning_is_refused_with_its_name_and_a_way_out(sql, error, named, advice):
    with pytest.raises(error, match=f"(?s)({named}).*({advice})") as caught:
        parsed(sql)
    assert type(caught.value) is error


@pytest.mark.parametrize(
    "attack",
    [
        "' OR 1=1 --",
        "'; DROP TABLE people; --",
        "\\'; --",
        "'' UNION SELECT 1",
        "$$ || pg_sleep(1) || $$",
        "\x00'",
        "%00",
    ],
)
def test_an_attack_inside_a_literal_stays_a_literal(attack):
    condition = parsed(
        "SELECT COUNT(*) FROM people WHERE Sex = '" + attack.replace("'", "''") + "'"
    ).child.child.condition
    assert condition.right.value == attack


@given(
    st.text(max_size=60) | st.builds(" ".join, st.lists(st.sampled_from(TOKENS), max_size=12)), st.sampled_from(STARTS)
)
@settings(max_examples=1_000, deadline=None)
def test_any_text_is_a_question_or_a_typed_error(text, start):
    try:
        question = parsed(f"{start} {text}")
    except SfumatoError:
        return
    assert len(question_hash(question)) == 64


def test_a_long_list_and_a_long_chain_are_no_trouble():
    numbers = ", ".join(map(str, range(10_000)))
    chain = " OR ".join(f"age = {n}" for n in range(4_000))
    assert len(parsed(f"SELECT COUNT(*) FROM people WHERE age IN ({numbers})").child.child.condition.values) == 10_000
    assert len(parsed(f"SELECT COUNT(*) FROM people WHERE {chain}").child.child.condition.conditions) == 4_000


def test_names_of_answers_keep_their_case():
    asked = parsed('SELECT COUNT(*) AS Total, SUM(age) AS "Sum of age" FROM people')
    assert [name for name, _ in asked.statistics] == ["Total", "Sum of age"]


def test_an_answer_calls_a_key_by_its_alias():
    asked = parsed("SELECT sex AS Gender, smoker, COUNT(*) FROM people GROUP BY smoker, sex")
    assert asked.child.keys == ("smoker", "Sex")
    assert asked.child.labels == ("smoker", "Gender")


def test_constants_are_compared_exactly_before_any_engine_could_round_them():
    assert hashed("SELECT COUNT(*) FROM people WHERE 1 = 1.0000000000000000001") == hashed(
        "SELECT COUNT(*) FROM people WHERE FALSE"
    )
    assert parsed("SELECT COUNT(*) FROM people WHERE 1 = 1.0000000000000000001").child.child.condition == Or(())


def test_a_key_is_selected_once_and_grouped_by_as_often_as_one_likes():
    with pytest.raises(NotPrivateError, match="twice"):
        parsed("SELECT sex AS a, sex AS b, COUNT(*) FROM people GROUP BY sex")
    assert parsed("SELECT sex, COUNT(*) FROM people GROUP BY 1, sex").child.keys == ("Sex",)
