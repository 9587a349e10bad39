"""The worker: it listens for gateways, and gives what they send to the queue of the dataset that they name.

It reads neither data nor tickets. Only processes of its own user can reach it. One that says nothing, or what makes no
sense, is in nobody's way: of the connections that are in no queue yet, the oldest is closed where there are too many.
"""

import json
import logging
import os
import signal
import socket
import sys
import time
from collections import OrderedDict
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Final

from sfumato.errors import ParameterError, TicketError
from sfumato.ledger.keeping.files import locked
from sfumato.server.config import Curator, load_curator
from sfumato.server.serve import end_with_parent, write_no_core
from sfumato.server.work.channel import MAX_MESSAGE, Pipe, read, written
from sfumato.server.work.queues import DatasetQueue
from sfumato.version import __version__

_MOST_OUTSIDE: Final = 128
"""How many connections may be in no queue yet."""

_SECONDS_FOR_A_LOCK: Final = 5.0
_PAUSE: Final = 0.1
_SECONDS_TO_FINISH: Final = 25.0
"""For so long queries that have a place are answered, once it is to end."""

_ENVIRONMENT: Final = {
    # Forks have no thread but one: so the server of forks must have none that loaded libraries start.
    "OPENBLAS_NUM_THREADS": "1",
    "JE_ARROW_MALLOC_CONF": "background_thread:false",
}


class Worker:
    """All datasets of a curator, and the socket on which gateways ask for them.

    Args:
        curator: What the curator's file declares.
        config: That file.
    """

    def __init__(self, curator: Curator, config: Path) -> None:
        self._place = curator.socket
        self._queues = {name: DatasetQueue(config, curator.work, name) for name in curator.datasets}
        self._outside: OrderedDict[socket.socket, None] = OrderedDict()
        self._lock, self._is_over = Lock(), Event()
        self._listening = socket.socket(socket.AF_UNIX)

    def start(self) -> None:
        """Open all datasets, and listen.

        Raises:
            ParameterError: The socket cannot be made.
        """
        self._place.unlink(missing_ok=True)
        try:
            self._listening.bind(str(self._place))
        except OSError:
            self._listening.close()
            requirement = "must be a local folder whose path has at most 90 bytes, as sockets need"
            raise ParameterError("state", str(self._place.parent), requirement) from None
        self._place.chmod(0o600)
        self._listening.listen(_MOST_OUTSIDE)
        for queue in self._queues.values():
            queue.start()
        Thread(target=self._listen, name="sfumato listens", daemon=True).start()

    def stop(self) -> None:
        """Listen no more, and end all processes that were started, each after what has a place in its queue."""
        self._is_over.set()
        self._place.unlink(missing_ok=True)
        _hang_up(self._listening)
        self._listening.close()
        last = time.monotonic() + _SECONDS_TO_FINISH
        stopping = [Thread(target=queue.finish, args=(last,)) for queue in self._queues.values()]
        for thread in stopping:
            thread.start()
        for thread in stopping:
            thread.join()

    def _listen(self) -> None:
        while True:
            try:
                accepted, _ = self._listening.accept()
            except OSError:
                if self._is_over.wait(_PAUSE):  # else too many files are open: later there will be fewer
                    return
                continue
            with self._lock:
                self._outside[accepted] = None
                oldest = next(iter(self._outside)) if len(self._outside) > _MOST_OUTSIDE else None
                if oldest is not None:
                    del self._outside[oldest]
                    _hang_up(oldest)
            Thread(target=self._attend, args=(accepted,), daemon=True).start()

    def _attend(self, accepted: socket.socket) -> None:
        """Listen to one gateway, for one message after the other."""
        connection = Connection(os.dup(accepted.fileno()))
        with accepted, connection, suppress(EOFError, OSError, TicketError):
            try:
                asked = read(connection.recv_bytes(MAX_MESSAGE))
            finally:
                with self._lock:
                    self._outside.pop(accepted, None)
            wanted = asked.get("enter")
            queue = self._queues.get(wanted) if isinstance(wanted, str) else None
            if asked.get("version", __version__) != __version__:  # it could not read the ticket, which is charged
                connection.send_bytes(written({"renewed": True, "version": __version__}))
            elif queue is None:
                connection.send_bytes(written({"closed": True, "version": __version__}))
            else:
                _serve(connection, queue)


def _hang_up(connection: socket.socket) -> None:
    """Whoever reads from it finds that it ended."""
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


def _serve(connection: Pipe, queue: DatasetQueue) -> None:
    """Give a gateway a place in a queue, and have its messages done, until it goes."""
    place = queue.enter()
    try:
        connection.send_bytes(written(place))
        while "in" in place:
            connection.send_bytes(written(queue.run(connection.recv_bytes(MAX_MESSAGE))))
    finally:
        if "in" in place:
            queue.leave()


def main(config: Path, alive: int | None) -> None:
    """Run the worker of a curator's file until it is told to end.

    Args:
        config: The curator's file.
        alive: An open file that ends with the process that started this one.

    Raises:
        ParameterError: Another worker has the folder of the curator.
    """
    write_no_core()
    os.environ.update(_ENVIRONMENT)
    logging.basicConfig(level=logging.INFO, format=json.dumps({"logger": "%(name)s", "text": "%(message)s"}))
    curator = load_curator(config)
    curator.make_state()
    ended = Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    if alive is not None:
        end_with_parent(alive, ended.set)
    try:
        with locked(curator.state / "worker.lock", patience=_SECONDS_FOR_A_LOCK):
            worker = Worker(curator, config)
            worker.start()
            ended.wait()
            worker.stop()
    except TimeoutError:
        raise ParameterError("state", str(curator.state), "is in use by another server; name another folder") from None


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute(), int(sys.argv[2]) if sys.argv[2:] else None)
