"""Group commit: while one thread writes, those that come meanwhile wait, and are then written all at once.

So 32 threads that each want something durable wait for the disk about twice, not 32 times.
"""

from collections.abc import Callable
from dataclasses import dataclass
from threading import Condition, Thread, current_thread, main_thread
from typing import Any, TypeAlias

from sfumato.errors import LedgerError, SfumatoError


@dataclass(slots=True, eq=False)
class Job:
    """Something to decide on the ledger as it stands, and what came of it."""

    decide: Callable[[Any], object]
    result: object = None
    error: SfumatoError | None = None
    is_done: bool = False
    is_leading: bool = False


Serve: TypeAlias = Callable[[Callable[[], list[Job]]], None]
"""Does what is waiting: it calls what it is given, as late as it can, for the jobs, and decides each of them."""


class Group:
    """Threads hand in jobs; whoever finds nobody leading leads, and serves all that are waiting.

    Args:
        serve: How a leader serves jobs. What it raises is the error of every job that it did not refuse itself.
    """

    def __init__(self, serve: Serve) -> None:
        self._serve = serve
        self._changed = Condition()
        self._waiting: list[Job] = []
        self._taken: list[Job] = []
        self._leader: Job | None = None

    def do(self, decide: Callable[[Any], object]) -> object:
        """Decide, durably, and give back what was decided; or raise why not."""
        job = Job(decide)
        try:
            with self._changed:
                self._waiting.append(job)
                self._changed.wait_for(lambda: job.is_done or self._leader is None)
                if not job.is_done:
                    self._leader = job
            if self._leader is job:
                _undisturbed(lambda: self._lead(job))
        finally:
            if self._leader is job and not job.is_leading:  # interrupted: nobody may wait for a leader who is gone
                self._resign(_interrupted())
        if job.error is not None:
            raise job.error
        return job.result

    def _lead(self, job: Job) -> None:
        with self._changed:
            if self._leader is not job:
                return
            job.is_leading = True  # from here on whoever asked may be interrupted, and this goes on
        failure: SfumatoError | None = _interrupted()
        try:
            self._serve(self._take)
            failure = None
        except SfumatoError as error:
            failure = error
        finally:
            if failure is not None:
                self._take()  # those that came meanwhile would only fail one by one
            job.is_leading = False
            self._resign(failure)

    def _take(self) -> list[Job]:
        with self._changed:
            self._taken.extend(self._waiting)
            new, self._waiting = self._waiting, []
        return new

    def _resign(self, failure: SfumatoError | None) -> None:
        """Let all who were taken know what came of it, and the next one lead."""
        with self._changed:
            _end([job for job in self._taken if not job.is_done], failure)
            self._taken, self._leader = [], None
            self._changed.notify_all()


def _undisturbed(work: Callable[[], None]) -> None:
    """Work where no signal arrives, so that Ctrl-C never leaves locks and transactions half-way.

    Python handles signals in the main thread, between any two steps of it.
    """
    if current_thread() is not main_thread():
        work()
        return
    raised: list[BaseException] = []

    def kept() -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 # it is raised again where it was asked for
            raised.append(error)

    worker = Thread(target=kept, name="sfumato-ledger")
    worker.start()
    worker.join()
    if raised:
        raise raised[0]


def _interrupted() -> LedgerError:
    requirement = "was interrupted while it wrote; what was asked is refused and may count as spent"
    return LedgerError("of this process", requirement)


def _end(jobs: list[Job], failure: SfumatoError | None) -> None:
    for job in jobs:
        if job.error is None and failure is not None:
            job.error = _twin(failure)
        job.is_done = True


def _twin(error: SfumatoError) -> SfumatoError:
    """The same error again, because one that several threads raise collects all of their traces."""
    twin = type(error).__new__(type(error), *error.args)
    twin.__dict__.update(error.__dict__)
    twin.__cause__ = error.__cause__
    return twin
