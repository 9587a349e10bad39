"""What SQL means here, what is refused, and that nothing but a typed error ever comes of any text."""

import logging
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlglot import exp
from tests.query.asking import PEOPLE, SOURCES, VISITS, condition_of, hashed, parsed, text_of

from sfumato.errors import NotPrivateError, ParameterError, SfumatoError
from sfumato.query.model.expressions import FALSE, ColumnRef, Compare, Comparison, IsNull, Literal
from sfumato.query.model.relations import Filter, GroupBy, Source
from sfumato.query.model.schema import Limits
from sfumato.query.planning.questions import Aggregate as Asked
from sfumato.query.planning.questions import Presented
from sfumato.query.planning.windows import OrderKey
from sfumato.query.printing.canonical import question_hash, question_text
from sfumato.query.sql.options import Options, parse_options
from sfumato.query.sql.parsing import FUNCTIONS, MAX_LENGTH
from sfumato.query.sql.questions import parse_question, parse_view
from sfumato.query.statistics.counts import CountRows
from sfumato.query.statistics.means import Sum

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
    ["SELECT SUM(age) FROM people", "SELECT SUM(people.AGE) total FROM people",
     "SELECT SUM(x.a) FROM (SELECT age AS a FROM people) x",
     "WITH x(a) AS (SELECT age FROM people) SELECT SUM(a) FROM x"],
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
    ("SELECT p.* FROM people p", NotPrivateError, r"\*", "COUNT"),
    ("SELECT age FROM people", NotPrivateError, "age", "GROUP BY, or write AVG"),
    ("SELECT age, COUNT(*) FROM people GROUP BY Sex", NotPrivateError, "age", "GROUP BY"),
    ("SELECT 1 FROM people", NotPrivateError, "1", "COUNT"),
    ("SELECT SUM(age) OVER () FROM people", NotPrivateError, "OVER", "groups of GROUP BY"),
    ("SELECT SUM(SUM(age)) FROM people", NotPrivateError, r"SUM\(age", "sub-query"),
    ("SELECT SUM(DISTINCT age) FROM people", NotPrivateError, "DISTINCT", "COUNT"),
    ("SELECT COUNT(DISTINCT age, pay) FROM people", NotPrivateError, r"COUNT\(DISTINCT age, pay", "one column"),
    ("SELECT Sex, COUNT(*) FROM people GROUP BY Sex ORDER BY 'sex'", ParameterError, "'sex'", "without quotes"),
    ('SELECT COUNT(*) FROM people WHERE Sex = "m"', ParameterError, "'m'", "single quotes"),
    ("SELECT Sex, RANK() OVER (ORDER BY age) FROM people", NotPrivateError, "OVER", "groups of GROUP BY"),
    ("SELECT COUNT(*) FROM (SELECT ward FROM visits UNION SELECT ward, day FROM visits) v", ParameterError,
     "SELECT ward FROM visits UNION", "as many on both sides; found 1 and 2 columns"),
    ("SELECT COUNT(*) FROM (SELECT ward FROM visits EXCEPT SELECT day FROM visits) v", ParameterError,
     "SELECT ward FROM visits EXCEPT", "one kind"),
    ("SELECT AVG(age ORDER BY pay) FROM people", NotPrivateError, "ORDER", "Leave it out"),
    ("SELECT STRING_AGG(Sex, ',') FROM people", NotPrivateError, "STRING_AGG", "COUNT"),
    ("SELECT ARRAY_AGG(Sex) FROM people", NotPrivateError, "ARRAY_AGG", "COUNT"),
    ("SELECT pg_sleep(10) FROM people", NotPrivateError, "PG_SLEEP", "ABS, APPROX"),
    ("SELECT COUNT(*)", NotPrivateError, "FROM", "Name a table"),
    ("SELECT COUNT(*) FROM read_csv('secret')", NotPrivateError, "READ_CSV", "Name a table"),
    ("SELECT COUNT(*) FROM generate_series(1, 3)", NotPrivateError, "GENERATE_SERIES", "Name a table"),
    ("SELECT COUNT(*) FROM UNNEST(ARRAY[1]) u", NotPrivateError, "UNNEST", "Name a table"),
    ("SELECT COUNT(*) FROM (VALUES (1)) v", NotPrivateError, "VALUES", "Name a table"),
    ("SELECT COUNT(*) FROM visits, LATERAL (SELECT 1) x", NotPrivateError, "LATERAL", "Name a table"),
    ("SELECT COUNT(*) FROM main.people", NotPrivateError, "main.people", "Name a table"),
    ("SELECT COUNT(*) FROM ONLY people", NotPrivateError, "people", "Leave it out"),
    ("SELECT COUNT(*) FROM people TABLESAMPLE BERNOULLI (10)", NotPrivateError, "TABLESAMPLE", "Leave it out"),
    ("SELECT COUNT(*) FROM people JOIN people b ON TRUE", NotPrivateError, "JOIN", "grouped by the keys"),
    ("SELECT COUNT(*) FROM people, people", ParameterError, "FROM", "AS"),
    ("SELECT COUNT(*) FROM people UNION SELECT COUNT(*) FROM people", NotPrivateError, "UNION", "into FROM"),
    ("WITH RECURSIVE x AS (SELECT * FROM people) SELECT COUNT(*) FROM x", NotPrivateError, "RECURSIVE", "without"),
    ("SELECT DISTINCT COUNT(*) FROM people", NotPrivateError, "DISTINCT", "Group by"),
    ("SELECT COUNT(*) INTO x FROM people", NotPrivateError, "INTO", "Leave INTO out"),
    ("SELECT COUNT(*) FROM people FOR UPDATE", NotPrivateError, "FOR UPDATE", "Leave"),
    ("SELECT COUNT(*) FROM people QUALIFY 1 = 1", NotPrivateError, "QUALIFY", "HAVING"),
    ("SELECT COUNT(*) FROM people WHERE ABS(age, 1) > 2", ParameterError, "ABS", "must have 1"),
    ("SELECT COUNT(*) FROM people WHERE LOG10(age, 1) > 2", ParameterError, "LOG10", "must have 1"),
    ("SELECT COUNT(*) FROM visits WHERE DATEDIFF(day, day) > 2", NotPrivateError, "DATEDIFF", "d - e"),
    ("SELECT COUNT(*) FROM people GROUP BY ALL age", NotPrivateError, "ALL", "Leave ALL"),
    ("SELECT COUNT(*) FROM people GROUP BY DISTINCT Sex", NotPrivateError, "DISTINCT", "columns"),
    ("SELECT COUNT(*) FROM people GROUP BY pay", NotPrivateError, "pay", "FLOOR"),
    ("SELECT COUNT(*) FROM people GROUP BY SUM(age)", NotPrivateError, "SUM", "columns"),
    ("SELECT COUNT(*) FROM people WHERE age = NULL", NotPrivateError, "NULL", "IS NULL"),
    ("SELECT COUNT(*) FROM people WHERE 1", ParameterError, "1", "true or false"),
    ("SELECT COUNT(*) FROM people WHERE Sex ~ '(a+)+$'", NotPrivateError, "~", "LIKE"),
    ("SELECT COUNT(*) FROM people WHERE Sex SIMILAR TO 'm'", NotPrivateError, "SIMILAR", "LIKE"),
    ("SELECT COUNT(*) FROM people WHERE age IN (SELECT 1)", NotPrivateError, "SELECT 1", "Name a table"),
    ("SELECT COUNT(*) FROM people WHERE EXISTS (SELECT 1 FROM people)", NotPrivateError, "EXISTS", "privacy unit"),
    ("SELECT COUNT(*) FROM people WHERE age > (SELECT AVG(age) FROM people)", NotPrivateError, "SELECT", "own query"),
    ("SELECT COUNT(*) FROM people WHERE age = ANY (SELECT age FROM people)", NotPrivateError, "ANY", "EXISTS"),
    ("SELECT COUNT(*) FROM people WHERE age BETWEEN SYMMETRIC 5 AND 1", NotPrivateError, "SYMMETRIC", "lower bound"),
    ("SELECT COUNT(*) FROM people WHERE RANDOM() < 0.5", NotPrivateError, "RANDOM", "own noise"),
    ("SELECT COUNT(*) FROM visits WHERE day < CURRENT_DATE", NotPrivateError, "CURRENT_DATE", "DATE '"),
    ("SELECT COUNT(*) FROM visits WHERE day < NOW()", NotPrivateError, "NOW", "DATE '"),
    ("SELECT COUNT(*) FROM people WHERE ARRAY[age] = ARRAY[1]", NotPrivateError, "ARRAY", "its own column"),
    ("SELECT COUNT(*) FROM people WHERE Sex -> 'x' = 'y'", NotPrivateError, "->", "its own column"),
    ("SELECT COUNT(*) FROM people WHERE SUM(age) > 3", NotPrivateError, "SUM", "HAVING"),
    ("SELECT COUNT(*) FROM people WHERE age IN (pay)", NotPrivateError, "pay", "Write it out"),
    ("SELECT COUNT(*) FROM people WHERE age IN (1, NULL)", NotPrivateError, "NULL", "IS NULL"),
    ("SELECT COUNT(*) AS n FROM people WHERE n > 3", ParameterError, "n", "age, Sex"),
    ("SELECT COUNT(*) FROM (SELECT * FROM visits LIMIT 3) x", NotPrivateError, "LIMIT", "answer itself"),
    ("SELECT COUNT(*) FROM (SELECT * FROM visits ORDER BY day) x", NotPrivateError, "ORDER BY", "answer itself"),
    ("SELECT COUNT(*) FROM (SELECT DISTINCT ON (ward) * FROM visits) x", NotPrivateError, r"ON \(ward", "Group by"),
    ("DROP TABLE people", NotPrivateError, "DROP TABLE people", "SELECT"),
    ("COPY people TO 'x'", NotPrivateError, "COPY", "SELECT"),
    ("UPDATE people SET age = 1", NotPrivateError, "UPDATE", "SELECT"),
    ("VALUES (1)", NotPrivateError, "VALUES", "SELECT"),
    ("SELECT COUNT(*) FROM people WHERE smoker = 1", ParameterError, "smoker = 1", "one kind"),
    ("SELECT COUNT(*) FROM people WHERE age > 'x'", ParameterError, "age > 'x'", "one kind"),
    ("SELECT COUNT(*) FROM people WHERE age", ParameterError, "age", "compare"),
    ("SELECT COUNT(*) FROM people WHERE age IN ()", ParameterError, "IN", "at least one"),
    ("SELECT COUNT(*) FROM people WHERE age IN (1, 'm')", ParameterError, r"age IN \(1, 'm'\)", "kind"),
    ("SELECT COUNT(*) FROM people WHERE age = 1e999999999", ParameterError, "1e999999999", "finite"),
    ("SELECT COUNT(*) FROM people WHERE age = " + "9" * 150_000, ParameterError, "999", "characters"),
    ("SELECT COUNT(*) FROM people WHERE nosuch = 1", ParameterError, "nosuch", "age, Sex, smoker"),
    ('SELECT COUNT(*) FROM people WHERE "AGE" = 1', ParameterError, "AGE", "age, Sex, smoker"),
    ("SELECT COUNT(*) FROM people WHERE q.age = 1", ParameterError, "q", "people"),
    ("SELECT SUM(nosuch) FROM people", ParameterError, "nosuch", "age, Sex, smoker"),
    ("SELECT COUNT(*) FROM nosuch", ParameterError, "nosuch", "people"),
    ("SELECT COUNT(*) FROM 'secret.csv'", ParameterError, "secret.csv", "people"),
    ('SELECT COUNT(*) FROM "people""; DROP TABLE x; --"', ParameterError, "DROP TABLE", "people"),
    ("SELECT COUNT(*) AS n, SUM(age) AS n FROM people", ParameterError, "n", "differ"),
    ("SELECT COUNT(* FROM people", ParameterError, "sql", "line 1, column"),
    ("SELECT COUNT(*) FROM people WHERE Sex = 'm", ParameterError, "sql", "well-formed"),
    ("", ParameterError, "sql", "SELECT"),
    (" ; ", ParameterError, "statements", "exactly one"),
    ("SELECT COUNT(*) FROM people; DROP TABLE people", ParameterError, "2 statements", "exactly one"),
    ("SELECT COUNT(*) FROM people WHERE Sex = '\ud800'", ParameterError, "sql", "Unicode"),
    ("SELECT COUNT(*) FROM people WHERE " + "(" * 10_000 + "smoker" + ")" * 10_000, ParameterError, "sql", "deeply"),
    ("SELECT COUNT(*) FROM people WHERE " + "NOT " * 10_000 + "smoker", ParameterError, "sql", "deeply"),
    ("SELECT COUNT(*) FROM people WHERE " + "NOT " * 45 + "smoker", ParameterError, "sql", "at most 25"),
    ("SELECT COUNT(*) FROM people WHERE age" + " + age" * 45 + " > 3", ParameterError, "levels", "at most"),
    ("SELECT COUNT(*) FROM people WHERE " + "age + " * 10_000 + "1 > 2", ParameterError, "sql", "deeply"),
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
LISTED = {*FUNCTIONS, "EXTRACT", "DATE_PART", "SUBSTRING", "TRIM"}
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


