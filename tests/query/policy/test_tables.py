import pytest

from sfumato.errors import PolicyError
from sfumato.privacy.neighbors import EACH_ROW, UnitColumn
from sfumato.query.model.kinds import Kind
from sfumato.query.model.schema import PUBLIC, UnitPath
from sfumato.query.policy.document import TableEntry
from sfumato.query.policy.tables import policy_tables

INTEGER = {"type": "integer"}
SCORE = {"score": {"type": "float"}}


def entry(unit="row", columns=("id", "order_id", "line_id"), **facts):
    limits = {} if unit in {"row", "public"} else {"max_rows_per_unit": 5}
    declared = {"source": "t.csv", "unit": unit, "columns": dict.fromkeys(columns, INTEGER) | SCORE}
    return TableEntry.model_validate(declared | limits | facts)


CUSTOMERS = entry("customer_id", ["customer_id"])
ORDERS = entry("customer_id", ["id", "order_id", "customer_id"])


def tables(**entries):
    return policy_tables({"customers": CUSTOMERS, "orders": ORDERS} | entries)


def test_a_unit_is_a_row_nobody_a_column_or_a_path():
    made = tables(a=entry(), b=entry("public"))
    assert [made[name].unit for name in ("a", "b", "orders")] == [EACH_ROW, PUBLIC, UnitColumn("customer_id")]


@pytest.mark.parametrize(
    ("unit", "column", "key"),
    [
        ("order_id -> orders", "order_id", "order_id"),
        ("order_id -> orders.customer_id", "order_id", "order_id"),
        ("order_id -> orders(id)", "order_id", "id"),
        ("order_id -> orders(id).customer_id", "order_id", "id"),
        ("  order_id->orders ( id ) . customer_id ", "order_id", "id"),
        ("id -> orders", "id", "id"),
    ],
)
def test_a_path_leads_to_the_column_of_the_same_name_or_to_the_one_it_states(unit, column, key):
    made = tables(lines=entry(unit))
    assert made["lines"].unit == UnitPath(column, made["orders"], key)


def test_tables_may_be_written_in_any_order_and_paths_have_several_hops():
    made = tables(parcels=entry("line_id -> lines"), lines=entry("order_id -> orders"))
    assert list(made) == ["customers", "orders", "parcels", "lines"]
    assert made["parcels"].unit.table is made["lines"]
    assert made["lines"].unit.table is made["orders"]
    assert str(made["parcels"].unit) == "line_id -> lines(line_id).order_id -> orders(order_id).customer_id"


def test_ids_that_are_not_declared_are_text_or_what_their_path_leads_to():
    made = tables(lines=entry("order_id -> orders", ["id"]), pets=entry("customer_id", ["id"], max_rows_per_unit=1))
    assert made["lines"].columns["order_id"].kind is Kind.INTEGER
    assert made["pets"].columns["customer_id"].kind is Kind.TEXT


@pytest.mark.parametrize(
    ("unit", "message"),
    [
        ("order_id -> nosuch", "no table nosuch; there are customers, orders, lines"),
        ("order_id -> lines", "in a circle: lines -> lines"),
        ("order_id -> parcels", "no table parcels"),
        ("order_id -> orders.id", "id is not who owns a row of orders: customer_id"),
        ("order_id -> orders(nosuch)", "nosuch"),
        ("nosuch -> orders", "column of orders"),
        ("order_id -> orders(id).customer_id -> customers", "one step"),
        ("order_id -> ", "one step"), ("-> orders", "one step"), ("order_id -> orders.id.x", "one step"),
        ("order_id -> orders()", "one step"),
    ],
)  # fmt: skip
def test_a_path_that_leads_nowhere_is_refused_with_its_place(unit, message):
    with pytest.raises(PolicyError, match=message) as caught:
        tables(lines=entry(unit))
    assert caught.value.path.startswith("tables.lines")


def test_paths_in_a_circle_are_refused_with_all_that_lie_on_it():
    with pytest.raises(PolicyError, match=r"circle: a -> b -> c -> a") as caught:
        tables(a=entry("id -> b"), b=entry("id -> c"), c=entry("id -> a"))
    assert caught.value.path == "tables.c.unit"


@pytest.mark.parametrize("unit", ["row", "public"])
def test_a_path_leads_to_a_table_of_which_rows_have_owners(unit):
    with pytest.raises(PolicyError, match="must lead to a table with owners; ends has none") as caught:
        tables(lines=entry("id -> ends"), ends=entry(unit))
    assert caught.value.path == "tables.lines"


def test_an_owner_behind_a_path_is_not_named_as_a_column():
    with pytest.raises(PolicyError, match="order_id is not who owns a row of lines: order_id -> orders"):
        tables(lines=entry("order_id -> orders"), parcels=entry("line_id -> lines.order_id"))


def test_what_is_unique_comes_before_what_may_match_more_often():
    matching = entry(
        "public",
        ["code", "ward", "day"],
        unique=["code", ["ward", "day"]],
        max_matches=[{"columns": ["ward"], "rows": 3}],
    )
    assert list(tables(beds=matching)["beds"].matches.items()) == [(("code",), 1), (("ward", "day"), 1), (("ward",), 3)]


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"unique": ["nosuch"]}, "column of beds"),
        ({"unique": ["id", "id"]}, "once"),
        ({"unique": [["id", "order_id"], ["order_id", "id"]]}, "once"),
        ({"unique": [[]]}, "one or more"),
        ({"unique": [["id", "id"]]}, "each once"),
        ({"unique": ["id"], "max_matches": [{"columns": ["id"], "rows": 2}]}, "once"),
        ({"max_matches": [{"columns": ["id"], "rows": 0}]}, "at least 1"),
        ({"max_matches": [{"columns": ["id"], "rows": 10**9 + 1}]}, "at most"),
        ({"unit": "row", "unique": ["id"]}, "public table"),
        ({"unit": "public", "max_rows_per_unit": 3}, "unit column"),
        ({"unit": "id", "max_rows_per_unit": None}, "max_rows_per_unit"),
        ({"unit": "score"}, "whole numbers"),
    ],
)
def test_a_table_that_makes_no_sense_is_refused_with_its_place(facts, message):
    with pytest.raises(PolicyError, match=message) as caught:
        tables(beds=entry(**({"unit": "public"} | facts)))
    assert caught.value.path == "tables.beds"
