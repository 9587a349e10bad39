"""A second person decides, once, on what another one asked for."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from sfumato.errors import DatabaseError, ForbiddenError, NotFoundError, ParameterError
from sfumato.server.identity.approvals import Approvals, ApprovalState
from sfumato.server.identity.people import Action, Directory

CHANGE = {"budget": {"epsilon": "2"}, "account": "adult/ann"}


@pytest.fixture
def approvals(database):
    for name in ("ann", "bob", "eve"):
        Directory(database).add(name)
    return Approvals(database)


def asked(approvals, dataset="adult"):
    return approvals.ask("ann", dataset=dataset, action=Action.CHANGE_BUDGET, change=CHANGE, reason="a new study")


def test_what_was_asked_is_pending_and_kept(approvals, clock):
    made = asked(approvals)
    assert approvals.approval(made.id) == made
    assert (made.state, made.asked_by, made.asked_at, made.decided_by) == (ApprovalState.PENDING, "ann", clock(), None)
    assert made.change == '{"account":"adult/ann","budget":{"epsilon":"2"}}'
    assert (made.action, made.reason) == (Action.CHANGE_BUDGET, "a new study")


@pytest.mark.parametrize(("is_granted", "state"), [(True, ApprovalState.GRANTED), (False, ApprovalState.REFUSED)])
def test_another_person_decides(approvals, clock, is_granted, state):
    made = asked(approvals)
    clock.wait(60)
    decided = approvals.decide(made.id, by="bob", is_granted=is_granted)
    assert (decided.state, decided.decided_by, decided.decided_at) == (state, "bob", clock())
    assert approvals.approval(made.id) == decided


def test_who_asked_does_not_decide(approvals):
    made = asked(approvals)
    for is_granted in (True, False):
        with pytest.raises(ForbiddenError, match="another owner must decide"):
            approvals.decide(made.id, by="ann", is_granted=is_granted)
    assert approvals.approval(made.id) == made


def test_a_decision_is_final(approvals):
    made = asked(approvals)
    approvals.decide(made.id, by="bob", is_granted=False)
    for by in ("bob", "eve"):
        with pytest.raises(ParameterError, match="was refused by bob; ask for it again"):
            approvals.decide(made.id, by=by, is_granted=True)
    assert approvals.approval(made.id).state is ApprovalState.REFUSED


def test_of_many_who_decide_at_once_one_does(approvals):
    made = asked(approvals)

    def decide(by):
        try:
            return approvals.decide(made.id, by=by, is_granted=True).decided_by
        except ParameterError:
            return None

    with ThreadPoolExecutor(8) as threads:
        deciders = [found for found in threads.map(decide, ["bob", "eve"] * 4) if found]
    assert deciders == [approvals.approval(made.id).decided_by]


def test_approvals_are_listed_by_dataset_and_state(approvals):
    of_adult, of_visits, later = asked(approvals), asked(approvals, "visits"), asked(approvals)
    decided = approvals.decide(of_adult.id, by="bob", is_granted=True)
    assert approvals.approvals(["adult"]) == (decided, later)
    assert approvals.approvals(["adult", "visits"], state=ApprovalState.PENDING) == (of_visits, later)
    assert approvals.approvals([]) == ()


def test_an_unknown_one_is_not_found(approvals):
    for action in (approvals.approval, lambda name: approvals.decide(name, by="bob", is_granted=True)):
        with pytest.raises(NotFoundError, match="approval 'none': not found"):
            action("none")


@pytest.mark.parametrize(
    "wrong",
    [{"reason": ""}, {"reason": "  "}, {"reason": "x" * 1_001}, {"dataset": "a b"}, {"change": {"x": {1}}},
     {"change": {"x": float("nan")}}, {"change": {"x": "y" * 10_000}}],
    ids=str,
)  # fmt: skip
def test_what_cannot_be_decided_on_is_refused(approvals, wrong):
    given = {"dataset": "adult", "action": Action.CHANGE_BUDGET, "change": CHANGE, "reason": "r"}
    with pytest.raises(ParameterError):
        approvals.ask("ann", **given | wrong)


def test_nobody_unknown_asks(approvals):
    with pytest.raises(DatabaseError):
        approvals.ask("nobody", dataset="adult", action=Action.CHANGE_BUDGET, change=CHANGE, reason="r")
