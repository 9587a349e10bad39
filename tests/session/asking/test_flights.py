"""One question that is asked by many at once is answered once, and charged once."""

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier, Event

import pytest
from tests.ledger.processes import PATIENCE, ended, home, started, wire
from tests.session.flying import THREADS, askers, stuck
from tests.session.opened import COUNT, opened

import sfumato as sf
from sfumato.errors import BudgetExceededError, EngineError, ReservationError
from sfumato.ledger.core.entry import Committed, Reserved
from sfumato.ledger.ledger import Ledger
from sfumato.session.asking import planning

ASKERS, PROCESSES = 32, 8


def reservations(session):
    return [entry for entry in session._desk.ledger.entries() if isinstance(entry, Reserved)]


def at_once(actions):
    """What each of some actions gives, or the error that it raises, begun at the same moment."""
    barrier = Barrier(len(actions))

    def begin(action):
        barrier.wait()
        try:
            return action()
        except sf.errors.SfumatoError as error:
            return error

    with ThreadPoolExecutor(len(actions)) as threads:
        return [done.result(PATIENCE) for done in [threads.submit(begin, action) for action in actions]]


@pytest.mark.parametrize("lasts", [False, True])
def test_threads_that_ask_one_question_at_once_are_charged_once_and_get_one_answer(tmp_path, lasts):
    session = opened(ledger=tmp_path / "ledger.db" if lasts else None)
    releases = at_once([lambda: session.sql(COUNT, epsilon="0.1")] * ASKERS)
    assert len({str(release.records()) for release in releases}) == 1
    assert len({release.receipt.request for release in releases}) == 1
    assert sorted(release.reused for release in releases) == [False] + [True] * (ASKERS - 1)
    assert (len(reservations(session)), str(session.spent)) == (1, "ε 0.1")
    session._desk.ledger.verify()


@pytest.mark.essential
@pytest.mark.parametrize("store", ["sqlite", "postgres"])
def test_processes_that_ask_one_question_at_once_are_charged_once(store, tmp_path, monkeypatch):
    place = home(store, tmp_path)
    monkeypatch.setenv("SFUMATO_LEDGER_FOLDER", str(tmp_path))
    opened(ledger=place.location).close()
    own, other = wire()
    asking = started(askers, place, other, PROCESSES)
    assert own.poll(PATIENCE)
    answers = own.recv()
    assert ended(asking) == 0
    assert len(answers) == PROCESSES * THREADS
    assert len({str(answer) for answer in answers}) == 1
    with opened(ledger=place.location) as session:
        assert (len(reservations(session)), str(session.spent)) == (1, "ε 0.1")
        session._desk.ledger.verify()


def test_who_was_killed_is_waited_for_as_long_as_a_lease_and_one_more_is_charged(tmp_path, monkeypatch):
    place = home("sqlite", tmp_path)
    monkeypatch.setattr(planning, "LEASE", 1)
    own, other = wire()
    flier = started(stuck, place, other)
    assert own.poll(PATIENCE)
    assert own.recv() == "flies"
    os.kill(flier.pid, signal.SIGKILL)
    ended(flier)
    with opened(ledger=place.location) as session:
        releases = at_once([lambda: session.sql(COUNT, epsilon="0.1")] * 8)
        assert len({release.receipt.request for release in releases}) == 1
        assert (len(reservations(session)), str(session.spent)) == (2, "ε 0.2")
        session._desk.ledger.verify()


class Gate:
    """An engine that waits before it answers.

    Args:
        engine: The one that answers.
    """

    name, sampling = "gate", "md5"

    def __init__(self, engine, *, error=None):
        self._engine, self._error = engine, error
        self.came, self.opens, self.runs = Event(), Event(), 0

    def run(self, statement, *, salt):
        self.runs += 1
        self.came.set()
        assert self.opens.wait(PATIENCE)
        if self._error is not None:
            raise self._error
        return self._engine.run(statement, salt=salt)

    def close(self):
        self._engine.close()


def gated(session, **options):
    """The session behind a gate, and the gate."""
    gate = Gate(session._desk.engine, **options)
    session._desk = replace(session._desk, engine=gate)
    return gate


def test_who_wakes_after_a_takeover_can_neither_store_nor_show_its_answer(tmp_path, monkeypatch):
    monkeypatch.setattr(planning, "LEASE", 0.3)
    monkeypatch.setattr(Ledger, "renew", lambda *_: None)  # stopped
    first, second = opened(ledger=tmp_path / "ledger.db"), opened(ledger=tmp_path / "ledger.db")
    gate = gated(first)
    with ThreadPoolExecutor(1) as threads:
        slow = threads.submit(first.sql, COUNT, epsilon="0.1")
        assert gate.came.wait(PATIENCE)
        release = second.sql(COUNT, epsilon="0.1")
        gate.opens.set()
        woken = slow.result(PATIENCE)
    assert woken.records() == release.records()
    assert woken.receipt.request == release.receipt.request
    assert (woken.reused, release.reused, len(reservations(first))) == (True, False, 2)
    assert len([one for one in first._desk.ledger.entries() if isinstance(one, Committed)]) == 1
    first._desk.ledger.verify()


