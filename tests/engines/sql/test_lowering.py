"""A statement in SQL: what it looks like, and that nothing an analyst or a table says is spliced into it."""

import pyarrow as pa
import pytest
from tests.engines.in_sql import run
from tests.engines.running import SALT, statement

from sfumato.engines.duckdb.dialect import DUCKDB, sql
from sfumato.engines.sampling import Sampling
from sfumato.engines.spark.dialect import SPARK
from sfumato.engines.sql.bounding import Bounding, binding_limits
from sfumato.engines.sql.entries import grouped_rows
from sfumato.engines.sql.expressions.terms import select, table
from sfumato.engines.sql.lowering import (
    KEPT,
    LOW_BITS,
    added_up,
    lower,
    presented,
    totals_of_rows,
    totals_of_units,
)
from sfumato.engines.sql.relations import Catalogue
from sfumato.engines.sql.rows import SqlRelation
from sfumato.privacy.neighbors import EACH_ROW, UnitColumn
from sfumato.query.analysis.shape import shape_of
from sfumato.query.model.expressions import ColumnRef
from sfumato.query.model.relations import Source
from sfumato.query.model.schema import Limits, Table, integer, text
from sfumato.query.model.statement import CellCount, KeyColumn, RowCount, Statement, UnitCount, ValueCount, Values

HOSTILE = "\"; DROP TABLE t; --'"
CATALOGUE = Catalogue(named=lambda declared: table(declared.name, "typed"))
GOLDEN = """
WITH entries AS MATERIALIZED (
  SELECT "u", "k0", COUNT(*) AS "n", COUNT("c2") AS "v0",
    CAST(COALESCE(SUM(CASE WHEN NOT "c2" IS NULL THEN
      LEAST(GREATEST("c2", CAST(0 AS BIGINT)), CAST(9 AS BIGINT)) END), 0) AS BIGINT) AS "m1"
  FROM (SELECT "u", "c0", "c1", "c2", "list k0"."place" AS "k0" FROM (SELECT * FROM "typed"."visits" AS "r") AS "r"
    INNER JOIN "list k0" AS "list k0" ON "list k0"."value" = "c1") AS "r"
  GROUP BY "u", "k0"),
above AS MATERIALIZED (SELECT "u" FROM "entries" AS "r" GROUP BY "u" HAVING SUM("n") > 2)
SELECT "k0", COUNT(*) AS "kept", SUM("t0") AS "t0", SUM("t1") AS "t1" FROM (
"""


def visits(unit=None, **columns):
    limits = Limits() if unit is EACH_ROW else Limits(max_rows_per_unit=2)
    own = {"u": text(), "k": text(values=["x", "y"]), "v": integer(0, 9)} | columns
    return Table(name="visits", columns=own, unit=unit or UnitColumn("u"), limits=limits)


def lowered(asked, declared=None, *, dialect=DUCKDB, **settings):
    settings = {"sampling": Sampling.MD5} | settings
    return lower(statement(asked, declared or visits()), CATALOGUE, dialect=dialect, salt=SALT, **settings)


def test_a_typical_statement():
    found = sql(lowered("SELECT COUNT(*), SUM(v) FROM visits GROUP BY k").totals)
    assert " ".join(found.split()).startswith(" ".join(GOLDEN.split()).replace("( ", "("))


def test_names_and_literals_are_quoted_however_hostile():
    found = sql(lowered("SELECT COUNT(*) FROM visits WHERE k = '\"; DROP TABLE t; --'''").totals)
    assert "'\"; DROP TABLE t; --'''" in found
    keys = (KeyColumn(name=HOSTILE, values=(HOSTILE,)),)
    asked = Statement(rows=Source(visits(**{HOSTILE: text()})), keys=keys, measures=(RowCount(),))
    assert HOSTILE not in sql(lower(asked, CATALOGUE, dialect=DUCKDB, salt=SALT).totals)


