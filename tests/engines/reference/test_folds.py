"""Folds of groups: exact, in any order, and never an error."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.engines.reference.relations import folded_rows
from sfumato.errors import UnboundedSensitivityError
from sfumato.privacy.neighbors import EACH_ROW, UnitColumn
from sfumato.query.model.expressions import Call, ColumnRef, Literal
from sfumato.query.model.functions import Function
from sfumato.query.model.relations import Fold, Folded, Grouped, Source
from sfumato.query.model.schema import Limits, Table, integer, real, text
from sfumato.query.values.numbers import LARGEST

COLUMNS = {
    "u": text(), "k": text(), "i": integer(-100, 100), "f": real(-10, 10, resolution="0.1"), "wide": integer(0, 2**53),
    "free": real(),
}  # fmt: skip
PEOPLE = Source(Table(name="t", columns=COLUMNS, unit=UnitColumn("u"), limits=Limits(max_rows_per_unit=9)))
ROWS = Source(Table(name="t", columns=COLUMNS, unit=EACH_ROW))
FOLDS = tuple(Folded(fold.value, fold, ColumnRef("i") if fold is not Fold.COUNT_ROWS else None) for fold in Fold)


def row(unit="a", **cells):
    return unit, dict.fromkeys(COLUMNS) | cells


def folded(fold, column, *cells, child=PEOPLE):
    """The fold of one group."""
    value = ColumnRef(column) if isinstance(column, str) else column
    name = column if isinstance(column, str) else "f"
    ((_, found),) = folded_rows(Grouped(child, (), (Folded("x", fold, value),)), [row(**{name: c}) for c in cells])
    return found["x"]


def test_each_unit_and_combination_of_keys_has_one_row_and_null_is_a_key():
    rows = [row("a", k="x", i=1), row("a", k="x", i=2), row("a", k=None, i=3), row("a", k=None), row("b", k="x", i=5)]
    found = folded_rows(
        Grouped(PEOPLE, ("k",), (Folded("n", Fold.COUNT_ROWS), Folded("s", Fold.SUM, ColumnRef("i")))), rows
    )
    assert found == [
        ("a", {"k": "x", "n": 2, "s": 3}), ("a", {"k": None, "n": 2, "s": 3}), ("b", {"k": "x", "n": 1, "s": 5}),
    ]  # fmt: skip


@pytest.mark.parametrize("child", [PEOPLE, ROWS])
def test_of_no_rows_there_is_no_row(child):
    assert folded_rows(Grouped(child, (), FOLDS), []) == []


def test_a_fold_of_nulls_is_null_and_a_count_of_them_zero():
    ((_, found),) = folded_rows(Grouped(PEOPLE, (), FOLDS), [row(), row()])
    assert found == {
        "count_rows": 2, "count": 0, "count_distinct": 0, "sum": None, "mean": None, "min": None, "max": None,
    }  # fmt: skip


def test_null_is_left_out():
    ((_, found),) = folded_rows(Grouped(PEOPLE, (), FOLDS), [row(i=i) for i in (3, None, -1, 3)])
    assert found == {
        "count_rows": 4, "count": 3, "count_distinct": 2, "sum": 5, "mean": 5 / 3, "min": -1, "max": 3,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("fold", "column", "cells", "value"),
    [
        (Fold.SUM, "i", (1000, -7, None), 93),  # values are clamped to their bounds
        (Fold.SUM, "f", (0.26, 0.26), 6 * 0.1),  # and rounded to their lattice, 0.1
        (Fold.SUM, "f", (LARGEST, -LARGEST, LARGEST), 100 * 0.1),
        (Fold.MEAN, "f", (LARGEST, 0.0), 100 / 2 * 0.1),
        (Fold.MEAN, "i", (1, 2), 1.5),
        (Fold.SUM, "wide", (2**53,) * 1024, None),  # beyond 64 bits
        (Fold.SUM, "wide", (2**53,) * 1023, 1023 * 2**53),
        (Fold.MEAN, "wide", (2**53,) * 1024, 2.0**53),
        (Fold.MIN, "f", (0.5, -LARGEST), -LARGEST),
        (Fold.MAX, "k", ("a", "é", "z"), "é"),
        (Fold.COUNT_DISTINCT, "f", (0.1, 0.1, LARGEST, None), 2),
    ],
)
def test_folds_at_their_edges(fold, column, cells, value):
    found = folded(fold, column, *cells)
    assert (found, type(found)) == (value, type(value))


def test_what_is_folded_may_be_computed_and_whole_numbers_among_floats_are_floats():
    mixed = Call(Function.COALESCE, (ColumnRef("f"), ColumnRef("i"), Literal(Fraction(7))))
    half = Call(Function.LEAST, (Call(Function.DIVIDE, (mixed, Literal(Fraction(2)))), Literal(Fraction(9))))
    assert folded(Fold.MAX, half, None) == 3.5


@given(st.lists(st.none() | st.floats(-LARGEST, LARGEST), min_size=1, max_size=8), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(cells, random):
    for fold in (Fold.SUM, Fold.MEAN):
        assert folded(fold, "f", *cells) == folded(fold, "f", *random.sample(cells, len(cells)))


@pytest.mark.parametrize("rows", [[], [row(free=1.0)]])
def test_what_has_no_bounds_is_refused_whether_or_not_there_are_rows(rows):
    grouped = Grouped(PEOPLE, (), (Folded("s", Fold.SUM, ColumnRef("free")),))
    with pytest.raises(UnboundedSensitivityError):
        folded_rows(grouped, rows)
