"""Every relation by example; and that none of them looks at two units at once."""

from collections import Counter
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.engines.reference.relations import joined_rows, relation_rows, semi_joined_rows
from sfumato.privacy.neighbors import EACH_ROW, UnitColumn
from sfumato.query.model.expressions import Call, Case, ColumnRef, Compare, Comparison, IsNull, Literal
from sfumato.query.model.functions import Function
from sfumato.query.model.relations import (
    BoundRows,
    Distinct,
    Except,
    Filter,
    Fold,
    Folded,
    Grouped,
    Intersect,
    Join,
    JoinKind,
    PeoplePart,
    RowFunction,
    RowWindow,
    Select,
    SemiJoin,
    Source,
    UnionAll,
)
from sfumato.query.model.schema import PUBLIC, Limits, Table, integer, real, text
from sfumato.query.values.evaluation import compared

COLUMNS = {"u": text(), "k": text(), "i": integer(0, 9), "f": real(0, 9)}
VISITS = Source(Table(name="visits", columns=COLUMNS, unit=UnitColumn("u"), limits=Limits(max_rows_per_unit=9)))
ROWS = Source(Table(name="rows", columns=COLUMNS, unit=EACH_ROW))
CODES = Source(Table(name="codes", columns={"code": text(), "n": integer()}, unit=PUBLIC, matches={("code",): 1}))
SALT = "00112233445566778899aabbccddeeff"
ONE, TWO = Literal(Fraction(1)), Literal(Fraction(2))

MANY = Limits(max_rows_per_unit=5)


def column(name):
    return ColumnRef(name)


def visits(*rows):
    return [dict(zip(COLUMNS, row, strict=True)) for row in rows]


def found(relation, salt=SALT, **data):
    rows = relation_rows(relation, lambda table: data.get(table.name, []), salt=salt)
    return [(unit, *row.values()) for unit, row in rows]


def select(child, **columns):
    return Select(child, tuple(columns.items()))


def test_a_join_makes_as_many_rows_as_it_may_or_none():
    joined = Join(left=Select(VISITS, (("k", column("k")),)), right=CODES, on=(("k", "code"),))
    rows = {"visits": visits(("a", "x", 1, 0.5), ("b", "x", 2, 1.5)), "codes": [{"code": "x", "n": 1}]}
    asked = Filter(joined, Compare(Comparison.LESS, column("n"), TWO))
    assert len(relation_rows(asked, lambda table: rows[table.name], salt=SALT, most=2)) == 2
    with pytest.raises(OverflowError):
        relation_rows(asked, lambda table: rows[table.name], salt=SALT, most=1)


def test_a_filter_keeps_the_rows_for_which_its_condition_is_true():
    rows = visits(("a", "x", 1, 0.5), ("a", None, 2, None), ("b", "y", 3, 1.5))
    kept = found(Filter(VISITS, Compare(Comparison.LESS, column("k"), Literal("y"))), visits=rows)
    assert kept == [("a", "a", "x", 1, 0.5)]


def test_a_select_has_its_own_columns_and_keeps_the_unit():
    half = Call(Function.DIVIDE, (Call(Function.COALESCE, (column("f"), column("i"))), TWO))
    shown = found(select(VISITS, half=half, k=column("k")), visits=visits(("a", "x", 1, None)))
    assert shown == [("a", 0.5, "x")]  # of a FLOAT, also on a row without one


STAYS = visits(
    ("a", "x", 3, 0.5), ("a", "y", 1, None), ("a", "x", 1, 2.0), ("b", "x", 2, 1.0), ("b", "x", 2, 1.0),
    ("b", None, 1, 0.5),
)  # fmt: skip


def in_order(function, *order, **more):
    """The units, the keys of `order`, and the window of each row."""
    window = RowWindow(child=VISITS, name="w", function=function, order=order, **more)
    return sorted(
        ((unit, row["i"], row["k"], row["w"]) for unit, row in relation_rows(window, lambda _: STAYS, salt=SALT)),
        key=repr,
    )


def test_rows_of_a_unit_are_numbered_in_their_order_and_equal_ones_by_all_columns():
    assert in_order(RowFunction.ROW_NUMBER, ("i", False)) == [
        ("a", 1, "x", 1), ("a", 1, "y", 2), ("a", 3, "x", 3), ("b", 1, None, 1), ("b", 2, "x", 2), ("b", 2, "x", 3),
    ]  # fmt: skip


