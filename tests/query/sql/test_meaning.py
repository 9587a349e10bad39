"""SQL means here what it means in a database: the same text, on the same rows, run by DuckDB and row by row."""

import datetime as dt
import random
from functools import cache
from pathlib import Path

import duckdb
import pytest
from tests.query.asking import SOURCES, rows

from sfumato.engines.reference.relations import relation_rows

TYPES = {
    "integer": "BIGINT", "float": "DOUBLE", "text": "VARCHAR", "boolean": "BOOLEAN", "date": "DATE",
    "timestamp": "TIMESTAMP",
}  # fmt: skip
SEEDS = range(3)

FILE = Path(__file__).with_name("meaning.sql")
STATEMENTS = [statement.strip() for statement in FILE.read_text("utf-8").split(";") if statement.strip()]


@cache
def drawn(seed):
    """Tables that keep what the policy declares, with NULLs where nothing forbids them."""
    draw = random.Random(seed)  # noqa: S311 # rows of a test

    def some(value):
        return None if draw.random() < 0.15 else value

    def quarters(most):
        return some(draw.randrange(most * 4) / 4)

    def day():
        return dt.date(2026, 1, 1) + dt.timedelta(days=draw.randrange(90))

    def moment():
        return dt.datetime.combine(day(), dt.time(draw.randrange(24), draw.randrange(60)))

    return {
        "customers": [(key, some(draw.choice(["home", "work"])), some(day())) for key in range(6)],
        "orders": [
            (key, draw.randrange(7), some(draw.choice(["open", "paid"])), some(moment()), quarters(200),
             some(draw.choice([" a%b", "Xy_ ", "xy", "it's", ""])))
            for key in range(14)
        ],
        "lineitem": [
            (draw.randrange(14), some(draw.choice(["bolt", "open"])), some(draw.randrange(50)), quarters(100),
             quarters(1), some(day()))
            for _ in range(25)
        ],
        "visits": [(draw.choice("pqrst"), some(draw.choice("AB")), quarters(24), some(day())) for _ in range(18)],
        "wards": [(code, some(draw.choice(["north", "south"])), draw.randrange(50)) for code in ("A", "C", None)],
        "people": [
            (some(draw.randrange(100)), some(draw.choice("mf")), some(draw.random() < 0.5), quarters(10), some(1))
            for _ in range(20)
        ],
    }  # fmt: skip


@cache
def database(seed):
    connection = duckdb.connect()
    for name, records in drawn(seed).items():
        columns = SOURCES[name].table.columns
        declared = ", ".join(f'"{column}" {TYPES[facts.kind]}' for column, facts in columns.items())
        connection.execute(f"CREATE TABLE {name} ({declared})")
        connection.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(columns))})", records)
    return connection


def read(tables):
    return lambda table: [dict(zip(table.columns, record, strict=True)) for record in tables[table.name]]


def plain(value):
    """Numbers of whatever type, rounded: the two add up in different orders."""
    is_number = hasattr(value, "__float__") and not isinstance(value, bool)
    return round(float(value), 6) if is_number else value


def in_order(records):
    return sorted((tuple(map(plain, record)) for record in records), key=repr)


@pytest.mark.parametrize("sql", STATEMENTS, ids=lambda sql: sql[:60])
def test_a_query_has_the_rows_that_a_database_gives_it(sql):
    relation = rows(sql)
    for seed in SEEDS:
        tables = drawn(seed)
        found = relation_rows(relation, read(tables), salt="0" * 32)
        assert in_order(row.values() for _, row in found) == in_order(database(seed).execute(sql).fetchall())
