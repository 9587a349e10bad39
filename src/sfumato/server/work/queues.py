"""A queue for each dataset, and the process that does what is in it: started again if it dies, replaced if it is worn.

The processes are forked from a server of forks, which has loaded what they need and has opened nothing: so they are
warm at once, and no thread, lock or connection is copied. One that dies leaves a mark, by which the next one suspends
the data if it was because of a query; that one also gets the message again, as it may never have been read.
"""

import logging
import math
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path
from queue import Empty, Queue
from threading import Condition, Event, Thread
from typing import Any, Final

from sfumato.errors import TicketError, UnavailableError
from sfumato.server.config import WorkEntry
from sfumato.server.work.channel import MAX_MESSAGE, Pipe, failure, read

_LOG: Final = logging.getLogger("sfumato.worker")
_SECONDS_TO_OPEN: Final = 600.0
_FIRST_PAUSE: Final = 0.5
_LOOK: Final = 0.01
_SILENCE: Final = 1.0
"""Within so many seconds whoever takes a place has charged and sent a ticket."""

_LONGEST_PAUSE: Final = 30.0
_GRACE: Final = 5.0
"""A query that takes too long ends by itself; only what does not is ended from here, so many seconds later."""

_PATIENCE: Final = 30.0
"""For how many seconds whoever enters waits for a version to be published; then the queue is busy for them."""

_TRIES: Final = 2
_NO_ROOM: Final = "no process can be started"
_CONTEXT: Final = get_context("forkserver")
_PRELOADED: Final = ["sfumato.server.work.child", "sfumato.engines.duckdb.engine", "sfumato.server.work.preloaded"]


class ChildDiedError(Exception):
    """The process that reads data ended, or took longer than it may."""


class Child:
    """One process that reads a dataset.

    Args:
        config: The curator's file.
        dataset: The dataset that it opens.
    """

    def __init__(self, config: Path, dataset: str) -> None:
        _CONTEXT.set_forkserver_preload(_PRELOADED)
        self._connection, theirs = _CONTEXT.Pipe()
        self._process = _CONTEXT.Process(
            target=_start_child, args=(str(config), dataset, theirs), name=f"sfumato {dataset}", daemon=True
        )
        self._process.start()
        theirs.close()
        self.tickets = 0

    @property
    def process_id(self) -> int | None:
        """Its number in the system."""
        return self._process.pid

    def wait(self) -> str | None:
        """Wait until the dataset is open; why it is not, if it cannot be."""
        try:
            answer = self._heard(_SECONDS_TO_OPEN)
        except ChildDiedError:
            return "the process that opens it died"
        return None if answer.get("ready") is True else str(answer.get("reason"))

    def is_ready(self) -> bool:
        """Whether it has said something by now, or is gone."""
        return self._connection.poll(0)

    def ask(self, content: bytes, *, seconds: float) -> dict[str, Any]:
        """Send a message and hear what came of it.

        Raises:
            ChildDiedError: It died, or took too long; then it is dead now.
        """
        self.tickets += 1
        with suppress(OSError):  # it is dead, and nothing will be heard
            self._connection.send_bytes(content)
        return self._heard(seconds)

    def _heard(self, seconds: float) -> dict[str, Any]:
        with suppress(EOFError, OSError):
            if self._connection.poll(seconds):
                return read(self._connection.recv_bytes(MAX_MESSAGE))
        self.kill()
        raise ChildDiedError

    def interrupt(self) -> None:
        """End it now; whoever waits for it hears that it died."""
        self._process.kill()

    def kill(self) -> None:
        """End it now, and wait until it has ended."""
        self._process.kill()
        self.close()

    def close(self) -> None:
        """Let it end by itself: it finds that nobody sends messages any more."""
        self._connection.close()
        self._process.join()


def _start_child(config: str, dataset: str, connection: Pipe) -> None:
    from sfumato.server.work.child import run_child  # which loads what reads data, in that process alone

    run_child(config, dataset, connection)


class Task:
    """A message in a queue, and what came of it.

    Args:
        content: The message.
    """

    def __init__(self, content: bytes) -> None:
        self.content = content
        self._is_over = Event()
        self._answer: dict[str, Any] = {}

    def end(self, answer: dict[str, Any]) -> None:
        """Let whoever waits go on with an answer."""
        self._answer = answer
        self._is_over.set()

    def answer(self) -> dict[str, Any]:
        """Wait for the answer."""
        self._is_over.wait()
        return self._answer


