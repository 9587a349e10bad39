"""Folds in SQL are those of `reference_folds`: of whole sums, rounded once."""

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.engines.in_sql import database, run
from tests.expressions_of import DOUBLES, INTEGERS

from sfumato.engines.duckdb.dialect import sql
from sfumato.engines.reference.relations import folded_rows
from sfumato.engines.sql.expressions.terms import column, function, select, table
from sfumato.engines.sql.relations import lower_grouped
from sfumato.engines.sql.rows import SqlRelation
from sfumato.privacy.neighbors import EACH_ROW, UnitColumn
from sfumato.query.analysis.shape import shape_of
from sfumato.query.model.expressions import ColumnRef
from sfumato.query.model.relations import Fold, Folded, Grouped, Source
from sfumato.query.model.schema import Limits, Table, integer, real, text

NUMBER, REAL, TEXT = map(ColumnRef, ("i", "f", "k"))
COLUMNS = {"k": text(), "i": integer(-(2**53), 2**53), "f": real(-(10**6), 10**6, resolution="1/3"), "j": integer(0, 9)}
ROWS = Source(Table(name="t", columns=COLUMNS, unit=EACH_ROW))
OWNED = Source(Table(name="t", columns=COLUMNS, unit=UnitColumn("k"), limits=Limits(max_rows_per_unit=9)))
FOLDS = (
    Folded("rows", Fold.COUNT_ROWS), Folded("count", Fold.COUNT, REAL), Folded("values", Fold.COUNT_DISTINCT, REAL),
    Folded("sum", Fold.SUM, NUMBER), Folded("real", Fold.SUM, REAL), Folded("mean", Fold.MEAN, NUMBER),
    Folded("least", Fold.MIN, REAL), Folded("most", Fold.MAX, TEXT), Folded("means", Fold.MEAN, REAL),
)  # fmt: skip
CELLS = st.tuples(
    st.sampled_from(["x", "y", "é", None]), st.none() | st.sampled_from(INTEGERS) | st.integers(-9, 9),
    st.none() | st.sampled_from(DOUBLES) | st.floats(-9, 9), st.none() | st.integers(0, 1),
)  # fmt: skip


def in_sql(grouped, rows):
    shape = shape_of(grouped.child)
    kinds = (pa.string(), pa.int64(), pa.float64(), pa.int64())
    cells = {f"c{place}": pa.array([row[place] for row in rows], kind) for place, kind in enumerate(kinds)}
    if shape.unit_kind is not None:
        cells["u"] = cells["c0"]
    query = lower_grouped(grouped, SqlRelation(query=select([], table("cells")), shape=shape))
    return sorted(run(query, cells=pa.table(cells)), key=repr)


def in_python(grouped, rows):
    owned = shape_of(grouped.child).unit_kind is not None
    named = [(row[0] if owned else None, dict(zip(COLUMNS, row, strict=True))) for row in rows]
    found = [(unit, *row.values()) if owned else tuple(row.values()) for unit, row in folded_rows(grouped, named)]
    return sorted(found, key=repr)


@pytest.mark.parametrize("source", [ROWS, OWNED], ids=["rows", "units"])
@pytest.mark.parametrize("keys", [(), ("k",), ("j", "k"), ("f",)])
@given(st.lists(CELLS, max_size=12))
def test_groups_are_folded_as_in_python(source, keys, rows):
    rows = [row for row in rows if source is ROWS or row[0] is not None]
    grouped = Grouped(source, keys, FOLDS)
    assert in_sql(grouped, rows) == in_python(grouped, rows)


def test_no_rows_make_no_row_even_without_keys():
    assert in_sql(Grouped(ROWS, (), FOLDS), []) == []


@given(st.integers(-(2**126), 2**126) | st.integers(-(2**66), 2**66) | st.integers(-(2**54), 2**54))
@example(2**63 + 2**10 + 1)  # the nearest double is another if the lower half is rounded before it is added
@example(-(2**64) - 2**11 - 1)
@example(2**126 + 2**73 + 1)
def test_a_total_is_rounded_to_the_nearest_double_once(total):
    query = f"SELECT {sql(function('nearest_double', column('t')))} FROM (SELECT {total}::HUGEINT AS t)"
    assert database().execute(query).fetchall() == [(float(total),)]


@pytest.mark.parametrize("most", [2**50, 2**53])  # the second of which is summed in steps of 2
@pytest.mark.parametrize(("sign", "total"), [(1, 2**63 - 2), (1, 2**63 - 1), (1, 2**63), (-1, 2**63), (-1, 2**63 + 2)])
def test_a_whole_sum_beyond_64_bits_is_null(most, sign, total):
    whole = Source(Table(name="t", columns=COLUMNS | {"i": integer(-most, most)}))
    grouped = Grouped(whole, (), (Folded("sum", Fold.SUM, NUMBER),))
    full, rest = divmod(total, most)
    rows = [("x", sign * most, None, None)] * full + [("x", sign * rest, None, None)]
    assert in_sql(grouped, rows) == in_python(grouped, rows)
    if most == 2**50:
        assert in_sql(grouped, rows) == [(sign * total if -(2**63) <= sign * total < 2**63 else None,)]
