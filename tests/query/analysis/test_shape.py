from datetime import date
from fractions import Fraction

import pytest

from sfumato.errors import NotPrivateError, ParameterError, UnboundedSensitivityError
from sfumato.privacy.neighbors import UnitColumn
from sfumato.query.analysis.shape import Metric, shape_of
from sfumato.query.model.expressions import (
    TRUE,
    Call,
    ColumnRef,
    Compare,
    Comparison,
    Literal,
)
from sfumato.query.model.functions import Function
from sfumato.query.model.intervals import Interval
from sfumato.query.model.kinds import Kind
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
    inputs,
)
from sfumato.query.model.schema import PUBLIC, Limits, Table, UnitPath, boolean, integer, real, text

COLUMNS = {
    "u": text(), "k": text(values=["x", "y"]), "i": integer(-3, 5, nullable=False), "f": real(0, 1),
    "w": integer(), "b": boolean(),
}  # fmt: skip


def columns(prefix=""):
    return {f"{prefix}{name}": column for name, column in COLUMNS.items()}


def owned(prefix="", name="t", unit="u"):
    return Source(
        Table(
            name=name, columns=columns(prefix), unit=UnitColumn(f"{prefix}{unit}"), limits=Limits(max_rows_per_unit=4)
        )
    )


def each_row(prefix="", name="r"):
    return Source(Table(name=name, columns=columns(prefix)))


def public(prefix="p_", name="p"):
    return Source(Table(name=name, columns=columns(prefix), unit=PUBLIC, matches={(f"{prefix}k",): 1}))


UNITS, OTHERS, NUMBERED = owned(), owned("o_", "o"), owned("n_", "n", unit="w")
ROWS, PUBLIC_ROWS = each_row(), public()
X_ABOVE_0 = Compare(Comparison.GREATER, ColumnRef("i"), Literal(Fraction(0)))


def renamed(relation, prefix):
    return Select(relation, tuple((f"{prefix}{name}", ColumnRef(name)) for name in shape_of(relation).columns))


def join(left, right, on, kind=JoinKind.INNER):
    return Join(left=left, right=right, on=on, kind=kind)


def by(relation, *keys):
    return Grouped(relation, keys, (Folded(f"n_{'_'.join(keys)}", Fold.COUNT_ROWS),))


def test_the_metric_says_whose_rows_a_relation_holds():
    path = UnitPath("u", UNITS.table, "k")
    lines = Source(Table(name="l", columns=columns(), unit=path, limits=Limits(max_rows_per_unit=4)))
    assert [shape_of(relation).metric for relation in (UNITS, lines, ROWS, PUBLIC_ROWS)] == [
        Metric.UNITS, Metric.UNITS, Metric.ROWS, Metric.PUBLIC,
    ]  # fmt: skip
    assert [shape_of(relation).unit_kind for relation in (UNITS, lines, NUMBERED, ROWS)] == [
        Kind.TEXT, Kind.TEXT, Kind.INTEGER, None,
    ]  # fmt: skip


@pytest.mark.parametrize("relation", [UNITS, ROWS, PUBLIC_ROWS])
def test_what_takes_rows_away_keeps_columns_and_metric(relation):
    shape = shape_of(relation)
    first = next(iter(shape.columns))
    part = PeoplePart(child=relation, by=first, values=("x",), value="x", max_parts_per_unit=1, salt="00")
    for taken in (
        part,
        Filter(relation, TRUE),
        Distinct(relation),
        SemiJoin(child=relation, other=public("q_"), on=()),
    ):
        assert shape_of(taken) == shape


def test_selected_columns_have_the_facts_of_their_expressions():
    doubled = Call(Function.MULTIPLY, (ColumnRef("i"), Literal(Fraction(2))))
    shape = shape_of(Select(UNITS, (("twice", doubled), ("k", ColumnRef("k")))))
    assert list(shape.columns) == ["twice", "k"]
    assert shape.column("twice").interval == Interval(Fraction(-6), Fraction(10))
    assert shape.column("k").values == ("x", "y")
    assert (shape.metric, shape.unit_kind) == (Metric.UNITS, Kind.TEXT)


