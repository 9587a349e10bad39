"""The worker: it listens for gateways, queues what they send by dataset, and keeps one process alive for each dataset.

It reads neither data nor tickets. The processes that do are forked from a server of forks, which has loaded what they
need and has opened nothing: so they are warm at once, and no thread, lock or connection is copied. One that has died
while it ran a ticket is replaced, and its data is suspended: a death may have been because of a row.
"""

import json
import logging
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Listener
from pathlib import Path
from queue import Queue
from threading import Condition, Event, Thread
from typing import Any, Final

from sfumato.errors import UnavailableError
from sfumato.server.config import Curator, load_curator
from sfumato.server.work.channel import MAX_MESSAGE, Pipe, failure, read, written

_LOG: Final = logging.getLogger("sfumato.worker")
_PRELOADED: Final = ["sfumato.server.work.child", "sfumato.engines.duckdb.engine"]
_SECONDS_TO_OPEN: Final = 600.0
_FIRST_PAUSE: Final = 0.5
_LONGEST_PAUSE: Final = 30.0
_CONTEXT: Final = get_context("forkserver")


class ChildDiedError(Exception):
    """The process that reads data ended, or took longer than it may."""


class Child:
    """One process that reads a dataset.

    Args:
        config: The curator's file.
        dataset: The dataset that it opens.
    """

    def __init__(self, config: Path, dataset: str) -> None:
        self._connection, theirs = _CONTEXT.Pipe()
        # Found by its name: the server of forks has loaded that module, and not this one.
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
            answer = self.ask(None, seconds=_SECONDS_TO_OPEN)
        except ChildDiedError:
            return "the process that opens it died"
        return None if answer.get("ready") is True else str(answer.get("reason"))

    def is_ready(self) -> bool:
        """Whether it has said something by now."""
        return self._connection.poll(0)

    def ask(self, content: bytes | None, *, seconds: float) -> dict[str, Any]:
        """Send a message and hear what came of it.

        Raises:
            ChildDiedError: It died, or took too long; then it is dead now.
        """
        try:
            if content is not None:
                self.tickets += 1
                self._connection.send_bytes(content)
            if self._connection.poll(seconds):
                return read(self._connection.recv_bytes(MAX_MESSAGE))
        except (EOFError, OSError):
            pass
        self.kill()
        raise ChildDiedError

    def kill(self) -> None:
        """End it now."""
        self._process.kill()
        self.close()

    def close(self) -> None:
        """Let it end by itself: it finds that nobody sends messages any more."""
        with suppress(OSError):
            self._connection.close()
        self._process.join()


def _start_child(config: str, dataset: str, connection: Pipe) -> None:
    from sfumato.server.work.child import run_child  # which loads what reads data, in that process alone

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it ends when its worker does
    run_child(config, dataset, connection)


@dataclass(slots=True)
class Task:
    """A message in a queue.

    Attributes:
        content: The message.
        is_over: Set once there is an answer.
        answer: What came of it.
    """

    content: bytes
    is_over: Event = field(default_factory=Event)
    answer: dict[str, Any] = field(default_factory=dict)