def test_equal_rows_have_one_rank_and_null_comes_last_or_first_if_it_descends():
    assert [row[3] for row in in_order(RowFunction.RANK, ("i", False))] == [1, 1, 3, 1, 2, 2]
    assert [row[3] for row in in_order(RowFunction.DENSE_RANK, ("k", False))] == [1, 2, 1, 2, 1, 1]
    assert [row[3] for row in in_order(RowFunction.DENSE_RANK, ("k", True))] == [2, 1, 2, 1, 2, 2]


def test_a_value_moves_within_its_unit_and_its_part():
    assert [row[3] for row in in_order(RowFunction.LAG, ("i", False), value="i")] == [None, 1, 1, None, 1, 2]
    assert [row[3] for row in in_order(RowFunction.LEAD, ("i", False), value="i", distance=2)] == [
        3, None, None, 2, None, None,
    ]  # fmt: skip
    parted = in_order(RowFunction.FIRST_VALUE, ("i", True), value="i", within=("k",))
    assert [row[3] for row in parted] == [3, 1, 3, 1, 2, 2]


def test_a_filter_knows_floats_from_whole_numbers_too():
    mixed = Case(((IsNull(column("f")), column("i")),), column("f"))
    more = Compare(Comparison.GREATER, Call(Function.DIVIDE, (mixed, TWO)), Literal(Fraction(1, 4)))
    assert len(found(Filter(VISITS, more), visits=visits(("a", "x", 1, None)))) == 1


def test_a_union_has_the_rows_of_both_named_as_on_the_left_and_floats_where_they_mix():
    right = select(VISITS, a=column("f"), b=column("k"))
    left = select(VISITS, n=column("i"), k=column("k"))
    rows = visits(("a", "x", 1, 0.5), ("b", None, None, 2.0))
    both = relation_rows(UnionAll(left, right), lambda _: rows, salt=SALT)
    assert both == [
        ("a", {"n": 1.0, "k": "x"}), ("b", {"n": None, "k": None}), ("a", {"n": 0.5, "k": "x"}),
        ("b", {"n": 2.0, "k": None}),
    ]  # fmt: skip
    assert isinstance(both[0][1]["n"], float)


@pytest.mark.parametrize(
    ("operation", "kept"),
    [(Intersect, {("a", 1.0): 1, ("b", None): 1}), (Except, {("a", 1.0): 1, ("a", 2.0): 1, ("b", 1.0): 1})],
)
def test_rows_are_taken_as_often_as_they_are_there_within_units_and_null_is_equal_to_null(operation, kept):
    left, right = select(VISITS, n=column("i")), select(VISITS, n=column("f"))
    rows = visits(
        ("a", "x", 1, 1.0), ("a", "x", 1, 3.0), ("a", "x", 2, 4.0), ("b", "x", None, None), ("b", "x", 1, 5.0)
    )
    assert Counter(found(operation(left, right), visits=rows)) == kept


def test_distinct_rows_are_those_of_one_unit_and_null_is_equal_to_null():
    rows = visits(
        ("a", "x", 1, 0.5), ("a", "x", 2, 0.5), ("a", None, 1, None), ("a", None, 3, None), ("b", "x", 1, 0.5)
    )
    assert found(Distinct(select(VISITS, k=column("k"))), visits=rows) == [("a", "x"), ("a", None), ("b", "x")]


def test_a_bound_keeps_so_many_rows_of_each_unit_by_the_salt():
    rows = visits(*(("a", "x", n, 0.5) for n in range(9)), ("b", "x", 1, 0.5))
    kept = [found(BoundRows(VISITS, 2), salt=f"{salt:032x}", visits=rows) for salt in range(12)]
    assert all(Counter(row[0] for row in some) == {"a": 2, "b": 1} for some in kept)
    assert len({tuple(sorted(some)) for some in kept}) > 3
    assert sorted(kept[0]) == sorted(found(BoundRows(VISITS, 2), salt=f"{0:032x}", visits=rows[::-1]))


