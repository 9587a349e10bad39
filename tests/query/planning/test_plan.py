"""Plans as values: what they tell, for the accountants."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.query.planned import PEOPLE, TOWNS, VISITS, N, planned, question, ref, relation_of
from tests.query.pricing import price

from sfumato.errors import NotPrivateError, ParameterError, SfumatoError, UnboundedSensitivityError
from sfumato.privacy.events import ApproxEvent, ComposedEvent, DiscreteLaplaceEvent, ExponentialEvent, PureEvent
from sfumato.privacy.guarantees import ApproxDP, PureDP, guarantee
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE
from sfumato.query.model.relations import Distinct, Grouped, Join, UnionAll
from sfumato.query.model.schema import PUBLIC, Limits, Table, integer
from sfumato.query.model.statement import AUTO
from sfumato.query.planning.plan import BoundsFirst, compile_plan, with_chosen_bounds
from sfumato.query.statistics.counts import CountDistinct, CountRows, CountUnits, CountValues
from sfumato.query.statistics.histograms import Histogram
from sfumato.query.statistics.means import Mean, Sum
from sfumato.query.statistics.quantiles import Percentile
from sfumato.query.statistics.top_values import TopValues
from sfumato.query.statistics.variances import Covariance, Variance
from sfumato.query.statistics.vectors import VectorSum


def test_a_plan_tells_all_its_sections():
    plan = planned(VISITS, N, ("t", TopValues(ref("ward"))), keys=("ward",), sets=(("ward",), ()))
    assert plan.event == ComposedEvent((*plan.sections[0].events, *plan.sections[1].events))
    assert [type(event) for event in plan.event.events] == [DiscreteLaplaceEvent, PureEvent] * 2


@pytest.mark.parametrize(
    ("rest", "event"),
    [
        (PureDP("0.75"), PureEvent(Fraction(3, 4))),
        (ApproxDP("0.75", "1e-9"), ApproxEvent(Fraction(3, 4), Fraction("1e-9"))),
    ],
)
def test_where_bounds_come_first_a_plan_tells_them_and_what_is_kept_for_the_rest(rest, event):
    plan = planned(PEOPLE, Sum(ref("free"), AUTO))
    plan = replace(plan, bounds=BoundsFirst(section=plan.bounds.section, rest=rest, law=None))
    assert plan.event == ComposedEvent((DiscreteLaplaceEvent(Fraction(4), 1), event))


def test_a_plan_is_a_value():
    assert planned(TOWNS, N) == planned(TOWNS, N)
    assert planned(PEOPLE, N) != planned(PEOPLE, N, epsilon=2)


AGE, PAY, HOURS, BEDS = ref("age"), ref("pay"), ref("hours"), ref("beds")
ABOVE_0 = Sum(AGE, (Fraction(1), Fraction(100)))
"""Which shares nothing with a count of rows."""
EDGES = (Fraction(0), Fraction(1), Fraction(5))


def test_a_question_costs_what_was_asked_and_its_events_cost_just_that():
    plan = planned(PEOPLE, N, ("m", Mean(AGE)), ("q", Percentile(AGE, Fraction(1, 2))), epsilon="0.9")
    assert plan.charge == PureDP("0.9")
    assert plan.event.events == (
        DiscreteLaplaceEvent(Fraction(10, 3), 1), DiscreteLaplaceEvent(Fraction(25, 3), 1),
        DiscreteLaplaceEvent(Fraction(2500, 9), 50), ExponentialEvent(Fraction(3, 10)),
    )  # fmt: skip
    assert price(plan, ADD_OR_REMOVE_ONE) == Fraction(9, 10)


def test_the_selection_of_keys_is_paid_like_a_statistic():
    plan = planned(PEOPLE, N, keys=("town",), epsilon=1, delta="1e-6")
    assert plan.charge == ApproxDP(1, "1e-6")
    assert plan.event.events == (ApproxEvent(Fraction(1, 2), Fraction("1e-6")), DiscreteLaplaceEvent(Fraction(2), 1))


def test_every_grouping_set_is_a_section_that_is_paid_for():
    plan = planned(PEOPLE, N, keys=("sex", "smokes"), sets=(("sex", "smokes"), ("smokes",), ()), epsilon=1)
    assert [[key.name for key in section.keys] for section in plan.sections] == [["sex", "smokes"], ["smokes"], []]
    assert [event.scale for event in plan.event.events] == [3, 3, 3]
    assert price(plan, ADD_OR_REMOVE_ONE) == 1


def test_weights_are_shares():
    plan = planned(PEOPLE, N, ("s", ABOVE_0), weights=(Fraction(1), Fraction(3)), epsilon=1)
    assert [event.scale for event in plan.event.events] == [4, Fraction(400, 3)]


def test_weights_hold_within_each_grouping_set():
    plan = planned(PEOPLE, N, ("s", ABOVE_0), keys=("sex",), sets=(("sex",), ()), weights=(Fraction(1), Fraction(3)))
    assert [event.scale for event in plan.event.events] == [8, Fraction(800, 3)] * 2


def test_what_is_public_is_free():
    plan = planned(TOWNS, N, ("m", Mean(ref("area"))), ("t", TopValues(ref("size"))), keys=("code",), law="gaussian")
    assert plan.charge == PureDP(0)
    assert price(plan, REPLACE_ONE) == 0


def test_what_is_public_is_free_where_records_are_replaced_too():
    table = Table(name="t", columns={"v": integer(0, 9)}, unit=PUBLIC, keeps_rows=True)
    plan = planned(table, ("s", Sum(ref("v"))), N, relation=REPLACE_ONE)
    assert (plan.charge, plan.event.events) == (PureDP(0), (PureEvent(0), PureEvent(0)))


def test_the_number_of_records_is_public_where_one_is_replaced_by_another():
    table = Table(name="t", columns={"v": integer(0, 9)}, keeps_rows=True)
    assert planned(table, relation=REPLACE_ONE).charge == PureDP(0)
    assert planned(table, ("s", Sum(ref("v"))), N, relation=REPLACE_ONE).event.events == (
        DiscreteLaplaceEvent(Fraction(9), 9), PureEvent(0),
    )  # fmt: skip


def test_refusals_come_from_the_plan():
    with pytest.raises(NotPrivateError, match=r"GROUP BY town: .*needs δ"):
        planned(PEOPLE, keys=("sex", "town"))
    with pytest.raises(UnboundedSensitivityError, match="Declare bounds"):
        planned(PEOPLE, Sum(ref("free")))
    with pytest.raises(ParameterError, match="laplace, gaussian"):
        planned(PEOPLE, law="cauchy")


JOINED = Join(left=relation_of(PEOPLE), right=relation_of(TOWNS), on=(("town", "code"),))
ROWS = {
    "people": PEOPLE,
    "visits": VISITS,
    "towns": TOWNS,
    "joined": JOINED,
    "different": Distinct(relation_of(PEOPLE)),
    "twice": UnionAll(relation_of(PEOPLE), relation_of(PEOPLE)),
    "grouped": Grouped(relation_of(PEOPLE), ("sex", "age", "pay", "town", "smokes"), ()),
}
KEYS = {name: ("ward", "ill", "beds") if name == "visits" else ("sex", "town", "smokes") for name in ROWS}
KEYS["towns"] = ("size", "code")


@st.composite
def statistics(draw, name):
    """One to three statistics of some rows."""
    first, second, word = {"visits": (HOURS, BEDS, "ward"), "towns": (ref("area"), ref("area"), "size")}.get(
        name, (PAY, AGE, "sex")
    )
    number = st.sampled_from([first, second])
    bounds = st.sampled_from([None, None, (Fraction(-3), Fraction(40)), AUTO])
    one = st.one_of(
        st.just(CountRows()), number.map(CountValues), number.map(lambda v: CountDistinct(v, 2)),
        *([] if name == "towns" else [st.just(CountUnits())]),
        st.builds(Sum, number, bounds), st.builds(Mean, number, bounds), st.builds(Variance, number, bounds),
        st.builds(Covariance, number, number, normalized=st.booleans()),
        st.builds(Percentile, number, st.sampled_from([Fraction(0), Fraction(1, 3), Fraction(1)]), bounds),
        st.builds(Histogram, number, st.just(EDGES)), st.just(TopValues(ref(word))),
        st.just(VectorSum((first, second))),
    )  # fmt: skip
    return tuple(
        (f"s{index}", statistic) for index, statistic in enumerate(draw(st.lists(one, min_size=1, max_size=3)))
    )


@st.composite
def questions(draw):
    """A question, with keys, grouping sets, narrower limits and weights."""
    name = draw(st.sampled_from(list(ROWS)))
    keys = draw(st.lists(st.sampled_from(KEYS[name]), unique=True, max_size=2).map(tuple))
    sets = draw(st.sampled_from([(), (keys,), (keys, ()), (keys, keys[:1]) if len(keys) == 2 else ()]))
    stated = draw(statistics(name))
    share = st.sampled_from([Fraction(1), Fraction(1, 3), Fraction(20)])
    weights = draw(st.just(()) | st.tuples(*[share] * len(stated)))
    limits = draw(st.sampled_from([None, Limits(max_rows_per_unit=2), Limits(max_groups_per_unit=1)]))
    return question(
        ROWS[name], *stated, keys=keys, sets=sets if keys else (), weights=weights,
        limits=limits if name == "visits" else None,
    )  # fmt: skip


def released(plan, draw):
    """Whatever the histograms of magnitudes may release."""
    return [[[draw(st.integers(-9, 10**6)) for _ in range(82)]] for _ in plan.bounds.section.measurements]


@pytest.mark.essential
@given(
    questions(), st.sampled_from(["0.001", "1", "5"]), st.sampled_from([0, "1e-6"]),
    st.sampled_from([ADD_OR_REMOVE_ONE, REPLACE_ONE]), st.sampled_from([None, None, "laplace", "gaussian"]), st.data(),
)  # fmt: skip
@settings(suppress_health_check=list(HealthCheck))
def test_no_question_costs_more_than_is_charged(asked, epsilon, delta, relation, law, data):
    total = guarantee(epsilon, delta)
    try:
        plan = compile_plan(asked, total, neighboring_relation=relation, law=law)
    except SfumatoError as error:
        too_little = ("2^50", "drawn", "certain to be shown")
        assert isinstance(error, NotPrivateError) or any(what in str(error) for what in too_little), error  # noqa: PT017
        return
    assert plan.charge <= total
    assert price(plan, relation) <= plan.charge.epsilon
    if plan.bounds is not None:
        final = with_chosen_bounds(plan, released(plan, data.draw), neighboring_relation=relation)
        assert final.bounds is None
        assert final.charge <= plan.bounds.rest or final.charge == plan.charge
        rest = plan.bounds.rest
        assert price(final, relation) <= rest.epsilon


@pytest.mark.parametrize("law", ["normal", "Gaussian", "", ["laplace"]])
def test_an_unknown_distribution_is_refused_by_name(law):
    with pytest.raises(ParameterError, match="laplace, gaussian"):
        planned(PEOPLE, N, law=law)
