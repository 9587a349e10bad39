"""Lists of public values have the types of their kinds."""

from datetime import date, datetime

import duckdb
import pytest

from sfumato.engines.lists import list_table
from sfumato.engines.sampling import encoded
from sfumato.engines.sql.entries import Mark
from sfumato.engines.sql.terms import TYPES
from sfumato.query.kinds import Kind

VALUES = {
    Kind.INTEGER: (-(2**63), 0, 2**63 - 1), Kind.TEXT: ("", "\x00", "x", "é"), Kind.BOOLEAN: (False, True),
    Kind.DATE: (date.min, date.max), Kind.TIMESTAMP: (datetime.fromisoformat("2026-01-31 23:59:59.999999"),),
}  # fmt: skip


@pytest.mark.parametrize(("kind", "values"), VALUES.items())
def test_a_list_has_its_values_their_places_and_their_encodings(kind, values):
    own = list_table(Mark(name="k0", kind=kind, values=values))
    assert own.to_pydict() == {
        "value": list(values), "place": list(range(len(values))), "encoding": [encoded(value) for value in values],
    }  # fmt: skip
    with duckdb.connect() as database:
        database.register("own", own)
        assert database.execute("SELECT DISTINCT TYPEOF(value) FROM own").fetchall() == [(TYPES[kind],)]
