"""What entries and rows add in SQL is what `engines.reference.groups` says, in as many bits as it takes."""

from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.engines.in_sql import database, run, values_of

from sfumato.engines.duckdb.dialect import sql
from sfumato.engines.reference.groups import amount, is_counted, scaled
from sfumato.engines.sql.entries import ROWS, aggregate_names, aggregates, allowed_amount, whole_amount
from sfumato.engines.sql.expressions.terms import column, function, select, table
from sfumato.engines.sql.rows import SqlRelation
from sfumato.query.analysis.shape import shape_of
from sfumato.query.model.expressions import ColumnRef
from sfumato.query.model.relations import Source
from sfumato.query.model.schema import MAX_LIMIT, Table, integer, real
from sfumato.query.model.statement import CellCount, LatticeValue, RowCount, StepProduct, StepSum, UnitCount, ValueCount

TABLE = Source(Table(name="t", columns={"i": integer(), "f": real()}))
ROWS_OF = SqlRelation(query=select([], table("cells")), shape=shape_of(TABLE))
FAR = 2**53


def steps(name, lower=-9, upper=9, **facts):
    own = {"resolution": Fraction(1), "offset": 0, "nullable": True} | facts
    return LatticeValue(value=ColumnRef(name), lower=lower, upper=upper, **own)


WIDE = steps("i", -FAR, FAR)
MEASURES = (
    RowCount(), ValueCount((ColumnRef("i"),)), ValueCount((ColumnRef("i"), ColumnRef("f"))), StepSum(steps("f")),
    StepSum(steps("f", nullable=False, offset=4)), StepProduct(steps("i"), steps("f")), StepSum(WIDE),
    StepProduct(WIDE, WIDE), UnitCount(), ValueCount(()),
)  # fmt: skip
CELLS = st.tuples(
    st.none() | st.integers(-20, 20) | st.sampled_from([2**63 - 1, -(2**63)]), st.none() | st.floats(allow_nan=False)
)


def totals(rows):
    cells = {"c0": pa.array([i for i, _ in rows], pa.int64()), "c1": pa.array([f for _, f in rows], pa.float64())}
    query = select([*aggregates(MEASURES, ROWS_OF)], table("cells"))
    names = aggregate_names(MEASURES)
    database().register("cells", pa.table(cells))
    shown = ", ".join(f"CAST({name} AS VARCHAR)" for name in names)
    (found,) = database().execute(f"SELECT {shown} FROM ({sql(query)})").fetchall()
    database().unregister("cells")
    return dict(zip(names, map(int, found), strict=True))


@given(st.lists(CELLS, max_size=12))
def test_sums_and_counts_of_rows_are_those_of_python(rows):
    found = totals(rows)
    own = [{"i": i, "f": f} for i, f in rows]
    assert found[ROWS] == len(rows)
    for place, measure in enumerate(MEASURES):
        if f"m{place}" in found:
            assert found[f"m{place}"] == sum(amount(measure, row) for row in own)
    counted = [measure for measure in MEASURES if measure.present]
    different = list(dict.fromkeys(measure.present for measure in counted))
    for place, present in enumerate(different):
        assert found[f"v{place}"] == sum(is_counted(ValueCount(present), row) for row in own)


@given(
    st.integers(-(2**94), 2**94) | st.integers(-(2**40), 2**40), st.integers(1, 2**40) | st.integers(1, 20),
    st.integers(1, MAX_LIMIT) | st.integers(1, 20),
)  # fmt: skip
@example(2**63 - 1, 2**40, MAX_LIMIT)
@example(-(2**63), 3, 1)
def test_sums_are_scaled_as_in_python_however_large(total, counted, allowed):
    measures = (StepSum(steps("f")),)
    term = allowed_amount(0, measures, column("a"), most=allowed)
    row = f"SELECT {total}::HUGEINT AS m0, {counted}::BIGINT AS v0, {allowed}::BIGINT AS a"
    ((found,),) = database().execute(f"SELECT CAST({sql(term)} AS VARCHAR) FROM ({row})").fetchall()
    assert int(found) == scaled(total, counted=counted, allowed=allowed)


@pytest.mark.parametrize(("allowed", "expected"), [(5, -7), (0, 0)])
def test_an_entry_of_which_all_or_nothing_is_allowed_is_not_scaled(allowed, expected):
    term = allowed_amount(0, (StepSum(steps("f")),), column("a"), most=None)
    assert values_of(term, {"m0": [-7], "v0": [5], "a": [allowed]}) == [expected]


@pytest.mark.parametrize(
    ("measure", "whole", "of_two"),
    [
        (RowCount(), 5, 2),
        (ValueCount(()), 5, 2),
        (ValueCount((ColumnRef("i"),)), 1, 1),
        (UnitCount(), 1, 1),
        (CellCount(), 1, 1),
    ],
)
def test_counts_are_cut_to_the_rows_that_are_allowed(measure, whole, of_two):
    cells = {"n": [5], "v0": [1], "a": [2]}
    assert values_of(whole_amount(0, (measure,)), cells) == [whole]
    assert values_of(allowed_amount(0, (measure,), column("a"), most=2), cells) == [of_two]


def test_a_sum_has_64_bits_where_no_rows_need_more():
    query = select([*aggregates(MEASURES, ROWS_OF)], table("cells"))
    cells = pa.table({"c0": pa.array([1], pa.int64()), "c1": pa.array([1.0])})
    names = [f"m{place}" for place in (3, 6, 7)]
    kinds = run(select([function("TYPEOF", column(name)) for name in names], query), cells=cells)
    assert kinds == [("BIGINT", "HUGEINT", "HUGEINT")]
