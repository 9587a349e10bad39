"""Lists of public values have the types of their kinds, and in PostgreSQL they are those of other engines."""

from datetime import date, datetime

import duckdb
import pytest
from tests.engines.in_postgres import answer

from sfumato.engines.sampling import encoded
from sfumato.engines.sql.entries import GroupColumn
from sfumato.engines.sql.expressions.terms import TYPES
from sfumato.engines.sql.lists import list_query, list_table
from sfumato.query.model.kinds import Kind

VALUES = {
    Kind.INTEGER: (-(2**63), 0, 2**63 - 1), Kind.TEXT: ("", "\x00", "x", "é"), Kind.BOOLEAN: (False, True),
    Kind.DATE: (date.min, date.max), Kind.TIMESTAMP: (datetime.fromisoformat("2026-01-31 23:59:59.999999"),),
}  # fmt: skip

at = datetime.fromisoformat


def mark(kind, *values):
    return GroupColumn(name="k0", kind=kind, values=values)


@pytest.mark.parametrize(("kind", "values"), VALUES.items())
def test_a_list_has_its_values_their_places_and_their_encodings(kind, values):
    own = list_table(mark(kind, *values))
    assert own.to_pydict() == {
        "value": list(values), "place": list(range(len(values))), "encoding": [encoded(value) for value in values],
    }  # fmt: skip
    with duckdb.connect() as database:
        database.register("own", own)
        assert database.execute("SELECT DISTINCT TYPEOF(value) FROM own").fetchall() == [(TYPES[kind],)]


@pytest.mark.parametrize(
    "listed",
    [mark(Kind.TEXT, "", "a", 'say "x"', "back\\slash", "{a,b}", "NULL", " é ",
          "'; DROP TABLE t; --", "\n", "\U0001f600"),
     mark(Kind.INTEGER, -(2**63), 0, 2**63 - 1), mark(Kind.BOOLEAN, False, True),
     mark(Kind.DATE, date(1, 1, 1), date(9999, 12, 31)), mark(Kind.TEXT),
     mark(Kind.TIMESTAMP, at("0001-01-01"), at("2026-01-31 12:34:56.000001"), at("9999-12-31 23:59:59.999999"))],
    ids=lambda listed: listed.kind.value,
)  # fmt: skip
def test_a_list_is_that_of_other_engines(listed):
    expected = list_table(listed)
    found = answer(list_query(listed)).select(expected.column_names).cast(expected.schema)
    assert sorted(found.to_pylist(), key=lambda row: row["place"]) == expected.to_pylist()


def test_text_with_nul_in_it_is_null_and_keeps_its_place():
    (first, second) = sorted(answer(list_query(mark(Kind.TEXT, "a", "b\0"))).to_pylist(), key=lambda row: row["place"])
    assert (first["value"], second["value"], second["place"]) == ("a", None, 1)
