"""What entries and rows add in Polars is what `amounts` and `entries` say, in as many bits as it takes."""

from fractions import Fraction

import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.engines.in_frames import values_of

from sfumato.engines.amounts import amount, is_counted
from sfumato.engines.entries import scaled
from sfumato.engines.frames.amounts import ROWS, aggregate_names, aggregates, allowed_amount, inputs, whole_amount
from sfumato.engines.frames.rows import Rows
from sfumato.query.expressions import ColumnRef
from sfumato.query.measures import CellCount, RowCount, StepProduct, Steps, StepSum, UnitCount, ValueCount
from sfumato.query.relations import Source
from sfumato.query.schema import MAX_LIMIT, Table, integer, real
from sfumato.query.shape import shape_of

SHAPE = shape_of(Source(Table(name="t", columns={"i": integer(), "f": real()})))
FAR = 2**53


def steps(name, lower=-9, upper=9, **facts):
    own = {"resolution": Fraction(1), "offset": 0, "nullable": True} | facts
    return Steps(value=ColumnRef(name), lower=lower, upper=upper, **own)


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
    cells = {"c0": [i for i, _ in rows], "c1": [f for _, f in rows]}
    own = Rows(frame=pl.LazyFrame(cells, schema={"c0": pl.Int64, "c1": pl.Float64}), shape=SHAPE)
    return own.frame.with_columns(inputs(MEASURES, own)).select(aggregates(MEASURES)).collect()


@given(st.lists(CELLS, max_size=12))
@settings(max_examples=60, deadline=None)
def test_sums_and_counts_of_rows_are_those_of_python(rows):
    found = totals(rows)
    own = [{"i": i, "f": f} for i, f in rows]
    assert found.columns == aggregate_names(MEASURES)
    assert found[ROWS].item() == len(rows)
    for place, measure in enumerate(MEASURES):
        if f"m{place}" in found:
            assert found[f"m{place}"].item() == sum(amount(measure, row) for row in own)
    different = list(dict.fromkeys(measure.present for measure in MEASURES if measure.present))
    for place, present in enumerate(different):
        assert found[f"v{place}"].item() == sum(is_counted(ValueCount(present), row) for row in own)


def cells(total, counted, allowed, kind):
    row = pl.LazyFrame({"v0": [counted], "a": [allowed]})
    return row.with_columns(pl.Series("m0", [total], dtype=kind))


def scaled_in_polars(measure, total, counted, allowed, kind):
    term = allowed_amount(0, (measure,), pl.col("a"), most=allowed)
    return cells(total, counted, allowed, kind).select(term.alias("x")).collect()["x"]


@given(
    st.integers(-(2**94), 2**94) | st.integers(-(2**40), 2**40), st.integers(1, 2**40) | st.integers(1, 20),
    st.integers(1, MAX_LIMIT) | st.integers(1, 20),
)  # fmt: skip
@example(2**63 - 1, 2**40, MAX_LIMIT)
@example(-(2**63), 3, 1)
@settings(max_examples=150, deadline=None)
def test_sums_are_scaled_as_in_python_however_large(total, counted, allowed):
    found = scaled_in_polars(StepSum(WIDE), total, counted, allowed, pl.Int128)
    assert found.item() == scaled(total, counted=counted, allowed=allowed)


@given(st.integers(-9 * 2**40, 9 * 2**40), st.integers(1, 2**40), st.integers(1, MAX_LIMIT) | st.integers(1, 20))
@example(9 * 2**40, 2**40, MAX_LIMIT)
@settings(max_examples=60, deadline=None)
def test_sums_of_64_bits_are_scaled_without_wrapping(total, counted, allowed):
    found = scaled_in_polars(StepSum(steps("f")), total, counted, allowed, pl.Int64)
    assert (found.dtype, found.item()) == (pl.Int64, scaled(total, counted=counted, allowed=allowed))


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
    entry = {"n": [5], "v0": [1], "a": [2]}
    assert values_of(whole_amount(0, (measure,)), entry) == [whole]
    assert values_of(allowed_amount(0, (measure,), pl.col("a"), most=2), entry) == [of_two]


def test_an_entry_of_which_all_is_allowed_is_not_scaled():
    term = allowed_amount(0, (StepSum(steps("f")),), pl.col("a"), most=None)
    assert values_of(term, {"m0": [-7], "v0": [5], "a": [5]}) == [-7]


def test_a_sum_has_64_bits_where_no_rows_need_more():
    found = totals([(1, 1.0)])
    assert [found[f"m{place}"].dtype for place in (3, 6, 7)] == [pl.Int64, pl.Int128, pl.Int128]
