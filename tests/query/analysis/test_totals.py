"""What can be made to add up: additive statistics of rows with listed keys."""

from fractions import Fraction
from itertools import combinations

import pytest
from tests.query.planned import PEOPLE, VISITS, N, ref, relation_of

from sfumato.errors import NotPrivateError, ParameterError
from sfumato.privacy.neighbors import UnitColumn
from sfumato.query.analysis.totals import MAX_OVERLAPS, intersections
from sfumato.query.model.expressions import And, IsIn, Literal
from sfumato.query.model.kinds import Kind
from sfumato.query.model.relations import (
    CountDistinct,
    CountRows,
    CountUnits,
    CountValues,
    Covariance,
    Filter,
    Histogram,
    Mean,
    Quantile,
    Sum,
    TopK,
    Variance,
    VectorSum,
)
from sfumato.query.model.schema import Limits, Table, boolean, text
from sfumato.query.planning.grouping_sets import cube, rollup
from sfumato.query.planning.questions import answer_facts, presented

AGE = ref("age")
ROWS = Limits(max_rows_per_unit=5)
KEYS = ("sex", "smokes", "kids")


def consistent(*statistics, child=PEOPLE, keys=KEYS, sets=None):
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
        Mean(AGE), Variance(AGE), Covariance(AGE, AGE), Quantile(AGE, Fraction(1, 2)), TopK(ref("sex")), CountUnits(),
        CountDistinct(AGE),
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
    with pytest.raises(ParameterError, match="cut parts"):
        presented(
            relation_of(visits), keys=("k",), sets=rollup(("k",)), statistics=(("n", CountRows()),), limits=limits,
            consistent=True,
        )  # fmt: skip
