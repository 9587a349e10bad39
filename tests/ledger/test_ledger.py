import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace

import pytest
from tests.ledger.accounts import KEY, people, reserve, ward

from sfumato.errors import (
    BudgetExceededError,
    LedgerCorruptError,
    LedgerError,
    ParameterError,
    ReservationError,
    UnsupportedEventError,
)
from sfumato.ledger.core.entry import Committed, Opened, Reserved
from sfumato.ledger.core.replay import Replay
from sfumato.ledger.core.reservations import Asked
from sfumato.ledger.keeping.checkpoint_files import CheckpointFile
from sfumato.ledger.keeping.noting import CheckpointNotes
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.stores.memory import MemoryStore
from sfumato.ledger.stores.sqlite import SQLiteStore
from sfumato.privacy.events import DiscreteLaplaceEvent, NonPrivateEvent, PureEvent
from sfumato.privacy.guarantees import NO_GUARANTEE, ApproxDP, PureDP
from sfumato.privacy.neighbors import REPLACE_ONE


@pytest.fixture(params=["memory", "sqlite"])
def store(request, tmp_path):
    store = MemoryStore() if request.param == "memory" else SQLiteStore(tmp_path / "ledger.db")
    yield store
    store.close()


@pytest.fixture
def ledger(store):
    ledger = Ledger(store, key=KEY)
    ledger.open_account(people())
    return ledger


def test_ten_tenths_fill_a_budget_of_one_and_the_eleventh_is_refused(ledger):
    for _ in range(10):
        reserve(ledger, 0.1)
    assert ledger.spent("people") == ledger.budget("people") == PureDP(1)
    with pytest.raises(BudgetExceededError) as caught:
        reserve(ledger, 0.1)
    assert (caught.value.requested, caught.value.remaining) == (PureDP("0.1"), PureDP(0))
    assert ledger.spent("people") == PureDP(1)


def test_a_refused_request_leaves_no_entry(ledger):
    with pytest.raises(BudgetExceededError):
        reserve(ledger, "1.0000001")
    assert [type(entry) for entry in ledger.entries()] == [Opened]
    assert ledger.remaining("people") == PureDP(1)


def test_a_reservation_that_is_never_committed_stays_spent(ledger, store):
    reserve(ledger, "0.4")
    assert Ledger(store, key=KEY).spent("people") == PureDP("0.4")
    assert ledger.remaining("people") == PureDP("0.6")


def test_a_charge_of_nothing_is_granted_on_a_full_budget(ledger):
    reserve(ledger, 1)
    reserve(ledger, 0)
    assert ledger.spent("people") == PureDP(1)


def test_a_pure_budget_refuses_any_delta_and_says_why(ledger):
    with pytest.raises(UnsupportedEventError, match="pure ε and no δ"):
        reserve(ledger, "0.1", delta="1e-30")
    assert ledger.spent("people") == PureDP(0)


def test_an_approximate_budget_counts_epsilon_and_delta(store):
    ledger = Ledger(store, key=KEY)
    ledger.open_account(people(ApproxDP(1, "1e-6")))
    reserve(ledger, "0.1", delta="1e-6")
    with pytest.raises(BudgetExceededError):
        reserve(ledger, "0.1", delta="1e-9")
    reserve(ledger, "0.9")
    assert ledger.spent("people") == ApproxDP(1, "1e-6")


def test_a_budget_without_a_promise_refuses_nothing_and_counts(store):
    ledger = Ledger(store, key=KEY)
    ledger.open_account(people(NO_GUARANTEE))
    for _ in range(3):
        reserve(ledger, 100, delta="0.1")
    assert ledger.spent("people") == ApproxDP(300, "0.3")


def test_a_charge_below_the_price_of_the_event_is_refused(ledger):
    event = DiscreteLaplaceEvent(5, 1)
    ledger.reserve("people", event=event, charge=PureDP("0.2"), question="q")
    with pytest.raises(ParameterError, match="charge"):
        ledger.reserve("people", event=event, charge=PureDP("0.1999999"), question="q")
    assert ledger.spent("people") == PureDP("0.2")


