"""Joins against all pairs of rows, compared one by one."""

from collections import Counter
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.engines.reference_joins import joined_rows, semi_joined_rows
from sfumato.engines.scalars import compared
from sfumato.privacy.neighbors import EACH_ROW, UnitColumn
from sfumato.query.expressions import Comparison
from sfumato.query.relations import Join, JoinKind, SemiJoin, Source
from sfumato.query.schema import PUBLIC, Limits, Table, integer, real, text

LIMITS = Limits(max_rows_per_unit=5)


def table(name, unit, **columns):
    named = {f"{name} {column}": facts for column, facts in columns.items()}
    owned = isinstance(unit, UnitColumn)
    return Source(Table(name=name, columns=named, unit=unit, limits=LIMITS if owned else Limits()))


COLUMNS = {"u": text(), "k": text(), "i": integer(), "f": real()}
LEFT = table("l", UnitColumn("l u"), **COLUMNS)
RIGHT = table("r", UnitColumn("r u"), **COLUMNS)
NOBODYS = table("r", PUBLIC, **COLUMNS)
ROWS = table("l", EACH_ROW, **COLUMNS)
ON = st.sampled_from([(), ("k",), ("i",), ("f",), ("k", "i")])
CELLS = st.tuples(
    st.sampled_from(["a", "b"]), st.sampled_from(["x", "y", "", None]), st.sampled_from([1, 2**53, 2**53 + 1, None]),
    st.sampled_from([1.0, 2.0**53, 0.0, None]),
)  # fmt: skip


def rows(source, cells, *, owned):
    return [(row[0] if owned else None, dict(zip(source.table.columns, row, strict=True))) for row in cells]


def meet(left, right, on, *, within_units):
    same_unit = not within_units or left[0] == right[0]
    return same_unit and all(compared(Comparison.EQUAL, left[1][a], right[1][b]) is True for a, b in on)


def as_multiset(found):
    return Counter((unit, *row.items()) for unit, row in found)


@st.composite
def pairs(draw, *, mixed=False):
    """Two relations, their rows, and what is compared."""
    right, owned = draw(st.sampled_from([(RIGHT, True), (NOBODYS, False)]))
    columns = draw(ON)
    on = tuple((f"l {name}", f"r {name}") for name in columns)
    if mixed and draw(st.booleans()):
        on = draw(st.sampled_from([(("l i", "r f"),), (("l f", "r i"), ("l k", "r k"))]))
    left_cells, right_cells = draw(st.lists(CELLS, max_size=6)), draw(st.lists(CELLS, max_size=6))
    return right, owned, on, rows(LEFT, left_cells, owned=True), rows(right, right_cells, owned=owned)


@given(pairs(), st.sampled_from(JoinKind))
def test_a_join_has_the_pairs_that_meet_and_a_left_join_all_of_the_left_side(drawn, kind):
    right, owned, on, first, second = drawn
    met = [(a, b) for a, b in product(first, second) if meet(a, b, on, within_units=owned)]
    expected = [(a[0], a[1] | b[1]) for a, b in met]
    if kind is JoinKind.LEFT:
        nothing = dict.fromkeys(right.table.columns)
        expected += [(a[0], a[1] | nothing) for a in first if not any(a is met_row for met_row, _ in met)]
    found = joined_rows(Join(left=LEFT, right=right, on=on, kind=kind), first, second)
    assert as_multiset(found) == as_multiset(expected)
    assert all(list(row) == [*LEFT.table.columns, *right.table.columns] for _, row in found)


@given(pairs(mixed=True), st.booleans())
def test_a_semi_join_keeps_rows_by_whether_one_meets_them(drawn, negated):
    right, owned, on, first, second = drawn
    join = SemiJoin(child=LEFT, other=right, on=on, negated=negated)
    expected = [a for a in first if any(meet(a, b, on, within_units=owned) for b in second) is not negated]
    assert semi_joined_rows(join, first, second) == expected


def test_null_meets_nothing_and_a_negated_semi_join_keeps_it():
    first, second = rows(LEFT, [("a", None, 1, 1.0)], owned=True), rows(RIGHT, [("a", None, 1, 1.0)], owned=True)
    on = (("l k", "r k"),)
    assert joined_rows(Join(left=LEFT, right=RIGHT, on=on), first, second) == []
    assert semi_joined_rows(SemiJoin(child=LEFT, other=RIGHT, on=on), first, second) == []
    assert semi_joined_rows(SemiJoin(child=LEFT, other=RIGHT, on=on, negated=True), first, second) == first


@pytest.mark.parametrize(("other", "kept"), [([], 0), ([("b", "x", 1, 1.0)], 1)])
def test_some_row_of_a_public_table_keeps_all_rows(other, kept):
    first = rows(LEFT, [("a", "x", 1, 1.0)], owned=True)
    found = semi_joined_rows(SemiJoin(child=LEFT, other=NOBODYS, on=()), first, rows(NOBODYS, other, owned=False))
    assert len(found) == kept


def test_a_whole_number_and_a_float_meet_as_doubles():
    first = rows(ROWS, [("a", "x", 2**53 + 1, None)], owned=False)
    second = rows(NOBODYS, [("b", "y", None, 2.0**53)], owned=False)
    assert semi_joined_rows(SemiJoin(child=ROWS, other=NOBODYS, on=(("l i", "r f"),)), first, second) == first
