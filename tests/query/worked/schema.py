"""What the worked suite asks about: a shop of customers, orders and lines; a census; a week of a restaurant.

The shop is TPC-H in small, with the customer as the privacy unit. Its rows come tidy, or messy, with some that break
what the policy claims; its limits come loose, above what anybody has, or tight, so that heavy customers are cut down.
"""

from dataclasses import dataclass
from functools import cache

from tests.query.worked.restaurant import week
from tests.query.worked.shop_rows import shop_rows

import sfumato as sf
from sfumato.privacy.neighbors import EACH_ROW, UnitColumn
from sfumato.query.model.schema import PUBLIC, Limits, Table, UnitPath, boolean, date, integer, real, text, timestamp
from sfumato.query.policy.policy import Place, Policy, SourceFacts

LOOSE = {
    "customers": Limits(max_rows_per_unit=1),
    "orders": Limits(max_rows_per_unit=10),
    "lineitem": Limits(max_rows_per_unit=50),
}
TIGHT = {
    "customers": Limits(max_rows_per_unit=1),
    "orders": Limits(max_rows_per_unit=3, max_groups_per_unit=2),
    "lineitem": Limits(max_rows_per_unit=8, max_groups_per_unit=2, max_rows_per_group_per_unit=5),
}
SEGMENTS = ("automobile", "building", "furniture", "machinery")
VIEWS = {
    "revenues": "SELECT order_id, flag, kind, price * (1 - discount) AS revenue FROM lineitem JOIN parts USING (part)",
    "open_orders": "SELECT * FROM orders WHERE status = 'open'",
    "order_counts": "SELECT customer_id, COUNT(*) AS orders FROM orders GROUP BY customer_id",
}
CENSUS_ROWS = 400


@dataclass(frozen=True)
class Database:
    """A policy, and the rows of its tables: Arrow tables, or a path."""

    policy: Policy
    rows: dict


@cache
def database(name):
    """A database of the suite by name."""
    return {
        "shop": lambda: _shop(LOOSE, messy=False),
        "messy shop": lambda: _shop(LOOSE, messy=True),
        "tight shop": lambda: _shop(TIGHT, messy=False),
        "tight messy shop": lambda: _shop(TIGHT, messy=True),
        "census": _census,
        "restaurant": lambda: _restaurant(Limits(max_rows_per_unit=25), most=120),
        "tight restaurant": lambda: _restaurant(Limits(max_rows_per_unit=3, max_groups_per_unit=2), most=40),
    }[name]()


def _shop(limits, *, messy):
    rows = shop_rows(messy=messy)
    tables = _shop_tables(limits)
    policy = Policy(
        dataset="shop", version="1", data_version="1", unit_name="customer", views=VIEWS,
        tables={table.name: table for table in tables},
        sources={table.name: SourceFacts(source=rows[table.name]) for table in tables},
        values_from={
            Place("customers", "nation"): Place("nations", "code"),
            Place("nations", "region"): Place("nations", "region"),
        },
    )  # fmt: skip
    return Database(policy, rows)


def _shop_tables(limits):
    customers = Table(
        name="customers",
        columns={
            "customer_id": integer(), "segment": text(values=SEGMENTS), "nation": text(), "city": text(),
            "phone": text(), "balance": real(-1000, 1000), "joined": date(), "vip": boolean(), "kids": integer(0, 5),
        },
        unit=UnitColumn("customer_id"), limits=limits["customers"], matches={("customer_id",): 1},
    )  # fmt: skip
    orders = Table(
        name="orders",
        columns={
            "order_id": integer(), "customer_id": integer(), "status": text(values=["open", "paid", "sent"]),
            "priority": text(values=["urgent", "high", "low"]), "ordered_on": date(), "placed": timestamp(),
            "total": real(0, 600), "clerk": text(), "note": text(),
        },
        unit=UnitColumn("customer_id"), limits=limits["orders"], matches={("order_id",): 1},
    )  # fmt: skip
    lineitem = Table(
        name="lineitem",
        columns={
            "order_id": integer(), "line": integer(1, 7), "part": text(), "quantity": integer(1, 50),
            "price": real(0, 60, resolution="0.1"), "discount": real(0, "0.1"),
            "tax": real(0, "0.1", resolution="0.1"), "shipped_on": date(),
            "due_on": date(), "received_on": date(), "mode": text(values=["air", "mail", "rail", "ship", "truck"]),
            "flag": text(values=["A", "N", "R"]),
        },
        unit=UnitPath("order_id", orders, "order_id"), limits=limits["lineitem"], matches={("order_id",): 7},
    )  # fmt: skip
    parts = Table(
        name="parts",
        columns={"part": text(), "kind": text(values=["bolt", "nut", "promo bolt", "promo nut"]),
                 "brand": text(values=["b1", "b2", "b3"]), "size": integer(1, 20)},
        unit=PUBLIC, matches={("part",): 1},
    )  # fmt: skip
    nations = Table(
        name="nations", columns={"code": text(), "country": text(), "region": text()}, unit=PUBLIC,
        matches={("code",): 1},
    )  # fmt: skip
    return customers, orders, lineitem, parts, nations


def _census():
    """Made-up people with columns of the Adult census, each a unit of its own."""
    rows = sf.datasets.people(CENSUS_ROWS)
    listed = ("workclass", "education", "marital_status", "sex", "income")
    columns = {
        "age": integer(17, 90), "education_num": integer(1, 16), "hours_per_week": integer(1, 99),
        "capital_gain": integer(0, 99_999), "native_country": text(), "occupation": text(),
    }  # fmt: skip
    columns |= {name: text(values=sorted(set(rows[name].to_pylist()))) for name in listed}
    return _of_one_table(Table(name="census", columns=columns, unit=EACH_ROW), rows)


def _restaurant(limits, *, most):
    """The visits of a week, of which a visitor has several; the most that one of them takes and costs."""
    columns = {
        "VisitorId": integer(), "Time entered": text(), "Time spent (minutes)": integer(0, most),
        "Money spent (euros)": integer(0, most), "Day": integer(1, 7),
    }  # fmt: skip
    return _of_one_table(Table(name="visits", columns=columns, unit=UnitColumn("VisitorId"), limits=limits), week())


def _of_one_table(table, rows):
    policy = Policy(
        dataset=table.name, version="1", data_version="1", unit_name="person", tables={table.name: table},
        sources={table.name: SourceFacts(source=rows)},
    )  # fmt: skip
    return Database(policy, {table.name: rows})
