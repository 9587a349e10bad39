"""Who waits for whom: those who write for the disk and for other processes, those who read for neither."""

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event
from weakref import ref

import pytest
from tests.ledger.accounts import KEY, people, reserve

from sfumato.errors import LedgerError
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.stores.memory import MemoryStore
from sfumato.privacy.guarantees import PureDP


class Held(MemoryStore):
    """A store of which one transaction is held up, before it begins or at its end, and perhaps fails then."""

    def __init__(self):
        super().__init__()
        self.where, self.failure = None, None
        self.is_held, self.may_go_on = Event(), Event()

    @contextmanager
    def transaction(self):
        self._hold("before")
        with super().transaction() as transaction:
            yield transaction
            self._hold("end")

    def _hold(self, where):
        if self.where == where:
            self.where = None
            self.is_held.set()
            assert self.may_go_on.wait(60)
            if self.failure is not None:
                raise self.failure


@pytest.fixture
def store():
    return Held()


@pytest.fixture
def ledger(store):
    ledger = Ledger(store, key=KEY)
    ledger.open_account(people())
    return ledger


@pytest.fixture
def threads(store):
    with ThreadPoolExecutor(2) as threads:
        yield threads
        store.may_go_on.set()  # also after a test that failed


def test_who_reads_does_not_wait_while_another_thread_waits_for_other_processes(ledger, store, threads):
    store.where = "before"
    writing = threads.submit(reserve, ledger)
    assert store.is_held.wait(60)
    assert threads.submit(ledger.spent, "people").result(60) == PureDP(0)
    store.may_go_on.set()
    writing.result(60)
    assert ledger.spent("people") == PureDP("0.1")


@pytest.mark.parametrize(("failure", "spent"), [(None, "0.1"), (LedgerError("disk", "failed"), 0)])
def test_nobody_reads_what_is_decided_and_not_yet_kept(ledger, store, threads, failure, spent):
    store.where, store.failure = "end", failure
    writing = threads.submit(reserve, ledger)
    assert store.is_held.wait(60)
    reading = threads.submit(ledger.spent, "people")
    time.sleep(0.05)
    assert not reading.done()
    store.may_go_on.set()
    assert reading.result(60) == PureDP(spent)
    assert type(writing.exception(60)) is type(failure)


def test_a_ledger_that_is_forgotten_goes_at_once_and_its_thread_with_it(store):
    ledger = Ledger(store, key=KEY)
    ledger.open_account(people())
    thread, known = ledger._writer._queue.thread, ref(ledger)
    del ledger
    thread.join(60)
    assert not thread.is_alive()
    assert known() is None


def test_a_ledger_that_is_closed_lets_its_thread_go(store):
    with Ledger(store, key=KEY) as ledger:
        ledger.open_account(people())
        thread = ledger._writer._queue.thread
    thread.join(60)
    assert not thread.is_alive()
    with pytest.raises(LedgerError, match="is closed"):
        reserve(ledger)