def test_an_exact_answer_has_no_price(store):
    ledger = Ledger(store, key=KEY)
    ledger.open_account(people(NO_GUARANTEE))
    with pytest.raises(ParameterError):
        ledger.reserve("people", event=NonPrivateEvent(), charge=PureDP(10**9), question="q")


def test_parts_of_a_partition_share_what_the_dearest_costs(ledger):
    for value in "ABCDE":
        reserve(ledger, "0.6", part=ward(value))
    assert ledger.spent("people") == PureDP("0.6")
    reserve(ledger, "0.4", part=ward("C"))
    with pytest.raises(BudgetExceededError) as caught:
        reserve(ledger, "0.5", part=ward("A"))
    assert (caught.value.requested, caught.value.remaining) == (PureDP("0.1"), PureDP(0))
    reserve(ledger, "0.4", part=ward("A"))
    assert ledger.spent("people") == PureDP(1)


def test_exchanging_a_person_doubles_the_parts_that_are_paid(store):
    ledger = Ledger(store, key=KEY)
    ledger.open_account(people(relation=REPLACE_ONE))
    for value in "AB":
        reserve(ledger, "0.5", part=ward(value))
    reserve(ledger, "0.5", part=ward("C"))
    assert ledger.spent("people") == PureDP(1)
    with pytest.raises(BudgetExceededError):
        reserve(ledger, "0.6", part=ward("D"))


def test_a_partition_keeps_the_number_of_parts_it_was_declared_with(ledger):
    reserve(ledger, "0.1", part=ward("A", 2))
    with pytest.raises(ParameterError, match="max_parts_per_unit"):
        reserve(ledger, "0.1", part=ward("B", 1))
    assert ledger.spent("people") == PureDP("0.1")


def test_a_committed_answer_is_given_again_for_nothing(ledger, store):
    ledger.commit(reserve(ledger), key="k", answer={"n": 42})
    assert Ledger(store, key=KEY).answer("people", "k") == {"n": 42}
    assert ledger.answer("people", "other") is None
    assert ledger.spent("people") == PureDP("0.1")


def test_the_first_answer_to_a_question_stays(ledger):
    first, second = reserve(ledger), reserve(ledger)
    assert ledger.commit(first, key="k", answer=1) == 1
    assert ledger.commit(second, key="k", answer=2) == 1
    assert ledger.answer("people", "k") == 1


def test_a_reservation_is_committed_once(ledger):
    reservation = reserve(ledger)
    ledger.commit(reservation, key="k", answer=1)
    with pytest.raises(ReservationError, match="already committed"):
        ledger.commit(reservation, key="k2", answer=1)


def test_a_reservation_that_was_never_made_is_refused(ledger):
    with pytest.raises(ReservationError, match="unknown"):
        ledger.commit(replace(reserve(ledger), request="made up"), key="k", answer=1)


def test_a_reservation_of_another_account_is_refused(ledger):
    ledger.open_account(replace(people(), account="others"))
    reservation = reserve(ledger)
    with pytest.raises(ReservationError):
        ledger.commit(replace(reservation, account="others"), key="k", answer=1)


def test_an_answer_that_is_no_json_is_refused_and_stays_charged(ledger):
    reservation = reserve(ledger)
    with pytest.raises(ParameterError):
        ledger.commit(reservation, key="k", answer=float("nan"))
    ledger.commit(reservation, key="k", answer=1)
    assert ledger.spent("people") == PureDP("0.1")


def test_opening_an_account_again_changes_nothing(ledger):
    reserve(ledger)
    ledger.open_account(people())
    assert len(tuple(ledger.entries())) == 2
    assert ledger.spent("people") == PureDP("0.1")


@pytest.mark.parametrize(
    "change",
    [{"budget": PureDP(2)}, {"neighboring_relation": REPLACE_ONE}, {"privacy_unit": "household"}],
    ids=lambda change: next(iter(change)),
)
def test_an_account_is_not_opened_again_with_other_facts(ledger, change):
    with pytest.raises(LedgerError, match=next(iter(change))):
        ledger.open_account(replace(people(), **change))
    assert ledger.budget("people") == PureDP(1)


def test_accounts_do_not_share(ledger):
    ledger.open_account(replace(people(), account="others"))
    ledger.commit(reserve(ledger, 1), key="k", answer=1)
    assert ledger.spent("others") == PureDP(0)
    assert ledger.answer("others", "k") is None
    assert ledger.accounts() == ("people", "others")


