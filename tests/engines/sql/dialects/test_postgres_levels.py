from sqlglot import exp, parse_one
from tests.engines.in_postgres import answer

from sfumato.engines.sql.dialects.postgres_levels import kept_apart

LEVELS = 40


def nested(column, levels):
    query = "SELECT CAST(1.5 AS DOUBLE PRECISION) AS x FROM pg_class AS r"
    for _ in range(levels):
        query = f"SELECT {column} AS x FROM ({query}) AS r"
    return parse_one(f"SELECT MAX(x) AS x FROM ({query}) AS r", dialect="postgres")


def offsets(query):
    return len(list(kept_apart(query).find_all(exp.Offset)))


def test_what_is_computed_from_what_is_computed_is_kept_apart_at_every_second_level():
    """Merged, these would be a term of 3^40 columns."""
    halved = nested("CASE WHEN x > 0 THEN x / 2 ELSE x END", LEVELS)
    assert answer(halved).to_pylist() == [{"x": 1.5 / 2**LEVELS}]
    assert offsets(halved) == LEVELS // 2


def test_levels_that_compute_nothing_or_are_never_merged_stay_as_they_are():
    assert offsets(nested("x", 5)) == 0
    assert offsets(nested("x + x", 1)) == 0
    assert (
        offsets(parse_one("SELECT x FROM (SELECT x + 1 AS x FROM (SELECT DISTINCT y + 1 AS x FROM t) AS a) AS b")) == 0
    )


def test_levels_of_what_is_joined_or_combined_are_kept_apart_too():
    inner = "(SELECT y + 1 AS x FROM t)"
    assert offsets(parse_one(f"SELECT x FROM (SELECT x + 1 AS x FROM u JOIN {inner} AS a ON TRUE) AS b")) == 1
    both = f"(SELECT x FROM t UNION ALL SELECT x FROM {inner} AS a)"
    assert offsets(parse_one(f"SELECT x FROM (SELECT x + 1 AS x FROM {both} AS b) AS c")) == 1
