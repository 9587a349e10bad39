"""Plans of several questions: what is measured once, what all of it costs, and when a workload is worth it."""

from fractions import Fraction

import pytest
from tests.query.planned import PEOPLE, VISITS, N, ref, relation_of
from tests.query.planning.batches import WIDE, A, S, ages, asked, between, pairs, planned

from sfumato.accounting import PLDAccountant
from sfumato.errors import NotPrivateError, ParameterError
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE
from sfumato.query.model.expressions import Compare, Comparison, Literal
from sfumato.query.model.relations import Filter
from sfumato.query.model.schema import Limits, Table, integer, text
from sfumato.query.model.statement import AUTO, RowCount
from sfumato.query.planning import batch, workloads
from sfumato.query.planning.plan import compile_plan
from sfumato.query.statistics.counts import CountRows, CountValues
from sfumato.query.statistics.means import Sum

# What is measured once


def test_questions_that_group_the_same_rows_alike_share_their_numbers():
    plan = planned(asked(PEOPLE, N, keys=("sex",)), asked(PEOPLE, A, S, keys=("sex",)), asked(PEOPLE, N))
    assert plan.places == ((0,), (0,), (1,))
    alone = compile_plan(
        asked(PEOPLE, N, A, S, keys=("sex",)).child, PureDP(1), neighboring_relation=ADD_OR_REMOVE_ONE
    )  # fmt: skip
    shared, total = plan.sections
    assert len(shared.measurements) == len(alone.sections[0].measurements)
    assert [output.name for output in plan.plans[1].sections[0].outputs] == ["a", "s"]
    assert plan.plans[0].sections[0].measurements is shared.measurements
    assert len(total.measurements) == 1


def test_a_question_that_stands_twice_is_measured_once_and_weighs_more():
    once = planned(asked(PEOPLE, N), asked(VISITS, N, limits=Limits(max_rows_per_unit=2)))
    twice = planned(
        asked(PEOPLE, N), asked(PEOPLE, ("m", CountRows())), asked(VISITS, N, limits=Limits(max_rows_per_unit=2))
    )
    assert len(twice.sections) == len(once.sections) == 2
    shares = [one.sections[0].measurements[0].mechanism.epsilon for one in (once, twice)]
    assert shares[1] > shares[0] == Fraction(1, 2)


@pytest.mark.parametrize(
    "other",
    [
        asked(PEOPLE, N, keys=("smokes",)),
        asked(Filter(relation_of(PEOPLE), Compare(Comparison.EQUAL, ref("sex"), Literal("f"))), N, keys=("sex",)),
    ],
    ids=["other keys", "another filter"],
)
def test_other_groups_and_other_rows_are_measured_apart(other):
    assert len(planned(asked(PEOPLE, N, keys=("sex",)), other).sections) == 2


def test_other_limits_are_measured_apart():
    plan = planned(asked(VISITS, N), asked(VISITS, N, limits=Limits(max_rows_per_unit=1)))
    assert [one.statements[0].limits.max_rows_per_unit for one in plan.sections] == [4, 1]


def test_private_keys_are_selected_once_for_all_that_group_by_them():
    plan = planned(asked(PEOPLE, N, keys=("town",)), asked(PEOPLE, A, keys=("town",)), delta="1e-6")
    (section,) = plan.sections
    assert section.selection is not None
    assert all(one.sections[0].selection is section.selection for one in plan.plans)


# What it costs


@pytest.mark.parametrize(("epsilon", "delta"), [(1, 0), (1, "1e-6"), ("0.1", "1e-6")])
@pytest.mark.parametrize("questions", [pairs(), [*pairs(2), asked(PEOPLE, A, keys=("sex",))]], ids=["pairs", "mixed"])
def test_all_that_is_measured_is_one_event_that_costs_no_more_than_the_total(epsilon, delta, questions):
    plan = planned(*questions, epsilon=epsilon, delta=delta)
    own = [one for section in plan.sections if not section.is_fitted for one in section.measurements]
    assert len(plan.event.events) == len(own) + len(plan.workloads)
    price = PLDAccountant().compose(plan.event)
    assert price.epsilon(delta=float(plan.charge.delta)) <= float(plan.charge.epsilon) * (1 + 1e-7)  # an upper bound
    assert plan.charge.epsilon == Fraction(str(epsilon))


def test_what_each_question_shows_costs_the_whole():
    plan = planned(*pairs(3), delta="1e-6")
    assert {one.charge for one in plan.plans} == {plan.charge}


def test_public_rows_cost_nothing():
    assert planned(asked(PEOPLE, N), epsilon=0).charge == PureDP(0)


# Workloads