@pytest.mark.parametrize("ask", [Ledger.spent, Ledger.budget, Ledger.remaining, Ledger.opened])
def test_an_unknown_account_is_an_error(ledger, ask):
    with pytest.raises(LedgerError, match="not open"):
        ask(ledger, "nobody")


def test_entries_tell_the_whole_story(ledger):
    reservation = reserve(ledger)
    ledger.commit(reservation, key="k", answer=1)
    opened, reserved, committed = ledger.entries()
    assert replace(opened, at=0) == people()
    assert (type(reserved), type(committed)) == (Reserved, Committed)
    assert reserved.request == committed.request == reservation.request
    assert reserved.event == PureEvent("0.1")


def test_verifying_counts_the_records(ledger, store):
    reserve(ledger)
    assert ledger.verify().length == 2
    assert ledger.verify().head == store.read(0)[-1].hash


def test_two_ledgers_over_one_store_see_each_other(ledger, store):
    other = Ledger(store, key=KEY)
    reserve(other, "0.7")
    with pytest.raises(BudgetExceededError):
        reserve(ledger, "0.4")
    ledger.commit(reserve(ledger, "0.3"), key="k", answer=1)
    assert other.answer("people", "k") == 1


def test_threads_race_to_the_budget_exactly(ledger):
    def attempt(_: int) -> bool:
        try:
            reserve(ledger, "0.05")
        except BudgetExceededError:
            return False
        return True

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(attempt, range(60))) == 20
    assert ledger.spent("people") == PureDP(1)


class Interleaved(MemoryStore):
    """A store in which another ledger spends just before every transaction of ours."""

    def __init__(self):
        super().__init__()
        self.epsilons = []

    def transaction(self):
        if self.epsilons:
            epsilon = self.epsilons.pop(0)
            reserve(Ledger(self, key=KEY), epsilon)
        return super().transaction()


def test_a_grant_is_decided_on_what_another_writer_appended_meanwhile():
    store = Interleaved()
    ledger = Ledger(store, key=KEY)
    ledger.open_account(people())
    store.epsilons = ["0.6"]
    with pytest.raises(BudgetExceededError):
        reserve(ledger, "0.5")
    assert ledger.spent("people") == PureDP("0.6")


def test_a_grant_that_still_fits_after_another_writer_is_recorded_once():
    store = Interleaved()
    ledger = Ledger(store, key=KEY)
    ledger.open_account(people())
    store.epsilons = ["0.2"]
    reserve(ledger, "0.5")
    assert ledger.spent("people") == PureDP("0.7")
    assert len(tuple(ledger.entries())) == 3


class Rewound(MemoryStore):
    """A store that forgets its last records when told."""

    def rewind(self, count):
        del self._kept.records[-count:]


@pytest.mark.parametrize("again", [1, 2])
def test_a_store_that_lost_its_end_is_noticed_every_time(again):
    store = Rewound()
    ledger = Ledger(store, key=KEY)
    ledger.open_account(people())
    reserve(ledger)
    ledger.spent("people")
    store.rewind(1)
    for _ in range(again):
        with pytest.raises(LedgerCorruptError):
            reserve(ledger)


def test_an_interrupted_replay_counts_every_charge_once(monkeypatch):
    """As by Ctrl-C in the middle of the second of three records that another ledger wrote."""
    store = MemoryStore()
    ledger = Ledger(store, key=KEY)
    ledger.open_account(people())
    for _ in range(3):
        reserve(Ledger(store, key=KEY))
    calls, apply = iter(range(100)), Replay.apply

    def interrupted(replay, entry):
        apply(replay, entry)
        if next(calls) == 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(Replay, "apply", interrupted)
    with pytest.raises(KeyboardInterrupt):
        ledger.spent("people")
    assert ledger.spent("people") == PureDP("0.3")


def test_a_store_whose_end_was_replaced_is_noticed():
    store = Rewound()
    ledger = Ledger(store, key=KEY)
    ledger.open_account(people())
    earlier = store.end().seal
    reserve(ledger, "0.9")
    ledger.spent("people")
    store.rewind(1)
    store._kept.seal = earlier
    reserve(Ledger(store, key=KEY), "0.1")
    with pytest.raises(LedgerCorruptError, match="is missing, or was changed"):
        ledger.spent("people")


