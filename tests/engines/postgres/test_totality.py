"""What is proved to fail on no row, and what is not: as PostgreSQL itself writes definitions down."""

import pytest
from tests.engines.in_postgres import connection
from tests.engines.postgres_server import server

from sfumato.engines.postgres.definitions import definitions, unproved
from sfumato.engines.postgres.totality import is_total_expression, is_total_query

TOTAL = [
    "i4, t AS who FROM many WHERE f8 > 5",
    "COALESCE(vc, 'none') AS a, i4::bigint AS b, (i8 = i4) AS c, m = 'sad' AS d, w = 'z' AS e, vc::text AS f FROM many",
    "t IN ('x', 'y') AS a, t NOT IN ('q') AS b, CASE WHEN i8 > 5 THEN t ELSE 'x' END AS c FROM many",
    "i4 BETWEEN 1 AND 5 AS a, NULLIF(i4, 0) AS b, b IS NOT TRUE AS c, t IS DISTINCT FROM vc AS d FROM many",
    "tz > '2020-01-01' AS a, -5 AS b, d = '2020-01-01' AS c, m::text AS d, 1.5 AS e, i4::numeric AS f FROM many",
    "CASE i4 WHEN 1 THEN 2 END AS a, i4 > 2.5 AS b, f4 < f8 AS c FROM many WHERE i4 > 3 AND NOT b OR t <> ''",
    "t, i4 FROM many UNION ALL SELECT vc, i4 FROM many",
    "l.t, r.i4 FROM many l JOIN many r ON l.i4 = r.i8 LEFT JOIN many q ON q.u = l.u",
    "* FROM many",
    "* FROM seen",
]
PARTIAL = [
    "f8 / f4 AS r FROM many", "i4 + 1 AS r FROM many", "-i4 AS r FROM many", "t::int AS r FROM many",
    "n::float8 AS r FROM many", "n > f8 AS r FROM many", "i8::int AS r FROM many", "f8::float4 AS r FROM many",
    "n::numeric(3, 0) AS r FROM many", "sqrt(f8) AS r FROM many", "t LIKE 'a%' AS r FROM many",
    "t || t AS r FROM many",
    "d::timestamp AS r FROM many", "COALESCE(d, ts) AS r FROM many", "tz::date AS r FROM many",
    "t::word AS r FROM many",
    "count(*) AS r FROM many", "DISTINCT t FROM many", "t FROM many LIMIT 5", "t FROM many ORDER BY 1 / i4",
    "t FROM many WHERE 1 / i4 > 0", "t FROM many WHERE t === 'x'", "t FROM many TABLESAMPLE system (10)",
    "(SELECT 1 / i4 FROM many) AS r", "p.t, q.i FROM many p, generate_series(1, p.i4) q(i)",
    "many::text AS r FROM many",
    "p.* FROM many p WHERE EXISTS (SELECT FROM many q WHERE 1 / q.i4 > 0)", "current_user AS r FROM many",
    "t FROM many p JOIN many q USING (t)", "a.t FROM many a CROSS JOIN many b", "t FROM many GROUP BY t",
    "CASE WHEN i4 = 0 THEN 0 ELSE 1 / i4 END AS r FROM many", "row_number() OVER () AS r FROM many",
    "(t = 'x')::int AS r FROM many",
    "NULLIF(vc, bp) AS r FROM many", "seen.a FROM seen JOIN bad ON a = b", "* FROM bad",
]  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def schema():
    """A table with a column of each type, and what a user made."""
    server().execute(
        "CREATE SCHEMA total", "SET search_path = total", "CREATE TYPE mood AS ENUM ('sad', 'happy')",
        "CREATE DOMAIN word AS text CHECK (VALUE <> 'x')",
        "CREATE TABLE many (i2 smallint, i4 int, i8 bigint, n numeric, f4 real, f8 float8, t text, vc varchar(20),"
        " bp char(5), b bool, d date, ts timestamp, tz timestamptz, u uuid, m mood, w word)",
        "CREATE FUNCTION same(text, text) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT 1 / length($1) > 0'",
        "CREATE OPERATOR === (LEFTARG = text, RIGHTARG = text, PROCEDURE = same)",
        "CREATE FUNCTION alike(varchar, bpchar) RETURNS boolean LANGUAGE sql AS 'SELECT 1 / length($1) > 0'",
        "CREATE OPERATOR = (LEFTARG = varchar, RIGHTARG = bpchar, PROCEDURE = alike)",
        "CREATE VIEW seen AS SELECT t AS a FROM many", "CREATE VIEW bad AS SELECT t AS b, 1 / i4 AS r FROM many",
    )  # fmt: skip
    yield
    server().execute("RESET search_path", "DROP SCHEMA total CASCADE")


def failing(name="v"):
    with connection().transaction() as asked:
        found = definitions(asked, "total", name)
        return unproved(asked, found, place=("total", name), columns=(), has_policies=False)


def viewed(query):
    server().execute(f"CREATE VIEW v AS SELECT {query}")
    try:
        return failing()
    finally:
        server().execute("DROP VIEW v")


@pytest.mark.parametrize("query", TOTAL)
def test_what_fails_on_no_row_is_proved(query):
    assert viewed(query) is None


@pytest.mark.parametrize("query", PARTIAL)
def test_what_may_fail_on_a_row_is_not(query):
    assert viewed(query) in {"v", "bad"}


@pytest.mark.parametrize("code", ["", "SELECT", "a b c", "SELECT 1", "1; DROP TABLE t", "(" * 5_000])
def test_what_cannot_be_read_is_not_proved(code):
    assert not is_total_query(code, lambda *_: {})
    assert not is_total_expression(code, {})


def test_every_total_definition_is_computed_for_the_ends_of_all_types():
    """Proved is what PostgreSQL itself computes for the largest and smallest values, and for none."""
    least = (
        "-32768, -2147483648, -9223372036854775808, '-1e131071', '-3e38', '-1e308', '', '', '', false, '4713-01-01 BC',"
        " '4713-01-01 BC', '4713-01-01 BC', '00000000-0000-0000-0000-000000000000', 'sad', ''"
    )
    most = (
        "32767, 2147483647, 9223372036854775807, 'NaN', 'NaN', 'inf', repeat('x', 9999), 'y', 'z', true, 'infinity',"
        " 'infinity', 'infinity', 'ffffffff-ffff-ffff-ffff-ffffffffffff', 'happy', NULL"
    )
    server().execute(f"INSERT INTO many VALUES ({least}), ({most})", "INSERT INTO many (i2) VALUES (NULL)")
    try:
        for query in TOTAL:
            server().execute(f"CREATE TEMP TABLE computed AS SELECT {query}", "DROP TABLE computed")
    finally:
        server().execute("TRUNCATE many")
