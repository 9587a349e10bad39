"""Owners whose rows are in a session: charged once, before anything is read, and for any change of their rows."""

import numpy as np
import pyarrow as pa
import pytest
import torch
from tests.learn.torch.federated.federations import shared
from torch import nn

import sfumato as sf
from sfumato.accounting.pld.accountant import PLDAccountant
from sfumato.errors import BudgetExceededError, ParameterError
from sfumato.learn.torch import LocalTraining, SessionOwner
from sfumato.learn.torch.federated.owners import STEPS, Owner
from sfumato.privacy.events import ZCDPEvent

COLUMNS = {"age": sf.integer(0, 90), "stay": sf.integer(0, 30), "ill": sf.integer(0, 1)}
ROWS = {"age": [20, 40, 60, 80], "stay": [1, 5, 9, 30], "ill": [0, 0, 1, 1]}
BUDGET = sf.ApproxDP(5, "1e-4")


def session_of(rows=ROWS, budget=BUDGET):
    return sf.open(pa.table(rows), name="people", columns=COLUMNS, budget=budget, engine="reference")


def rows_of(session):
    return session.training_set("SELECT age, stay, ill FROM people", target="ill")


def plan_of(**arguments):
    return shared(**{"neighboring_relation": "replace_one", "local": LocalTraining("gradient")} | arguments)


def test_a_part_is_charged_with_the_event_of_the_plan_before_rows_are_read():
    session, plan = session_of(), plan_of()
    owner, receipt = SessionOwner("north", rows_of(session)).admitted(plan, "first")
    assert receipt.event == ZCDPEvent(plan.noise.rho * 3)
    assert receipt.guarantee == plan.charge == sf.ApproxDP(2, "1e-5")
    assert session.spent == plan.charge
    assert PLDAccountant().compose(plan.event).epsilon("1e-5") <= 2
    assert PLDAccountant().compose(receipt.event).epsilon("1e-5") == PLDAccountant().compose(plan.event).epsilon("1e-5")
    inputs, targets = owner.samples.open_for_noise()
    assert inputs.shape == (4, 2)
    assert sorted(targets[:, 0].tolist()) == [0, 0, 1, 1]
    assert np.abs(plan.contribution(owner).open_for_noise()).max() > 0


def test_a_smaller_epsilon_of_its_own_is_what_is_charged():
    session, plan = session_of(), plan_of()
    owner, receipt = SessionOwner("north", rows_of(session), epsilon="0.5").admitted(plan, "first")
    assert session.spent == sf.ApproxDP("0.5", "1e-5")
    assert receipt.event.rho == plan.event_of(owner).event.rho * 3 < plan.noise.rho
    assert plan.steps_of(owner) < STEPS


def test_the_same_participation_is_charged_once_and_another_again():
    session, plan = session_of(), plan_of()
    north = SessionOwner("north", rows_of(session))
    first, _ = north.admitted(plan, "first")
    again, receipt = SessionOwner("north", rows_of(session)).admitted(plan_of(), "first")  # another program
    assert session.spent == plan.charge
    assert receipt.spent == plan.charge
    for one, other in zip(first.samples.open_for_noise(), again.samples.open_for_noise(), strict=True):
        assert sorted(one.reshape(-1).tolist()) == sorted(other.reshape(-1).tolist())
    north.admitted(plan, "second")
    assert session.spent == sf.ApproxDP(4, "2e-5")


def test_who_cannot_pay_has_no_samples():
    session = session_of(budget=sf.ApproxDP(1, "1e-4"))
    with pytest.raises(BudgetExceededError):
        SessionOwner("north", rows_of(session)).admitted(plan_of(), "first")
    assert session.spent == sf.ApproxDP(0, 0)


def test_a_plan_that_covers_no_change_of_some_rows_is_refused():
    session = session_of()
    north = SessionOwner("north", rows_of(session))
    with pytest.raises(ParameterError, match="replace_one"):
        north.admitted(shared(), "first")
    spent = plan_of()
    spent.move([0, 0, 0], shares=7)
    with pytest.raises(ParameterError, match="before its first round"):
        north.admitted(spent, "first")
    with pytest.raises(ParameterError, match="shared_federation"):
        north.admitted(None, "first")
    assert session.spent == sf.ApproxDP(0, 0)


def test_one_row_more_moves_an_update_by_more_than_the_clip():
    """So that a plan which pays for owners that come and go pays too little for a person of an owner."""
    plan = plan_of(clip="0.01")
    few = Owner("few", torch.ones(1, 2), -torch.ones(1, 1) * 9)
    more = Owner("more", torch.ones(2, 2), torch.tensor([[-9.0], [99.0]]))
    moves = plan.contribution(few).open_for_noise() - plan.contribution(more).open_for_noise()
    assert STEPS * 1.9 < np.sqrt(float(moves @ moves)) <= 2 * STEPS == plan.noise.l2_sensitivity


def test_rows_that_cannot_be_read_any_more_add_0(monkeypatch):
    session, plan = session_of(), plan_of()
    north = SessionOwner("north", rows_of(session))
    north.admitted(plan, "first")

    def fails(*_, **__):
        raise ValueError("of a row")

    monkeypatch.setattr(type(north.data.desk.engine), "run", fails)
    owner, _ = north.admitted(plan, "first")
    assert not plan.contribution(owner).open_for_noise().any()
    assert session.spent == plan.charge


def test_data_that_cannot_be_samples_are_refused():
    rows = session_of().training_set("SELECT age, ill FROM people")
    for data, words in ((rows, "target"), (None, "training set"), (nn.Linear(1, 1), "training set")):
        with pytest.raises(ParameterError, match=words):
            SessionOwner("north", data)
    assert repr(SessionOwner("north", rows_of(session_of()))).startswith("SessionOwner('north', <TrainingSet: SELECT")
