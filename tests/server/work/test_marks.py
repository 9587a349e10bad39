"""Who opens the data after a process that died suspends it if that one was running a query, and only then."""

import json
import subprocess
import sys
import time
from threading import Event, Thread

import pytest
from tests.server.work.curators import asking, curator_file
from tests.server.work.test_child import running

from sfumato.errors import LedgerMissingError, UnavailableError
from sfumato.server.work import marks
from sfumato.server.work.marks import Mark


@pytest.fixture
def charged(tmp_path):
    """A gateway's half with a charged ticket, and the mark of its dataset."""
    file = curator_file(tmp_path)
    with running(file):
        pass
    with asking(file) as gateway:
        yield gateway, gateway.ticket(), Mark(gateway.curator.mark("people"), longest=5)


def died(gateway, mark, ticket, *, seconds=0.0):
    """A process dies while it runs a ticket."""
    with pytest.raises(SystemExit), mark.alone(), mark.of(ticket.reservation.request, seconds):
        raise SystemExit
    assert ticket.reservation.request in gateway.curator.mark("people").read_text()


def test_a_death_over_a_query_suspends_the_data_once(charged):
    gateway, ticket, mark = charged
    died(gateway, mark, ticket)
    mark.settle(gateway.curator.ledger)
    assert gateway.ledger.is_suspended("people")
    gateway.ledger.resume_account("people", reason="a test")
    mark.settle(gateway.curator.ledger)
    assert not gateway.ledger.is_suspended("people")


def test_a_death_over_a_query_of_an_account_below_suspends_all(charged):
    gateway, _, mark = charged
    gateway.open_child("people/ann")
    died(gateway, mark, gateway.ticket(account="people/ann"))
    mark.settle(gateway.curator.ledger)
    assert gateway.ledger.is_suspended("people")


def test_who_has_taken_a_query_over_does_not_undo_the_death(charged):
    gateway, ticket, mark = charged
    died(gateway, mark, ticket)
    planned = gateway.prepared()[1]
    plan, flight = planned.plan, gateway.ledger.flight_of(ticket.reservation.request)
    taken = gateway.ledger.fly(
        "people", planned.key, event=plan.event, charge=plan.charge, question=planned.question, over=flight
    )
    assert taken.lease != ticket.reservation.lease or taken.request != ticket.reservation.request
    mark.settle(gateway.curator.ledger)
    assert gateway.ledger.is_suspended("people") == (taken.request == ticket.reservation.request)


def test_a_death_after_the_answer_suspends_nothing(charged):
    gateway, ticket, mark = charged
    gateway.ledger.commit(ticket.reservation, key=ticket.prepared.key, answer={})
    died(gateway, mark, ticket)
    mark.settle(gateway.curator.ledger)
    assert not gateway.ledger.is_suspended("people")
    assert gateway.curator.mark("people").read_text().strip() == ""


@pytest.mark.parametrize("left", [b"", b"{", b"[]", b'{"request": "x"}', b"\xff"], ids=repr)
def test_what_is_no_whole_mark_was_left_before_anything_was_run(charged, left):
    gateway, _, mark = charged
    gateway.curator.mark("people").write_bytes(left)
    mark.settle(gateway.curator.ledger)
    assert not gateway.ledger.is_suspended("people")


def test_a_mark_goes_with_the_query_also_if_that_fails(charged):
    gateway, ticket, mark = charged
    place = gateway.curator.mark("people")
    with mark.alone(), mark.of(ticket.reservation.request, 0.0):
        assert json.loads(place.read_text())["request"] == ticket.reservation.request
    assert place.read_text().strip() == ""
    with pytest.raises(UnavailableError), mark.alone(), mark.of(ticket.reservation.request, 0.0):
        raise UnavailableError
    assert place.read_text().strip() == ""
    assert place.stat().st_mode & 0o077 == 0


def test_a_suspension_comes_when_the_answer_would_have_come(charged):
    gateway, ticket, mark = charged
    died(gateway, mark, ticket, seconds=0.3)
    begun = json.loads(gateway.curator.mark("people").read_text())["since"]
    mark.settle(gateway.curator.ledger)
    assert 0.3 <= time.time() - begun < 2
    assert gateway.ledger.is_suspended("people")


@pytest.mark.parametrize("since", [0.0, 1e12], ids=["long ago", "in the future"])
def test_a_clock_that_was_set_keeps_nobody_from_suspending(charged, since, monkeypatch):
    gateway, ticket, mark = charged
    slept = []
    died(gateway, mark, ticket, seconds=0.3)
    place = gateway.curator.mark("people")
    place.write_text(json.dumps(json.loads(place.read_text()) | {"since": since}))
    pace = marks.Pace
    monkeypatch.setattr(marks, "Pace", lambda *given, **options: pace(*given, **options, sleep=slept.append))
    mark.settle(gateway.curator.ledger)
    assert gateway.ledger.is_suspended("people")
    assert sum(slept) <= 0.3


def test_nothing_is_run_where_a_death_cannot_be_recorded(charged, tmp_path):
    gateway, ticket, mark = charged
    died(gateway, mark, ticket)
    with pytest.raises(LedgerMissingError):
        mark.settle(str(tmp_path / "none.db"))
    mark.settle(gateway.curator.ledger)
    assert gateway.ledger.is_suspended("people")


HOLDS = (
    "import fcntl, sys; f = open(sys.argv[1], 'a'); fcntl.flock(f, fcntl.LOCK_EX); print('held', flush=True); input()"
)


def test_who_runs_something_is_alone_until_it_dies(tmp_path):
    path, entered = tmp_path / "mark", Event()
    command = [sys.executable, "-c", HOLDS, path]
    holder = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert holder.stdout.readline() == "held\n"

    def enter():
        with Mark(path, longest=5).alone():
            entered.set()

    waiting = Thread(target=enter)
    waiting.start()
    assert not entered.wait(0.1)
    holder.kill()
    assert entered.wait(20)
    waiting.join()
    holder.communicate()