def test_who_says_that_it_is_at_work_is_not_taken_over(tmp_path, monkeypatch):
    monkeypatch.setattr(planning, "LEASE", 0.3)
    session = opened(ledger=tmp_path / "ledger.db")
    gate = gated(session)
    with ThreadPoolExecutor(2) as threads:
        asked = [threads.submit(session.sql, COUNT, epsilon="0.1") for _ in range(2)]
        time.sleep(1)
        gate.opens.set()
        assert len({one.result(PATIENCE).receipt.request for one in asked}) == 1
    assert len(reservations(session)) == 1
    session._desk.ledger.verify()


def test_who_waited_for_one_that_failed_fails_too_and_is_not_charged(tmp_path):
    session = opened(ledger=tmp_path / "ledger.db")
    gate = gated(session, error=EngineError("gate", "is closed"))
    with ThreadPoolExecutor(2) as threads:
        asked = [threads.submit(session.sql, COUNT, epsilon="0.1") for _ in range(2)]
        assert gate.came.wait(PATIENCE)
        time.sleep(0.3)
        gate.opens.set()
        errors = {type(one.exception(PATIENCE)) for one in asked}
    assert errors == {EngineError, ReservationError}
    assert len(reservations(session)) == 1


def test_who_asks_again_under_a_key_takes_its_own_reservation_over_and_pays_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(planning, "LEASE", 0.3)
    monkeypatch.setattr(Ledger, "renew", lambda *_: None)
    first, second = opened(ledger=tmp_path / "ledger.db"), opened(ledger=tmp_path / "ledger.db")
    gate = gated(first)
    ask = {"epsilon": "0.1", "idempotency_key": "mine"}
    with ThreadPoolExecutor(1) as threads:
        slow = threads.submit(first.query(COUNT).release, **ask)
        assert gate.came.wait(PATIENCE)
        release = second.query(COUNT).release(**ask)
        gate.opens.set()
        woken = slow.result(PATIENCE)
    assert (woken.records(), woken.receipt.request) == (release.records(), release.receipt.request)
    assert len(reservations(first)) == 1
    first._desk.ledger.verify()


def shared(budget="1"):
    """A session whose accounts share answers, with two of them below."""
    session = opened(budget=sf.PureDP(10))
    session._desk = replace(session._desk, policy=replace(session._desk.policy, shares_answers=True))
    return (
        session,
        session.open_account("ann", budget=sf.PureDP(1)),
        session.open_account("bob", budget=sf.PureDP(budget)),
    )


def test_another_account_is_charged_before_it_waits_and_gets_the_same_answer():
    session, ann, bob = shared()
    gate = Gate(session._desk.engine)
    ann._desk = bob._desk = replace(ann._desk, engine=gate)
    bob._desk = replace(bob._desk, account="people/bob")
    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(ann.sql, COUNT, epsilon="0.1")
        assert gate.came.wait(PATIENCE)
        second = threads.submit(bob.sql, COUNT, epsilon="0.1")
        while str(bob.spent) != "ε 0.1":
            time.sleep(0.01)
        assert not second.done()
        gate.opens.set()
        mine, theirs = first.result(PATIENCE), second.result(PATIENCE)
    assert gate.runs == 1  # two draws of one noise may be equal
    assert mine.records() == theirs.records()
    assert not theirs.reused
    assert theirs.receipt.request != mine.receipt.request
    assert str(theirs.receipt.spent) == "ε 0.1"
    session._desk.ledger.verify()


def test_another_account_that_cannot_pay_is_refused_before_it_waits():
    session, ann, bob = shared("0.05")
    gate = Gate(session._desk.engine)
    ann._desk = replace(ann._desk, engine=gate)
    with ThreadPoolExecutor(1) as threads:
        first = threads.submit(ann.sql, COUNT, epsilon="0.1")
        assert gate.came.wait(PATIENCE)
        with pytest.raises(BudgetExceededError):
            bob.sql(COUNT, epsilon="0.1")
        gate.opens.set()
        first.result(PATIENCE)
    assert str(bob.spent) == "ε 0"


def test_another_account_answers_for_itself_if_the_one_before_it_fails():
    session, ann, bob = shared()
    gate = Gate(session._desk.engine, error=EngineError("gate", "is closed"))
    ann._desk = replace(ann._desk, engine=gate)
    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(ann.sql, COUNT, epsilon="0.1")
        assert gate.came.wait(PATIENCE)
        second = threads.submit(bob.sql, COUNT, epsilon="0.1")
        time.sleep(0.2)
        gate.opens.set()
        assert isinstance(first.exception(PATIENCE), EngineError)
        assert second.result(PATIENCE).records()
    assert str(bob.spent) == "ε 0.1"