BOMBS = [
    "WITH c0 AS (SELECT patient FROM visits), "
    + ", ".join(f"c{n} AS (SELECT * FROM c{n - 1} UNION ALL SELECT * FROM c{n - 1})" for n in range(1, 40))
    + " SELECT COUNT(*) FROM c39",
    "SELECT COUNT(*) FROM visits v0 " + " ".join(f"JOIN visits v{n} USING (patient)" for n in range(1, 1000)),
    "SELECT COUNT(*) FROM (" + " UNION ALL ".join(["SELECT patient FROM visits"] * 1000) + ") x",
    "SELECT COUNT(*) FROM " + "(SELECT * FROM " * 200 + "visits" + ") x" * 200,
    "SELECT " + ", ".join(f"SUM(age + {n})" for n in range(1_001)) + " FROM people",
    "SELECT COUNT(*) FROM people GROUP BY " + ", ".join(f"age + {n}" for n in range(1_000)),
    "SELECT COUNT(*) FROM people GROUP BY CUBE (" + ", ".join(f"age + {n}" for n in range(30)) + ")",
    "SELECT COUNT(*) FROM people WHERE age IN (" + ",".join(map(str, range(100_000))) + ")",
]
"""Little text that means much: as it would be written out, it is too large."""


@pytest.mark.parametrize("bomb", BOMBS, ids=lambda sql: sql[:60])
def test_text_that_means_too_much_is_refused_before_anything_is_made_of_it(bomb):
    with pytest.raises(ParameterError, match=r"at most|deeply"):
        parsed(bomb)


