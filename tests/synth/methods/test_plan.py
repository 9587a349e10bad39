"""A synthesis as a plan: what it costs is what it states, and the model follows from what was released."""

from fractions import Fraction
from functools import cache, partial

import numpy as np
import pytest
from tests.synth.methods.small import ROWS, Counted, measuring_of, query_of, session_of, without_an_engine

from sfumato.accounting import ZCDPAccountant
from sfumato.audit import audit
from sfumato.privacy.events import ZCDPEvent
from sfumato.privacy.guarantees import ApproxDP
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, NeighboringRelation
from sfumato.session.training.marginals import Marginals
from sfumato.synth.methods.aim import measure_adaptively
from sfumato.synth.methods.plan import (
    METHODS,
    SynthesisModel,
    SynthesisPlan,
    measure_columns,
    measure_tree,
    rho_of,
)
from sfumato.synth.methods.stated import Stated
from sfumato.synth.models.model import GraphicalModel
from sfumato.synth.models.shape import TableShape

CHARGE = ApproxDP(4, "1e-6")


def plan_of(session, method="mst", charge=CHARGE, relation=ADD_OR_REMOVE_ONE):
    return SynthesisPlan(query=query_of(session), relation=relation, charge=charge, method=method)


def released(plan, session):
    return plan.release(Marginals(plan.query, partial(session.desk.engine.run, salt="00" * 16)))


@pytest.mark.parametrize("relation", NeighboringRelation)
@pytest.mark.parametrize(("epsilon", "delta"), [("0.1", "1e-9"), (1, "1e-9"), (8, "1e-5")])
def test_the_event_costs_what_is_charged(epsilon, delta, relation):
    charge = ApproxDP(epsilon, delta)
    rho = rho_of(charge, relation)
    cost = ZCDPAccountant(neighboring_relation=relation).compose(ZCDPEvent(rho)).epsilon(charge.delta)
    assert 0.999 * charge.epsilon <= cost <= charge.epsilon


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("relation", NeighboringRelation)
def test_the_steps_cost_what_was_charged_and_no_more(method, relation):
    session = session_of(engine="reference", neighboring_relation=relation)
    plan = plan_of(session, method, relation=relation)
    spent = sum(Fraction(rho) for _, rho, _, _ in released(plan, session)["steps"])
    assert 0.999999 * plan.event.rho < spent <= plan.event.rho
    assert plan.document() == {"method": method}


def test_the_model_follows_from_what_was_released():
    session = session_of(engine="reference")
    plan = plan_of(session, charge=ApproxDP(500, "1e-5"))
    found = released(plan, session)
    model = SynthesisModel.of(plan.query, found)
    assert abs(model.model.total - 92) < 10
    ages = model.singles["age"].counts
    assert np.abs(ages - [40, 21, 30, 1]).max() < 5
    assert SynthesisModel.of(plan.query, found, total=92).model.total == 92
    again = SynthesisModel.of(plan.query, found).model.marginal(["age", "ill"])
    assert np.array_equal(again, model.model.marginal(["age", "ill"]))


@cache
def uniform(sizes):
    return GraphicalModel(TableShape(dict(sizes)), {}, total=1)


def uniform_model(shape, _measured, **_):
    return uniform(tuple(shape.sizes.items()))


@pytest.mark.statistical
@pytest.mark.parametrize("method", ["independent", "mst", "mwem", "privbayes"])
def test_a_small_synthesis_is_not_refuted_but_one_of_a_larger_cost(method, monkeypatch):
    """All counts of the values of the row that is there or not, added up: what tells most of it."""
    monkeypatch.setattr("sfumato.synth.methods.stated.fit_model", uniform_model)  # a fit takes long
    monkeypatch.setattr("sfumato.synth.methods.mwem._ROUNDS", 1)
    without_an_engine(monkeypatch)
    session = session_of([], engine="reference")

    def refuted(epsilon):
        plan = plan_of(session, method, charge=ApproxDP(epsilon, "1e-6"))

        def told(rows):
            steps = plan.release(Counted(plan.query, rows))["steps"]
            return sum(counts[-1 if len(columns) == 1 else 0] for columns, _, stddev, counts in steps if stddev)

        return audit(told, [([], [(3, 2, 2)])], epsilon="0.5", delta="1e-6", samples=100).is_refuted

    assert not refuted("0.5")
    assert refuted(80)


# What is measured


NAMES = ("age", "ill", "sex")


def kinds(measuring):
    return [(step.columns, step.stddev is not None) for step in measuring.steps]


def test_a_tree_joins_all_columns_by_those_that_depend_most():
    """In the rows, age and ill and sex nearly follow from each other."""
    measuring = measuring_of(rho=Fraction(3))
    measure_tree(measuring, NAMES, Stated())
    found = kinds(measuring)
    assert found[:3] == [((name,), True) for name in NAMES]
    chosen = [columns for columns, is_measured in found[3:] if not is_measured]
    assert [columns for columns, is_measured in found[3:] if is_measured] == chosen
    assert len(chosen) == 2
    assert {name for pair in chosen for name in pair} == set(NAMES)
    assert measuring.left < Fraction(1, 10**6)
    thirds = measuring.steps[:3], measuring.steps[3:5], measuring.steps[5:]
    assert [float(sum(step.rho for step in part)) for part in thirds] == pytest.approx([1] * 3, rel=1e-6)


def test_single_columns_take_all():
    measuring = measuring_of(rho=Fraction(1))
    measure_columns(measuring, NAMES, Stated())
    assert kinds(measuring) == [((name,), True) for name in NAMES]
    assert measuring.left < Fraction(1, 10**8)


def test_one_column_is_a_tree():
    measuring = measuring_of(rho=Fraction(1))
    measure_tree(measuring, ("age",), Stated())
    assert kinds(measuring) == [(("age",), True)]
    assert measuring.left < Fraction(1, 10**8)


@pytest.mark.parametrize(("cells", "pairs"), [(12, 1), (21, 2), (8, 0)])
def test_a_tree_has_the_pairs_for_which_there_is_memory(cells, pairs, monkeypatch):
    monkeypatch.setattr("sfumato.synth.methods.plan._MOST_CELLS", cells)
    measuring = measuring_of(ROWS * 9, rho=Fraction(30))
    measure_tree(measuring, NAMES, Stated())
    found = [columns for columns, is_measured in kinds(measuring)[3:] if is_measured]
    assert len(found) == (pairs or 3)
    assert {len(columns) for columns in found} == {2 if pairs else 1}
    assert measuring.left < Fraction(1, 10**5)


def test_a_tree_stays_within_memory_beside_what_is_impossible(monkeypatch):
    monkeypatch.setattr("sfumato.synth.methods.plan.LARGEST", 8 * 24)
    zeros = {("age", "ill"): np.zeros((4, 3), dtype=bool)}
    measuring = measuring_of(ROWS * 9, rho=Fraction(30))
    measure_tree(measuring, NAMES, Stated(impossible=zeros))
    assert kinds(measuring)[-1][1]
    assert measuring.left < Fraction(1, 10**5)


def test_an_empty_table_is_measured_too():
    for measure, fewest in ((measure_tree, 7), (measure_adaptively, 5)):
        measuring = measuring_of([], rho=Fraction(1, 1000))
        measure(measuring, NAMES, Stated())
        assert len(measuring.steps) >= fewest
