from fractions import Fraction

import pytest
from tests.query.asking import CUSTOMERS, LINEITEMS, ORDERS, SOURCES, VISITS, WARDS, parsed, rows

from sfumato.errors import NotPrivateError, ParameterError
from sfumato.query.model.expressions import Call, ColumnRef, Compare, Comparison, Literal
from sfumato.query.model.functions import Function
from sfumato.query.model.relations import Filter, Grouped, Join, JoinKind, Select, Source


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
    with pytest.raises(NotPrivateError, match=f"(orders|customers).*: rows of two people could meet.*{advice}"):
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
        ("visits RIGHT JOIN wards ON ward = code", NotPrivateError, "RIGHT JOIN.*Swap"),
        ("visits FULL JOIN wards ON ward = code", NotPrivateError, "FULL JOIN.*LEFT JOIN.*NOT EXISTS"),
        ("visits NATURAL JOIN wards", NotPrivateError, "NATURAL.*USING"),
        ("visits LEFT SEMI JOIN wards ON ward = code", NotPrivateError, "SEMI.*EXISTS"),
        ("visits LEFT JOIN wards", ParameterError, "ON or USING"),
        ("visits LEFT JOIN wards ON ward = code AND hours > 3", NotPrivateError, "hours > 3.*WHERE"),
        ("wards LEFT JOIN visits ON ward = code", NotPrivateError, "LEFT JOIN visits.*left side"),
        ("visits JOIN wards USING (ward)", ParameterError, "USING.*both sides"),
        ("visits JOIN wards ON ward = nosuch", ParameterError, "nosuch"),
        ("visits JOIN wards ON ward = beds", ParameterError, "kind"),
        ("visits v JOIN wards v ON ward = code", ParameterError, "name of its own"),
        ("visits JOIN (SELECT code FROM wards) ON ward = code", ParameterError, "name of its own"),
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