@pytest.mark.parametrize("repeats", ["IS DISTINCT FROM smoker", "IS TRUE"])
def test_conditions_that_are_repeated_count_as_often_as_they_are(repeats):
    nested = "smoker" + f" {repeats})" * 20
    with pytest.raises(ParameterError, match=r"at most"):
        parsed(f"SELECT COUNT(*) FROM people WHERE {'(' * 20}{nested}")


@pytest.mark.parametrize(
    "attack",
    [
        "' OR 1=1 --",
        "'; DROP TABLE people; --",
        "\\'; --",
        "'' UNION SELECT 1",
        "$$ || pg_sleep(1) || $$",
        "\x01'",
        "%00",
    ],
)
def test_an_attack_inside_a_literal_stays_a_literal(attack):
    assert condition_of("Sex = '" + attack.replace("'", "''") + "'").right.value == attack


@given(
    st.text(max_size=60) | st.builds(" ".join, st.lists(st.sampled_from(TOKENS), max_size=12)), st.sampled_from(STARTS)
)
def test_any_text_is_a_question_or_a_typed_error(text, start):
    try:
        question = parsed(f"{start} {text}")
    except SfumatoError:
        return
    assert len(question_hash(question_text(question.child))) == 64


def test_a_long_list_and_a_long_chain_are_no_trouble():
    numbers = ", ".join(map(str, range(10_000)))
    chain = " OR ".join(f"age = {n}" for n in range(4_000))
    assert len(condition_of(f"age IN ({numbers})").values) == 10_000
    assert len(condition_of(chain).conditions) == 4_000


