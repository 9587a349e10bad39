"""Bounds chosen by a mechanism: the cells, the choice, its price, and that what follows can always be planned."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.query.planned import PEOPLE, TOWNS, VISITS, N, grouped, planned, question, ref
from tests.query.pricing import price

from sfumato.errors import ParameterError
from sfumato.mechanisms.additive.laplace import Laplace
from sfumato.privacy.events import ApproxEvent, DiscreteLaplaceEvent, PureEvent
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE
from sfumato.query.model.schema import Table, integer, real
from sfumato.query.model.statement import AUTO
from sfumato.query.planning.auto_bounds import (
    POWERS,
    automatic,
    chosen_bounds,
    stated_bounds,
    widest_bounds,
    with_bounds,
)
from sfumato.query.planning.plan import with_chosen_bounds
from sfumato.query.statistics.means import Mean, Sum
from sfumato.query.statistics.quantiles import Percentile
from sfumato.query.statistics.variances import Variance
from sfumato.query.values.evaluation import evaluate

FREE, PAY = ref("free"), ref("pay")
TOTAL = Sum(FREE, AUTO)
CELLS = 2 * (POWERS + 1)
EDGES = [*(-(2**k) for k in range(POWERS, -1, -1)), 0, *(2**k for k in range(POWERS + 1))]


def counts(**kept):
    """A histogram with a great count in some cells: `at` the index of each."""
    return [10**12 if place in kept["at"] else 0 for place in range(CELLS)]


def bounds_of(table, statistic, histogram, *, relation=ADD_OR_REMOVE_ONE):
    """What is chosen for one statistic from what was released."""
    plan = planned(table, statistic, epsilon=1, relation=relation)
    return chosen_bounds(grouped(table), plan.question, plan.bounds.section, [[histogram]])["x"]


def test_statistics_with_bounds_to_be_chosen_are_found():
    statistics = (
        ("a", TOTAL),
        ("b", Sum(FREE, (Fraction(0), Fraction(1)))),
        N,
        ("q", Percentile(FREE, Fraction(1), AUTO)),
    )
    assert [name for name, _ in automatic(question(PEOPLE, *statistics))] == ["a", "q"]
    assert planned(PEOPLE, N).bounds is None


def test_the_histogram_has_a_cell_between_neighbouring_powers_of_two():
    (statement,) = planned(PEOPLE, TOTAL).bounds.section.statements
    assert (len(EDGES), statement.cell.count, statement.keys) == (CELLS + 1, CELLS, ())


@given(st.integers(-(2**41), 2**41))
def test_every_value_is_in_the_cell_that_holds_it(value):
    (statement,) = planned(PEOPLE, TOTAL).bounds.section.statements
    cell = evaluate(statement.cell.value, {"free": value})
    inside = min(max(value, EDGES[0]), EDGES[-1] - 1)
    assert EDGES[cell] <= inside < EDGES[cell + 1]


def test_null_is_in_no_cell():
    (statement,) = planned(PEOPLE, TOTAL).bounds.section.statements
    assert evaluate(statement.cell.value, {"free": None}) is None


@pytest.mark.parametrize(
    ("at", "lower", "upper"),
    [
        ([41], 0, 1),
        ([40], -1, 0),
        ([43], 2, 4),
        ([41, 46], 0, 32),
        ([38, 44], -4, 8),
        ([0], -(2**40), -(2**39)),
        ([], 0, 1),
    ],
)
def test_bounds_reach_from_the_first_cell_with_more_than_noise_to_the_last(at, lower, upper):
    assert bounds_of(PEOPLE, TOTAL, counts(at=at)) == (lower, upper)


def test_bounds_are_in_steps_of_the_lattice():
    assert bounds_of(PEOPLE, Sum(PAY, AUTO), counts(at=[41, 43])) == (0, Fraction(4, 100))


def test_a_cell_counts_from_the_error_of_its_noise_on():
    plan = planned(PEOPLE, TOTAL, epsilon=1)
    noise = plan.bounds.section.measurements[0].mechanism
    enough = noise.accuracy(1 - Fraction(1, 20) / CELLS)
    assert noise == Laplace(l1_sensitivity=1, epsilon=Fraction(1, 4))
    for count, chosen in ((enough, (0, 1)), (enough + 1, (64, 128))):
        assert bounds_of(PEOPLE, TOTAL, [count if place == 48 else 0 for place in range(CELLS)]) == chosen


def test_bounds_cost_a_quarter_of_the_share_and_the_rest_is_kept():
    plan = planned(PEOPLE, ("s", TOTAL), N, epsilon=1)
    assert plan.event.events == (DiscreteLaplaceEvent(Fraction(8), 1), PureEvent(Fraction(7, 8)))
    assert (plan.charge, plan.bounds.rest) == (PureDP(1), PureDP("0.875"))
    weighted = planned(PEOPLE, ("s", TOTAL), N, epsilon=1, weights=(Fraction(3), Fraction(1)))
    assert weighted.bounds.rest == PureDP(Fraction(13, 16))


@pytest.mark.parametrize(("relation", "moved"), [(ADD_OR_REMOVE_ONE, 4), (REPLACE_ONE, 8)])
def test_all_rows_of_a_unit_are_hidden_among_the_magnitudes(relation, moved):
    plan = planned(VISITS, Mean(ref("hours"), AUTO), keys=("ward",), relation=relation)
    (measurement,) = plan.bounds.section.measurements
    assert measurement.sensitivity.l1 == measurement.mechanism.l1_sensitivity == moved


def test_with_delta_all_of_it_is_charged_because_the_choice_decides_who_takes_it():
    plan = planned(PEOPLE, TOTAL, delta="1e-6")
    assert plan.charge == ApproxDP(1, "1e-6")
    assert plan.event.events[-1] == ApproxEvent(Fraction(3, 4), Fraction("1e-6"))
    assert price(plan, ADD_OR_REMOVE_ONE) == 1


def test_of_public_rows_bounds_are_exact_and_free():
    plan = planned(TOWNS, Mean(ref("area"), AUTO), epsilon=1, delta="1e-6", law="gaussian")
    assert (plan.charge, plan.bounds.rest, price(plan, ADD_OR_REMOVE_ONE)) == (PureDP(0), PureDP(0), 0)
    final = with_chosen_bounds(plan, [[counts(at=[50])]], neighboring_relation=ADD_OR_REMOVE_ONE)
    assert stated_bounds(final.question) == {"x": (256, 512)}
    one = [[[int(place == 50) for place in range(CELLS)]]]
    assert stated_bounds(with_chosen_bounds(plan, one, neighboring_relation=ADD_OR_REMOVE_ONE).question) == {
        "x": (256, 512)
    }


@pytest.mark.parametrize("epsilon", [0, "1e-15", "1e-12"])
def test_with_hardly_any_budget_nothing_is_chosen_and_nothing_fails(epsilon):
    plan = planned(TOWNS if epsilon else PEOPLE, Sum(ref("area") if epsilon else FREE, AUTO), epsilon=epsilon)
    final = with_chosen_bounds(plan, [[[0] * CELLS]], neighboring_relation=ADD_OR_REMOVE_ONE)
    assert stated_bounds(final.question) == {"x": (0, 1)}


def test_what_is_kept_for_the_question_is_a_price_that_accounts_admit():
    plan = planned(PEOPLE, ("s", TOTAL), N, ("t", Sum(PAY)), epsilon="0.123456789012345", delta="1e-9")
    assert (plan.bounds.rest.epsilon * 10**15).denominator == 1
    assert plan.bounds.section.measurements[0].mechanism.epsilon == Fraction("0.010288065751")


def test_other_plans_stay_as_they_are():
    plan = planned(PEOPLE, N)
    assert with_chosen_bounds(plan, [], neighboring_relation=ADD_OR_REMOVE_ONE) is plan


def test_bounds_can_only_be_chosen_for_numbers():
    with pytest.raises(ParameterError, match="numbers"):
        planned(PEOPLE, Sum(ref("town"), AUTO))


def test_stated_bounds_stand_in_place_of_automatic_ones():
    asked = question(PEOPLE, ("a", TOTAL), ("b", Mean(PAY, AUTO)), ("c", Sum(PAY)), N)
    bounds = {"a": (Fraction(0), Fraction(8)), "b": (Fraction(-1), Fraction(1))}
    stated = with_bounds(asked, bounds)
    assert stated_bounds(stated) == bounds
    assert (stated.statistics[2:], automatic(stated)) == (asked.statistics[2:], ())
    assert widest_bounds(grouped(PEOPLE), asked) == {
        "a": (-(2**40), 2**40),
        "b": (-(2**40) * Fraction("0.01"), 2**40 * Fraction("0.01")),
    }


KINDS = {
    "sum": Sum(ref("v"), AUTO), "mean": Mean(ref("v"), AUTO), "variance": Variance(ref("v"), AUTO),
    "median": Percentile(ref("v"), Fraction(1, 2), AUTO), "largest": Percentile(ref("v"), Fraction(1), AUTO),
}  # fmt: skip
COLUMNS = {
    "whole": integer(),
    "real": real(0, 1000),
    "coarse": real(resolution="1e90"),
    "fine": real(resolution="1e-90"),
}
CHOICES = [
    (first, last) for first in range(0, CELLS, 3) for last in (first, first + 1, 60, CELLS - 1) if first <= last < CELLS
]


@pytest.mark.parametrize("epsilon", ["1e-7", "1e-5", "0.1", "1e6", "1e9"])
@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("kind", KINDS)
def test_whatever_bounds_are_chosen_the_question_can_be_planned_for_what_is_left(kind, column, epsilon):
    table = Table(name="t", columns={"v": COLUMNS[column]})
    try:
        plan = planned(table, KINDS[kind], epsilon=epsilon)
    except ParameterError as error:
        assert "2^50" in str(error)  # noqa: PT017 # then nothing was spent
        return
    for first, last in CHOICES:
        final = with_chosen_bounds(plan, [[counts(at=[first, last])]], neighboring_relation=ADD_OR_REMOVE_ONE)
        assert price(final, ADD_OR_REMOVE_ONE) <= plan.bounds.rest.epsilon
        lower, upper = stated_bounds(final.question)["x"]
        assert lower < upper


@pytest.mark.parametrize("law", [None, "gaussian"])
def test_with_delta_too(law):
    table = Table(name="t", columns={"v": integer(), "k": integer(values=range(200))})
    for epsilon in ("1e-6", "1", "1000"):
        plan = planned(table, KINDS["variance"], keys=("k",), epsilon=epsilon, delta="1e-6", law=law)
        for at in ([0], [41], [81], [0, 81], [45, 46]):
            final = with_chosen_bounds(plan, [[counts(at=at)]], neighboring_relation=ADD_OR_REMOVE_ONE)
            assert final.charge <= plan.charge
            assert price(final, ADD_OR_REMOVE_ONE) <= plan.bounds.rest.epsilon


@pytest.mark.parametrize(("epsilon", "bounds"), [("1e-6", (2**39, 2**40)), ("1e-7", (-(2**40), 2**40))])
def test_where_noise_for_the_chosen_bounds_cannot_be_drawn_the_widest_are_taken(epsilon, bounds):
    table = Table(name="t", columns={"v": integer()})
    plan = planned(table, KINDS["sum"], epsilon=epsilon)
    final = with_chosen_bounds(plan, [[counts(at=[CELLS - 1])]], neighboring_relation=ADD_OR_REMOVE_ONE)
    assert stated_bounds(final.question)["x"] == bounds
    charged = price(final, ADD_OR_REMOVE_ONE) / plan.bounds.rest.epsilon
    assert 1 - Fraction(1, 2**22) < charged <= 1  # a scale of long terms is rounded up
