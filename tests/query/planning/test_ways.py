"""Which ways to group are sums over one histogram: conditions, running sums, and what is none of them."""

from fractions import Fraction

import pytest
from tests.query.planned import PEOPLE, VISITS, N, ref, relation_of
from tests.query.planning.batches import WIDE, ages, asked, between, pairs, planned, running

from sfumato.privacy.neighbors import UnitColumn
from sfumato.query.model.expressions import And, Compare, Comparison, IsNull, Literal, Not, Or
from sfumato.query.model.relations import Filter
from sfumato.query.model.schema import Limits, Table, integer, text
from sfumato.query.planning import batch
from sfumato.query.planning.windows import OrderKey, RowsFrame, Window, WindowFunction
from sfumato.query.statistics.means import Mean
from sfumato.query.statistics.quantiles import median


@pytest.mark.usefixtures("always")
def test_conditions_of_several_columns_are_products():
    smokers = Not(ref("smokes"))
    young = And((between(20, 40), smokers))
    older = And((between(40, 60), smokers))
    by_sex = ages(between(20, 60), keys=("sex",))
    plan = planned(ages(young), ages(older), ages(between(30, 50)), by_sex, asked(PEOPLE, N))
    (workload,) = plan.workloads
    assert workload.statement.rows.child == relation_of(PEOPLE)
    assert all(section.is_fitted for section in plan.sections)


@pytest.mark.usefixtures("always")
def test_a_condition_that_all_have_stays_below_the_histogram():
    smokers, kind = ref("smokes"), Compare(Comparison.EQUAL, ref("sex"), Literal("f"))
    plan = planned(*(ages(And((kind, between(lower, lower + 9), smokers))) for lower in (20, 30, 40)))
    (workload,) = plan.workloads
    assert len(workload.statement.keys) == 1
    assert isinstance(workload.statement.rows.child, Filter)
    assert workload.statement.rows.child.condition == And((smokers, kind))


@pytest.mark.parametrize(
    "other",
    [
        lambda: ages(IsNull(ref("age"))),
        lambda: ages(Compare(Comparison.LESS, ref("age"), ref("kids"))),
        lambda: ages(Or((between(20, 40), between(1, 2, of="kids")))),
        lambda: ages(Compare(Comparison.LESS, ref("town"), Literal("m"))),
    ],
    ids=["a column that is missing", "two columns", "one of two columns", "the order of texts"],
)
@pytest.mark.usefixtures("always")
def test_other_conditions_are_rows_of_their_own(other):
    plan = planned(ages(between(20, 40)), ages(between(30, 50)), other())
    first, second, third = (section.measurements[0].workload for section in plan.sections)
    assert first is second
    assert third is not first


@pytest.mark.usefixtures("always")
def test_where_units_have_limits_conditions_are_rows_of_their_own():
    """There a condition decides which rows of a unit count against its limit."""
    stays = Table(
        name="stays", columns={"who": text(), "hours": integer(0, 9), "kind": integer(0, 2)}, unit=UnitColumn("who"),
        limits=Limits(max_rows_per_unit=2),
    )  # fmt: skip
    found = [asked(Filter(relation_of(stays), between(0, hours, of="hours")), N, keys=("kind",)) for hours in (2, 4, 6)]
    assert len(planned(*found).workloads) == len(found)


def test_a_batch_says_the_same_however_its_conditions_are_written():
    first = [And((between(lower, 60), Not(ref("smokes")))) for lower in range(20, 50, 5)]
    second = [
        And((
            Not(ref("smokes")),
            Not(Or((
                Compare(Comparison.LESS_EQUAL, Literal(Fraction(60)), ref("age")),
                Compare(Comparison.GREATER, Literal(Fraction(lower)), ref("age")),
            ))),
        ))
        for lower in range(20, 50, 5)
    ]  # fmt: skip
    one, other = (planned(*map(ages, both), asked(PEOPLE, N)) for both in (first, second))
    assert one.workloads
    assert [w.statement for w in one.workloads] == [w.statement for w in other.workloads]
    assert one.event == other.event


