from fractions import Fraction

import pytest
from tests.query.asking import CUSTOMERS, LINEITEMS, ORDERS, PEOPLE, SOURCES, VISITS, WARDS, parsed, rows

from sfumato.errors import NotPrivateError, ParameterError, UnboundedSensitivityError
from sfumato.query.analysis.bounding import limits_of
from sfumato.query.model.expressions import Call, Case, ColumnRef, Compare, Comparison, Literal, Null
from sfumato.query.model.functions import Function
from sfumato.query.model.kinds import Kind
from sfumato.query.model.relations import (
    Distinct,
    Except,
    Filter,
    Fold,
    Folded,
    Grouped,
    Intersect,
    Select,
    Source,
    UnionAll,
)
from sfumato.query.sql.relations import selected


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
        ("WITH RECURSIVE a AS (SELECT * FROM a) SELECT * FROM a", NotPrivateError, "RECURSIVE.*nothing bounds"),
        ("SELECT x.ward FROM (SELECT * FROM visits) AS y", ParameterError, "must be one of: y"),
        ("SELECT 1", NotPrivateError, "Name a table"),
    ],
)
def test_other_queries_are_refused(sql, error, message):
    with pytest.raises(error, match=message):
        rows(sql)


TOTAL, STATUS = ColumnRef("total"), ColumnRef("status")
UNIT = Folded("customer_id", Fold.MIN, ColumnRef("customer_id"))


def count(name):
    return Folded(name, Fold.COUNT_ROWS)


def test_groups_of_the_unit_alone_are_one_row_a_unit():
    found = rows("SELECT customer_id, COUNT(*) AS n FROM orders GROUP BY customer_id")
    assert found == Grouped(Source(ORDERS), (), (UNIT, count("n")))
    assert limits_of(found).max_rows_per_unit == 1


def test_a_unit_that_is_not_asked_for_is_not_carried():
    assert rows("SELECT COUNT(*) AS n FROM orders GROUP BY customer_id") == Grouped(Source(ORDERS), (), (count("n"),))


def test_further_keys_group_within_the_unit():
    found = rows("SELECT status, COUNT(*) AS n FROM orders GROUP BY customer_id, 1")
    assert found == Grouped(Source(ORDERS), ("status",), (count("n"),))


def test_a_foreign_key_groups_the_rows_of_one_unit():
    found = rows("SELECT order_id, SUM(quantity) AS q FROM lineitem GROUP BY order_id")
    assert found == Grouped(Source(LINEITEMS), ("order_id",), (Folded("q", Fold.SUM, ColumnRef("quantity")),))


@pytest.mark.parametrize(
    ("sql", "fold", "value"),
    [
        ("COUNT(note)", Fold.COUNT, ColumnRef("note")),
        ("COUNT(1)", Fold.COUNT_ROWS, None),
        ("COUNT(DISTINCT status)", Fold.COUNT_DISTINCT, STATUS),
        ("COUNT(DISTINCT customer_id)", Fold.COUNT_DISTINCT, ColumnRef("customer_id")),
        ("SUM(total)", Fold.SUM, TOTAL),
        ("AVG(total * 2)", Fold.MEAN, Call(Function.MULTIPLY, (TOTAL, Literal(Fraction(2))))),
        ("MIN(placed)", Fold.MIN, ColumnRef("placed")),
        ("MAX(status)", Fold.MAX, STATUS),
        ("MAX(total) FILTER (WHERE total > 3)", Fold.MAX, Case(((above("total", 3), TOTAL),), Null(Kind.FLOAT))),
    ],
)
def test_aggregates_are_folds(sql, fold, value):
    found = rows(f"SELECT {sql} AS x FROM orders GROUP BY customer_id")
    assert found == Grouped(Source(ORDERS), (), (Folded("x", fold, value),))


