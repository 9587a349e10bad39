"""Group commit: while one thread writes, those that come meanwhile wait, and are then written all at once.

So 32 threads that each want something durable wait for the disk about twice, not 32 times.
"""

from collections.abc import Callable
from dataclasses import dataclass
from threading import Condition
from typing import Any, TypeAlias

from sfumato.errors import LedgerError, SfumatoError


@dataclass(slots=True, eq=False)
class Job:
    """Something to decide on the ledger as it stands, and what came of it."""

    decide: Callable[[Any], object]
    result: object = None
    error: SfumatoError | None = None
    is_done: bool = False


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
        self._is_led = False

    def do(self, decide: Callable[[Any], object]) -> object:
        """Decide, durably, and give back what was decided; or raise why not."""
        job = Job(decide)
        with self._changed:
            self._waiting.append(job)
            self._changed.wait_for(lambda: job.is_done or not self._is_led)
            leads = not job.is_done
            self._is_led = self._is_led or leads
        if leads:
            self._lead()
        if job.error is not None:
            raise job.error
        return job.result

    def _lead(self) -> None:
        taken: list[Job] = []
        failure: SfumatoError | None = LedgerError("of this process", _INTERRUPTED)

        def take() -> list[Job]:
            with self._changed:
                new, self._waiting = self._waiting, []
            taken.extend(new)
            return new

        try:
            self._serve(take)
            failure = None
        except SfumatoError as error:
            failure = error
        finally:
            if failure is not None:
                take()  # those that came meanwhile would only fail one by one
            with self._changed:
                _end(taken, failure)
                self._is_led = False
                self._changed.notify_all()


_INTERRUPTED = "was interrupted while it wrote; what was asked is refused and may count as spent"


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
