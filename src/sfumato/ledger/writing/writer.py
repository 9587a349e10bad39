"""One thread writes: while it does, those that come wait, and are then decided together and kept in one transaction.

So 32 threads that each want something durable wait for the disk about twice, not 32 times. No signal arrives in the
thread that writes, so Ctrl-C ends the waiting of whoever asked and never leaves locks and transactions half-way.
"""

import atexit
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from threading import Event, Lock, Thread, current_thread
from typing import Any, Final, TypeAlias
from weakref import finalize

from sfumato.errors import LedgerError, SfumatoError

_GLANCE: Final = 1.0  # seconds, after which who waits looks whether the thread is there


@dataclass(slots=True, eq=False)
class WriteRequest:
    """Something to decide on the ledger as it stands, and what came of it.

    Attributes:
        decide: What is to be decided, given what the one who serves knows of the ledger.
        serve: Who serves it.
        result: What was decided.
        error: Why nothing was.
        ended: Set once either is there.
    """

    decide: Callable[[Any], object]
    serve: "Serve"
    result: object = None
    error: BaseException | None = None
    ended: Event = field(default_factory=Event)

    def settle(self, ledger: Any) -> None:
        """Decide it; a refusal is the error of whoever asked, and of nobody else."""
        try:
            self.result = self.decide(ledger)
        except SfumatoError as error:
            self.error = error


Requests: TypeAlias = "SimpleQueue[WriteRequest | None]"
"""What a thread is asked, in order; None lets it end."""
Serve: TypeAlias = Callable[[Callable[[], list[WriteRequest]]], None]
"""Does what is waiting: it calls what it is given, once and as late as it can, for the requests, and settles each."""


class WriterThread:
    """Hands requests to its thread, which begins with the first of them, and ends with `stop` or with the writer."""

    def __init__(self) -> None:
        self._lock = Lock()  # so that nothing is put behind the None of a thread
        self._thread: Thread | None = None
        self._requests: Requests = SimpleQueue()

    def do(self, decide: Callable[[Any], object], serve: Serve) -> object:
        """Decide, durably, and give back what was decided; or raise why not.

        Args:
            decide: What is to be decided.
            serve: How, with all that waits; its first request says so for all of them. What it raises is the error of
                every request that was not refused by itself.
        """
        request = WriteRequest(decide, serve)
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                self._start()
            thread = self._thread
            self._requests.put(request)
        while not request.ended.wait(_GLANCE):
            if not (thread and thread.is_alive()) and not request.ended.is_set():
                raise _interrupted()
        error, request.error = request.error, None
        if error is not None:
            raise error
        return request.result

    def stop(self) -> None:
        """Let the thread end once it has served what waits; what is asked afterwards gets another one."""
        with self._lock:
            if self._thread is not None:
                self._requests.put(None)
            self._thread = None

    def _start(self) -> None:
        self._requests = SimpleQueue()
        self._thread = Thread(target=_serve_all, args=(self._requests,), name="sfumato-ledger", daemon=True)
        _RUNNING[self._thread] = self._requests
        # The thread knows no writer, and so no ledger, while it waits: one that is merely forgotten lets it end too.
        finalize(self, self._requests.put, None).atexit = False
        self._thread.start()


_RUNNING: Final[dict[Thread, Requests]] = {}


@atexit.register
def _finish() -> None:
    """What is being written when the process ends is kept first."""
    for thread, requests in tuple(_RUNNING.items()):
        requests.put(None)
        thread.join()


def _serve_all(requests: Requests) -> None:
    while (request := requests.get()) is not None:
        _serve_batch(request, requests)
        del request  # else it would keep the ledger while this waits for the next one
    _RUNNING.pop(current_thread(), None)


def _serve_batch(first: WriteRequest, requests: Requests) -> None:
    """Serve a request with all that came meanwhile, and let all of them know what came of it."""
    batch = [first]

    def take() -> list[WriteRequest]:
        batch.extend(_waiting(requests))
        return batch

    failure: BaseException | None = None
    try:
        first.serve(take)
    except BaseException as error:  # noqa: BLE001 # it is raised again where it was asked for
        failure = error
        take()  # those that came meanwhile would only fail one by one
    for request in batch:
        if request.error is None and failure is not None:
            request.error = _error_of(failure, is_first=request is first)
        request.ended.set()


def _waiting(requests: Requests) -> list[WriteRequest]:
    found = []
    with suppress(Empty):
        while (request := requests.get_nowait()) is not None:
            found.append(request)
        requests.put(None)  # which is the last
    return found


def _error_of(failure: BaseException, *, is_first: bool) -> BaseException:
    """A failure as the error of one of many: one that several threads raise would collect all of their traces."""
    if not isinstance(failure, SfumatoError):
        return failure if is_first else _interrupted()
    twin = type(failure).__new__(type(failure), *failure.args)
    twin.__dict__.update(failure.__dict__)
    twin.__cause__ = failure.__cause__
    return twin


def _interrupted() -> LedgerError:
    requirement = "was interrupted while it wrote; what was asked is refused and may count as spent"
    return LedgerError("of this process", requirement)
