from dataclasses import replace
from fractions import Fraction

import pytest

from sfumato.errors import UnboundedSensitivityError
from sfumato.privacy.neighbors import EACH_ROW, UnitColumn
from sfumato.query.analysis.bounding import (
    bound_joins,
    is_public,
    least,
    limits_of,
    matches,
    matches_of,
    most_rows,
    narrowed,
    ungrouped,
)
from sfumato.query.model.expressions import TRUE, Call, ColumnRef, Literal
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
    PeoplePart,
    RowFunction,
    RowWindow,
    Select,
    SemiJoin,
    Source,
    UnionAll,
)
from sfumato.query.model.schema import MAX_LIMIT, PUBLIC, Limits, Table, integer, text


def owned(name="t", *, prefix="", matches=(), **limits):
    columns = {f"{prefix}{column}": integer() for column in ("u", "k", "v")}
    return Source(
        Table(name=name, columns=columns, unit=UnitColumn(f"{prefix}u"), limits=Limits(**limits), matches=dict(matches))
    )


def public(matches=(), *, prefix="p_", name="p"):
    columns = {f"{prefix}code": text(), f"{prefix}name": text()}
    return Source(Table(name=name, columns=columns, unit=PUBLIC, matches=dict(matches)))


T = owned(max_rows_per_unit=9, max_groups_per_unit=2, max_rows_per_group_per_unit=4)
S = owned("s", prefix="s_", max_rows_per_unit=5)
CODES = public({("p_code",): 3})
BY_K = Grouped(T, ("k",), ())
DOUBLED = Call(Function.MULTIPLY, (ColumnRef("v"), Literal(Fraction(2))))


def join(left=T, right=S, on=(("k", "s_k"),)):
    return Join(left=left, right=right, on=on)


@pytest.mark.parametrize(
    ("limits", "most"),
    [
        ({"max_rows_per_unit": 9, "max_groups_per_unit": 2, "max_rows_per_group_per_unit": 4}, 8),
        ({"max_rows_per_unit": 7, "max_groups_per_unit": 2, "max_rows_per_group_per_unit": 4}, 7),
        ({"max_groups_per_unit": 2, "max_rows_per_group_per_unit": 4}, 8),
        ({"max_rows_per_group_per_unit": 4}, None),
        ({}, None),
    ],
)
def test_the_most_rows_are_the_least_that_any_limits_say(limits, most):
    assert most_rows(Limits(**limits)) == most


def test_an_analyst_may_only_narrow_limits():
    asked = Limits(max_rows_per_unit=20, max_groups_per_unit=1)
    assert narrowed(T.table.limits, asked) == Limits(
        max_rows_per_unit=9, max_groups_per_unit=1, max_rows_per_group_per_unit=4
    )
    assert narrowed(T.table.limits, None) is T.table.limits


@pytest.mark.parametrize(
    ("limits", "most"),
    [
        ({"max_rows_per_unit": 9, "max_groups_per_unit": 2, "max_rows_per_group_per_unit": 4}, 4),
        ({"max_rows_per_unit": 3}, 3),
        ({"max_rows_per_group_per_unit": 5, "max_groups_per_unit": 2}, 5),
    ],
)
def test_without_keys_all_rows_are_one_group(limits, most):
    found = ungrouped(Limits(**limits))
    assert (found.max_rows_per_unit, found.max_groups_per_unit, found.max_rows_per_group_per_unit) == (most, None, most)


@pytest.mark.parametrize(
    "relation",
    [
        Filter(T, TRUE), Select(T, (("k", ColumnRef("k")),)), Distinct(T), SemiJoin(child=T, other=S, on=()),
        Intersect(T, S), Except(T, S),
        PeoplePart(child=T, by="k", values=(1,), value=1, max_parts_per_unit=1, salt="00"),
    ],
)  # fmt: skip
def test_what_only_takes_rows_away_keeps_the_limits(relation):
    assert limits_of(relation) == T.table.limits


def test_a_bound_and_groups_narrow_the_limits():
    assert limits_of(BoundRows(T, 3)).max_rows_per_unit == 3
    assert limits_of(BoundRows(T, 30)).max_rows_per_unit == 9
    assert limits_of(BY_K) == Limits(max_rows_per_unit=8, max_groups_per_unit=2)
    assert limits_of(Grouped(T, (), ())).max_rows_per_unit == 1