def test_a_join_has_the_columns_of_both_sides_and_whose_rows_the_left_one_holds():
    for left in (UNITS, ROWS, public("q_", "q")):
        key = "q_k" if left.table.is_public else "k"
        shape = shape_of(join(left, PUBLIC_ROWS, ((key, "p_k"),)))
        assert list(shape.columns) == [*shape_of(left).columns, *shape_of(PUBLIC_ROWS).columns]
        assert shape.metric is shape_of(left).metric
        assert not shape.column("p_i").nullable


def test_a_left_join_may_leave_the_right_side_null():
    shape = shape_of(join(UNITS, OTHERS, (("k", "o_k"),), JoinKind.LEFT))
    assert shape.column("o_i").nullable
    assert not shape.column("i").nullable


KEYED = join(by(ROWS, "k", "b"), by(each_row("s_", "s"), "s_b", "s_k"), (("k", "s_k"), ("b", "s_b")))
MEANINGFUL = [
    join(UNITS, OTHERS, ()),
    join(UNITS, OTHERS, (("w", "o_i"),)),
    KEYED,
    join(by(ROWS), Grouped(renamed(ROWS, "o_"), (), (Folded("m", Fold.COUNT_ROWS),)), ()),
    SemiJoin(child=UNITS, other=OTHERS, on=(("f", "o_i"),)),
    SemiJoin(child=UNITS, other=PUBLIC_ROWS, on=(), negated=True),
    SemiJoin(child=ROWS, other=PUBLIC_ROWS, on=(("k", "p_k"),)),
    UnionAll(UNITS, OTHERS),
    Intersect(ROWS, ROWS),
    Except(PUBLIC_ROWS, PUBLIC_ROWS),
    BoundRows(UNITS, 1),
]


def in_order(child, function=RowFunction.ROW_NUMBER, **more):
    return RowWindow(child=child, name="new", function=function, order=(("k", False),), **more)


def test_a_window_is_over_the_rows_of_a_unit_or_of_public_ones():
    shape = shape_of(in_order(UNITS))
    assert shape.metric is Metric.UNITS
    assert shape.columns["new"].kind is Kind.INTEGER
    assert not shape.columns["new"].nullable
    moved = shape_of(in_order(UNITS, RowFunction.LAG, value="k")).columns["new"]
    assert (moved.kind, moved.nullable) == (shape.columns["k"].kind, True)
    with pytest.raises(NotPrivateError, match="several people would be compared"):
        shape_of(in_order(ROWS))


@pytest.mark.parametrize(
    "window",
    [in_order(UNITS, RowFunction.LAG), in_order(UNITS, RowFunction.LEAD, value="k", distance=-1),
     in_order(UNITS, RowFunction.LAG, value="nosuch"), in_order(UNITS, within=("nosuch",)),
     RowWindow(child=UNITS, name="K", function=RowFunction.RANK, order=(("k", False),))],
)  # fmt: skip
def test_a_window_reads_columns_that_there_are_under_a_new_name(window):
    with pytest.raises(ParameterError):
        shape_of(window)


@pytest.mark.parametrize("relation", MEANINGFUL)
def test_what_looks_at_one_unit_at_a_time_is_allowed(relation):
    assert shape_of(relation).columns


