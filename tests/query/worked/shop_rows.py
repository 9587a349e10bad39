"""The rows of the shop, the same in every run: 60 customers, some of whom order nothing and two of whom very much."""

import datetime as dt
import random

import pyarrow as pa

FIRST_DAY = dt.date(2025, 1, 1)
DAYS = 730
HEAVY = {1: 8, 2: 6}
"""How many orders those have who have many."""

LONG_ORDER = 9_100
"""Of the messy shop, an order of more lines than are allowed."""

NATIONS = [
    ("be", "Belgium", "europe"), ("fr", "France", "europe"), ("it", "Italy", "europe"), ("jp", "Japan", "asia"),
    ("in", "India", "asia"), ("ke", "Kenya", "africa"), ("ma", "Morocco", "africa"), ("pe", "Peru", "america"),
]  # fmt: skip
CITIES = ["Ghent"] * 9 + ["Lyon"] * 6 + ["Rome"] * 4 + ["Osaka", "Delhi", None]
KINDS = ("bolt", "nut", "promo bolt", "promo nut")
NOTES = ("", "call first", "special requests", "  gift wrap ", "Special Packaging", None)
SEGMENTS = ("automobile", "building", "building", "furniture", "machinery")
MODES = ("air", "air", "mail", "rail", "ship", "truck")
STATUS = ("open", "paid", "paid", "sent")


def shop_rows(*, messy):
    """The tables of the shop; `messy` adds rows that break what the policy claims of them."""
    chance = random.Random(20_251)  # noqa: S311 # rows of a test
    customers = [_customer(chance, number) for number in range(1, 61)]
    orders = [
        _order(chance, 100 * number + place, number)
        for number in range(1, 53)
        for place in range(HEAVY.get(number, chance.randint(1, 4)))
    ]
    lines = [
        _line(chance, order, place)
        for order in orders
        for place in range(1, 1 + (6 if order["customer_id"] in HEAVY else chance.randint(1, 4)))
    ]
    if messy:
        _break_claims(customers, orders, lines)
    return {
        "customers": _table(customers),
        "orders": _table(orders),
        "lineitem": _table(lines),
        "parts": _table([_part(chance, number) for number in range(1, 21)]),
        "nations": _table([dict(zip(("code", "country", "region"), nation, strict=True)) for nation in NATIONS]),
    }


def _break_claims(customers, orders, lines):
    """Owners that are not there, a customer twice, an order of two customers and one twice, one of many lines."""
    customers += [customers[2] | {"segment": "furniture"}, customers[4] | {"customer_id": None}]
    customers[7]["segment"] = "gardens"
    orders += [
        orders[3] | {"customer_id": 31},
        orders[20] | {"note": "twice"},
        orders[30] | {"order_id": 9_000, "customer_id": None},
        orders[31] | {"order_id": None},
        orders[32] | {"order_id": LONG_ORDER},
    ]
    lines += [lines[5] | {"order_id": order_id} for order_id in (9_999, 9_000, None)]
    lines += [lines[90] | {"quantity": quantity} for quantity in (60, -3, None)]
    lines += [lines[5] | {"order_id": LONG_ORDER}] * 9


def _customer(chance, number):
    nation = chance.choice([*NATIONS, NATIONS[0]])[0]
    return {
        "customer_id": number,
        "segment": chance.choice(SEGMENTS),
        "nation": None if number % 17 == 0 else nation,
        "city": chance.choice(CITIES),
        "phone": f"{chance.randint(10, 14)}-{chance.randint(100, 999)}-{chance.randint(1000, 9999)}",
        "balance": None if number % 13 == 0 else chance.randint(-20_000, 90_000) / 100,
        "joined": FIRST_DAY - dt.timedelta(days=chance.randint(0, 400)),
        "vip": chance.choice([True, False, False, None]),
        "kids": chance.choice([0, 0, 1, 2, 3, None]),
    }


def _order(chance, order_id, customer_id):
    day = FIRST_DAY + dt.timedelta(days=chance.randrange(DAYS))
    return {
        "order_id": order_id,
        "customer_id": customer_id,
        "status": chance.choice(STATUS),
        "priority": chance.choice(["urgent", "high", "low"]),
        "ordered_on": None if order_id % 31 == 0 else day,
        "placed": dt.datetime.combine(
            day, dt.time(chance.randint(7, 20), chance.randint(0, 59), chance.randint(0, 59))
        ),
        "total": chance.randint(100, 60_000) / 100,
        "clerk": f"clerk {chance.choice([1, 1, 1, 2, 2, 3])}",
        "note": chance.choice(NOTES),
    }


def _line(chance, order, place):
    day = (order["ordered_on"] or FIRST_DAY) + dt.timedelta(days=chance.randint(1, 60))
    due, received = day + dt.timedelta(days=chance.randint(-5, 20)), day + dt.timedelta(days=chance.randint(1, 30))
    return {
        "order_id": order["order_id"],
        "line": place,
        "part": f"p{chance.randint(1, 22)}",  # two of which nobody makes
        "quantity": chance.randint(1, 50),
        "price": chance.randint(10, 600) / 10,
        "discount": chance.randint(0, 10) / 100,
        "tax": chance.choice([0, 0, 0.1]),
        "shipped_on": day,
        "due_on": due,
        "received_on": None if chance.randrange(12) == 0 else received,
        "mode": chance.choice(MODES),
        "flag": "N" if day > dt.date(2026, 6, 30) else chance.choice(["A", "R", "N"]),
    }


def _part(chance, number):
    return {
        "part": f"p{number}",
        "kind": chance.choice(KINDS),
        "brand": f"b{chance.randint(1, 3)}",
        "size": chance.randint(1, 20),
    }


def _table(rows):
    return pa.Table.from_pylist(rows)
