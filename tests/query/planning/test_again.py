"""A claim that its question leads to is made again; one in which anything was changed to reveal more is not."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from operator import is_

import numpy as np
import pytest
from tests.query.planned import PEOPLE, TOWNS, VISITS, N, planned, ref, relation_of
from tests.query.planning.batches import WIDE, ages, asked, between, pairs, running
from tests.query.planning.batches import planned as planned_together

from sfumato.errors import SfumatoError
from sfumato.mechanisms.additive.gaussian import GaussianNoise
from sfumato.mechanisms.additive.laplace import Laplace
from sfumato.mechanisms.partitions.truncated_geometric import TruncatedGeometricSelection
from sfumato.mechanisms.workloads.planning import squared_sensitivity
from sfumato.mechanisms.workloads.sensitivity import CellSensitivity, l0_sensitivity
from sfumato.mechanisms.workloads.workload_mechanism import WorkloadMechanism
from sfumato.numeric.rationals import sqrt_up
from sfumato.privacy.guarantees import PureDP
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE
from sfumato.query.model.expressions import Compare, Comparison, Literal
from sfumato.query.model.facts import Edition
from sfumato.query.model.relations import Filter
from sfumato.query.model.schema import Limits
from sfumato.query.model.statement import AUTO, RowCount, StepSum
from sfumato.query.planning.again import batches_again, plans_again
from sfumato.query.planning.batch import BatchPlan
from sfumato.query.statistics.counts import CountDistinct, CountRows
from sfumato.query.statistics.means import Mean, Sum
from sfumato.query.statistics.quantiles import median
from sfumato.query.statistics.top_values import TopValues

OLD = Filter(relation_of(PEOPLE), Compare(Comparison.GREATER, ref("age"), Literal(Fraction(50))))
S, M, T = ("s", Sum(ref("age"))), ("m", median("age")), ("t", TopValues(ref("sex"), 1))


def written(value):
    """A plan as nested tuples, in which classes that have no equality have one."""
    if isinstance(value, tuple):
        return tuple(map(written, value))
    if isinstance(value, np.ndarray):
        return value.tolist()
    if is_dataclass(value) and not isinstance(value, Mapping | type):
        return type(value).__name__, *(written(getattr(value, one.name)) for one in fields(value) if one.init)
    return value


def is_made_again(claim, *, relation=ADD_OR_REMOVE_ONE):
    """Whether some plan that a claim can be is the claim."""
    made = batches_again if isinstance(claim, BatchPlan) else plans_again
    try:
        return any(written(again) == written(claim) for again in made(claim, neighboring_relation=relation))
    except (SfumatoError, LookupError, ValueError):
        return False


def with_section(plan, **changes):
    """The plan with a change of its first section."""
    return replace(plan, sections=(replace(plan.sections[0], **changes), *plan.sections[1:]))


def with_statement(plan, place=0, **changes):
    """The plan with a change of one statement of its first section."""
    own = list(plan.sections[0].statements)
    own[place] = replace(own[place], **changes)
    return with_section(plan, statements=tuple(own))


def with_measurement(plan, place=0, **changes):
    """The plan with a change of one measurement of its first section."""
    own = list(plan.sections[0].measurements)
    own[place] = replace(own[place], **changes)
    return with_section(plan, measurements=tuple(own))


LEAD = {
    "a count": (PEOPLE, N),
    "no rows of people": (TOWNS, N, ("s", Sum(ref("area")))),
    "a sum around its middle": (PEOPLE, N, S, ("a", Mean(ref("age")))),
    "choices": (PEOPLE, M, T),
    "owners": (VISITS, N, ("d", CountDistinct(ref("ill"))), ("h", median("hours"))),
}


@pytest.mark.parametrize("relation", [ADD_OR_REMOVE_ONE, REPLACE_ONE])
@pytest.mark.parametrize(("delta", "law"), [(0, None), (0, "laplace"), ("1e-6", None), ("1e-6", "gaussian")])
@pytest.mark.parametrize("name", LEAD)
def test_what_a_question_leads_to_is_accepted_whatever_was_asked_for(name, delta, law, relation):
    child, *statistics = LEAD[name]
    for edition in Edition:
        plan = planned(child, *statistics, delta=delta, law=law, relation=relation, edition=edition)
        assert is_made_again(plan, relation=relation)


def test_bounds_that_are_yet_to_be_chosen_are_planned_again():
    for relation in (ADD_OR_REMOVE_ONE, REPLACE_ONE):
        plan = planned(PEOPLE, ("s", Sum(ref("age"), AUTO)), N, delta="1e-6", law="gaussian", relation=relation)
        assert is_made_again(plan, relation=relation)
        assert not is_made_again(replace(plan, bounds=replace(plan.bounds, rest=PureDP(2))))
        assert not is_made_again(replace(plan, bounds=None))
        assert not is_made_again(replace(plan, charge=PureDP("0.5")))
        wider = replace(plan.bounds.section, statements=planned(PEOPLE, N).sections[0].statements)
        assert not is_made_again(replace(plan, bounds=replace(plan.bounds, section=wider)))


ONE = Laplace(l1_sensitivity=1, epsilon=1)
COUNT, TOTAL = planned(OLD, N), planned(PEOPLE, S)
STAYS = planned(VISITS, N, keys=("ward",))
TOWN = planned(PEOPLE, N, keys=("town",), delta="1e-6")
SELECTION = TOWN.sections[0].selection
CHOSEN = planned(VISITS, ("h", median("hours")))
STEPS = TOTAL.sections[0].statements[0].measures[0].steps
CHANGED = {
    "rows without their condition": with_statement(COUNT, rows=relation_of(PEOPLE)),
    "rows of another table": with_statement(COUNT, rows=relation_of(VISITS)),
    "no limits": with_statement(STAYS, limits=Limits()),
    "laxer limits": with_statement(STAYS, limits=Limits(max_rows_per_unit=5, max_groups_per_unit=2)),
    "a wider clamp": with_statement(TOTAL, measures=(StepSum(replace(STEPS, upper=1000)),)),
    "another measure": with_statement(TOTAL, measures=(RowCount(),)),
    "keys that nobody listed": with_statement(STAYS, keys=TOWN.sections[0].keys),
    "noise for less": with_measurement(TOTAL, mechanism=ONE),
    "a smaller sensitivity": with_measurement(
        TOTAL, mechanism=ONE, sensitivity=COUNT.sections[0].measurements[0].sensitivity
    ),
    "a measure that has no noise of its own": with_section(COUNT, measurements=()),
    "one noise twice": with_section(COUNT, measurements=COUNT.sections[0].measurements * 2),
    "a measurement of another kind": with_section(COUNT, measurements=CHOSEN.sections[0].measurements),
    "Gaussian noise for less": with_measurement(
        TOTAL, mechanism=GaussianNoise(l2_sensitivity=1, stddev=5, l0_sensitivity=1)
    ),
    "a choice for one row of several": with_measurement(CHOSEN, rows=1),
    "no selection": with_section(TOWN, selection=None),
    "a selection without a mechanism": with_section(
        TOWN, selection=replace(TOWN.sections[0].selection, mechanism=None)
    ),
    "a selection for fewer groups": with_section(
        planned(VISITS, N, keys=("ill",), delta="1e-6"),
        selection=replace(
            SELECTION,
            mechanism=TruncatedGeometricSelection(epsilon=1, delta="1e-7", max_groups_per_unit=1),
        ),
    ),
    "no sections": replace(COUNT, sections=()),
    "a section twice": replace(COUNT, sections=COUNT.sections * 2),
    "another question": replace(COUNT, question=TOTAL.question),
    "a question that means nothing": replace(
        COUNT, question=replace(COUNT.question, statistics=(("n", Sum(ref("sex"))),))
    ),
    "a weight of nothing": replace(COUNT, question=replace(COUNT.question, weights=(Fraction(-1),))),
}


@pytest.mark.parametrize("name", CHANGED)
def test_a_change_that_would_reveal_more_is_refused(name):
    assert not is_made_again(CHANGED[name])


def test_noise_for_another_neighboring_relation_is_refused():
    plan = planned(VISITS, N, ("h", Sum(ref("hours"))), keys=("ward",))
    assert is_made_again(plan)
    assert not is_made_again(plan, relation=REPLACE_ONE)


# Batches


@pytest.fixture
def together(always):  # noqa: ARG001 # all that can be is a workload
    """A batch of two workloads, and a median beside them."""
    questions = (
        asked(PEOPLE, keys=("sex",)), asked(PEOPLE, N, ("s", Sum(ref("kids"))), keys=("kids",)),
        asked(PEOPLE, N, keys=("kids", "smokes")), asked(PEOPLE, M),
    )  # fmt: skip
    return planned_together(*questions, delta="1e-6", law="gaussian")


def swapped(value, old, new):
    """A value with something in it exchanged, wherever it is."""
    if value is old:
        return new
    if isinstance(value, tuple):
        found = tuple(swapped(one, old, new) for one in value)
        return value if all(map(is_, found, value)) else found
    if is_dataclass(value) and not isinstance(value, Mapping | type):
        own = {one.name: getattr(value, one.name) for one in fields(value) if one.init}
        changed = {name: swapped(held, old, new) for name, held in own.items()}
        return replace(value, **changed) if any(changed[name] is not own[name] for name in own) else value
    return value


def test_a_batch_that_its_questions_lead_to_is_accepted(together):
    assert len(together.workloads) == 2
    assert is_made_again(together)
    assert is_made_again(planned_together(asked(PEOPLE), asked(VISITS)))
    assert not list(batches_again(replace(together, plans=()), neighboring_relation=ADD_OR_REMOVE_ONE))


TOGETHER = {
    "running sums": [
        asked(WIDE, N, keys=("c1",), windows=(("upto", running(by="c1")),)),
        asked(WIDE, ("k", CountRows()), N, keys=("c0", "c1"), windows=(
            ("a", running(by="c1", partition=("c0",))), ("b", running(of="k", by="c0", partition=("c1",))),
        )),
    ],
    "conditions": [ages(between(20, 30)), ages(between(25, 60), keys=("sex",)), ages(between(0, 40), S, N)],
    "conditions and none": [ages(between(20, 30), keys=("sex",)), asked(PEOPLE, keys=("sex",)), asked(PEOPLE, S)],
    "sums that add up": [*pairs(3), asked(WIDE, N, keys=("c4",), sets=(("c4",), ()), consistent=True)],
    "grouping sets": [asked(WIDE, N, keys=("c0", "c1"), sets=(("c0",), ("c0", "c1"), ())), *pairs(3)],
    "other rows": [*pairs(3), asked(VISITS, keys=("ward",)), asked(TOWNS)],
    "private keys": [*pairs(3), asked(WIDE, N, keys=("free",))],
}  # fmt: skip


@pytest.mark.parametrize(("delta", "law"), [(0, None), ("1e-6", None), ("1e-6", "laplace"), ("1e-6", "gaussian")])
@pytest.mark.parametrize("name", TOGETHER)
@pytest.mark.usefixtures("always")
def test_whatever_a_batch_has_in_common_is_found_again(name, delta, law):
    if delta or name != "private keys":
        plan = planned_together(*TOGETHER[name], delta=delta, law=law)
        assert plan.workloads
        assert is_made_again(plan)


def test_a_workload_that_is_not_worth_it_is_not_looked_for():
    for questions in TOGETHER.values():
        assert is_made_again(planned_together(*questions, delta="1e-6"))


@pytest.mark.parametrize(
    "change",
    [
        {"workloads": ()},
        {"places": ((0,), (1,), (2,), (0,))},
        {"plans": ()},
        {"sections": ()},
        {"charge": PureDP(2)},
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_batch_with_parts_of_another_is_refused(together, change):
    assert not is_made_again(replace(together, **change))


def test_a_section_of_a_batch_may_not_have_other_statements(together):
    fitted, alone = together.sections[0], together.sections[-1]
    for section in (fitted, alone):
        (main, *_) = section.statements
        assert not is_made_again(swapped(together, main, replace(main, rows=OLD)))


def test_the_histogram_of_a_workload_is_that_of_its_sections(together):
    for workload in together.workloads:
        statement = workload.statement
        for changed in (
            replace(statement, rows=replace(statement.rows, child=OLD)),
            replace(statement, limits=Limits(max_rows_per_unit=1)),
            replace(statement, keys=(*statement.keys[:-1], replace(statement.keys[-1], values=(0, 1)))),
            replace(statement, rows=replace(statement.rows, columns=statement.rows.columns[::-1])),
            replace(statement, measures=(RowCount(), RowCount())),
        ):
            assert not is_made_again(swapped(together, workload, replace(workload, statement=changed)))


def test_the_unit_of_a_workload_moves_it_as_much_as_its_statement_says(together):
    (_, workload) = together.workloads
    plan = workload.mechanism.plan
    assert plan.unit.linf > 1
    less = replace(plan, unit=CellSensitivity(l0=1, linf=1, is_nonnegative=True))
    noise = GaussianNoise(
        l2_sensitivity=sqrt_up(Fraction(squared_sensitivity(less.strategy, less.unit))),
        stddev=workload.mechanism.noise.stddev,
        l0_sensitivity=l0_sensitivity(less.strategy.measurements, less.unit),
    )
    for drawn in (noise, workload.mechanism.noise):
        mechanism = WorkloadMechanism(less, noise=drawn)
        assert not is_made_again(swapped(together, workload, replace(workload, mechanism=mechanism)))


def test_numbers_of_another_workload_or_of_other_axes_are_refused(together):
    (first, second) = together.workloads
    cells = together.sections[1].measurements[0]
    assert cells.workload is first
    assert not is_made_again(swapped(together, cells, replace(cells, workload=second)))
    assert not is_made_again(swapped(together, cells, replace(cells, axes=(0, 1))))
    assert not is_made_again(swapped(together, cells, replace(cells, axes=(0,))))
    assert not is_made_again(swapped(together, cells, replace(cells, group=0)))