class Failing(MemoryStore):
    """A store whose disk fails at the end of a transaction, before or after it kept the batch."""

    keeps = False
    fails = False

    @contextmanager
    def transaction(self):
        with super().transaction() as transaction:
            yield transaction
            if self.fails and not self.keeps:
                raise LedgerError("disk", "failed")
        if self.fails:
            raise LedgerError("disk", "failed")


@pytest.mark.parametrize(("keeps", "spent"), [(True, "0.1"), (False, 0)])
def test_a_failed_append_grants_nothing_and_is_charged_if_it_was_kept(keeps, spent):
    store = Failing()
    ledger = Ledger(store, key=KEY)
    ledger.open_account(people())
    store.keeps, store.fails = keeps, True
    with pytest.raises(LedgerError):
        reserve(ledger)
    store.fails = False
    assert ledger.spent("people") == PureDP(spent)


def test_a_forked_child_must_open_the_ledger_for_itself(ledger, monkeypatch):
    monkeypatch.setattr(os, "getpid", lambda: -1)
    with pytest.raises(LedgerError, match="fork"):
        reserve(ledger)


def test_a_closed_ledger_grants_nothing(store):
    with Ledger(store, key=KEY) as ledger:
        ledger.open_account(people())
    with pytest.raises(LedgerError):
        reserve(ledger)


class Overtaken(CheckpointFile):
    """A checkpoint: whenever somebody comes to read it, another process has just gone on and noted it."""

    def __init__(self, path, other):
        super().__init__(path)
        self.other = other

    def read(self, key):
        reserve(self.other)
        self.other.checkpoint()
        return super().read(key)


def test_a_ledger_that_others_write_on_while_it_is_opened_is_not_taken_for_an_older_one(store, tmp_path):
    path = tmp_path / "noted"
    first = Ledger(store, key=KEY, checkpoint=CheckpointNotes(CheckpointFile(path)))
    first.open_account(people())
    second = Ledger(store, key=KEY, checkpoint=CheckpointNotes(Overtaken(path, first)))
    assert second.spent("people") == PureDP("0.1")


def test_a_ledger_whose_process_ends_before_it_notes_its_first_batch_opens_again(store, tmp_path, monkeypatch):
    with monkeypatch.context() as killed:
        killed.setattr(Ledger, "_written", lambda *_: None)
        Ledger(store, key=KEY, checkpoint=CheckpointNotes(CheckpointFile(tmp_path / "noted"))).open_account(people())
    again = Ledger(store, key=KEY, checkpoint=CheckpointNotes(CheckpointFile(tmp_path / "noted")))
    assert again.spent("people") == PureDP(0)


def test_a_ledger_that_ignores_its_checkpoint_writes_none(store, tmp_path):
    checkpoint = CheckpointNotes(CheckpointFile(tmp_path / "noted"))
    Ledger(store, key=KEY, checkpoint=checkpoint, ignores_checkpoint=True).open_account(people())
    assert not (tmp_path / "noted").exists()


def test_who_asks_again_under_a_key_is_not_charged_for_the_answer_that_somebody_else_got_meanwhile(store):
    ledger = Ledger(store, key=KEY)
    for name, parents in (("people", ()), ("people/ann", ("people",)), ("people/bob", ("people",))):
        ledger.open_account(replace(people(), account=name, parents=parents))
    tenth = {"event": PureEvent("0.1"), "charge": PureDP("0.1")}
    under = Asked(principal="ann", idempotency_key="once", body="b")
    first = ledger.reserve("people/ann", **tenth, question="q", asked=under)
    ledger.commit(ledger.reserve("people/bob", **tenth, question="q"), key="k", answer=1)
    assert ledger.share("people/ann", "k", **tenth, own=lambda answer, _: answer, asked=under) is None
    again = ledger.reserve("people/ann", **tenth, question="q", asked=under)
    assert (again.request, again.is_repeated) == (first.request, True)
    assert ledger.spent("people/ann") == PureDP("0.1")