def test_the_text_of_the_analyst_is_not_in_what_an_engine_gets():
    found = sql(lowered("SELECT COUNT(*) AS canary /* comment */ FROM visits AS alias WHERE alias.k = 'x'").totals)
    assert [word for word in ("canary", "comment", "alias") if word in found] == []


@pytest.mark.parametrize(
    ("asked", "names"),
    [
        ("SELECT COUNT(*) FROM visits GROUP BY k", ["k0", "t0"]), ("SELECT COUNT(*) FROM visits", ["t0"]),
        ("SELECT COUNT(*), SUM(w) FROM visits", ["t0", "h1", "l1"]),
    ],
)  # fmt: skip
def test_only_totals_and_what_is_grouped_by_come_back(asked, names):
    found = lowered(asked, visits(w=integer(0, 2**40)))
    shown = presented(found, found.totals)
    assert [term.alias_or_name for term in shown.expressions] == names
    assert (f">> {LOW_BITS}" in sql(shown)) is ("h1" in names)  # of what 64 bits may not hold


def test_a_group_of_which_no_entry_is_kept_is_not_shown():
    found = lowered("SELECT COUNT(*), SUM(w) FROM visits GROUP BY k", visits(w=integer(0, 2**40)))
    totals = pa.table({"k0": [0, 1], "kept": [0, 1], "t0": [0, 7], "t1": [0, 2**LOW_BITS + 5]})
    assert run(presented(found, select([], table("totals"))), totals=totals) == [(1, 7, 1, 5)]


def test_public_keys_are_lists_beside_the_sql():
    found = lowered("SELECT COUNT(*) FROM visits GROUP BY k")
    assert [group.values for group in found.lists] == [("x", "y")]
    assert "'x'" not in sql(found.totals)


def test_a_bucket_holds_the_rows_of_its_units_and_buckets_are_added_up():
    found = lowered("SELECT COUNT(*) FROM visits GROUP BY k", bucket=(3, 8))
    assert 'HASH("u") % 8 = 3' in sql(found.totals).replace("(", "").replace(")", "").replace('HASH"u"', 'HASH("u")')
    both = sql(added_up(found, table("buckets"), found.totals))
    assert 'FROM "buckets" AS "r" UNION ALL SELECT' in both
    assert both.endswith('AS "r" GROUP BY "k0"')


@pytest.mark.parametrize(("sampling", "hashed"), [(Sampling.MD5, "MD5_NUMBER"), (Sampling.NATIVE, "HASH(")])
def test_units_above_a_limit_are_sampled_by_the_hash_that_is_asked_for(sampling, hashed):
    assert hashed in sql(lowered("SELECT SUM(v) FROM visits GROUP BY k", sampling=sampling).totals)


def test_on_several_machines_the_rows_of_a_unit_are_sent_to_one_place_if_its_entries_have_an_order():
    gathers, stays = (
        SPARK.sql(lowered(f"SELECT SUM(v) FROM visits{by}", dialect=SPARK).totals) for by in (" GROUP BY k", "")
    )
    assert gathers.count("DISTRIBUTE BY `u`") == 1
    assert "DISTRIBUTE" not in stays + sql(lowered("SELECT SUM(v) FROM visits GROUP BY k").totals)


def test_rows_that_are_units_are_neither_hashed_nor_limited():
    found = sql(lowered("SELECT COUNT(*), SUM(v) FROM visits GROUP BY k", visits(EACH_ROW)).totals)
    assert [word for word in ("MD5", "OVER", "MATERIALIZED", '"u"') if word in found] == []


def test_whole_numbers_are_clamped_as_they_are_and_others_on_their_lattice():
    whole, halves = (sql(lowered(f"SELECT SUM({value}) FROM visits").totals) for value in ("v", "v * 0.5"))
    assert ("DOUBLE" in whole, "FLOOR" in whole) == (False, False)
    assert ("DOUBLE" in halves, "FLOOR" in halves) == (True, True)


