"""Conditions make answers sharper, for the same price: less noise, fewer groups, no δ, and values without bounds."""

from datetime import date, timedelta

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import NotPrivateError, UnboundedSensitivityError

EPSILON = 20_000
"""So much that noise hardly shows."""

DAYS = [date(1994, 1, 1) + timedelta(days=20 * at) for at in range(60)]
TABLE = pa.table(
    {
        "quantity": [float(at) for at in range(60)],
        "lines": list(range(60)),
        "score": [float(at - 30) for at in range(60)],
        "mode": ["AIR", "RAIL", "SHIP", "TRUCK"] * 15,
        "city": ["Bonn", "Ulm", "Köln"] * 20,
        "day": DAYS,
    }
)
COLUMNS = {
    "quantity": sf.real(0, 50), "lines": sf.integer(0, 50), "score": sf.real(),
    "mode": sf.text(values=["AIR", "RAIL", "SHIP", "TRUCK"]), "city": sf.text(), "day": sf.date(),
}  # fmt: skip


@pytest.fixture
def db():
    with sf.open(TABLE, name="t", columns=COLUMNS, budget=sf.PureDP(10**6)) as opened:
        yield opened


def width(db, query):
    """Half of the predicted interval of the last number of a query, at ε = 1."""
    return db.query(query).error(epsilon=1)[-1].half_width


def answered(db, query):
    """The rows of an answer without the ends of intervals; numbers are rounded."""
    found = db.sql(query, epsilon=EPSILON).to_arrow()
    columns = [column.to_pylist() for name, column in zip(found.column_names, found.columns, strict=True)
               if not name.endswith(("_low", "_high"))]  # fmt: skip
    return [tuple(round(v) if isinstance(v, float) else v for v in row) for row in zip(*columns, strict=True)]


@pytest.mark.parametrize(
    ("query", "factor"),
    [
        ("SELECT SUM(quantity) FROM t WHERE quantity < 5", 10),
        ("SELECT SUM(lines) FROM t WHERE lines < 5", 12.5),
        ("SELECT SUM(CASE WHEN quantity < 5 THEN quantity END) FROM t", 10),
        ("SELECT SUM(quantity) FILTER (WHERE quantity < 5) FROM t", 10),
        ("WITH few AS (SELECT quantity AS q FROM t WHERE quantity < 5) SELECT SUM(q) FROM few", 10),
        ("SELECT SUM(quantity) FROM t WHERE quantity < 5 OR lines < 5", 1),
        ("SELECT SUM(quantity) FROM t WHERE NOT quantity < 5", 1),
        ("SELECT SUM(quantity) FROM t WHERE lines < 5", 1),
    ],
)
def test_noise_is_made_for_the_values_that_a_condition_leaves(db, query, factor):
    column = "lines" if "SUM(lines)" in query else "quantity"
    assert width(db, f"SELECT SUM({column}) FROM t") / width(db, query) == pytest.approx(factor, rel=0.01)


def test_a_range_in_where_bounds_what_nothing_else_bounds(db):
    with pytest.raises(UnboundedSensitivityError):
        db.query("SELECT AVG(score) FROM t").cost(epsilon=1)
    within = "SELECT AVG(score) AS a, COUNT(score) AS n FROM t WHERE score BETWEEN 0 AND 20"
    assert answered(db, within) == [(10, 21)]
    per_mode = (
        "SELECT SUM(a) AS s FROM (SELECT mode, AVG(score) AS a FROM t WHERE score BETWEEN 0 AND 20 GROUP BY mode) AS m"
    )
    assert answered(db, per_mode)[0][0] == pytest.approx(40, abs=3)