UNLIMITED = [
    (join(PUBLIC_ROWS, UNITS, (("p_k", "k"),)), "Put the private table on the left"),
    (join(PUBLIC_ROWS, ROWS, (("p_k", "k"),)), "Put the private table on the left"),
    (join(UNITS, renamed(ROWS, "r_"), (("k", "r_k"),)), "different kinds of units"),
    (join(UNITS, NUMBERED, (("k", "n_k"),)), "different kinds of units"),
    (join(ROWS, renamed(UNITS, "t_"), (("k", "t_k"),)), "different kinds of units"),
    (join(ROWS, renamed(ROWS, "o_"), (("k", "o_k"),)), "each row is a unit"),
    (join(by(ROWS, "k"), by(renamed(ROWS, "o_"), "o_k", "o_b"), (("k", "o_k"),)), "grouped by the keys"),
    (join(by(ROWS, "k", "b"), by(renamed(ROWS, "o_"), "o_k"), (("k", "o_k"),)), "grouped by the keys"),
    (join(Distinct(by(ROWS, "k")), by(renamed(ROWS, "o_"), "o_k"), (("k", "o_k"),)), "grouped by the keys"),
    (join(by(ROWS), by(renamed(ROWS, "o_"), "o_k"), ()), "grouped by the keys"),
    (SemiJoin(child=ROWS, other=ROWS, on=()), "another unit"),
    (SemiJoin(child=PUBLIC_ROWS, other=UNITS, on=()), "another unit"),
    (SemiJoin(child=PUBLIC_ROWS, other=ROWS, on=(), negated=True), "another unit"),
    (SemiJoin(child=UNITS, other=ROWS, on=()), "different kinds of units"),
    (SemiJoin(child=UNITS, other=NUMBERED, on=()), "different kinds of units"),
    *((node(*sides), "different kinds of units") for node in (UnionAll, Intersect, Except) for sides in (
        (PUBLIC_ROWS, ROWS), (ROWS, PUBLIC_ROWS), (UNITS, PUBLIC_ROWS), (PUBLIC_ROWS, UNITS), (UNITS, ROWS),
        (UNITS, NUMBERED),
    )),
]  # fmt: skip


@pytest.mark.parametrize(("relation", "reason"), UNLIMITED)
def test_what_looks_at_two_units_at_once_is_refused(relation, reason):
    with pytest.raises(NotPrivateError, match=reason):
        shape_of(relation)


SENSELESS = [
    (Filter(UNITS, ColumnRef("i")), "true or false"),
    (Filter(UNITS, ColumnRef("nowhere")), "one of"),
    (Select(UNITS, (("a", ColumnRef("k")), ("a", ColumnRef("i")))), "differ"),
    (Select(UNITS, ()), "at least one"),
    (join(UNITS, UNITS, ()), "differ"),
    (join(UNITS, OTHERS, (("k", "o_i"),)), "one kind"),
    (join(UNITS, OTHERS, (("nowhere", "o_i"),)), "one of"),
    (join(UNITS, OTHERS, (("f", "o_i"),)), "whole numbers with floats"),
    (SemiJoin(child=UNITS, other=OTHERS, on=(("k", "o_i"),)), "one kind"),
    (UnionAll(UNITS, Select(UNITS, (("k", ColumnRef("k")),))), "as many"),
    (UnionAll(*(Select(UNITS, ((name, ColumnRef(name)),)) for name in ("k", "i"))), "one kind"),
    (BoundRows(ROWS, 1), "owners"),
    (BoundRows(PUBLIC_ROWS, 1), "owners"),
    (Grouped(UNITS, ("k",), (Folded("k", Fold.COUNT_ROWS),)), "differ"),
    (Grouped(UNITS, ("nowhere",), ()), "one of"),
    (Grouped(UNITS, (), ()), "at least one"),
    (Grouped(UNITS, ("k",), (Folded("s", Fold.SUM),)), "values of an expression"),
    (Grouped(UNITS, ("k",), (Folded("s", Fold.SUM, ColumnRef("k")),)), "numbers"),
    (Grouped(UNITS, ("k",), (Folded("s", Fold.MIN, ColumnRef("b")),)), "numbers, text or times"),
    (PeoplePart(child=UNITS, by="nowhere", values=("x",), value="x", max_parts_per_unit=1, salt=""), "one of"),
]


@pytest.mark.parametrize(("relation", "reason"), SENSELESS)
def test_what_means_nothing_is_refused(relation, reason):
    with pytest.raises(ParameterError, match=reason):
        shape_of(relation)


def test_a_shape_refuses_unknown_columns():
    with pytest.raises(ParameterError, match="u, k, i"):
        shape_of(UNITS).column("nowhere")


def test_a_union_merges_the_facts_of_both_sides_by_place():
    swapped = Select(UNITS, (("f", ColumnRef("f")), ("i", ColumnRef("i"))))
    shape = shape_of(UnionAll(Select(UNITS, (("i", ColumnRef("i")), ("w", ColumnRef("i")))), swapped))
    assert list(shape.columns) == ["i", "w"]
    assert shape.column("i").kind is Kind.FLOAT
    assert shape.column("i").interval == Interval(Fraction(-3), Fraction(5))
    assert shape.column("i").nullable
    assert not shape.column("w").nullable