COLUMNS = {"k": text(), "v": integer()}
ROWS = Source(Table(name="t", columns=COLUMNS, unit=EACH_ROW))
OWNED = Source(Table(name="t", columns=COLUMNS, unit=UnitColumn("k"), limits=Limits(max_rows_per_unit=9)))
CELL = Values(value=ColumnRef("v"), values=None)
COUNTS = (RowCount(), ValueCount((ColumnRef("v"),)), UnitCount())
KEYS = (KeyColumn(name="k", values=None),)
CELLS = pa.table(
    {
        "u": ["a", "a", "a", "b", "b", "a"], "c0": ["x", "x", "y", "x", "x", "x"],
        "c1": pa.array([1, 1, 2, 2, None, 2], pa.int64()),
    }
)  # fmt: skip


def totals(source, *, cell=None, measures=COUNTS, keys=KEYS, **limits):
    asked = Statement(rows=source, keys=keys, measures=measures, cell=cell, limits=Limits(**limits))
    found = grouped_rows(asked, SqlRelation(query=select([], table("cells")), shape=shape_of(source)))
    if source is ROWS:
        query = totals_of_rows(found, measures)
    else:
        own = Bounding(
            rows=found, limits=binding_limits(asked), salt="0" * 32, sampling=Sampling.MD5, measures=measures,
            dialect=DUCKDB,
        )  # fmt: skip
        query = totals_of_units(own)
    return query, sorted(run(query, cells=CELLS))


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({}, [("x", 5, 5, 4, 5), ("y", 1, 1, 1, 1)]),
        ({"cell": CELL}, [("x", 1, 2, 2, 2, 2), ("x", 2, 2, 2, 2, 2), ("y", 2, 1, 1, 1, 1)]),
        ({"cell": CELL, "measures": (CellCount(), UnitCount(), RowCount())}, [("x", 4, 2, 4, 4), ("y", 1, 1, 1, 1)]),
    ],
)
def test_where_each_row_is_a_unit_no_row_is_left_out(asked, expected):
    assert totals(ROWS, **asked)[1] == expected


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({}, [("x", 2, 5, 4, 2), ("y", 1, 1, 1, 1)]),
        ({"max_rows_per_group_per_unit": 1}, [("x", 2, 2, 2, 2), ("y", 1, 1, 1, 1)]),
        ({"cell": CELL}, [("x", 1, 1, 2, 2, 1), ("x", 2, 2, 2, 2, 2), ("y", 2, 1, 1, 1, 1)]),
        ({"cell": CELL, "measures": (CellCount(), UnitCount(), RowCount())}, [("x", 3, 2, 2, 4), ("y", 1, 1, 1, 1)]),
        (
            {"cell": CELL, "measures": (CellCount(), UnitCount(), RowCount()), "max_rows_per_unit": 1, "keys": ()},
            [(2, None, 2, 2)],
        ),
    ],
)
def test_the_entries_of_owners_are_added_up(asked, expected):
    found = totals(OWNED, **asked)[1]
    assert [
        tuple(a if b is not None else None for a, b in zip(*rows, strict=True))
        for rows in zip(found, expected, strict=True)
    ] == expected


def test_entries_are_stored_only_if_units_have_to_be_looked_at():
    simple, ordered = (
        sql(totals(OWNED, **limits)[0]) for limits in ({"max_rows_per_group_per_unit": 1}, {"max_rows_per_unit": 1})
    )
    assert ("MATERIALIZED" in simple, "MD5" in simple) == (False, False)
    assert ("MATERIALIZED" in ordered, "MD5" in ordered) == (True, True)


def test_the_names_of_totals_are_those_of_their_measures():
    assert [name in sql(totals(ROWS)[0]) for name in (KEPT, "t0", "t2", "t3")] == [True, True, True, False]