def test_constants_are_compared_exactly_before_any_engine_could_round_them():
    assert condition_of("1 = 1.0000000000000000001") == FALSE
    assert hashed("SELECT COUNT(*) FROM people WHERE 1 = 1.0000000000000000001") == hashed(
        "SELECT COUNT(*) FROM people WHERE FALSE"
    )


@pytest.mark.parametrize("arguments", ["", "age", "age, 1", "age, 1, 'x'"])
def test_no_function_that_the_parser_knows_is_let_through_unless_it_is_listed(arguments):
    known = {name for name in exp.FUNCTION_BY_NAME if name.isidentifier()} - LISTED
    for name in sorted(known | {"PG_SLEEP", "READ_CSV", "SETSEED", "DBLINK", "GETENV", "ERROR"}):
        for sql in (f"{name}({arguments})", f"age = {name}({arguments})", f"{name}({arguments}) IS NULL"):
            with pytest.raises(SfumatoError):
                parsed(f"SELECT COUNT(*) FROM people WHERE {sql}")


def test_no_other_aggregate_is_let_through():
    for name in sorted(name for name in exp.FUNCTION_BY_NAME if name.isidentifier() and name not in FUNCTIONS):
        with pytest.raises(SfumatoError):
            parsed(f"SELECT {name}(age) FROM people")


