import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from threading import Event, current_thread
from weakref import ref

import pytest

from sfumato.errors import BudgetExceededError, LedgerError, ReservationError, SfumatoError
from sfumato.ledger.writing import writer
from sfumato.ledger.writing.writer import WriterThread
from sfumato.privacy.guarantees import PureDP


class Disk:
    """Decides jobs in batches; the first batch waits in the middle until it is let go."""

    def __init__(self, failure=None):
        self.batches, self.failure = [], failure
        self.is_writing, self.may_end = Event(), Event()
        self.thread = WriterThread()

    def do(self, decide):
        return self.thread.do(decide, self.serve)

    def serve(self, take):
        jobs = take()
        self.batches.append(len(jobs))
        for number, job in enumerate(jobs):
            try:
                job.result = job.decide(number)
            except SfumatoError as error:
                job.error = error
        if len(self.batches) == 1:
            self.is_writing.set()
            assert self.may_end.wait(60)
            if self.failure is not None:
                raise self.failure

    def wait_for(self, count):
        """Until so many jobs wait behind the first."""
        while len(self.thread._queue.waiting) < count:
            time.sleep(0)


def outcome(disk, decide):
    try:
        return disk.do(decide)
    except BaseException as error:  # noqa: BLE001 # the test looks at it
        return error


def played(disk, first, others):
    """What comes of a first job, and of others that come while it is written."""
    with ThreadPoolExecutor(len(others) + 1) as threads:
        leader = threads.submit(outcome, disk, first)
        assert disk.is_writing.wait(60)
        waiting = [threads.submit(outcome, disk, other) for other in others]
        disk.wait_for(len(others))
        disk.may_end.set()
        return leader.result(60), [one.result(60) for one in waiting]


def refuse(_):
    raise BudgetExceededError(PureDP(1), PureDP(0), "people")


def test_who_is_alone_is_served_at_once():
    disk = Disk()
    disk.may_end.set()
    assert [disk.do(lambda number: ("one", number)), disk.do(lambda _: "two")] == [("one", 0), "two"]
    assert disk.batches == [1, 1]


def test_those_that_come_while_one_writes_are_written_at_once_and_each_gets_its_own():
    disk = Disk()
    first, others = played(disk, lambda _: "first", [lambda _, name=name: name for name in "abcdefgh"])
    assert (first, others) == ("first", list("abcdefgh"))
    assert disk.batches == [1, 8]


def test_a_refused_job_does_no_harm_to_the_others_of_its_batch():
    disk = Disk()
    _, others = played(disk, lambda _: "first", [lambda _: "a", refuse, lambda _: "b"])
    assert (others[0], others[2]) == ("a", "b")
    assert isinstance(others[1], BudgetExceededError)
    assert disk.batches == [1, 3]


def test_a_failed_write_is_the_error_of_all_also_of_those_that_came_meanwhile():
    failure = LedgerError("ledger.db", "the disk is full")
    disk = Disk(failure)
    first, others = played(disk, lambda _: "never kept", [lambda _: "a", lambda _: "b"])
    errors = [first, *others]
    assert [str(error) for error in errors] == [str(failure)] * 3
    assert {type(error) for error in errors} == {LedgerError}
    assert len({id(error) for error in errors}) == 3  # one that several threads raise collects all their traces
    assert disk.batches == [1]


def test_errors_of_a_failed_write_carry_what_the_first_one_carries():
    failure = BudgetExceededError(PureDP(1), PureDP(0), "people")
    failure.__cause__ = OSError("why")
    first, (other,) = played(Disk(failure), lambda _: 1, [lambda _: 2])
    for error in (first, other):
        assert (error.requested, error.remaining, error.account) == (PureDP(1), PureDP(0), "people")
        assert error.__cause__ is failure.__cause__


def test_who_was_refused_is_told_why_although_the_write_failed_too():
    disk = Disk(LedgerError("ledger.db", "the disk is full"))
    first, _ = played(disk, refuse, [lambda _: 1])
    assert isinstance(first, BudgetExceededError)


@pytest.mark.parametrize("interruption", [KeyboardInterrupt(), SystemExit(), MemoryError(), ValueError()])
def test_an_interrupted_write_leaves_nobody_waiting(interruption):
    disk = Disk(interruption)
    first, others = played(disk, lambda _: "first", [lambda _: "a", lambda _: "b"])
    assert first is interruption
    assert all(isinstance(error, LedgerError) and "interrupted" in str(error) for error in others)


@pytest.mark.parametrize("failure", [LedgerError("ledger.db", "failed"), KeyboardInterrupt()])
def test_after_a_failure_the_next_one_is_served(failure):
    disk = Disk(failure)
    played(disk, lambda _: 1, [lambda _: 2])
    assert disk.do(lambda _: "again") == "again"