def test_groups_that_a_condition_excludes_are_not_shown_and_unlisted_ones_need_no_delta(db):
    assert answered(db, "SELECT mode, COUNT(*) FROM t WHERE mode IN ('SHIP', 'AIR') GROUP BY mode") == [
        ("AIR", 15), ("SHIP", 15),
    ]  # fmt: skip
    assert answered(db, "SELECT city, COUNT(*) FROM t WHERE city IN ('Ulm', 'Aachen') GROUP BY city") == [
        ("Aachen", 0), ("Ulm", 20),
    ]  # fmt: skip
    assert answered(db, "SELECT lines, COUNT(*) FROM t WHERE lines BETWEEN 3 AND 5 GROUP BY lines") == [
        (3, 1), (4, 1), (5, 1),
    ]  # fmt: skip
    with pytest.raises(NotPrivateError, match="delta"):
        db.sql("SELECT city, COUNT(*) FROM t WHERE city <> 'Ulm' GROUP BY city", epsilon=1)


def test_a_contradiction_is_answered_with_noise(db):
    for where in ("quantity < 1 AND quantity > 5", "mode = 'AIR' AND mode = 'SHIP'", "lines > 99"):
        assert answered(db, f"SELECT COUNT(*), SUM(quantity), SUM(lines) FROM t WHERE {where}") == [(0, 0, 0)]
    assert len(answered(db, "SELECT mode, COUNT(*) FROM t WHERE mode = 'AIR' AND mode = 'SHIP' GROUP BY mode")) == 4
    assert answered(db, "SELECT AVG(quantity), STDDEV(quantity), MEDIAN(quantity) FROM t WHERE quantity = 7") == [
        (7, 0, 7)
    ]


@pytest.mark.parametrize(
    "rewording",
    [
        "SELECT SUM(quantity) AS s FROM t WHERE mode IN ('AIR', 'RAIL') AND 5 >= quantity",
        "SELECT SUM(quantity) AS s FROM t WHERE NOT (quantity > 5 OR NOT mode IN ('RAIL', 'AIR'))",
        "SELECT SUM(q) s FROM (SELECT quantity q, mode m FROM t WHERE quantity <= 5) w WHERE m IN ('AIR', 'RAIL')",
    ],
)
def test_a_rewording_of_a_condition_is_free(db, rewording):
    first = db.sql("SELECT SUM(quantity) AS s FROM t WHERE quantity <= 5 AND mode IN ('RAIL', 'AIR')", epsilon=1)
    spent = db.spent
    assert db.sql(rewording, epsilon=1).to_arrow() == first.to_arrow()
    assert db.spent == spent


def test_values_beyond_the_declared_bounds_count_as_before(db):
    """59 is beyond 50: the condition reads 59, the sum counts 50."""
    assert answered(db, "SELECT COUNT(*), SUM(quantity), SUM(lines) FROM t WHERE quantity > 58 AND lines > 58") == [
        (1, 50, 50)
    ]


@pytest.mark.parametrize(
    ("key", "where", "count"),
    [
        ("DATE_TRUNC('month', day)", "day >= '1994-01-01' AND day < '1997-01-01'", 36),
        ("DATE_TRUNC('quarter', day)", "EXTRACT(YEAR FROM day) = 1995", 4),
        ("EXTRACT(YEAR FROM day)", "day BETWEEN '1994-01-01' AND '1996-12-31'", 3),
        ("EXTRACT(MONTH FROM day)", "EXTRACT(MONTH FROM day) IN (1, 2) AND EXTRACT(YEAR FROM day) = 1995", 2),
        ("lines / 10 * 10", "lines / 10 * 10 < 30", 3),
        ("day", "day > '1994-01-01' AND day < '1994-01-05'", 3),
    ],
)
def test_what_is_computed_of_a_range_is_a_public_key(db, key, where, count):
    found = answered(db, f"SELECT {key} AS k, COUNT(*) AS n FROM t WHERE {where} GROUP BY 1")
    assert len(found) == count
    assert [(sum(n for _, n in found),)] == answered(db, f"SELECT COUNT(*) AS n FROM t WHERE {where}")