def test_the_parameters_of_a_question_are_constants():
    question = parse_question("SELECT COUNT(*) FROM people WHERE age > $2 AND Sex = $1", SOURCES, parameters=["m", 3])
    assert question == parsed("SELECT COUNT(*) FROM people WHERE age > :low AND Sex = :sex", low=3, sex="m")
    assert question == parsed("SELECT COUNT(*) FROM people WHERE age > 3 AND Sex = 'm'")


def test_a_parameter_that_nothing_asks_for_is_refused():
    with pytest.raises(ParameterError, match=r":unused.*must be used"):
        parsed("SELECT COUNT(*) FROM people WHERE age > :low", low=3, unused=4)


def test_the_limits_of_a_header_are_those_of_the_question():
    options, plain = parse_options(
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(max_groups_contributed = 1, privacy_unit_column = patient) "
        "ward, COUNT(*) AS n FROM visits GROUP BY ward"
    )
    question = parse_question(plain, SOURCES, options=options)
    assert question.child.limits == Limits(max_groups_per_unit=1)


def test_a_header_cannot_name_another_privacy_unit():
    options = Options(privacy_unit_column="ward")
    with pytest.raises(NotPrivateError, match=r"privacy_unit_column = ward.*owner.*patient"):
        parse_question("SELECT COUNT(*) FROM visits", SOURCES, options=options)


def test_a_view_is_a_relation_that_questions_ask_like_a_table():
    long = parse_view("SELECT patient, hours AS stay FROM visits WHERE hours > 3", SOURCES)
    question = parse_question("SELECT AVG(stay) AS a FROM long", {"long": long})
    assert question.child.child.child == long