@pytest.mark.parametrize("most", [1, 2, 3])
def test_a_unit_lies_in_at_most_so_many_of_the_listed_parts(most):
    rows = visits(*(("a", key, 1, 0.5) for key in "xxyzz"), ("a", "unlisted", 1, 0.5), ("a", None, 1, 0.5))
    counts = [len(found(part(VISITS, value, most), visits=rows)) for value in "xyz"]
    assert sum(count > 0 for count in counts) == most
    assert all(count in (0, whole) for count, whole in zip(counts, (2, 1, 2), strict=True))


def test_each_unit_has_its_own_choice_of_parts():
    units = [f"unit {n}" for n in range(20)]
    rows = visits(*((unit, key, 1, 0.5) for unit in units for key in "xyz"))
    counts = [len(found(part(VISITS, value, 1), visits=rows)) for value in "xyz"]
    assert sum(counts) == 20
    assert all(counts)


def test_rows_without_owners_lie_in_their_parts():
    rows = visits(*(("a", key, 1, 0.5) for key in "xxyzz"))
    assert [len(found(part(ROWS, value, 1), rows=rows)) for value in "xyz"] == [2, 1, 2]


def part(child, value, most):
    return PeoplePart(child=child, by="k", values=("x", "y", "z"), value=value, max_parts_per_unit=most, salt="ff" * 16)


def test_a_public_table_joins_by_its_codes():
    join = Join(left=VISITS, right=CODES, on=(("k", "code"),), kind=JoinKind.LEFT)
    shown = found(
        join,
        visits=visits(("a", "x", 1, 0.5), ("a", "y", 1, 0.5)),
        codes=[{"code": "x", "n": 7}, {"code": "x", "n": 8}],
    )
    assert shown == [("a", "a", "x", 1, 0.5, "x", shown[0][-1]), ("a", "a", "y", 1, 0.5, None, None)]


COUNTED = Grouped(VISITS, ("k",), (Folded("n", Fold.COUNT_ROWS), Folded("s", Fold.SUM, column("i"))))
KEPT = Filter(VISITS, Compare(Comparison.GREATER, column("i"), ONE))
OF_UNITS = {
    "source": VISITS,
    "part": part(VISITS, "x", 1),
    "filter": KEPT,
    "select": select(VISITS, k=column("k")),
    "distinct": Distinct(select(VISITS, k=column("k"))),
    "bound": BoundRows(VISITS, 2),
    "grouped": COUNTED,
    "grouped without keys": Grouped(VISITS, (), (Folded("m", Fold.MEAN, column("f")),)),
    "join": Join(left=VISITS, right=select(KEPT, key=column("k"), j=column("i")), on=(("k", "key"),)),
    "left join": Join(left=VISITS, right=select(KEPT, j=column("i")), on=(("i", "j"),), kind=JoinKind.LEFT),
    "public join": Join(left=VISITS, right=CODES, on=(("k", "code"),)),
    "semi-join": SemiJoin(child=VISITS, other=KEPT, on=(("k", "k"),), negated=True),
    "some row": SemiJoin(child=VISITS, other=KEPT, on=()),
    "union": UnionAll(VISITS, KEPT),
    "intersect": Intersect(select(VISITS, k=column("k")), select(KEPT, k=column("k"))),
    "except": Except(select(VISITS, k=column("k")), select(KEPT, k=column("k"))),
}
CELLS = st.tuples(
    st.sampled_from(["a", "b", "c", None]), st.sampled_from(["x", "y", "z", None]), st.integers(0, 3) | st.none(),
    st.sampled_from([0.0, 0.5, None]),
)  # fmt: skip
CODED = [{"code": "x", "n": 7}, {"code": "x", "n": 8}, {"code": "y", "n": None}, {"code": None, "n": 1}]


@pytest.mark.parametrize("relation", OF_UNITS.values(), ids=OF_UNITS)
@given(st.lists(CELLS, max_size=12), st.randoms(use_true_random=False))
def test_the_rows_of_a_unit_come_from_its_own_rows_in_any_order(relation, cells, random):
    together = found(relation, visits=visits(*random.sample(cells, len(cells))), codes=CODED)
    alone = [
        row
        for unit in ("a", "b", "c")
        for row in found(relation, visits=visits(*(c for c in cells if c[0] == unit)), codes=CODED[::-1])
    ]
    assert Counter(together) == Counter(alone)


