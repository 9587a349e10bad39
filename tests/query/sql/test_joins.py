from fractions import Fraction

import pytest
from tests.query.asking import CUSTOMERS, LINEITEMS, ORDERS, SOURCES, VISITS, WARDS, parsed, rows

from sfumato.errors import NotPrivateError, ParameterError
from sfumato.query.analysis.shape import shape_of
from sfumato.query.model.expressions import Call, ColumnRef, Compare, Comparison, IsNull, Literal, Not
from sfumato.query.model.functions import Function
from sfumato.query.model.relations import Filter, Grouped, Join, JoinKind, Select, SemiJoin, Source


def joined(sql):
    return parsed(f"SELECT COUNT(*) FROM {sql}").child.child.child


def named(table, alias):
    return Select(Source(table), tuple((f"{alias}.{name}", ColumnRef(name)) for name in table.columns))


STAY = Join(left=Source(VISITS), right=Source(WARDS), on=(("ward", "code"),))


@pytest.mark.parametrize(
    "sql",
    [
        "visits JOIN wards ON ward = code",
        "visits v JOIN wards w ON v.ward = w.code",
        "visits INNER JOIN wards ON (code = ward)",
        "visits JOIN wards ON ward = code AND TRUE AND ward = code",
        "wards JOIN visits ON ward = code",
        "visits CROSS JOIN wards WHERE ward = code",
        "visits, wards WHERE code = ward",
    ],
)
def test_tables_with_names_of_their_own_keep_them(sql):
    assert joined(sql) == STAY


def test_columns_that_share_a_name_are_called_by_their_tables():
    found = joined("orders o JOIN lineitem l ON o.order_id = l.order_id")
    on = (("o.order_id", "l.order_id"),)
    assert found == Join(left=named(ORDERS, "o"), right=named(LINEITEMS, "l"), on=on)
    assert joined("orders o JOIN lineitem l USING (order_id)") == found


def test_a_left_join_keeps_rows_without_a_partner():
    found = joined("visits LEFT JOIN wards ON ward = code AND beds > 3")
    kept = Filter(Source(WARDS), Compare(Comparison.GREATER, ColumnRef("beds"), Literal(Fraction(3))))
    assert found == Join(left=Source(VISITS), right=kept, on=(("ward", "code"),), kind=JoinKind.LEFT)


def test_a_right_join_is_a_left_join_of_the_sides_exchanged():
    found = joined("wards RIGHT JOIN visits ON ward = code AND beds > 3")
    assert found == joined("visits LEFT JOIN wards ON ward = code AND beds > 3")
    columns = shape_of(rows("SELECT o.*, c.segment FROM orders o RIGHT JOIN customers c USING (customer_id)")).columns
    assert next(iter(columns)) == "order_id"
    assert columns["order_id"].nullable


def test_a_right_join_keeps_all_rows_of_the_private_side():
    with pytest.raises(NotPrivateError, match="right side of RIGHT JOIN"):
        joined("visits RIGHT JOIN wards ON ward = code")
    with pytest.raises(NotPrivateError, match="behind a comma"):
        joined("visits v, wards w RIGHT JOIN visits x ON x.ward = w.code")
    with pytest.raises(ParameterError, match="ON or USING"):
        joined("wards RIGHT JOIN visits")


def test_tables_by_commas_are_joined_where_equalities_link_them():
    linked = joined("orders o, customers c, lineitem l WHERE o.customer_id = c.customer_id AND l.order_id = o.order_id")
    assert linked == joined("orders o JOIN customers c ON o.customer_id = c.customer_id JOIN lineitem l ON "
                            "l.order_id = o.order_id")  # fmt: skip
    apart = "customers c, lineitem l, orders o WHERE o.customer_id = c.customer_id AND l.order_id = o.order_id"
    assert isinstance(joined(apart), Join)
    columns = list(shape_of(rows(f"SELECT c.*, l.part, o.total FROM {apart}")).columns)
    assert columns == ["customer_id", "segment", "joined", "part", "total"]


def test_what_on_says_beside_equalities_filters_the_pairs():
    condition = Compare(Comparison.GREATER, ColumnRef("beds"), ColumnRef("hours"))
    assert joined("visits JOIN wards ON ward = code AND beds > hours") == Filter(STAY, condition)


def test_an_expression_on_one_side_is_a_column_below():
    found = joined("visits JOIN wards ON LOWER(ward) = code")
    own = tuple((name, ColumnRef(name)) for name in VISITS.columns)
    left = Select(Source(VISITS), (*own, ("key", Call(Function.LOWER, (ColumnRef("ward"),)))))
    assert found == Join(left=left, right=Source(WARDS), on=(("key", "code"),))


def test_expressions_on_both_sides_have_names_of_their_own():
    assert joined("visits JOIN wards ON LOWER(ward) = LOWER(code)").on == (("key", "key_2"),)


def test_three_tables_are_joined_one_after_the_other():
    found = joined("lineitem l, orders o, customers c WHERE l.order_id = o.order_id AND c.customer_id = o.customer_id")
    inner = Join(left=named(LINEITEMS, "l"), right=named(ORDERS, "o"), on=(("l.order_id", "o.order_id"),))
    assert found == Join(left=inner, right=named(CUSTOMERS, "c"), on=(("o.customer_id", "c.customer_id"),))


def test_a_sub_query_that_is_grouped_by_the_unit_is_joined_on_it():
    found = joined(
        "customers c JOIN (SELECT customer_id AS id, COUNT(*) AS n FROM orders GROUP BY customer_id) o "
        "ON c.customer_id = o.id"
    )
    assert isinstance(found.right.child, Grouped)
    assert found.on == (("customer_id", "id"),)