def test_having_filters_groups_by_hidden_folds_too():
    found = rows("SELECT customer_id FROM orders GROUP BY customer_id HAVING COUNT(*) > 2")
    grouped = Grouped(Source(ORDERS), (), (UNIT, count("count")))
    assert found == Select(Filter(grouped, above("count", 2)), (("customer_id", ColumnRef("customer_id")),))


def test_expressions_of_aggregates_compute_each_once():
    found = rows("SELECT SUM(total) / COUNT(*) AS mean, COUNT(*) AS n FROM orders GROUP BY customer_id HAVING mean > 3")
    mean = Call(Function.DIVIDE, (ColumnRef("sum"), ColumnRef("n")))
    grouped = Grouped(Source(ORDERS), (), (count("n"), Folded("sum", Fold.SUM, TOTAL)))
    kept = Filter(grouped, Compare(Comparison.GREATER, mean, Literal(Fraction(3))))
    assert found == Select(kept, (("mean", mean), ("n", ColumnRef("n"))))


def test_a_fold_may_be_called_like_a_key():
    found = rows("SELECT COUNT(*) AS status FROM orders GROUP BY customer_id, status")
    grouped = Grouped(Source(ORDERS), ("status",), (count("count"),))
    assert found == Select(grouped, (("status", ColumnRef("count")),))


def test_where_each_row_is_a_unit_any_keys_group():
    found = rows("SELECT Sex, COUNT(*) AS n FROM people GROUP BY Sex")
    assert found == Grouped(Source(PEOPLE), ("Sex",), (count("n"),))


def test_a_group_has_a_row_whatever_is_asked_of_it():
    found = rows("SELECT 1 AS one FROM orders GROUP BY customer_id")
    assert found == Select(Grouped(Source(ORDERS), (), (UNIT,)), (("one", Literal(Fraction(1))),))


def test_public_rows_are_added_up_freely():
    assert rows("SELECT SUM(beds) AS b FROM wards").child == Source(WARDS)


@pytest.mark.parametrize(
    ("sql", "error", "message"),
    [
        ("SELECT status, COUNT(*) FROM orders GROUP BY status", NotPrivateError,
         r"GROUP BY status.*rows of two people.*Add orders\.customer_id to GROUP BY"),
        ("SELECT COUNT(*) FROM orders", NotPrivateError, r"SELECT COUNT.*Add orders\.customer_id"),
        ("SELECT order_id, COUNT(*) FROM orders GROUP BY order_id", NotPrivateError, r"Add orders\.customer_id"),
        ("SELECT part, COUNT(*) FROM lineitem GROUP BY part", NotPrivateError, r"Add lineitem\.order_id"),
        ("SELECT COUNT(*) FROM people", NotPrivateError, "a total over all people"),
        ("SELECT total FROM orders GROUP BY customer_id", NotPrivateError, "total.*GROUP BY"),
        ("SELECT MEDIAN(total) FROM orders GROUP BY customer_id", NotPrivateError, "this aggregate.*COUNT, SUM"),
        ("SELECT COUNT(*) FROM orders GROUP BY ROLLUP (customer_id)", NotPrivateError, "GROUPING SETS"),
        ("SELECT SUM(order_id) FROM orders GROUP BY customer_id", UnboundedSensitivityError, "Declare bounds"),
        ("SELECT SUM(status) FROM orders GROUP BY customer_id", ParameterError, "number"),
        ("SELECT COUNT(*) FROM orders GROUP BY customer_id HAVING SUM(total)", ParameterError, "true or false"),
    ],
)  # fmt: skip
def test_other_groups_are_refused(sql, error, message):
    with pytest.raises(error, match=message):
        rows(sql)


def test_columns_that_are_a_relation_s_own_leave_it_as_it_is():
    visits = SOURCES["visits"]
    own = tuple((name, ColumnRef(name)) for name in ("patient", "ward", "hours", "day"))
    assert selected(visits, own).relation == visits
    assert selected(visits, own[:2]).relation == Select(visits, own[:2])