def side_table(name, unit, **columns):
    named = {f"{name} {column}": facts for column, facts in columns.items()}
    owned = isinstance(unit, UnitColumn)
    return Source(Table(name=name, columns=named, unit=unit, limits=MANY if owned else Limits()))


SIDE = {"u": text(), "k": text(), "i": integer(), "f": real()}
OWNED_LEFT = side_table("l", UnitColumn("l u"), **SIDE)
OWNED_RIGHT = side_table("r", UnitColumn("r u"), **SIDE)
NOBODYS = side_table("r", PUBLIC, **SIDE)
NEW_ROWS = side_table("l", EACH_ROW, **SIDE)
ON = st.sampled_from([(), ("k",), ("i",), ("f",), ("k", "i")])
NEW_CELLS = st.tuples(
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
    right, owned = draw(st.sampled_from([(OWNED_RIGHT, True), (NOBODYS, False)]))
    columns = draw(ON)
    on = tuple((f"l {name}", f"r {name}") for name in columns)
    if mixed and draw(st.booleans()):
        on = draw(st.sampled_from([(("l i", "r f"),), (("l f", "r i"), ("l k", "r k"))]))
    left_cells, right_cells = draw(st.lists(NEW_CELLS, max_size=6)), draw(st.lists(NEW_CELLS, max_size=6))
    return right, owned, on, rows(OWNED_LEFT, left_cells, owned=True), rows(right, right_cells, owned=owned)


@given(pairs(), st.sampled_from(JoinKind))
def test_a_join_has_the_pairs_that_meet_and_a_left_join_all_of_the_left_side(drawn, kind):
    right, owned, on, first, second = drawn
    met = [(a, b) for a, b in product(first, second) if meet(a, b, on, within_units=owned)]
    expected = [(a[0], a[1] | b[1]) for a, b in met]
    if kind is JoinKind.LEFT:
        nothing = dict.fromkeys(right.table.columns)
        expected += [(a[0], a[1] | nothing) for a in first if not any(a is met_row for met_row, _ in met)]
    found = joined_rows(Join(left=OWNED_LEFT, right=right, on=on, kind=kind), first, second)
    assert as_multiset(found) == as_multiset(expected)
    assert all(list(row) == [*OWNED_LEFT.table.columns, *right.table.columns] for _, row in found)


@given(pairs(mixed=True), st.booleans())
def test_a_semi_join_keeps_rows_by_whether_one_meets_them(drawn, negated):
    right, owned, on, first, second = drawn
    join = SemiJoin(child=OWNED_LEFT, other=right, on=on, negated=negated)
    expected = [a for a in first if any(meet(a, b, on, within_units=owned) for b in second) is not negated]
    assert semi_joined_rows(join, first, second) == expected


def test_null_meets_nothing_and_a_negated_semi_join_keeps_it():
    first, second = (
        rows(OWNED_LEFT, [("a", None, 1, 1.0)], owned=True),
        rows(OWNED_RIGHT, [("a", None, 1, 1.0)], owned=True),
    )
    on = (("l k", "r k"),)
    assert joined_rows(Join(left=OWNED_LEFT, right=OWNED_RIGHT, on=on), first, second) == []
    assert semi_joined_rows(SemiJoin(child=OWNED_LEFT, other=OWNED_RIGHT, on=on), first, second) == []
    assert semi_joined_rows(SemiJoin(child=OWNED_LEFT, other=OWNED_RIGHT, on=on, negated=True), first, second) == first


@pytest.mark.parametrize(("other", "kept"), [([], 0), ([("b", "x", 1, 1.0)], 1)])
def test_some_row_of_a_public_table_keeps_all_rows(other, kept):
    first = rows(OWNED_LEFT, [("a", "x", 1, 1.0)], owned=True)
    found = semi_joined_rows(SemiJoin(child=OWNED_LEFT, other=NOBODYS, on=()), first, rows(NOBODYS, other, owned=False))
    assert len(found) == kept


def test_a_whole_number_and_a_float_meet_as_doubles():
    first = rows(NEW_ROWS, [("a", "x", 2**53 + 1, None)], owned=False)
    second = rows(NOBODYS, [("b", "y", None, 2.0**53)], owned=False)
    assert semi_joined_rows(SemiJoin(child=NEW_ROWS, other=NOBODYS, on=(("l i", "r f"),)), first, second) == first
