"""Each type of PostgreSQL is read as a value of a kind, or as NULL."""

from datetime import date, datetime

import pytest
from sqlglot import exp
from tests.engines.in_postgres import rows_of

from sfumato.engines.postgres_types import reading
from sfumato.engines.sql.casts import as_kind
from sfumato.engines.sql.terms import aliased, text
from sfumato.query.kinds import Kind

at = datetime.fromisoformat
CASES = [
    ("int2", "'-7'", Kind.INTEGER, -7), ("int8", "'9223372036854775807'", Kind.INTEGER, 2**63 - 1),
    ("numeric", "'1.50'", Kind.FLOAT, 1.5), ("numeric", "'NaN'", Kind.FLOAT, None),
    ("numeric", "'1.50'", Kind.TEXT, "1.50"),
    ("float4", "'0.5'", Kind.FLOAT, 0.5), ("float8", "'NaN'", Kind.FLOAT, None),
    ("float8", "'NaN'", Kind.INTEGER, None),
    ("text", "'é'", Kind.TEXT, "é"), ("bpchar", "'a  '", Kind.TEXT, "a"), ("name", "'n'", Kind.TEXT, "n"),
    ("uuid", "'00000000-0000-0000-0000-00000000000A'", Kind.TEXT, "00000000-0000-0000-0000-00000000000a"),
    ("bool", "'t'", Kind.BOOLEAN, True), ("bool", "'f'", Kind.INTEGER, 0),
    ("date", "'2026-01-31'", Kind.DATE, date(2026, 1, 31)), ("date", "'infinity'", Kind.DATE, None),
    ("date", "'0044-03-15 BC'", Kind.DATE, None), ("date", "'10000-01-01'", Kind.DATE, None),
    ("timestamp", "'2026-01-31 12:00:00.000001'", Kind.TIMESTAMP, at("2026-01-31 12:00:00.000001")),
    ("timestamp", "'-infinity'", Kind.TIMESTAMP, None),
    ("timestamptz", "'2026-01-31 12:00+02'", Kind.TIMESTAMP, at("2026-01-31 10:00")),
    ("timestamptz", "'0001-01-01 00:00+14'", Kind.TIMESTAMP, None), ("timestamptz", "'infinity'", Kind.DATE, None),
]  # fmt: skip


@pytest.mark.parametrize(("name", "literal", "kind", "expected"), CASES)
def test_a_type_is_read_as_a_kind(name, literal, kind, expected):
    known = reading(name, schema="pg_catalog", form="b")
    stored = exp.Cast(this=text(literal.strip("'")), to=exp.DataType.build(name, dialect="postgres", udt=True))
    (row,) = rows_of(exp.Select(expressions=[aliased(as_kind(known.read(stored), known.storage, kind), "v")]))
    assert row["v"] == expected
    assert type(row["v"]) is type(expected)


def test_enumerations_are_text_and_what_has_no_values_is_not_read():
    assert reading("mood", schema="public", form="e").storage == "VARCHAR"
    assert reading("citext", schema="public", form="b").storage == "VARCHAR"
    assert [
        reading(name, schema="pg_catalog", form="b") for name in ("json", "bytea", "interval", "money", "_int4")
    ] == [None] * 5
    assert reading("int4", schema="public", form="b") is None