@pytest.mark.parametrize(
    ("sql", "advice"),
    [
        ("orders o JOIN orders p ON o.order_id = p.order_id", r"o\.customer_id = p\.customer_id"),
        ("orders o JOIN orders p USING (order_id)", r"o\.customer_id = p\.customer_id"),
        ("customers c JOIN orders o ON c.segment = o.status", r"c\.customer_id = o\.customer_id"),
        ("customers c JOIN orders o ON c.customer_id + 0 = o.customer_id", r"c\.customer_id = o\.customer_id"),
        ("customers c LEFT JOIN orders o ON c.segment = o.status", r"c\.customer_id = o\.customer_id"),
        ("customers c CROSS JOIN orders o", r"c\.customer_id = o\.customer_id"),
        ("customers c, orders o WHERE c.segment = o.status", r"c\.customer_id = o\.customer_id"),
        ("lineitem l JOIN customers c ON l.order_id = c.customer_id", "foreign key"),
        ("lineitem l JOIN orders o ON l.price = o.total", "foreign key"),
        ("customers c LEFT JOIN orders o USING (customer_id) JOIN orders p ON o.customer_id = p.customer_id",
         r"c\.customer_id = p\.customer_id"),
    ],
)  # fmt: skip
def test_rows_of_two_people_never_meet(sql, advice):
    with pytest.raises(NotPrivateError, match=f"(orders|customers).*: rows of two people could be joined.*{advice}"):
        joined(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "orders o JOIN orders p ON o.customer_id = p.customer_id",
        "lineitem l JOIN lineitem m ON l.order_id = m.order_id",
        "lineitem l JOIN orders o ON l.order_id = o.order_id AND l.price = o.total",
        "customers c JOIN orders o USING (customer_id) JOIN lineitem l USING (order_id)",
    ],
)
def test_rows_of_one_person_meet(sql):
    assert joined(sql)


@pytest.mark.parametrize(
    ("sql", "error", "message"),
    [
        ("visits FULL JOIN wards ON ward = code", NotPrivateError, "FULL JOIN.*LEFT JOIN.*NOT EXISTS"),
        ("visits NATURAL JOIN wards", NotPrivateError, "NATURAL.*USING"),
        ("visits LEFT SEMI JOIN wards ON ward = code", NotPrivateError, "SEMI.*EXISTS"),
        ("visits LEFT JOIN wards", ParameterError, "ON or USING"),
        ("visits LEFT JOIN wards ON ward = code AND hours > 3", NotPrivateError, "hours > 3.*WHERE"),
        ("wards LEFT JOIN visits ON ward = code", NotPrivateError, "LEFT JOIN visits.*left side"),
        ("visits JOIN wards USING (ward)", ParameterError, "USING.*both sides"),
        ("visits JOIN wards ON ward = nosuch", ParameterError, "nosuch"),
        ("visits JOIN wards ON ward = beds", ParameterError, "kind"),
        ("visits v JOIN wards v ON ward = code", ParameterError, "must give each table its own name"),
        ("visits JOIN (SELECT code FROM wards) ON ward = code", ParameterError, "must give each table its own name"),
        ("(visits JOIN wards ON ward = code)", NotPrivateError, "Name a table"),
        ("people JOIN visits ON Sex = ward", NotPrivateError, "JOIN visits.*units"),
    ],
)
def test_other_joins_are_refused_by_name(sql, error, message):
    with pytest.raises(error, match=message):
        joined(sql)


def test_an_equality_that_joins_tables_without_on_means_the_same_among_all_of_them():
    with pytest.raises(ParameterError, match="several columns"):
        joined("visits v, wards w, wards x WHERE ward = w.code AND code = v.ward")


def test_views_are_joined_like_tables():
    assert rows("SELECT * FROM visits JOIN wards ON ward = code") == STAY
    assert set(SOURCES) >= {"visits", "wards"}


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
        ("orders o WHERE EXISTS (SELECT 1 FROM lineitem l)", NotPrivateError, "two people could be joined"),
        ("orders o WHERE EXISTS (SELECT 1 FROM orders p WHERE p.order_id = o.order_id)", NotPrivateError,
         r"Add .*o\.customer_id = p\.customer_id"),
        ("orders WHERE total IN (SELECT price FROM lineitem)", NotPrivateError, "two people could be joined"),
        ("people WHERE age IN (SELECT age FROM people)", NotPrivateError, "age IN.*privacy unit"),
        ("wards WHERE code IN (SELECT ward FROM visits)", NotPrivateError, "code IN"),
        ("orders o WHERE EXISTS (SELECT 1 FROM lineitem l WHERE l.order_id = o.order_id AND price + o.total > 3)",
         NotPrivateError, r"price \+ o\.total > 3.*equality"),
        ("orders o WHERE status = 'open' OR EXISTS (SELECT 1 FROM lineitem l WHERE l.order_id = o.order_id)",
         NotPrivateError, "EXISTS.*connected by AND"),
        ("orders o WHERE EXISTS (SELECT 1 FROM lineitem l WHERE l.order_id = o.order_id LIMIT 1)", NotPrivateError,
         "LIMIT"),
        ("customers WHERE customer_id IN (SELECT customer_id, total FROM orders)", ParameterError, "as many columns"),
        ("customers c WHERE EXISTS (SELECT nosuch FROM orders o WHERE o.customer_id = c.customer_id)", ParameterError,
         "nosuch"),
        ("customers c WHERE EXISTS (SELECT pg_sleep(9) FROM orders o WHERE o.customer_id = c.customer_id)",
         NotPrivateError, "PG_SLEEP"),
        ("orders o WHERE (note, status) NOT IN (SELECT note, status FROM orders p WHERE p.customer_id = o.customer_id)",
         NotPrivateError, "NULL.*NOT EXISTS"),
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