def test_a_view_is_built_on_a_view():
    long = parse_view("SELECT * FROM visits WHERE hours > 3", SOURCES)
    longer = parse_view("SELECT * FROM long WHERE hours > 9", {"long": long})
    assert longer == Filter(long, Compare(Comparison.GREATER, ColumnRef("hours"), Literal(Fraction(9))))


def test_a_view_cannot_add_up_over_people():
    with pytest.raises(NotPrivateError, match=r"Add visits\.patient to GROUP BY"):
        parse_view("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", SOURCES)


WARD, N = ColumnRef("ward"), ColumnRef("n")


def test_a_simple_question_is_simple():
    assert parsed("SELECT Sex, COUNT(*) AS n FROM people GROUP BY Sex") == Presented(
        Asked(GroupBy(Source(PEOPLE), ("Sex",)), (("n", CountRows()),))
    )


def test_names_of_answers_keep_their_case():
    asked = parsed('SELECT COUNT(*) AS Total, SUM(age) AS "Sum of age" FROM people')
    assert [name for name, _ in asked.child.statistics] == ["Total", "Sum of age"]


def test_statistics_without_an_alias_are_called_as_postgresql_calls_them():
    asked = parsed("SELECT COUNT(*), SUM(age), SUM(pay), AVG(age) FROM people")
    assert [name for name, _ in asked.child.statistics] == ["count", "sum", "sum_2", "avg"]
    assert asked.columns == ()


def test_an_answer_calls_a_key_by_its_alias():
    groups = parsed("SELECT sex AS Gender, smoker, COUNT(*) FROM people GROUP BY smoker, sex").child.child
    assert groups.keys == ("smoker", "Sex")
    assert groups.labels == ("smoker", "Gender")


def test_a_key_may_be_shown_twice():
    asked = parsed("SELECT sex AS a, sex AS b, COUNT(*) AS n FROM people GROUP BY sex")
    assert asked.child.child.labels == ("a",)
    assert asked.columns == (("a", ColumnRef("a")), ("b", ColumnRef("a")), ("n", N))


def test_keys_that_share_a_name_are_told_apart():
    asked = parsed(
        "SELECT COUNT(*) AS n FROM orders o JOIN orders p USING (customer_id) GROUP BY o.status, p.status"
    ).child.child
    assert asked.keys == ("o.status", "p.status")
    assert asked.labels == ("status", "status_2")


def test_columns_stand_as_they_are_asked():
    asked = parsed("SELECT COUNT(*) AS n, ward FROM visits GROUP BY ward")
    assert asked.columns == (("n", N), ("ward", WARD))


def test_a_key_that_is_not_selected_is_not_shown():
    asked = parsed("SELECT COUNT(*) AS ward FROM visits GROUP BY ward")
    assert asked.child.child.labels == ("ward_2",)
    assert asked.columns == (("ward", WARD),)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT DISTINCT ward FROM visits",
        "SELECT DISTINCT visits.ward FROM visits",
        "SELECT ward FROM visits GROUP BY ward",
    ],
)
def test_keys_alone_are_counted_and_the_counts_not_shown(sql):
    asked = parsed(sql)
    assert asked.child == Asked(GroupBy(Source(VISITS), ("ward",)), (("count", CountRows()),))
    assert asked.columns == (("ward", WARD),)


def test_an_answer_is_filtered_sorted_and_cut_for_nothing():
    asked = parsed(
        "SELECT ward, SUM(hours) AS s FROM visits GROUP BY ward HAVING SUM(hours) > 3 AND ward <> 'B' "
        "ORDER BY s DESC, 1, ward || 'x' LIMIT 2 OFFSET 1"
    )
    assert asked.child.statistics == (("s", Sum(ColumnRef("hours"))),)
    assert asked.having.conditions[0] == Compare(Comparison.GREATER, ColumnRef("s"), Literal(Fraction(3)))
    assert asked.order[:2] == (OrderKey(ColumnRef("s"), descending=True), OrderKey(WARD))
    assert (asked.limit, asked.offset) == (2, 1)