class DatasetQueue:
    """The messages of a dataset, one after the other, and the process that does what they ask for.

    Args:
        config: The curator's file.
        curator: What it declares.
        dataset: The name of the dataset.
        start: Starts a process.
    """

    def __init__(
        self, config: Path, curator: Curator, dataset: str, *, start: Callable[[Path, str], Child] = Child
    ) -> None:
        self._config, self._work, self._name, self._start = config, curator.work, dataset, start
        self._tasks: Queue[Task | None] = Queue()
        self._places = Condition()
        self._inside = 0
        self._child: Child | None = None
        self._next: Child | None = None
        self._is_over = Event()
        self._thread = Thread(target=self._serve, name=f"sfumato {dataset}", daemon=True)

    def start(self) -> None:
        """Open the dataset, and begin."""
        self._thread.start()

    def enter(self) -> dict[str, Any]:
        """Take a place, if there is one and the dataset is open."""
        with self._places:
            if self._child is None:
                return {"closed": True}
            if self._inside >= self._work.queue:
                return {"busy": True}
            self._inside += 1
        return {"in": True}

    def leave(self) -> None:
        """Give a place back."""
        with self._places:
            self._inside -= 1

    def run(self, content: bytes) -> dict[str, Any]:
        """Do what a message asks for, when it is its turn."""
        task = Task(content)
        self._tasks.put(task)
        task.is_over.wait()
        return task.answer

    def stop(self) -> None:
        """End what is running, and the process; what is in the queue fails."""
        self._is_over.set()
        self._tasks.put(None)
        self._thread.join()

    def _serve(self) -> None:
        self._child = self._opened()
        while not self._is_over.is_set():
            task = self._tasks.get()
            if task is None:
                break
            try:
                task.answer = self._done(task.content)
            finally:
                task.answer = task.answer or failure(UnavailableError())
                task.is_over.set()
        for child in (self._child, self._next):
            if child is not None:
                child.close()

    def _opened(self) -> Child | None:
        """A process that has opened the dataset, after as many tries as it takes; None once this is to end."""
        pause = _FIRST_PAUSE
        while not self._is_over.is_set():
            child = self._start(self._config, self._name)
            reason = child.wait()
            if reason is None:
                _LOG.info("dataset %s is open", self._name)
                return child
            _LOG.error("dataset %s cannot be opened: %s", self._name, reason)
            child.kill()
            self._is_over.wait(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
        return None

    def _done(self, content: bytes) -> dict[str, Any]:
        if self._child is None:
            return {}
        try:
            answer = self._child.ask(content, seconds=self._work.seconds)
        except ChildDiedError:
            self._replace_dead(content)
            return {}
        is_worn = answer.pop("worn", False) is True or self._child.tickets >= self._work.tickets
        self._take_turns(is_worn=is_worn)
        return answer

    def _replace_dead(self, content: bytes) -> None:
        """Start another process, which suspends the data on which the one before it died."""
        _LOG.error("the process of dataset %s died; its data is suspended", self._name)
        self._child = None
        child, message = self._opened(), read(content)
        if child is not None and message.get("purpose") == "run":
            with suppress(ChildDiedError):
                child.ask(written({**message, "died": True}), seconds=self._work.seconds)
        self._child = child

    def _take_turns(self, *, is_worn: bool) -> None:
        """Begin to start a successor of a process that is worn; once it is ready, it takes the place.

        Nobody waits for it, as the memory that a process took may depend on rows.
        """
        if self._next is None:
            self._next = self._start(self._config, self._name) if is_worn else None
        elif self._child is not None and self._next.is_ready():
            reason = self._next.wait()
            if reason is None:
                self._child.close()
                self._child = self._next
            else:
                self._next.kill()
            self._next = None


class Worker:
    """All datasets of a curator, and the socket on which gateways ask for them.

    Args:
        config: The curator's file.
    """

    def __init__(self, config: Path) -> None:
        self.curator = load_curator(config)
        self.curator.make_state()
        self.queues = {name: DatasetQueue(config, self.curator, name) for name in self.curator.datasets}

    def run(self) -> None:
        """Listen until this process ends."""
        _CONTEXT.set_forkserver_preload(_PRELOADED)
        place = self.curator.socket
        place.unlink(missing_ok=True)
        with Listener(str(place), family="AF_UNIX", backlog=128) as listener:
            place.chmod(0o600)
            for queue in self.queues.values():
                queue.start()
            while True:
                with suppress(OSError):  # of one that went away at once
                    Thread(target=self._attend, args=(listener.accept(),), daemon=True).start()

    def stop(self) -> None:
        """End all processes that were started, in their turn."""
        for queue in self.queues.values():
            queue.stop()

    def _attend(self, connection: Pipe) -> None:
        """Listen to one gateway, for one query after the other."""
        with connection, suppress(EOFError, OSError):
            wanted = read(connection.recv_bytes(MAX_MESSAGE)).get("enter")
            queue = self.queues.get(wanted) if isinstance(wanted, str) else None
            place = {"closed": True} if queue is None else queue.enter()
            connection.send_bytes(written(place))
            if queue is None or "in" not in place:
                return
            try:
                while True:
                    connection.send_bytes(written(queue.run(connection.recv_bytes(MAX_MESSAGE))))
            finally:
                queue.leave()


def main(config: str) -> None:
    """Run the worker of a curator's file until it is told to end."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # which the server of forks must not have threads of
    logging.basicConfig(level=logging.INFO, format=json.dumps({"logger": "%(name)s", "text": "%(message)s"}))
    worker = Worker(Path(config).absolute())
    ended = Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    Thread(target=worker.run, daemon=True).start()
    ended.wait()
    worker.stop()


if __name__ == "__main__":
    main(sys.argv[1])