def test_a_window_leaves_limits_and_matches_as_they_are():
    numbered = RowWindow(child=BY_K, name="n", function=RowFunction.ROW_NUMBER, order=(("k", False),))
    assert limits_of(numbered) == limits_of(BY_K)
    assert matches_of(numbered, frozenset({"k", "n"})) == 1
    assert matches_of(numbered, frozenset({"n"})) is None
    windows = [replace(numbered, child=side) for side in (join(), bound_joins(join()))]
    assert bound_joins(windows[0]) == windows[1]


def test_a_union_adds_limits_and_a_join_multiplies_rows():
    assert limits_of(UnionAll(T, T)) == Limits(
        max_rows_per_unit=16, max_groups_per_unit=4, max_rows_per_group_per_unit=8
    )
    assert limits_of(UnionAll(T, S)) == Limits(max_rows_per_unit=13)
    assert limits_of(join()) == Limits(max_rows_per_unit=8 * 5, max_groups_per_unit=2)
    assert limits_of(join(right=CODES, on=(("k", "p_code"),))) == Limits(max_rows_per_unit=24, max_groups_per_unit=2)


def test_limits_never_grow_beyond_what_sums_have_room_for():
    heavy = [owned(name, prefix=f"{name}_", max_rows_per_unit=MAX_LIMIT) for name in ("a", "b")]
    assert limits_of(join(*heavy, on=())).max_rows_per_unit == MAX_LIMIT
    assert limits_of(UnionAll(*heavy)).max_rows_per_unit == MAX_LIMIT
    many = owned("c", prefix="c_", max_groups_per_unit=10**5, max_rows_per_group_per_unit=10**5)
    assert limits_of(Grouped(many, ("c_k",), ())).max_rows_per_unit == MAX_LIMIT


def test_a_row_has_as_many_partners_as_are_declared_of_the_columns_of_the_join():
    assert matches(join(right=CODES, on=(("k", "p_code"),))) == 3
    assert matches(join(right=CODES, on=(("k", "p_code"), ("v", "p_name")))) == 3
    assert matches(join(right=public({("p_code",): 3, ("p_code", "p_name"): 1}), on=(("k", "p_code"),))) == 3
    assert matches(join(right=Grouped(CODES, (), ()), on=())) == 1


def test_a_row_has_as_many_partners_as_its_unit_has_rows_where_nothing_is_declared():
    assert matches(join()) == 5
    assert matches(join(right=owned("s", prefix="s_", matches={("s_k",): 2}, max_rows_per_unit=5))) == 2


@pytest.mark.parametrize(
    ("right", "on"),
    [
        (public(), (("k", "p_code"),)),
        (CODES, (("k", "p_name"),)),
        (CODES, ()),
        (UnionAll(CODES, CODES), (("k", "p_code"),)),
        (Grouped(CODES, ("p_code", "p_name"), ()), (("k", "p_code"),)),
        (Select(CODES, (("c", Call(Function.LOWER, (ColumnRef("p_code"),))),)), (("k", "c"),)),
    ],
)
def test_a_public_table_of_which_nothing_is_declared_is_refused_with_what_to_declare(right, on):
    with pytest.raises(UnboundedSensitivityError, match=r"p\..*max_matches"):
        matches(join(right=right, on=on))


def test_a_join_of_each_row_with_all_rows_is_refused_with_what_to_write():
    with pytest.raises(UnboundedSensitivityError, match=r"p\.\*: .*join on columns"):
        matches(join(right=CODES, on=()))


RENAMED = Select(CODES, (("c", ColumnRef("p_code")), ("n", ColumnRef("p_name"))))


@pytest.mark.parametrize(
    ("relation", "columns", "most"),
    [
        (CODES, {"p_code", "p_name"}, 3), (CODES, {"p_name"}, None), (CODES, set(), None),
        (Filter(CODES, TRUE), {"p_code"}, 3), (SemiJoin(child=CODES, other=RENAMED, on=()), {"p_code"}, 3),
        (Distinct(CODES), {"p_code"}, 3), (RENAMED, {"c"}, 3), (RENAMED, {"n"}, None), (RENAMED, {"p_code"}, None),
        (Select(T, (("k", DOUBLED),)), {"k"}, None),
        (BY_K, {"k"}, 1), (BY_K, {"k", "v"}, 1), (BY_K, {"v"}, None), (Grouped(T, (), ()), {"v"}, 1),
        (join(CODES, RENAMED, (("p_code", "c"),)), {"p_code"}, 9),
        (join(CODES, RENAMED, (("p_code", "c"),)), {"c"}, None),
    ],
)  # fmt: skip
def test_what_is_known_of_matches_follows_the_columns(relation, columns, most):
    assert matches_of(relation, frozenset(columns)) == most