@pytest.mark.parametrize(
    ("clause", "limit", "offset"),
    [
        ("LIMIT 5", 5, 0),
        ("LIMIT ALL OFFSET 2 ROWS", None, 2),
        ("FETCH FIRST 5 ROWS ONLY", 5, 0),
        ("FETCH NEXT ROW ONLY", 1, 0),
        ("LIMIT :most", 7, 0),
    ],
)
def test_the_number_of_rows_shown(clause, limit, offset):
    asked = parsed(f"SELECT COUNT(*) FROM visits {clause}", **({"most": 7} if ":" in clause else {}))
    assert (asked.limit, asked.offset) == (limit, offset)


def test_parentheses_around_a_question_mean_nothing():
    assert parsed("((SELECT COUNT(*) FROM visits))") == parsed("SELECT COUNT(*) FROM visits")


def test_a_question_reads_as_it_was_asked():
    sql = (
        "SELECT ward, SUM(hours) / COUNT(*) AS mean FROM visits WHERE hours > 1 GROUP BY ward "
        "HAVING COUNT(*) > 5 ORDER BY ward DESC LIMIT 3"
    )
    assert text_of(sql) == sql


@pytest.mark.parametrize(
    ("sql", "error", "message"),
    [
        ("SELECT ward FROM visits", NotPrivateError, "ward.*GROUP BY"),
        ("SELECT 'x' FROM visits", NotPrivateError, "'x'.*never released"),
        ("FROM visits", NotPrivateError, r"\*"),
        ("SELECT COUNT(*) FROM visits GROUP BY ward HAVING SUM(hours)", ParameterError, "true or false"),
        ("SELECT COUNT(*) FROM visits ORDER BY 2", ParameterError, "from 1 to 1"),
        ("SELECT COUNT(*) FROM visits ORDER BY nosuch", ParameterError, "nosuch"),
        ("SELECT COUNT(*) FROM visits LIMIT -1", ParameterError, "LIMIT"),
        ("SELECT COUNT(*) FROM visits LIMIT 1.5", ParameterError, "LIMIT"),
        ("SELECT COUNT(*) FROM visits LIMIT 9999999999", ParameterError, "LIMIT"),
        ("SELECT COUNT(*) FROM visits FETCH FIRST 5 ROWS WITH TIES", NotPrivateError, "WITH TIES"),
        ("SELECT COUNT(*) FROM visits FETCH FIRST 5 PERCENT ROWS ONLY", NotPrivateError, "PERCENT"),
        ("SELECT DISTINCT ward, COUNT(*) FROM visits GROUP BY ward", NotPrivateError, "DISTINCT"),
        ("SELECT DISTINCT * FROM visits", NotPrivateError, r"\*"),
        ("SELECT COUNT(*) FROM visits UNION ALL SELECT COUNT(*) FROM visits", NotPrivateError, "UNION.*FROM"),
        ("SELECT COUNT(*) AS n, AVG(hours) AS n FROM visits", ParameterError, "differ"),
        ("SELECT COUNT(*) AS n, AVG(hours) AS n_low FROM visits", ParameterError, "_low"),
        ("SELECT ward + 1, COUNT(*) FROM visits GROUP BY ward", ParameterError, r"ward \+ 1"),
    ],
)
def test_other_questions_are_refused(sql, error, message):
    with pytest.raises(error, match=message):
        parsed(sql)


@pytest.mark.parametrize(
    ("clause", "order"),
    [
        ("n DESC", (OrderKey(ColumnRef("n"), descending=True),)),
        ("n DESC NULLS LAST", (OrderKey(IsNull(ColumnRef("n"))), OrderKey(ColumnRef("n"), descending=True))),
        ("1 NULLS FIRST", (OrderKey(IsNull(ColumnRef("ward")), descending=True), OrderKey(ColumnRef("ward")))),
        ("ward NULLS LAST", (OrderKey(ColumnRef("ward")),)),
    ],
)
def test_null_is_first_or_last_as_asked(clause, order):
    assert parsed(f"SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY {clause}").order == order