def test_who_fails_before_anything_is_taken_fails_all_that_wait():
    def broken(_):
        raise LedgerError("ledger.db", "no transaction")

    thread = WriterThread()
    for _ in range(2):
        with pytest.raises(LedgerError, match="no transaction"):
            thread.do(lambda _: 1, broken)


def test_many_threads_are_all_served_once():
    served = []

    def serve(take):
        for job in take():
            job.result = job.decide(None)

    thread = WriterThread()

    def ask(number):
        return thread.do(lambda _: served.append(number) or number, serve)

    with ThreadPoolExecutor(16) as threads:
        assert list(threads.map(ask, range(400))) == list(range(400))
    assert sorted(served) == list(range(400))


def test_every_error_of_the_ledger_can_be_given_to_several():
    for failure in (ReservationError("r", "gone"), LedgerError("here", "failed")):
        first, (other,) = played(Disk(failure), lambda _: 1, [lambda _: 2])
        assert (str(first), first.__dict__) == (str(other), other.__dict__)


def serve(take):
    for job in take():
        job.settle(None)


def test_one_thread_serves_until_it_is_stopped_and_then_another_one_does():
    thread = WriterThread()
    first, again = (thread.do(lambda _: current_thread(), serve) for _ in range(2))
    assert first is again is not current_thread()
    thread.stop()
    thread.stop()
    first.join(60)
    assert not first.is_alive()
    assert thread.do(lambda _: current_thread(), serve) not in (first, current_thread())


def test_whoever_is_alone_writes_by_itself_unless_signals_arrive_there():
    thread = WriterThread()
    with ThreadPoolExecutor(1) as threads:
        asking, serving = threads.submit(
            lambda: (current_thread(), thread.do(lambda _: current_thread(), serve))
        ).result()
    assert serving is asking
    assert thread.do(lambda _: current_thread(), serve) is not current_thread()


def test_while_one_writes_by_itself_others_wait_for_the_thread():
    disk = Disk()
    first, others = played(disk, lambda _: current_thread(), [lambda _: current_thread()] * 3)
    assert len({first, *others}) == 2


def test_what_waits_when_the_thread_is_stopped_is_served():
    disk = Disk()
    with ThreadPoolExecutor(3) as threads:
        first = threads.submit(outcome, disk, lambda _: "first")
        assert disk.is_writing.wait(60)
        waiting = [threads.submit(outcome, disk, lambda _, name=name: name) for name in "ab"]
        disk.wait_for(2)
        disk.thread.stop()
        disk.may_end.set()
        assert [first.result(60), *(one.result(60) for one in waiting)] == ["first", "a", "b"]


def test_a_thread_ends_with_the_one_who_is_forgotten():
    thread = WriterThread()
    serving = thread.do(lambda _: current_thread(), serve)
    del thread
    serving.join(60)
    assert not serving.is_alive()


def test_whoever_is_served_is_not_kept_by_the_thread():
    class Ledger:
        def serve(self, take):
            serve(take)

    thread, ledger = WriterThread(), Ledger()
    thread.do(lambda _: 1, ledger.serve)
    served = ref(ledger)
    del ledger
    while served() is not None:  # the thread lets go just after it has let the one who asked go on
        time.sleep(0)
    assert thread.do(lambda _: 2, serve) == 2


class GoneError(BaseException):
    """What ends a thread against all expectation."""


def test_a_thread_that_is_gone_leaves_nobody_waiting_and_the_next_one_gets_another(monkeypatch):
    def gone(*_):
        raise GoneError

    monkeypatch.setattr(writer, "_GLANCE", 0.01)
    monkeypatch.setattr(threading, "excepthook", lambda _: None)
    thread = WriterThread()
    with monkeypatch.context() as broken:
        broken.setattr(writer._Queue, "serve", gone)
        with pytest.raises(LedgerError, match="was interrupted while it wrote"):
            thread.do(lambda _: 1, serve)
    assert thread.do(lambda _: 2, serve) == 2


INTERRUPTED = """
import os, signal, sys, time
from sfumato.ledger.writing.writer import WriterThread

def serve(take):
    for request in take():
        os.kill(os.getpid(), signal.SIGINT)  # as Ctrl-C does; Python handles it in the main thread
        time.sleep(0.2)
        request.settle(None)
        print("written", flush=True)

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell has what runs behind it ignore Ctrl-C

try:
    WriterThread().do(lambda _: 1, serve)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def test_ctrl_c_ends_the_waiting_and_what_is_being_written_is_kept_before_the_process_ends():
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == ["interrupted", "written"]