def test_of_a_join_within_units_only_a_bound_says_how_many_partners_rows_have():
    """The limits of a table say it too, but no engine enforces them below a statement."""
    one_row = Grouped(child=T, keys=(), columns=(Folded("n", Fold.COUNT_ROWS),))
    assert matches_of(join(one_row, S, ()), frozenset()) == 5
    assert matches_of(join(one_row, S, ()), frozenset(), is_bound=True) is None
    assert matches_of(join(one_row, BoundRows(S, 5), ()), frozenset(), is_bound=True) == 5
    assert matches_of(Filter(join(one_row, one_row, ()), TRUE), frozenset(), is_bound=True) == 1


@pytest.mark.parametrize("node", [UnionAll, Intersect, Except])
def test_nothing_is_known_of_matches_where_rows_of_two_sides_meet(node):
    """Columns are matched by place, not by name, and where kinds mix values that differ become equal."""
    swapped = Select(CODES, (("p_name", ColumnRef("p_code")), ("p_code", ColumnRef("p_name"))))
    assert matches_of(node(CODES, swapped), frozenset({"p_code"})) is None


def test_both_sides_of_a_join_within_units_are_bounded_wherever_it_is():
    inside = BoundRows(T, 8), BoundRows(S, 5)
    assert bound_joins(Filter(join(), TRUE)) == Filter(join(*inside), TRUE)
    nested = SemiJoin(child=T, other=UnionAll(join(), join()), on=())
    assert bound_joins(nested) == SemiJoin(child=T, other=UnionAll(join(*inside), join(*inside)), on=())
    twice = Select(join(), (("k", ColumnRef("k")), ("w", ColumnRef("v"))))
    bounded = bound_joins(join(twice, S, (("w", "s_v"),)))
    assert bounded.left == BoundRows(replace_child(twice, join(*inside)), 40)


def test_rows_that_meet_several_public_ones_are_bounded_before_they_do():
    """Or one person with many rows could make more of them than any engine holds."""
    unique = public({("p_code",): 1})
    dear, free = (join(T, table, (("v", "p_code"),)) for table in (CODES, unique))
    assert (matches(dear), matches(free)) == (3, 1)
    assert bound_joins(dear) == join(BoundRows(T, 8), CODES, (("v", "p_code"),))
    assert bound_joins(free) == free


def test_a_row_has_no_more_partners_than_its_unit_has_rows():
    many = owned("s", prefix="s_", max_rows_per_unit=5, matches={("s_k",): 1_000})
    assert matches(join(T, many, (("k", "s_k"),))) == 5


def replace_child(select, child):
    return Select(child, select.columns)


def test_nothing_else_is_bounded():
    with_public = join(right=public({("p_code",): 1}), on=(("k", "p_code"),))
    rows = Source(Table(name="r", columns={"k": integer(), "c": text()}, unit=EACH_ROW))
    keyed = join(Grouped(rows, ("k",), ()), Grouped(Select(rows, (("j", ColumnRef("k")),)), ("j",), ()), (("k", "j"),))
    for relation in (with_public, T, Distinct(UnionAll(T, T)), keyed, join(rows, CODES, (("c", "p_code"),))):
        assert bound_joins(relation) == relation


def test_public_rows_are_not_bounded_wherever_they_meet():
    one_row = Select(Grouped(CODES, (), (Folded("n", Fold.COUNT_ROWS),)), (("m", ColumnRef("n")),))
    counts = Source(Table(name="q", columns={"q": integer(), "r": integer()}, unit=PUBLIC, matches={("q",): 3}))
    both = join(one_row, counts, (("m", "q"),))
    assert matches(both) == 3
    assert bound_joins(join(T, both, (("k", "r"),))) == join(BoundRows(T, 8), both, (("k", "r"),))


def test_a_relation_is_public_if_all_of_its_tables_are():
    assert is_public(Distinct(UnionAll(CODES, CODES)))
    assert not is_public(SemiJoin(child=CODES, other=T, on=()))


def test_the_least_of_unknown_limits_is_unknown():
    assert least(None, 3, 2) == 2
    assert least(None, None) is None
