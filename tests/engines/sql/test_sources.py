"""Tables in SQL have the rows of `reference_sources`: typed, owned, and with no more matches than declared."""

from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.engines.in_sql import database, run

from sfumato.engines.duckdb.dialect import sql
from sfumato.engines.reference.relations import source_rows
from sfumato.engines.sql.expressions.terms import table
from sfumato.engines.sql.sources import is_computed, owned_rows, typed_columns
from sfumato.privacy.neighbors import EACH_ROW, UnitColumn
from sfumato.query.model.schema import PUBLIC, Limits, Table, UnitPath, integer, text

ONE = Limits(max_rows_per_unit=1)
PEOPLE = Table(name="people", columns={"who": text(), "home": integer()}, unit=UnitColumn("who"), limits=ONE)
METERS = Table(
    name="meters", columns={"home": integer(), "v": text()}, unit=UnitPath("home", PEOPLE, "home"), limits=ONE
)
READINGS = Table(name="readings", columns={"at": text(), "w": integer()}, unit=UnitPath("at", METERS, "v"), limits=ONE)
ONCE = Table(
    name="once", columns={"who": text(), "v": integer()}, unit=UnitColumn("who"), limits=ONE,
    matches={("v",): 1, ("who", "v"): 2},
)  # fmt: skip
CODES = Table(name="codes", columns={"code": text(), "v": integer()}, unit=PUBLIC, matches={("code",): 2})
FEW = st.none() | st.integers(0, 2)
NAMES = st.none() | st.sampled_from("ab")
CELLS = {
    "people": st.tuples(NAMES, FEW), "meters": st.tuples(FEW, NAMES), "readings": st.tuples(NAMES, FEW),
    "once": st.tuples(NAMES, FEW), "codes": st.tuples(NAMES, FEW),
}  # fmt: skip
OWNED_TWICE = {
    "people": [("a", 1), ("a", 1)], "meters": [(1, "b"), (1, "b")], "readings": [("b", 0)], "once": [], "codes": [],
}  # fmt: skip
ARROW = {"integer": pa.int64(), "text": pa.string()}


def stored(declared, cells):
    columns = {
        name: pa.array([row[place] for row in cells], ARROW[facts.kind])
        for place, (name, facts) in enumerate(declared.columns.items())
    }
    return pa.table(columns)


def in_sql(declared, data):
    """The rows of a table, those of the tables on its path made before it."""

    def named(other):
        name = f"owned {other.name}"
        database().execute(f'CREATE OR REPLACE TEMP TABLE "{name}" AS {sql(rows_of(other))}')
        return table(name)

    def rows_of(one):
        storage = {name: "VARCHAR" if facts.kind == "text" else "BIGINT" for name, facts in one.columns.items()}
        return owned_rows(one, typed_columns(one, storage, table(one.name)), named)

    tables = {name: stored(other, data[name]) for name, other in TABLES.items()}
    for name, cells in tables.items():
        database().register(name, cells)
    try:
        return Counter(run(rows_of(declared)))
    finally:
        for name in tables:
            database().unregister(name)


TABLES = {one.name: one for one in (PEOPLE, METERS, READINGS, ONCE, CODES)}


@pytest.mark.parametrize("declared", TABLES.values(), ids=lambda one: one.name)
@given(st.fixed_dictionaries({name: st.lists(cells, max_size=8) for name, cells in CELLS.items()}))
@example(OWNED_TWICE)
def test_the_rows_of_a_table_are_those_of_python(declared, data):
    def read(one):
        return [dict(zip(one.columns, row, strict=True)) for row in data[one.name]]

    expected = Counter(
        (unit, *row.values()) if declared.has_owners else tuple(row.values())
        for unit, row in source_rows(declared, read)
    )
    assert in_sql(declared, data) == expected


def test_only_paths_and_matches_are_computed():
    assert [is_computed(one) for one in TABLES.values()] == [False, True, True, True, True]
    assert not is_computed(Table(name="rows", columns={"v": integer()}, unit=EACH_ROW))
