from fractions import Fraction
from itertools import combinations

import pytest
from tests.query.frames import BILLS, frame
from tests.query.planned import PEOPLE, VISITS, N, ref, relation_of

import sfumato as sf
from sfumato.errors import NotPrivateError, ParameterError
from sfumato.privacy.neighbors import UnitColumn
from sfumato.query.model.expressions import And, ColumnRef, IsIn, Literal
from sfumato.query.model.kinds import Kind
from sfumato.query.model.relations import Filter, Fold, Folded, Grouped, Select
from sfumato.query.model.schema import Limits, Table, boolean, text
from sfumato.query.planning.grouping import (
    MAX_GROUPING_SETS,
    MAX_OVERLAPS,
    checked_sets,
    cube,
    folded,
    grouped,
    intersections,
    rollup,
    with_columns,
)
from sfumato.query.planning.questions import answer_facts, presented
from sfumato.query.statistics.counts import CountDistinct, CountRows, CountUnits, CountValues
from sfumato.query.statistics.histograms import Histogram
from sfumato.query.statistics.means import Mean, Sum
from sfumato.query.statistics.quantiles import Percentile
from sfumato.query.statistics.top_values import TopValues
from sfumato.query.statistics.variances import Covariance, Variance
from sfumato.query.statistics.vectors import VectorSum
from sfumato.query.values.evaluation import evaluate

KEYS = ("a", "b")


def test_rollup_drops_one_key_after_the_other():
    assert rollup(("a", "b", "c")) == (("a", "b", "c"), ("a", "b"), ("a",), ())


def test_cube_has_every_choice_once():
    assert cube(("a", "b", "c"))[0] == ("a", "b", "c")
    assert {frozenset(kept) for kept in cube(("a", "b", "c"))} == {
        frozenset(kept) for kept in ("abc", "ab", "ac", "bc", "a", "b", "c", "")
    }


def test_a_cube_of_too_many_keys_is_refused_before_it_is_made():
    assert len(cube(tuple("abcdef"))) == MAX_GROUPING_SETS
    with pytest.raises(ParameterError, match="at most 64"):
        cube(tuple(map(str, range(60))))


def test_sets_have_their_keys_in_the_order_of_all():
    assert checked_sets(KEYS, (("b", "a"), ("b",))) == (("a", "b"), ("b",))
    assert checked_sets(KEYS, ()) == ()
    assert checked_sets((), ((),)) == ((),)


@pytest.mark.parametrize(
    ("sets", "message"),
    [
        ((("a", "c"),), "of the keys"),
        ((("a", "a"), ("b",)), "named once"),
        ((("a", "b"), ("b", "a")), "differ"),
        ((("a",), ()), "every key"),
        (tuple((str(i),) for i in range(65)), "at most 64"),
    ],
)
def test_sets_that_are_not_of_the_keys_are_refused(sets, message):
    with pytest.raises(ParameterError, match=message):
        checked_sets(KEYS, sets)


AGE = ref("age")
ROWS = Limits(max_rows_per_unit=5)
LISTED = ("sex", "smokes", "kids")


def consistent(*statistics, child=PEOPLE, keys=LISTED, sets=None):
    named = tuple((f"s{index}", statistic) for index, statistic in enumerate(statistics))
    return presented(
        relation_of(child), keys=keys, sets=rollup(keys) if sets is None else sets, statistics=named, consistent=True
    )


def test_only_rows_with_listed_keys_are_counted_in_totals():
    question = consistent(CountRows(), keys=("sex", "smokes"))
    sexes = IsIn(ref("sex"), (Literal("f"), Literal("m")))
    truths = IsIn(ref("smokes"), (Literal(value=False), Literal(value=True)))
    assert question.child.child.child == Filter(relation_of(PEOPLE), And((sexes, truths)))
    assert question.consistent
    whole = consistent(CountRows(), keys=("kids",)).child.child.child.condition.conditions[0]
    assert whole.values[3] == Literal(Fraction(3))


@pytest.mark.parametrize(
    "statistic",
    [CountRows(), CountValues(AGE), Sum(AGE), Histogram(AGE, (Fraction(0), Fraction(9))), VectorSum((AGE, ref("pay")))],
)
def test_counts_sums_and_histograms_add_up(statistic):
    assert consistent(statistic).consistent


@pytest.mark.parametrize(
    "statistic",
    [
        Mean(AGE), Variance(AGE), Covariance(AGE, AGE), Percentile(AGE, Fraction(1, 2)), TopValues(ref("sex")),
        CountUnits(), CountDistinct(AGE),
    ],
)  # fmt: skip
def test_other_statistics_do_not(statistic):
    with pytest.raises(ParameterError, match=r"s1.*do not add up"):
        consistent(CountRows(), statistic)


def test_there_is_something_to_add_up():
    with pytest.raises(ParameterError, match="GROUPING SETS"):
        consistent(CountRows(), sets=())


@pytest.mark.parametrize(("key", "error"), [("town", ParameterError), ("pay", NotPrivateError)])
def test_keys_are_public(key, error):
    with pytest.raises(error):
        consistent(CountRows(), keys=("sex", key))