@pytest.mark.parametrize("node", [Intersect, Except])
def test_rows_that_are_kept_of_the_left_side_keep_its_facts_in_the_kind_of_both(node):
    left, right = (Select(UNITS, (("a", ColumnRef(name)), ("b", ColumnRef("i")))) for name in ("i", "f"))
    shape = shape_of(node(left, right))
    assert shape.column("a").kind is Kind.FLOAT
    assert shape.column("b") == shape_of(left).column("b")


def folded(fold, value=None, child=UNITS, keys=("k",)):
    return shape_of(Grouped(child, keys, (Folded("x", fold, value),))).column("x")


def test_folds_of_a_unit_are_bounded_by_the_rows_it_may_have():
    four = Fraction(4)
    assert folded(Fold.COUNT_ROWS).interval == Interval(Fraction(1), four)
    assert folded(Fold.COUNT, ColumnRef("w")).interval == Interval(Fraction(0), four)
    assert folded(Fold.COUNT_DISTINCT, ColumnRef("k")).interval == Interval(Fraction(0), four)
    assert folded(Fold.SUM, ColumnRef("i")).interval == Interval(Fraction(-12), Fraction(20))
    assert folded(Fold.SUM, ColumnRef("f")).interval == Interval(Fraction(0), four)
    assert folded(Fold.MEAN, ColumnRef("i")).interval == Interval(Fraction(-3), Fraction(5))
    assert folded(Fold.MAX, ColumnRef("i")).interval == Interval(Fraction(-3), Fraction(5))
    assert folded(Fold.MIN, ColumnRef("k")).values == ("x", "y")


def test_folds_where_each_row_is_a_unit_have_no_upper_end():
    assert folded(Fold.COUNT_ROWS, child=ROWS).interval == Interval(Fraction(1))
    assert folded(Fold.SUM, ColumnRef("f"), child=ROWS).interval == Interval(Fraction(0))
    assert folded(Fold.SUM, ColumnRef("i"), child=ROWS).interval == Interval()


def test_folds_have_the_kind_of_what_they_fold():
    assert folded(Fold.SUM, ColumnRef("i")).kind is Kind.INTEGER
    assert folded(Fold.SUM, ColumnRef("f")).kind is Kind.FLOAT
    assert folded(Fold.MEAN, ColumnRef("i")).kind is Kind.FLOAT
    assert folded(Fold.MAX, ColumnRef("k")).kind is Kind.TEXT


def test_folds_that_may_find_nothing_may_be_null():
    assert [folded(fold, ColumnRef("i")).nullable for fold in (Fold.COUNT, Fold.MEAN, Fold.MIN, Fold.SUM)] == [
        False, False, False, True,
    ]  # fmt: skip
    assert folded(Fold.MEAN, ColumnRef("f")).nullable


def test_only_bounded_numbers_are_summed_in_a_sub_query():
    with pytest.raises(UnboundedSensitivityError, match="Declare bounds"):
        folded(Fold.SUM, ColumnRef("w"))


def test_a_lattice_that_doubles_cannot_hold_is_refused_before_data_is_touched():
    tiny = Source(Table(name="tiny", columns={"x": real(0, "1e-95", resolution="1e-100")}))
    cube = Call(Function.MULTIPLY, (ColumnRef("x"), Call(Function.MULTIPLY, (ColumnRef("x"), ColumnRef("x")))))
    with pytest.raises(ParameterError, match="resolution"):
        shape_of(Grouped(tiny, (), (Folded("s", Fold.SUM, cube),)))


def test_dates_are_columns_like_others():
    later = Compare(Comparison.GREATER, Literal(date(2026, 2, 1)), Literal(date(2026, 1, 1)))
    assert shape_of(Filter(UNITS, later)) == shape_of(UNITS)


def test_every_relation_is_made_of_its_inputs():
    assert inputs(KEYED) == (KEYED.left, KEYED.right)
    assert inputs(UNITS) == ()
