import pytest
from tests.query.asking import CUSTOMERS, LINEITEMS, ORDERS, PEOPLE, WARDS, rows

from sfumato.query.analysis.units import UNIT, Own, Path, determines_unit, holds_unit, same_unit, ties_of
from sfumato.query.model.expressions import ColumnRef
from sfumato.query.model.relations import BoundRows, Join, JoinKind, PeoplePart, RowFunction, RowWindow, Source
from sfumato.query.model.schema import Limits, Table, UnitPath, integer
from sfumato.query.sql.context import scope_of


def test_a_unit_column_holds_the_unit():
    ties = ties_of(Source(ORDERS))
    assert ties["customer_id"] == {UNIT, Own("orders", "customer_id")}
    assert ties["total"] == {Own("orders", "total")}
    assert holds_unit(ColumnRef("customer_id"), ties)
    assert not holds_unit(ColumnRef("total"), ties)
    assert not holds_unit(None, ties)


def test_a_foreign_key_leads_to_the_owner():
    ties = ties_of(Source(LINEITEMS))["order_id"]
    assert ties == {Path("orders", "order_id"), Own("lineitem", "order_id")}
    assert determines_unit(ties)
    assert not determines_unit(ties_of(Source(ORDERS))["order_id"])


def test_a_foreign_key_to_the_unit_itself_holds_it():
    table = Table(
        name="cards", columns={"holder": integer()}, unit=UnitPath("holder", CUSTOMERS, "customer_id"),
        limits=Limits(max_rows_per_unit=2),
    )  # fmt: skip
    assert UNIT in ties_of(Source(table))["holder"]


@pytest.mark.parametrize("table", [PEOPLE, WARDS])
def test_rows_without_owners_tell_of_none(table):
    assert ties_of(Source(table)) == {}


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM orders WHERE total > 3",
        "SELECT customer_id, total FROM orders",
        "SELECT DISTINCT customer_id FROM orders",
        "SELECT customer_id, COUNT(*) AS n FROM orders GROUP BY customer_id",
        "SELECT o.customer_id FROM orders o JOIN lineitem l ON o.order_id = l.order_id",
        "SELECT l.customer_id FROM customers o JOIN orders l ON o.customer_id = l.customer_id",
        "SELECT * FROM orders o WHERE EXISTS (SELECT 1 FROM lineitem l WHERE l.order_id = o.order_id)",
        "SELECT customer_id FROM orders UNION ALL SELECT customer_id FROM customers",
        "SELECT customer_id FROM orders INTERSECT ALL SELECT customer_id FROM customers",
    ],
)
def test_the_unit_is_followed_through_relations(sql):
    assert UNIT in ties_of(rows(sql))["customer_id"]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT customer_id + 0 AS customer_id FROM orders",
        "SELECT customer_id FROM orders UNION ALL SELECT order_id FROM orders",
        "SELECT o.customer_id FROM customers c LEFT JOIN orders o ON c.customer_id = o.customer_id",
        "SELECT customer_id, MIN(order_id) AS m FROM orders GROUP BY customer_id, status",
    ],
)
def test_what_may_be_another_value_is_no_unit(sql):
    ties = ties_of(rows(sql))
    last = list(scope_of(rows(sql)).shape.columns)[-1]
    assert UNIT not in ties.get(last, frozenset())


def test_parts_and_bounds_keep_the_unit():
    orders = Source(ORDERS)
    part = PeoplePart(child=orders, by="status", values=("open",), value="open", max_parts_per_unit=1, salt="s")
    assert ties_of(part) == ties_of(BoundRows(orders, 3)) == ties_of(orders)
    order = (("total", False),)
    numbered = RowWindow(child=orders, name="k", function=RowFunction.LAG, value="customer_id", order=order)
    assert ties_of(numbered) == ties_of(orders)  # a row before the first is nobody's


def test_the_right_side_of_a_left_join_may_be_nobody_s():
    left, right = Source(CUSTOMERS), rows("SELECT customer_id AS other FROM orders")
    on = (("customer_id", "other"),)
    assert "other" in ties_of(Join(left=left, right=right, on=on))
    assert "other" not in ties_of(Join(left=left, right=right, on=on, kind=JoinKind.LEFT))


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ({UNIT}, {UNIT}, True),
        ({Path("orders", "order_id")}, {Own("orders", "order_id")}, True),
        ({Own("orders", "order_id")}, {Path("orders", "order_id")}, True),
        ({Path("orders", "order_id")}, {Path("orders", "order_id")}, True),
        ({Own("orders", "order_id")}, {Own("orders", "order_id")}, False),
        ({Path("orders", "order_id")}, {Own("orders", "total")}, False),
        ({Path("orders", "order_id")}, {UNIT}, False),
        (set(), {UNIT}, False),
    ],
)
def test_equal_values_are_of_one_unit_by_what_the_owner_declared(first, second, same):
    assert same_unit(frozenset(first), frozenset(second)) is same