@pytest.mark.parametrize("frame", [None, RowsFrame(before=None, after=0)])
def test_running_sums_by_a_key_are_prefix_sums(frame):
    question = asked(WIDE, N, keys=("long",), windows=(("upto", running(frame)),))
    plan = planned(question, epsilon=1, delta="1e-6")
    (workload,) = plan.workloads
    assert {kind for queries in workload.mechanism.plan.workload for _, kind in queries.kinds} == {"cells", "prefix"}
    (output,) = plan.plans[0].sections[0].outputs
    assert dict(output.running).keys() == {"upto"}
    widths = output.reaches(plan.plans[0].sections[0], Fraction(19, 20), "upto")
    apart = planned(asked(WIDE, N, keys=("long",)), epsilon=1, delta="1e-6")
    assert max(widths) < 400**0.5 * apart.sections[0].error(0, Fraction(19, 20)) / 2


@pytest.mark.parametrize(
    ("window", "clauses"),
    [
        (running(descending=True), {}),
        (running(RowsFrame(before=3, after=0)), {}),
        (running(), {"having": Compare(Comparison.GREATER, ref("n"), Literal(Fraction(5)))}),
        (running(), {"keys": ("long", "c0")}),
        (Window(function=WindowFunction.AVG, value=ref("n"), order=(OrderKey(ref("long")),)), {}),
        (Window(function=WindowFunction.SUM, value=ref("n")), {}),
    ],
    ids=["backwards", "a moving sum", "of some rows", "with another key", "a mean", "a total"],
)
def test_other_windows_are_none(window, clauses):
    question = asked(WIDE, N, **({"keys": ("long",)} | clauses), windows=(("upto", window),))
    assert not planned(question, epsilon=1, delta="1e-6").workloads


def test_running_sums_apart_by_all_other_keys_are_prefix_sums_too():
    question = asked(WIDE, N, keys=("long", "c0"), windows=(("upto", running(partition=("c0",))),))
    (workload,) = planned(question, epsilon=1, delta="1e-6").workloads
    kinds = [dict(queries.kinds) for queries in workload.mechanism.plan.workload]
    assert {"key 0": "prefix", "key 1": "cells"} in kinds


@pytest.mark.parametrize(
    "other",
    [
        asked(WIDE, N, ("m", median("c4")), keys=("c4",)),
        asked(WIDE, N, keys=("c4",), sets=(("c4",), ()), consistent=True),
        asked(WIDE, N, ("a", Mean(ref("c0"))), keys=("c4",)),
    ],
    ids=["a median", "sums that add up", "a mean"],
)
def test_what_is_no_count_or_sum_keeps_its_own_numbers(other):
    plan = planned(*pairs(), other, epsilon="0.1", delta="1e-6")
    own = plan.plans[-1].sections
    assert not any(section.is_fitted for section in own)
    assert plan.workloads, "the others are a workload all the same"


def test_a_question_is_either_of_workloads_or_not(monkeypatch):
    """Its columns have one type."""
    monkeypatch.setattr(batch.Priced, "is_worth", lambda *_: True)
    both = asked(WIDE, N, keys=("c0", "free"), sets=(("c0",), ("free",)))
    plan = planned(both, *pairs(), epsilon="0.1", delta="1e-6")
    assert [section.is_fitted for section in plan.plans[0].sections] == [False, False]


def test_groups_under_limits_of_their_own_are_no_workload(monkeypatch):
    monkeypatch.setattr(batch.Priced, "is_worth", lambda *_: True)
    questions = [asked(VISITS, N, keys=("ward",)), asked(VISITS, N, keys=("beds",)), asked(VISITS, N)]
    plan = planned(*questions, epsilon="0.1", delta="1e-6")
    assert not any(one.is_fitted for one in plan.plans[0].sections)
    assert not plan.workloads
