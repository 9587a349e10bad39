import pytest
from sqlglot import exp
from tests.query.asking import expression_of

from sfumato.errors import NotPrivateError
from sfumato.query.sql.parsing import parsed
from sfumato.query.sql.refusals import is_distinct, refusal, require_clauses


@pytest.mark.parametrize(
    ("sql", "reason", "suggestion"),
    [
        ("RANDOM()", "random functions", "noise"),
        ("gen_random_uuid()", "random functions", "noise"),
        ("CURRENT_TIMESTAMP", "tomorrow", "DATE"),
        ("AGE(age)", "tomorrow", "DATE"),
        ("Sex ~* 'm'", "regular expressions", "LIKE"),
        ("REGEXP_REPLACE(Sex, 'm', 'f')", "regular expressions", "LIKE"),
        ("(SELECT 1)", "sub-query", "EXISTS"),
        ("age = ALL (SELECT 1)", "sub-query", "EXISTS"),
        ("ROW_NUMBER() OVER ()", "window", "GROUP BY"),
        ("ARRAY[age]", "arrays", "its own column"),
        ("Sex ->> 'a'", "JSON", "its own column"),
        ("INTERVAL '1 day'", "interval", "day \\+ INTERVAL"),
        ("Sex LIKE 'a' ESCAPE 'b'", "ESCAPE", "backslash"),
        ('Sex COLLATE "C"', "code points", "COLLATE"),
        ("age AT TIME ZONE 'UTC'", "time zone", "UTC"),
        ("NULL", "no type", "CAST"),
        ("IF(smoker, 1, 2)", "PostgreSQL", "CASE"),
        ("DATEDIFF(age, 1)", "PostgreSQL", "d - e"),
        ("DATE_ADD(age, 1)", "PostgreSQL", "INTERVAL"),
        ("TO_NUMBER(age)", "conversion", "CAST"),
        ("RANK()", "before OVER", "OVER"),
        ("GROUPING(age)", "GROUPING SETS", "SELECT"),
        ("NVL(age, 1)", "unknown", "Did you mean COALESCE"),
        ("LENGHT(sex)", "unknown", "Did you mean LENGTH"),
        ("current_user", "not supported", "columns"),
        ("age & 1", "not supported", "columns"),
        ("E'a'", "not supported", "columns"),
        ("pg_read_file('x')", "unknown", "ABS, APPROX"),
    ],
)
def test_a_refusal_gives_the_reason_and_a_way_out(sql, reason, suggestion):
    with pytest.raises(NotPrivateError, match=f"{reason}.*{suggestion}"):
        expression_of(sql)


def test_a_refusal_shows_the_fragment():
    assert str(refusal(exp.column("a") + 1)).startswith("a + 1: ")


def test_clauses_that_are_not_read_are_refused():
    query = parsed("SELECT a FROM t LIMIT 3")
    require_clauses(query, {"expressions", "from_", "limit"})
    with pytest.raises(NotPrivateError, match=r"LIMIT 3.*free"):
        require_clauses(query, {"expressions", "from_"})


def test_distinct_on_is_refused():
    assert is_distinct(parsed("SELECT DISTINCT a FROM t"))
    assert not is_distinct(parsed("SELECT a FROM t"))
    with pytest.raises(NotPrivateError, match=r"DISTINCT ON \(a"):
        is_distinct(parsed("SELECT DISTINCT ON (a) b FROM t"))
