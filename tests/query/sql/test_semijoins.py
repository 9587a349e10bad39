from fractions import Fraction

import pytest
from tests.query.asking import CUSTOMERS, LINEITEMS, ORDERS, VISITS, WARDS, parsed

from sfumato.errors import NotPrivateError, ParameterError
from sfumato.query.model.expressions import ColumnRef, Compare, Comparison, IsNull, Literal, Not
from sfumato.query.model.relations import Filter, Grouped, SemiJoin, Source


def asked(sql):
    return parsed(f"SELECT COUNT(*) FROM {sql}").child.child.child


def above(column, number):
    return Compare(Comparison.GREATER, ColumnRef(column), Literal(Fraction(number)))


BIG = Filter(Source(ORDERS), above("total", 100))
BUYERS = SemiJoin(child=Source(CUSTOMERS), other=BIG, on=(("customer_id", "customer_id"),))


@pytest.mark.parametrize(
    "sql",
    [
        "customers c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.customer_id AND o.total > 100)",
        "customers c WHERE EXISTS (SELECT * FROM orders WHERE total > 100 AND c.customer_id = customer_id)",
        "customers c WHERE EXISTS (SELECT NULL FROM orders o WHERE c.customer_id = o.customer_id AND total > 100)",
        "customers WHERE customer_id IN (SELECT customer_id FROM orders WHERE total > 100)",
        "customers WHERE customer_id IN (SELECT DISTINCT customer_id FROM orders WHERE total > 100)",
        "customers WHERE (customer_id) IN ((SELECT customer_id FROM orders WHERE total > 100))",
        "customers WHERE NOT customer_id NOT IN (SELECT customer_id FROM orders WHERE total > 100)",
    ],
)
def test_exists_and_in_keep_rows_with_a_partner(sql):
    assert asked(sql) == BUYERS


@pytest.mark.parametrize(
    "sql",
    [
        "customers c WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.customer_id AND o.total > 100)",
        "customers WHERE customer_id NOT IN (SELECT customer_id FROM orders WHERE total > 100)",
        "customers WHERE NOT (customer_id IN (SELECT customer_id FROM orders WHERE total > 100))",
    ],
)
def test_not_keeps_the_others(sql):
    assert asked(sql) == SemiJoin(child=BUYERS.child, other=BUYERS.other, on=BUYERS.on, negated=True)


def test_other_conditions_come_first():
    found = asked("visits WHERE hours > 3 AND ward IN (SELECT code FROM wards WHERE beds > 9)")
    other = Filter(Source(WARDS), above("beds", 9))
    assert found == SemiJoin(child=Filter(Source(VISITS), above("hours", 3)), other=other, on=(("ward", "code"),))


def test_a_public_table_needs_no_privacy_unit():
    found = asked("people WHERE EXISTS (SELECT 1 FROM wards WHERE code = Sex)")
    assert found.on == (("Sex", "code"),)


def test_foreign_keys_and_further_equalities_link():
    found = asked("orders o WHERE EXISTS (SELECT 1 FROM lineitem l WHERE l.order_id = o.order_id AND price = o.total)")
    assert found.other == Source(LINEITEMS)
    assert found.on == (("order_id", "order_id"), ("total", "price"))


def test_several_columns_are_compared_at_once():
    found = asked("orders WHERE (customer_id, status) IN (SELECT customer_id, segment FROM customers)")
    assert found.on == (("customer_id", "customer_id"), ("status", "segment"))


def test_a_sub_query_may_be_grouped():
    found = asked(
        "orders WHERE order_id IN (SELECT order_id FROM lineitem GROUP BY order_id HAVING SUM(quantity) > 30)"
    )
    assert isinstance(found.other.child.child, Grouped)
    assert found.on == (("order_id", "order_id"),)


def test_a_sub_query_may_ask_sub_queries():
    found = asked(
        "customers c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.customer_id AND EXISTS "
        "(SELECT 1 FROM lineitem l WHERE l.order_id = o.order_id))"
    )
    assert isinstance(found.other, SemiJoin)


def test_an_inner_name_hides_an_outer_one():
    found = asked("orders o WHERE EXISTS (SELECT 1 FROM orders p WHERE p.customer_id = o.customer_id AND total > 100)")
    assert found.other == BIG


@pytest.mark.parametrize(
    ("sql", "error", "message"),
    [
        ("orders o WHERE EXISTS (SELECT 1 FROM lineitem l)", NotPrivateError, "two people could meet"),
        ("orders o WHERE EXISTS (SELECT 1 FROM orders p WHERE p.order_id = o.order_id)", NotPrivateError,
         r"Add .*o\.customer_id = p\.customer_id"),
        ("orders WHERE total IN (SELECT price FROM lineitem)", NotPrivateError, "two people could meet"),
        ("people WHERE age IN (SELECT age FROM people)", NotPrivateError, "age IN.*privacy unit"),
        ("wards WHERE code IN (SELECT ward FROM visits)", NotPrivateError, "code IN"),
        ("orders o WHERE EXISTS (SELECT 1 FROM lineitem l WHERE l.order_id = o.order_id AND price > o.total)",
         NotPrivateError, r"price > o\.total.*equality"),
        ("orders o WHERE status = 'open' OR EXISTS (SELECT 1 FROM lineitem l WHERE l.order_id = o.order_id)",
         NotPrivateError, "EXISTS.*beside AND"),
        ("orders o WHERE EXISTS (SELECT 1 FROM lineitem l WHERE l.order_id = o.order_id LIMIT 1)", NotPrivateError,
         "LIMIT"),
        ("customers WHERE customer_id IN (SELECT customer_id, total FROM orders)", ParameterError, "as many columns"),
        ("customers c WHERE EXISTS (SELECT nosuch FROM orders o WHERE o.customer_id = c.customer_id)", ParameterError,
         "nosuch"),
        ("customers c WHERE EXISTS (SELECT pg_sleep(9) FROM orders o WHERE o.customer_id = c.customer_id)",
         NotPrivateError, "PG_SLEEP"),
        ("visits WHERE ward NOT IN (SELECT code FROM wards)", NotPrivateError, "NULL.*NOT EXISTS"),
        ("visits WHERE ward IS NOT NULL AND ward NOT IN (SELECT code FROM wards)", NotPrivateError, "NULL"),
        ("visits WHERE ward NOT IN (SELECT code FROM wards WHERE code IS NOT NULL)", NotPrivateError, "NULL"),
    ],
)  # fmt: skip
def test_other_sub_queries_are_refused(sql, error, message):
    with pytest.raises(error, match=message):
        asked(sql)


def test_not_in_is_asked_of_values_that_are_there():
    found = asked("visits WHERE ward IS NOT NULL AND ward NOT IN (SELECT code FROM wards WHERE code IS NOT NULL)")
    assert found.child.condition == Not(IsNull(ColumnRef("ward")))
    assert found.negated
    assert asked("wards WHERE beds NOT IN (SELECT beds FROM wards)").negated
