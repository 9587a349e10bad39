from fractions import Fraction

import pytest
from tests.query.asking import CUSTOMERS, ORDERS, PEOPLE, VISITS, parsed, rows

from sfumato.errors import NotPrivateError, ParameterError
from sfumato.query.model.expressions import Call, ColumnRef, Compare, Comparison, Literal
from sfumato.query.model.functions import Function
from sfumato.query.model.relations import Distinct, Except, Filter, Intersect, Select, Source, UnionAll


def picked(table, *columns):
    return Select(Source(table), tuple((column, ColumnRef(column)) for column in columns))


def above(column, number):
    return Compare(Comparison.GREATER, ColumnRef(column), Literal(Fraction(number)))


IDS, NAMES = picked(ORDERS, "customer_id"), picked(CUSTOMERS, "customer_id")
ALL_IDS, ALL_NAMES = "SELECT customer_id FROM orders", "SELECT customer_id FROM customers"
LONG = Filter(Source(VISITS), above("hours", 3))


@pytest.mark.parametrize(
    ("sql", "relation"),
    [
        ("SELECT * FROM visits", Source(VISITS)),
        ("SELECT patient, ward, hours, day FROM visits", Source(VISITS)),
        ("SELECT ward FROM visits", picked(VISITS, "ward")),
        ("SELECT * FROM visits WHERE hours > 3", LONG),
        ("(SELECT * FROM (SELECT * FROM visits) AS v WHERE v.hours > 3)", LONG),
        ("SELECT hours AS h, ABS(hours) FROM visits",
         Select(Source(VISITS), (("h", ColumnRef("hours")), ("abs", Call(Function.ABS, (ColumnRef("hours"),)))))),
        ("WITH a AS (SELECT * FROM visits), b AS (SELECT * FROM a WHERE hours > 3) SELECT * FROM b", LONG),
        ("WITH a (x) AS (SELECT ward FROM visits) SELECT x AS ward FROM a", picked(VISITS, "ward")),
        ("WITH a (x) AS (SELECT ward FROM visits) SELECT x FROM a",
         Select(picked(VISITS, "ward"), (("x", ColumnRef("ward")),))),
        ("WITH visits AS (SELECT * FROM visits WHERE hours > 3) SELECT * FROM visits", LONG),
        ("SELECT DISTINCT customer_id FROM orders", Distinct(IDS)),
        ("SELECT DISTINCT Sex FROM people", Distinct(picked(PEOPLE, "Sex"))),
        ("SELECT customer_id FROM orders UNION ALL SELECT customer_id FROM customers", UnionAll(IDS, NAMES)),
        ("SELECT customer_id FROM orders UNION SELECT customer_id FROM customers", Distinct(UnionAll(IDS, NAMES))),
        ("SELECT customer_id FROM orders INTERSECT ALL SELECT customer_id FROM customers", Intersect(IDS, NAMES)),
        ("SELECT customer_id FROM orders INTERSECT SELECT customer_id FROM customers", Distinct(Intersect(IDS, NAMES))),
        ("SELECT customer_id FROM orders EXCEPT ALL SELECT customer_id FROM customers", Except(IDS, NAMES)),
        ("SELECT customer_id FROM orders EXCEPT SELECT customer_id FROM customers", Except(Distinct(IDS), NAMES)),
        (f"{ALL_IDS} UNION ALL {ALL_IDS} INTERSECT ALL {ALL_NAMES}", UnionAll(IDS, Intersect(IDS, NAMES))),
        ("SELECT ward FROM visits UNION ALL SELECT ward FROM visits",
         UnionAll(picked(VISITS, "ward"), picked(VISITS, "ward"))),
    ],
)  # fmt: skip
def test_queries_inside_of_questions_are_relations(sql, relation):
    assert rows(sql) == relation


def test_a_cte_is_written_out_wherever_it_is_used():
    found = parsed(
        "WITH big AS (SELECT * FROM orders WHERE total > 3) "
        "SELECT COUNT(*) FROM big a JOIN big b ON a.customer_id = b.customer_id"
    ).child.child.child
    assert found.left.child == found.right.child == Filter(Source(ORDERS), above("total", 3))


@pytest.mark.parametrize(
    ("sql", "error", "message"),
    [
        ("SELECT ward FROM visits UNION SELECT ward FROM visits", NotPrivateError, "two people would count as one"),
        ("SELECT ward FROM visits INTERSECT ALL SELECT ward FROM visits", NotPrivateError, "count as one"),
        ("SELECT ward FROM visits EXCEPT ALL SELECT ward FROM visits", NotPrivateError, "count as one"),
        ("SELECT DISTINCT ward FROM visits", NotPrivateError, r"Add visits\.patient to SELECT"),
        ("SELECT ward FROM visits UNION ALL SELECT code FROM wards", NotPrivateError, "UNION.*units"),
        ("SELECT ward, day FROM visits UNION ALL SELECT ward FROM visits", ParameterError, "as many"),
        ("SELECT ward FROM visits UNION ALL SELECT day FROM visits", ParameterError, "kind"),
        ("SELECT ward, hours AS ward FROM visits", ParameterError, "twice"),
        ("SELECT * FROM visits ORDER BY hours", NotPrivateError, "ORDER BY hours.*compare the rows"),
        ("SELECT ward FROM visits UNION ALL SELECT ward FROM visits LIMIT 3", NotPrivateError, "LIMIT 3"),
        ("SELECT ward FROM visits UNION BY NAME SELECT ward FROM visits", NotPrivateError, "not supported"),
        ("WITH a AS (SELECT 1), a AS (SELECT 2) SELECT * FROM visits", ParameterError, "each query once"),
        ("WITH a AS (DELETE FROM visits) SELECT * FROM visits", NotPrivateError, "DELETE"),
        ("WITH a AS (SELECT nosuch FROM visits) SELECT * FROM visits", ParameterError, "nosuch"),
        ("WITH a AS (SELECT * FROM b), b AS (SELECT * FROM visits) SELECT * FROM a", ParameterError, "b"),
        ("WITH RECURSIVE a AS (SELECT * FROM a) SELECT * FROM a", NotPrivateError, "RECURSIVE.*no bound"),
        ("SELECT x.ward FROM (SELECT * FROM visits) AS y", ParameterError, "must be one of: y"),
        ("SELECT 1", NotPrivateError, "Name a table"),
    ],
)
def test_other_queries_are_refused(sql, error, message):
    with pytest.raises(error, match=message):
        rows(sql)