def test_sums_that_add_up_are_floats():
    plain = presented(relation_of(VISITS), keys=("ward",), sets=(("ward",), ()), statistics=(N,))
    assert answer_facts(plain.child)["n"].kind is Kind.INTEGER
    assert answer_facts(plain.child, consistent=True)["n"].kind is Kind.FLOAT
    assert answer_facts(plain.child, consistent=True)["ward"].kind is Kind.TEXT


def test_intersections_are_closed_and_sorted():
    assert intersections(rollup(("a", "b"))) == (frozenset(), frozenset("a"), frozenset("ab"))
    assert len(intersections(cube(("a", "b", "c")))) == 8
    assert intersections((("a", "b"), ("b", "c"), ("a", "c"))) == tuple(
        map(frozenset, ["", "a", "b", "c", "ab", "ac", "bc"])
    )


def test_sets_that_overlap_in_too_many_ways_are_refused():
    keys = tuple("abcdefghijk")
    table = Table(name="t", columns=dict.fromkeys(keys, boolean()))
    sets = tuple(combinations(keys, 9))
    assert len(intersections(sets)) > MAX_OVERLAPS
    with pytest.raises(ParameterError, match="overlap"):
        consistent(CountRows(), child=table, keys=keys, sets=sets)


@pytest.mark.parametrize("limits", [Limits(max_groups_per_unit=2), Limits(max_rows_per_group_per_unit=1)])
def test_limits_that_cut_parts_but_not_totals_are_refused(limits):
    visits = Table(name="visits", columns={"u": text(), "k": boolean()}, unit=UnitColumn("u"), limits=ROWS)
    assert consistent(CountRows(), child=visits, keys=("k",)).consistent
    with pytest.raises(ParameterError, match="reduce parts"):
        presented(
            relation_of(visits), keys=("k",), sets=rollup(("k",)), statistics=(("n", CountRows()),), limits=limits,
            consistent=True,
        )  # fmt: skip


SHAPE = frame(BILLS).shape
AMOUNT = ColumnRef("amount")


@pytest.mark.parametrize(
    ("statistic", "fold", "value"),
    [
        (sf.count(), Fold.COUNT_ROWS, None),
        (sf.count("amount"), Fold.COUNT, AMOUNT),
        (sf.count_distinct("amount"), Fold.COUNT_DISTINCT, AMOUNT),
        (sf.sum("amount"), Fold.SUM, AMOUNT),
        (sf.mean("amount"), Fold.MEAN, AMOUNT),
        (sf.min("amount"), Fold.MIN, AMOUNT),
        (sf.max("amount"), Fold.MAX, AMOUNT),
    ],
)
def test_statistics_have_their_folds(statistic, fold, value):
    made = folded("x", statistic, SHAPE)
    assert (made.name, made.fold, made.value) == ("x", fold, value)


@pytest.mark.parametrize(
    "statistic",
    [
        sf.median("amount"),
        sf.min("amount", bounds=(0, 1)),
        sf.variance("amount"),
        sf.count_units(),
        sf.count_distinct("amount", max_values_per_unit=1),
        sf.sum("amount", bounds="auto"),
        sf.mean("amount", bounds="auto"),
        sf.histogram("amount", edges=[0, 1]),
        sf.mode("amount"),
        sf.covariance("amount", "day"),
        sf.vector_sum("amount"),
    ],
)
def test_other_statistics_are_of_answers_only(statistic):
    with pytest.raises(NotPrivateError, match="in a sub-query"):
        folded("x", statistic, SHAPE)


@pytest.mark.parametrize(("amount", "kept"), [(-5, 0), (5, 5), (500, 10), (None, None)])
def test_stated_bounds_clamp_each_value_before_it_is_added(amount, kept):
    made = folded("x", sf.sum("amount", bounds=(0, 10)), SHAPE)
    assert evaluate(made.value, {"amount": amount}) == kept


def test_a_column_that_does_not_exist_is_refused():
    with pytest.raises(ParameterError, match="nosuch"):
        folded("x", sf.sum("nosuch", bounds=(0, 1)), SHAPE)


def test_a_key_that_holds_the_unit_is_a_value_of_the_group():
    bills, n = frame(BILLS).relation, Folded("n", Fold.COUNT_ROWS)
    unit = Folded("visitor", Fold.MIN, ColumnRef("visitor"))
    assert grouped(bills, ("visitor", "day"), (n,), used=("visitor", "n")) == Grouped(bills, ("day",), (unit, n))
    assert grouped(bills, ("visitor", "day"), (n,), used=("n",)) == Grouped(bills, ("day",), (n,))
    assert grouped(bills, ("visitor",), (), used=()) == Grouped(bills, (), (unit,))
    people = frame(PEOPLE).relation
    assert grouped(people, ("age",), (n,), used=()) == Grouped(people, ("age",), (n,))


def test_columns_that_are_a_relation_s_own_leave_it_as_it_is():
    bills = frame(BILLS).relation
    own = tuple((name, ColumnRef(name)) for name in ("visitor", "day", "amount"))
    assert with_columns(bills, own) is bills
    assert with_columns(bills, own[:2]) == Select(bills, own[:2])