def test_marginals_are_one_workload_with_less_error_if_noise_is_gaussian():
    plan = planned(*pairs(), delta="1e-6", epsilon="0.1")
    (workload,) = plan.workloads
    assert workload.mechanism.plan.strategy.name == "residual"
    assert all(section.is_fitted for section in plan.sections)
    alone = planned(*pairs(), delta="1e-6", epsilon="0.1", law="laplace")
    together, apart = (max(o.forecast(s, Fraction(19, 20), size=1).half_width for s in p.sections for o in s.outputs)
                       for p in (plan, alone))  # fmt: skip
    assert together < apart


def test_few_marginals_are_measured_apart_and_are_whole():
    assert not planned(*pairs(3)).workloads


def test_a_workload_has_as_much_of_the_budget_as_what_it_replaces(monkeypatch):
    lone = asked(PEOPLE, N)
    plan = planned(*pairs(), lone, epsilon="0.1", delta="1e-6")
    assert plan.workloads
    monkeypatch.setattr(batch, "WORTH", 0)
    before = planned(*pairs(), lone, epsilon="0.1", delta="1e-6")
    assert not before.workloads
    counts = [[s for s in p.sections if s.statements[0].rows == relation_of(PEOPLE)] for p in (plan, before)]
    scales = [section.measurements[0].mechanism.variance for (section,) in counts]
    assert scales[0] == pytest.approx(scales[1], rel=1e-3)


def test_sums_of_several_measures_are_one_workload_each():
    statistics = (N, ("s", Sum(ref("c4"))), ("v", CountValues(ref("free"))))
    questions = [asked(WIDE, *statistics, keys=keys) for keys in (("c0",), ("c1",), ("c2",), ("c3",), ())]
    plan = planned(*questions, epsilon="0.05", delta="1e-6", law="gaussian")
    assert {len(one.statement.measures) for one in plan.workloads} in ({1}, set())
    assert plan.workloads, "there is nothing to see here unless it is worth it"
    assert RowCount() in [one.statement.measures[0] for one in plan.workloads]


@pytest.mark.parametrize("delta", [0, "1e-6"])
def test_counts_between_constants_are_sums_of_the_cells_that_these_cut(delta):
    plan = planned(*(ages(between(lower, lower + 20)) for lower in range(20, 80, 5)), delta=delta)
    (workload,) = plan.workloads
    (key,) = workload.statement.keys
    assert len(key.values) == 16
    apart = [planned(ages(between(20, 40)), delta=delta, epsilon=Fraction(1, 12))]
    errors = [one.sections[0].outputs[0].forecast(one.sections[0], Fraction(19, 20), size=1) for one in plan.plans]
    (alone,) = (one.sections[0].outputs[0].forecast(one.sections[0], Fraction(19, 20), size=1) for one in apart)
    assert sum(one.half_width for one in errors) < 0.7 * len(errors) * alone.half_width


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize(("most", "is_one"), [(2**30, True), (2**44, False)])
def test_noise_that_cannot_be_drawn_for_multiples_of_large_sums_is_drawn_for_each_of_them(most, is_one):
    large = Table(name="large", columns={"t": text(values=["a", "b"]), "n": integer(0, most)})
    wide = [asked(large, ("s", Sum(ref("n"))), keys=("t",)), asked(large, ("s", Sum(ref("n"))))]
    assert bool(planned(*wide, epsilon=1, delta="1e-9", law="gaussian").workloads) == is_one


@pytest.mark.usefixtures("always")
def test_a_histogram_that_takes_too_long_is_none(monkeypatch):
    def refuse(_):
        raise NotPrivateError("a list", "it takes too long", "Shorten it.")

    assert planned(*pairs()).workloads
    monkeypatch.setattr(workloads, "check_work", refuse)
    assert not planned(*pairs()).workloads


# What is refused


def test_bounds_are_stated_in_a_batch():
    with pytest.raises(ParameterError, match=r"bounds = 's'.*must be stated in a batch"):
        planned(asked(PEOPLE, ("s", Sum(ref("free"), AUTO))))


def test_private_keys_need_delta():
    with pytest.raises(NotPrivateError):
        planned(asked(PEOPLE, N, keys=("town",)), asked(PEOPLE, N))


def test_an_unknown_law_is_refused():
    with pytest.raises(ParameterError, match="mechanism"):
        planned(asked(PEOPLE, N), law="cauchy")


def test_an_epsilon_of_0_releases_nothing_and_measures_no_workload():
    plan = planned(*pairs(), epsilon=0)
    assert not plan.workloads
    assert plan.charge == PureDP(0)


def test_delta_is_charged_if_something_takes_it():
    assert planned(*pairs(), epsilon="0.1", delta="1e-6").charge == ApproxDP("0.1", "1e-6")
