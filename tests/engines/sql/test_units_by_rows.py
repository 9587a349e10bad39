"""Units above their limit are told from rows, where those may be read again: answers are those by entries."""

from dataclasses import replace
from fractions import Fraction
from functools import partial

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engines.running import SALT, by_place, found, started, statement

from sfumato.engines.duckdb.dialect import DUCKDB, sql
from sfumato.engines.sampling import Sampling
from sfumato.engines.sql.lowering import exact_groups, lower, presented
from sfumato.privacy.neighbors import EACH_ROW, UnitColumn
from sfumato.query.model.expressions import ColumnRef, Compare, Comparison, Literal
from sfumato.query.model.relations import BoundRows, Distinct, Filter, Join, Select, Source, UnionAll
from sfumato.query.model.schema import Limits, Table, integer, real
from sfumato.query.model.statement import Bins, RowCount, UnitCount, Values

LIMIT = 3
COLUMNS = {
    "u": integer(),
    "g": integer(values=[0, 1, 2]),
    "h": integer(values=[5, 6]),
    "v": real(-1, 1, resolution="0.125"),
}


def declared(unit=None, limits=None):
    return Table(
        name="t", columns=COLUMNS, unit=unit or UnitColumn("u"), limits=limits or Limits(max_rows_per_unit=LIMIT)
    )  # fmt: skip


TABLE = declared()
ROWS = st.tuples(
    st.sampled_from([1, 2, 3, None]), st.sampled_from([0, 1, 2, 3, None]), st.sampled_from([5, 6]),
    st.sampled_from([None, -7.0, -0.5, 0.25, 1.0]),
)  # fmt: skip
ASKED = [
    "SELECT g, COUNT(*), COUNT(v), SUM(v) FROM t GROUP BY g",
    "SELECT g, SUM(v), SUM(v * v) FROM t WHERE h > 5 GROUP BY g",
    "SELECT g, h, COUNT(*), AVG(v) FROM t WHERE h IN (5, 6) GROUP BY g, h",
]  # fmt: skip


def data(rows):
    units, groups, others, values = zip(*rows, strict=True) if rows else ((), (), (), ())
    types = {"u": pa.int64(), "g": pa.int64(), "h": pa.int64(), "v": pa.float64()}
    return pa.table(
        {name: pa.array(cells, types[name]) for name, cells in zip(types, (units, groups, others, values), strict=True)}
    )


def both(asked, rows, sampling):
    """What is found by rows, and what by entries."""
    running = started("duckdb", asked, data(rows))
    catalogue = running._prepared.catalogue(asked.rows)
    answers = []
    for is_reread in (True, False):
        own = replace(catalogue, is_reread=lambda _, known=is_reread: known)
        lowered = lower(asked, own, dialect=DUCKDB, salt=SALT, sampling=sampling)
        written = sql(presented(lowered, lowered.totals))
        assert ("ANTI JOIN" in written and 'SUM("kept")' in written) is is_reread
        with running._lists(lowered):
            answers.append(by_place(exact_groups(lowered, running._database.execute(written).fetchnumpy())))
    running.close()
    return answers


@pytest.mark.parametrize("sampling", Sampling)
@pytest.mark.parametrize("asked", ASKED)
@given(rows=st.lists(ROWS, max_size=30))
def test_answers_are_the_same(asked, sampling, rows):
    by_rows, by_entries = both(statement(asked, TABLE), rows, sampling)
    assert by_rows == by_entries


@pytest.mark.parametrize("keys", [(), ("g",)])
@given(rows=st.lists(ROWS, max_size=30))
def test_answers_are_the_same_in_cells(keys, rows):
    own = statement("SELECT g, COUNT(*), SUM(v) FROM t GROUP BY g", TABLE)
    listed = Values(value=ColumnRef("h"), values=(5, 6))
    for cell in (listed, Bins(steps=own.measures[1].steps, width=3)):
        kept = tuple(key for key in own.keys if key.name in keys)
        by_rows, by_entries = both(replace(own, keys=kept, cell=cell), rows, Sampling.MD5)
        assert by_rows == by_entries


@given(rows=st.lists(ROWS, max_size=30))
def test_they_are_those_of_the_reference(rows):
    asked = statement(ASKED[0], TABLE)
    by_rows, _ = both(asked, rows, Sampling.MD5)
    assert by_rows == by_place(found("reference", asked, data(rows)))


def told_from_rows(asked, *, is_reread=True):
    running = started("duckdb", asked, data([]))
    catalogue = replace(running._prepared.catalogue(asked.rows), is_reread=lambda _: is_reread)
    written = sql(lower(asked, catalogue, dialect=DUCKDB, salt=SALT).totals)
    running.close()
    return 'SUM("kept")' in written


def test_it_is_so_where_a_limit_on_rows_alone_binds_and_units_are_not_counted():
    asked = partial(statement, ASKED[0])
    assert told_from_rows(asked(TABLE))
    assert not told_from_rows(asked(TABLE), is_reread=False)
    assert not told_from_rows(asked(declared(EACH_ROW, Limits())))
    rows = asked(TABLE)
    for limits in (
        Limits(max_rows_per_unit=3, max_groups_per_unit=2), Limits(max_rows_per_unit=3, max_rows_per_group_per_unit=2),
        Limits(max_groups_per_unit=2), Limits(),
    ):  # fmt: skip
        assert not told_from_rows(replace(rows, limits=limits))
    assert not told_from_rows(replace(rows, measures=(RowCount(), UnitCount())))


def test_only_a_table_below_conditions_is_read_again():
    rows, columns = Source(TABLE), (("g", ColumnRef("g")), ("v", ColumnRef("v")))
    own = statement(ASKED[0], TABLE)
    condition = Compare(Comparison.LESS, ColumnRef("v"), Literal(Fraction(1)))
    assert told_from_rows(replace(own, rows=Filter(Filter(rows, condition), condition)))
    other = Select(rows, (("w", ColumnRef("v")),))
    for relation in (
        Select(rows, columns), Distinct(rows), BoundRows(rows, 2), UnionAll(rows, rows),
        Join(left=rows, right=other, on=(("v", "w"),)), Filter(Select(rows, columns), condition),
    ):  # fmt: skip
        assert not told_from_rows(replace(own, rows=relation)), relation


def test_a_table_whose_owners_are_looked_up_is_not_read_again():
    matched = Table(
        name="t", columns=COLUMNS, unit=UnitColumn("u"), limits=Limits(max_rows_per_unit=LIMIT), matches={("g",): 2}
    )  # fmt: skip
    assert not told_from_rows(replace(statement(ASKED[0], TABLE), rows=Source(matched)))
