"""What a query shows of the groups behind it: the same as if it were one query."""

import pytest
from tests.query.asking import hashed, parsed, text_of

from sfumato.errors import NotPrivateError, ParameterError
from sfumato.query.sql.shown import MAX_SHOWN

GROUPED = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"


@pytest.mark.parametrize(
    ("sql", "meaning"),
    [
        (
            f"WITH v AS ({GROUPED}) SELECT ward, n, n * 2 AS m FROM v WHERE n > 3",
            "SELECT ward, COUNT(*) AS n, COUNT(*) * 2 AS m FROM visits GROUP BY ward HAVING COUNT(*) > 3",
        ),
        (
            "SELECT * FROM (SELECT ward, AVG(hours) FROM visits GROUP BY 1 HAVING COUNT(*) > 2) v (w, a) WHERE w > 'A'",
            "SELECT ward AS w, AVG(hours) AS a FROM visits GROUP BY ward HAVING COUNT(*) > 2 AND ward > 'A'",
        ),
        (
            f"WITH b (k, n) AS ({GROUPED}) SELECT b.k, 100 * n / SUM(n) OVER () AS p FROM b ORDER BY p LIMIT 2",
            "SELECT ward AS k, 100 * COUNT(*) / SUM(COUNT(*)) OVER () AS p FROM visits GROUP BY k ORDER BY p LIMIT 2",
        ),
        (
            "WITH a AS (SELECT * FROM visits), b AS (SELECT ward, COUNT(*) AS n FROM a GROUP BY 1) SELECT n FROM b",
            "SELECT COUNT(*) AS n FROM visits GROUP BY ward",
        ),
        (
            "SELECT n, m FROM (SELECT MONTH(day) AS m, COUNT(*) AS n FROM visits GROUP BY m) v ORDER BY 1 LIMIT 1",
            "SELECT COUNT(*) AS n, MONTH(day) AS m FROM visits GROUP BY MONTH(day) ORDER BY 1 LIMIT 1",
        ),
        (
            "SELECT r FROM (SELECT ward, RANK() OVER (ORDER BY COUNT(*)) AS r FROM visits GROUP BY ward) v ORDER BY r",
            "SELECT RANK() OVER (ORDER BY COUNT(*)) AS r FROM visits GROUP BY ward ORDER BY r",
        ),
        (
            "SELECT r FROM (SELECT RANK() OVER w AS r FROM visits GROUP BY ward WINDOW w AS (ORDER BY ward)) v",
            "SELECT RANK() OVER (ORDER BY ward) AS r FROM visits GROUP BY ward",
        ),
    ],
)
def test_a_select_from_groups_is_one_select(sql, meaning):
    assert text_of(sql) == text_of(meaning)
    assert hashed(sql) == hashed(meaning)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT n, nosuch FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) v",
        "SELECT hours FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) v",
        "SELECT w.n FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) v",
        "SELECT n FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) v (a, b, c)",
    ],
)
def test_it_sees_the_columns_of_groups_alone(sql):
    with pytest.raises(ParameterError, match=r"must be one of|at most 2 columns"):
        parsed(sql)


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("SELECT ward FROM (SELECT ward, RANK() OVER (ORDER BY COUNT(*)) AS r FROM visits GROUP BY ward) v WHERE r = 1",
         "after HAVING"),
        ("SELECT SUM(r) OVER () FROM (SELECT RANK() OVER (ORDER BY ward) AS r FROM visits GROUP BY ward) v",
         "window of windows"),
        (f"SELECT ward FROM ({GROUPED}) v WHERE SUM(n) > 3", "aggregate of released groups"),
        ("SELECT hours FROM (SELECT hours, ward FROM visits) v", "single rows"),
        (f"SELECT ward, n FROM ({GROUPED} LIMIT 2) v", "single rows|comes? first"),
    ],
)  # fmt: skip
def test_what_is_none_of_one_select_is_refused(sql, reason):
    with pytest.raises(NotPrivateError, match=reason):
        parsed(sql)


def test_it_may_not_grow_beyond_what_a_question_may_hold():
    inner = f"LEAST({', '.join(['COUNT(*)'] * 900)})"
    outer = ", ".join(f"n AS x{place}" for place in range(200))
    with pytest.raises(ParameterError, match="too many terms"):
        parsed(f"SELECT {outer} FROM (SELECT ward, {inner} AS n FROM visits GROUP BY ward) v")


@pytest.mark.parametrize("clause", [f"LIMIT {MAX_SHOWN + 1}", "LIMIT -1", "OFFSET 1.5", "ORDER BY 9", "ORDER BY 'n'"])
def test_numbers_of_rows_and_places_have_their_range(clause):
    for sql in (f"{GROUPED} {clause}", f"SELECT ward, n FROM ({GROUPED}) v {clause}"):
        with pytest.raises(ParameterError):
            parsed(sql)