class DatasetQueue:
    """The messages of a dataset, one after the other, and the process that does what they ask for.

    Args:
        config: The curator's file.
        work: How long a message may take, how many may wait, and when the process is replaced.
        dataset: The name of the dataset.
        start: Starts a process.
    """

    def __init__(
        self, config: Path, work: WorkEntry, dataset: str, *, start: Callable[[Path, str], Child] = Child
    ) -> None:
        self._config, self._work, self._name, self._start = config, work, dataset, start
        self._tasks: Queue[Task | None] = Queue()
        self._changed = Condition()
        self._inside = self._publishers = 0
        self._is_open = self._has_tried = self._is_leaving = False
        self._unanswered, self._spoken = 0, -math.inf
        self._is_over = Event()
        self._child: Child | None = None
        self._next: Child | None = None
        self._opening: Child | None = None
        self._thread = Thread(target=self._serve, name=f"sfumato {dataset}", daemon=True)

    def start(self) -> None:
        """Open the dataset, and begin."""
        self._thread.start()

    def enter(self) -> dict[str, Any]:
        """Take a place, if there is one and the dataset is open; while a version is published, wait for that.

        Whoever comes too early or too late hears that they may soon come again.

        A process that died is replaced meanwhile, and whoever enters waits in the queue: when it died may tell of rows.
        """
        with self._changed:
            self._changed.wait_for(lambda: not self._publishers or self._is_over.is_set(), _PATIENCE)
            if self._is_leaving or not self._has_tried:
                return {"renewed": True}
            if not self._is_open:
                return {"closed": True}
            if self._publishers or self._inside >= self._work.queue:
                return {"busy": True}
            self._inside += 1
            self._spoken = time.monotonic()
        return {"in": True}

    def leave(self) -> None:
        """Give a place back."""
        with self._changed:
            self._inside -= 1
            self._changed.notify_all()

    def run(self, content: bytes) -> dict[str, Any]:
        """Do what a message asks for, when it is its turn.

        A version is published when nobody else is inside: queries that were charged before are of the version before.
        """
        if not _is_publishing(content):
            return self._queued(content)
        with self._changed:
            self._publishers += 1
            self._changed.notify_all()  # of owners who wait for each other both go on
        try:
            with self._changed:
                is_alone = self._changed.wait_for(lambda: self._inside <= self._publishers, self._work.seconds)
            return self._queued(content) if is_alone else failure(UnavailableError())
        finally:
            with self._changed:
                self._publishers -= 1
                self._changed.notify_all()

    def _queued(self, content: bytes) -> dict[str, Any]:
        task = Task(content)
        with self._changed:
            if self._is_over.is_set():
                return failure(UnavailableError())
            self._tasks.put(task)
            self._unanswered += 1
        try:
            return task.answer()
        finally:
            with self._changed:
                self._unanswered -= 1
                self._spoken = time.monotonic()

    def finish(self, last: float) -> None:
        """Let nobody in any more, and end once all who sent a message are answered, or a moment has come.

        Args:
            last: That moment, by `time.monotonic`.
        """
        with self._changed:
            self._is_leaving = True
        while (now := time.monotonic()) < last:
            with self._changed:  # who has a place and is silent was answered, or has charged nothing yet
                if not self._unanswered and not (self._inside and now < self._spoken + _SILENCE):
                    break
            time.sleep(_LOOK)
        self.stop()

    def stop(self) -> None:
        """End after the message that is being done; those that wait fail."""
        with self._changed:
            self._is_over.set()
            self._tasks.put(None)
            self._changed.notify_all()
            opening = self._opening
        if opening is not None:
            opening.interrupt()
        self._thread.join()

    def _serve(self) -> None:
        pause = _FIRST_PAUSE
        while not self._is_over.is_set():
            if self._child is None and not self._opens():
                self._fail_waiting()
                self._is_over.wait(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)
                continue
            pause = _FIRST_PAUSE
            if (task := self._tasks.get()) is not None:
                task.end(self._done(task.content) or failure(UnavailableError()))
        with self._changed:
            self._is_open = False
        self._fail_waiting()
        for child in (self._child, self._next):
            if child is not None:
                child.close()

    def _opens(self) -> bool:
        """Start a process that opens the dataset; whether it could."""
        with self._changed:
            if self._is_over.is_set():
                return False
            self._opening = child = self._started()
        reason = _NO_ROOM if child is None else child.wait()
        with self._changed:
            self._opening, self._has_tried, self._is_open = None, True, reason is None
            if reason is None:
                self._child = child
        if reason is None:
            _LOG.info("dataset %s is open", self._name)
            return True
        _LOG.error("dataset %s cannot be opened: %s", self._name, reason)
        if child is not None:
            child.kill()
        return False

    def _started(self) -> Child | None:
        """A process that begins to open the dataset; None if the machine has no room for it now."""
        try:
            return self._start(self._config, self._name)
        except (OSError, EOFError):  # of the system, or of the server of forks
            return None

    def _fail_waiting(self) -> None:
        """Nobody is to wait for what may take very long."""
        with suppress(Empty):
            while True:
                task = self._tasks.get_nowait()
                if task is not None:
                    task.end(failure(UnavailableError()))

    def _done(self, content: bytes) -> dict[str, Any] | None:
        """What came of a message; None if nobody knows."""
        for _ in range(_TRIES):
            if self._child is None and not self._opens():
                return None
            child = self._child
            if child is None:
                return None
            try:
                answer = child.ask(content, seconds=self._work.seconds + _GRACE)
            except ChildDiedError:
                _LOG.error("the process of dataset %s died", self._name)
                self._child = None
                continue
            is_worn = answer.pop("worn", False) is True or child.tickets >= self._work.tickets
            self._take_turns(child, is_worn=is_worn)
            return answer
        return None

    def _take_turns(self, child: Child, *, is_worn: bool) -> None:
        """Begin to start a successor of a process that is worn; once it is ready, it takes the place.

        Nobody waits for it, as the memory that a process took may depend on rows.
        """
        if self._next is None:
            self._next = self._started() if is_worn else None
        elif self._next.is_ready():
            if self._next.wait() is None:
                self._child = self._next
                Thread(target=child.close, daemon=True).start()
            else:
                self._next.kill()
            self._next = None


def _is_publishing(content: bytes) -> bool:
    """Whether a message asks for another version of the data; who may ask for that says the process with the data."""
    with suppress(TicketError):
        return read(content).get("purpose") == "publish"
    return False
