"""Sub-queries in the place of a value: within a unit, or of public rows, and nothing else."""

import pytest
from tests.query.asking import hashed, parsed

from sfumato.errors import NotPrivateError, ParameterError

COUNTED = "(SELECT COUNT(*) FROM orders o WHERE o.customer_id = c.customer_id)"
OWN = "SELECT COUNT(*) FROM visits v WHERE hours > (SELECT {} FROM visits w WHERE {})"


def test_it_is_a_left_join_with_groups_of_the_unit():
    asked = (
        "SELECT COUNT(*) FROM visits v WHERE hours > (SELECT AVG(w.hours) FROM visits w WHERE w.patient = v.patient)"
    )
    written = (
        "SELECT COUNT(*) FROM visits v LEFT JOIN (SELECT patient, AVG(hours) AS a FROM visits GROUP BY patient) w "
        "ON v.patient = w.patient WHERE v.hours > w.a"
    )
    assert hashed(asked) == hashed(written)


def test_a_count_of_no_rows_is_0():
    asked = "SELECT AVG((SELECT COUNT(*) FROM orders o WHERE o.customer_id = c.customer_id)) FROM customers c"
    written = (
        "SELECT AVG(COALESCE(o.n, 0)) FROM customers c LEFT JOIN "
        "(SELECT customer_id, COUNT(*) AS n FROM orders GROUP BY customer_id) o ON c.customer_id = o.customer_id"
    )
    assert hashed(asked) == hashed(written)


def test_further_equalities_narrow_it():
    asked = OWN.format("MAX(w.hours)", "w.patient = v.patient AND w.ward = v.ward AND w.hours < 20")
    written = (
        "SELECT COUNT(*) FROM visits v LEFT JOIN (SELECT ward, patient, MAX(hours) AS a FROM visits WHERE hours < 20 "
        "GROUP BY patient, ward) w ON v.patient = w.patient AND v.ward = w.ward WHERE v.hours > w.a"
    )
    assert hashed(asked) == hashed(written)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM visits WHERE hours > (SELECT MAX(beds) FROM wards)",
        "SELECT COUNT(*) FROM visits WHERE hours > (SELECT MAX(beds) FROM wards WHERE code = ward)",
        "SELECT COUNT(*) FROM people WHERE age > (SELECT MAX(beds) FROM wards)",
        f"SELECT SUM(CASE WHEN {COUNTED} > 1 THEN 1 ELSE 0 END) FROM customers c",
        f"WITH orders AS (SELECT * FROM orders WHERE total > 3) SELECT COUNT(*) FROM customers c WHERE {COUNTED} > 100",
        f"SELECT AVG(n) FROM (SELECT c.*, {COUNTED} AS n FROM customers c) x",
    ],
)
def test_it_is_answered(sql):
    assert parsed(sql).child.statistics


def test_a_star_does_not_show_it():
    columns = "SELECT COUNT(*) FROM (SELECT * FROM visits v WHERE hours > (SELECT AVG(w.hours) FROM visits w WHERE "
    question = parsed(f"{columns} w.patient = v.patient)) x WHERE x.patient IS NOT NULL")
    assert question.child.statistics
    with pytest.raises(ParameterError, match=r"must be one of: patient, ward, hours, day\b"):
        parsed(f"{columns} w.patient = v.patient)) x WHERE x.avg > 3")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM visits WHERE hours > (SELECT AVG(hours) FROM visits)",
        "SELECT COUNT(*) FROM people WHERE age > (SELECT AVG(age) FROM people)",
        "SELECT COUNT(*) FROM people p WHERE age > (SELECT AVG(q.age) FROM people q WHERE q.sex = p.sex)",
        "SELECT COUNT(*) FROM wards WHERE beds > (SELECT COUNT(*) FROM visits WHERE ward = code)",
        OWN.format("AVG(w.hours)", "w.ward = v.ward"),
        "SELECT COUNT(*) FROM visits v WHERE hours > (SELECT SUM(o.total) FROM orders o WHERE o.note = v.patient)",
    ],
)
def test_rows_of_other_people_are_not_looked_at(sql):
    with pytest.raises(NotPrivateError, match="other people's rows"):
        parsed(sql)


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        (OWN.format("w.hours", "w.patient = v.patient"), "several rows"),
        (OWN.format("AVG(w.hours), 1", "w.patient = v.patient"), "several rows"),
        (OWN.format("AVG(w.hours)", "w.patient = v.patient GROUP BY w.ward"), "GROUP BY"),
        (OWN.format("AVG(w.hours)", "w.patient = v.patient LIMIT 1"), "LIMIT"),
        (OWN.format("MEDIAN(w.hours)", "w.patient = v.patient"), "not supported in sub-queries"),
        (OWN.format("AVG(w.hours)", "w.patient = v.patient AND w.hours < v.hours"), "only compare its columns"),
        (
            "SELECT COUNT(*) FROM visits GROUP BY ward HAVING COUNT(*) > (SELECT COUNT(*) FROM wards)",
            "cannot be here",
        ),
    ],
)
def test_it_is_one_aggregate_compared_by_equality(sql, reason):
    with pytest.raises(NotPrivateError, match=reason):
        parsed(sql)
