"""One thread writes: while it does, those that come wait, and are then decided together and kept in one transaction.

So 32 threads that each want something durable wait for the disk about twice, not 32 times. No signal arrives in the
thread that writes, so Ctrl-C ends the waiting of whoever asked and never leaves locks and transactions half-way.
Whoever finds nobody else there writes by itself, unless signals arrive in its thread: to wake another one can take as
long as a quick disk.
"""

import atexit
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Condition, Event, Lock, Thread, current_thread, main_thread
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


Serve: TypeAlias = Callable[[Callable[[], list[WriteRequest]]], None]
"""Does what is waiting: it calls what it is given, once and as late as it can, for the requests, and settles each."""


class WriterThread:
    """Hands requests to one thread, which begins when it is needed, and ends with `stop` or with this."""

    def __init__(self) -> None:
        self._lock = Lock()  # so that nothing is put into a queue whose thread has ended
        self._queue = _Queue()

    def do(self, decide: Callable[[Any], object], serve: Serve) -> object:
        """Decide, durably, and give back what was decided; or raise why not.

        Args:
            decide: What is to be decided.
            serve: How, with all that waits; the first request says so for all of them. What it raises is the error of
                every request that was not refused by itself.
        """
        request = WriteRequest(decide, serve)
        with self._lock:
            queue = self._queue
            if queue.thread is not None and not queue.thread.is_alive():
                queue = self._queue = _Queue()
            is_alone = queue.put(request, may_serve=current_thread() is not main_thread())
            if queue.thread is None and not is_alone:
                # The thread knows no ledger while it waits: one that is merely forgotten lets it end too.
                finalize(self, queue.end).atexit = False
                queue.start()
        if is_alone:
            queue.serve(serve)
        while not request.ended.wait(_GLANCE):
            if queue.thread is not None and not queue.thread.is_alive() and not request.ended.is_set():
                raise _interrupted()
        error, request.error = request.error, None
        if error is not None:
            raise error
        return request.result

    def stop(self) -> None:
        """Let the thread end once it has served what waits; what is asked afterwards gets another one."""
        with self._lock:
            self._queue.end()
            self._queue = _Queue()


class _Queue:
    """What waits to be served by one thread at a time, and the thread that does so unless another one is alone."""

    def __init__(self) -> None:
        self.thread: Thread | None = None
        self.waiting: list[WriteRequest] = []
        self._changed = Condition()
        self._is_busy = self._is_over = False

    def put(self, request: WriteRequest, *, may_serve: bool) -> bool:
        """Let a request wait; whether the one who puts it is to serve it, as nobody else is there."""
        with self._changed:
            is_alone = may_serve and not self.waiting and not self._is_busy
            self._is_busy = self._is_busy or is_alone
            self.waiting.append(request)
            self._changed.notify()
        return is_alone

    def start(self) -> None:
        """Begin the thread."""
        self.thread = Thread(target=self._serve_all, name="sfumato-ledger", daemon=True)
        _RUNNING.add(self)
        self.thread.start()

    def end(self) -> None:
        """Let the thread end when nothing waits."""
        with self._changed:
            self._is_over = True
            self._changed.notify()

    def serve(self, serve: Serve) -> None:
        """Serve all that waits, and let all of them know what came of it; nobody else does meanwhile."""
        batch: list[WriteRequest] = []

        def take() -> list[WriteRequest]:
            with self._changed:
                batch.extend(self.waiting)
                self.waiting.clear()
            return batch

        failure: BaseException | None = None
        try:
            serve(take)
        except BaseException as error:  # noqa: BLE001 # it is raised again where it was asked for
            failure = error
            take()  # those that came meanwhile would only fail one by one
        try:
            for request in batch:
                if request.error is None and failure is not None:
                    request.error = _error_of(failure, is_first=request is batch[0])
                request.ended.set()
        finally:
            with self._changed:
                self._is_busy = False
                self._changed.notify()

    def _serve_all(self) -> None:
        while self._is_next():
            self.serve(self.waiting[0].serve)
        _RUNNING.discard(self)

    def _is_next(self) -> bool:
        """Wait until something waits and nobody serves, which is the thread's to do then; False at the end."""
        with self._changed:
            self._changed.wait_for(lambda: bool(self.waiting or self._is_over) and not self._is_busy)
            self._is_busy = bool(self.waiting)
            return self._is_busy


_RUNNING: Final[set[_Queue]] = set()


@atexit.register
def _finish() -> None:
    """What is being written when the process ends is kept first."""
    for queue in tuple(_RUNNING):
        queue.end()
        if queue.thread is not None:
            queue.thread.join()


def _error_of(failure: BaseException, *, is_first: bool) -> BaseException:
    """A failure as the error of one of many: one that several threads raise would collect all of their traces."""
    if not isinstance(failure, SfumatoError):
        return failure if is_first else _interrupted()
    twin = type(failure).__new__(type(failure), *failure.args)
    twin.__dict__.update(failure.__dict__)
    twin.__cause__ = failure.__cause__
    return twin


def _interrupted() -> LedgerError:
    requirement = "was interrupted while it wrote; the query is refused and may count as spent"
    return LedgerError("of this process", requirement)
