import time
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from sfumato.errors import BudgetExceededError, LedgerError, ReservationError, SfumatoError
from sfumato.ledger.writing.group import Group
from sfumato.privacy.guarantees import PureDP


class Disk:
    """Decides jobs in batches; the first batch waits in the middle until it is let go."""

    def __init__(self, failure=None):
        self.batches, self.failure = [], failure
        self.is_writing, self.may_end = Event(), Event()
        self.group = Group(self.serve)

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
        while len(self.group._waiting) < count:
            time.sleep(0)


def outcome(group, decide):
    try:
        return group.do(decide)
    except BaseException as error:  # noqa: BLE001 # the test looks at it
        return error


def played(disk, first, others):
    """What comes of a first job, and of others that come while it is written."""
    with ThreadPoolExecutor(len(others) + 1) as threads:
        leader = threads.submit(outcome, disk.group, first)
        assert disk.is_writing.wait(60)
        waiting = [threads.submit(outcome, disk.group, other) for other in others]
        disk.wait_for(len(others))
        disk.may_end.set()
        return leader.result(60), [one.result(60) for one in waiting]


def refuse(_):
    raise BudgetExceededError(PureDP(1), PureDP(0), "people")


def test_who_is_alone_is_served_at_once():
    disk = Disk()
    disk.may_end.set()
    assert [disk.group.do(lambda number: ("one", number)), disk.group.do(lambda _: "two")] == [("one", 0), "two"]
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
def test_an_interrupted_leader_leaves_nobody_waiting(interruption):
    disk = Disk(interruption)
    first, others = played(disk, lambda _: "first", [lambda _: "a", lambda _: "b"])
    assert first is interruption
    assert all(isinstance(error, LedgerError) and "interrupted" in str(error) for error in others)


@pytest.mark.parametrize("failure", [LedgerError("ledger.db", "failed"), KeyboardInterrupt()])
def test_after_a_failure_the_next_one_is_served(failure):
    disk = Disk(failure)
    played(disk, lambda _: 1, [lambda _: 2])
    assert disk.group.do(lambda _: "again") == "again"


def test_who_fails_before_anything_is_taken_fails_all_that_wait():
    def broken(_):
        raise LedgerError("ledger.db", "no transaction")

    group = Group(broken)
    for _ in range(2):
        with pytest.raises(LedgerError, match="no transaction"):
            group.do(lambda _: 1)


def test_many_threads_are_all_served_once():
    served = []

    def serve(take):
        for job in take():
            job.result = job.decide(None)

    group = Group(serve)

    def ask(number):
        return group.do(lambda _: served.append(number) or number)

    with ThreadPoolExecutor(16) as threads:
        assert list(threads.map(ask, range(400))) == list(range(400))
    assert sorted(served) == list(range(400))


def test_every_error_of_the_ledger_can_be_given_to_several():
    for failure in (ReservationError("r", "gone"), LedgerError("here", "failed")):
        first, (other,) = played(Disk(failure), lambda _: 1, [lambda _: 2])
        assert (str(first), first.__dict__) == (str(other), other.__dict__)


class Interrupted(Group):
    """Whose leader is interrupted once, where nothing has begun or all is done."""

    is_first = True

    def _interrupt(self):
        if self.is_first:
            self.is_first = False
            raise KeyboardInterrupt


class InterruptedAtFirst(Interrupted):
    def _lead(self, job):
        self._interrupt()
        super()._lead(job)


class InterruptedAtLast(Interrupted):
    def _resign(self, failure):
        self._interrupt()
        super()._resign(failure)


@pytest.mark.parametrize("interrupted", [InterruptedAtFirst, InterruptedAtLast])
def test_a_leader_who_is_interrupted_anywhere_leaves_the_lead(interrupted):
    def serve(take):
        for job in take():
            job.result = job.decide(None)

    group = interrupted(serve)
    with pytest.raises(KeyboardInterrupt):
        group.do(lambda _: 1)
    assert group._leader is None
    assert group.do(lambda _: 2) == 2


def test_who_was_taken_by_a_leader_that_is_gone_is_not_told_that_it_was_kept():
    disk = Disk()
    disk.group._resign = interrupted_once(disk.group._resign)
    first, others = played(disk, lambda _: "first", [lambda _: "a"])
    assert isinstance(first, KeyboardInterrupt)
    assert others == ["a"]


def interrupted_once(work):
    calls = []

    def interrupting(failure):
        calls.append(failure)
        if len(calls) == 1:
            raise KeyboardInterrupt
        work(failure)

    return interrupting
