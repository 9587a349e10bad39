"""`sfumato serve`: it starts the worker and the gateways of a curator, and starts again what ends.

The processes end with the one that started them, however that ends: they hold one end of a pipe of which it has the
other. The socket on which clients connect is open in gateways alone.
"""

import logging
import os
import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from typing import Final

from sfumato.errors import ParameterError
from sfumato.ledger.locations import FOLDER
from sfumato.server.config import Curator, load_curator

_LOG: Final = logging.getLogger("sfumato.serve")
_BACKLOG: Final = 512
_LOOK: Final = 0.1
_FIRST_PAUSE: Final = 0.1
_LONGEST_PAUSE: Final = 10.0
_STEADY: Final = 30.0
"""A process that lived so long is started again at once."""

_SECONDS_TO_END: Final = 35.0


def end_with_parent(alive: int, end: Callable[[], None]) -> None:
    """Have something done once the process that started this one has ended.

    Args:
        alive: The end of its pipe that this process has inherited, and hands on to none.
        end: What is done then, in another thread.
    """
    os.set_inheritable(alive, False)

    def wait() -> None:
        with suppress(OSError):
            os.read(alive, 1)
        end()

    Thread(target=wait, name="sfumato parent", daemon=True).start()


def write_no_core() -> None:
    """Have no image of this process written to a disk if it dies, nor of those that it starts: it may hold rows."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class Kept:
    """A process that is started again whenever it ends.

    Args:
        name: What logs call it.
        command: How it is started.
        descriptors: The open files that it inherits.
        environment: Its environment; None for that of this process.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        descriptors: Sequence[int] = (),
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._name, self._command, self._descriptors, self._environment = name, command, descriptors, environment
        self._process: subprocess.Popen[bytes] | None = None
        self._since, self._pause, self._again_at = 0.0, _FIRST_PAUSE, 0.0

    @property
    def process_id(self) -> int | None:
        """Its number in the system, once it was started."""
        return None if self._process is None else self._process.pid

    def look(self) -> None:
        """Start it; again if it ended, after a pause that grows as long as it keeps ending."""
        now = time.monotonic()
        if self._process is not None and self._process.poll() is not None:
            _LOG.warning("%s ended with %d; it is started again", self._name, self._process.returncode)
            self._process = None
            self._pause = _FIRST_PAUSE if now - self._since > _STEADY else min(2 * self._pause, _LONGEST_PAUSE)
            self._again_at = now + self._pause
        if self._process is None and now >= self._again_at:
            self._start(now)

    def _start(self, now: float) -> None:
        try:
            self._process = subprocess.Popen(  # noqa: S603 # this package
                self._command, stdin=subprocess.DEVNULL, pass_fds=self._descriptors, env=self._environment
            )
        except OSError as error:  # the machine has no room for a process now
            _LOG.warning("%s cannot be started: %s", self._name, error.strerror)
            self._again_at = now + _LONGEST_PAUSE
        self._since = now

    def end(self) -> None:
        """Tell it to end."""
        if self._process is not None:
            self._process.terminate()

    def wait(self, seconds: float) -> None:
        """Wait until it has ended; after some seconds it is made to."""
        if self._process is None:
            return
        try:
            self._process.wait(max(0.0, seconds))
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


class Supervisor:
    """The processes of a curator.

    Args:
        config: The curator's file.

    Raises:
        PolicyError: It says something impossible.
        ParameterError: Its address is in use, or its folder is open to others.
    """

    def __init__(self, config: Path) -> None:
        self.curator: Curator = load_curator(config)
        self.curator.make_state()
        write_no_core()
        self._listening = _listening(self.curator)
        self._theirs, self._alive = os.pipe()
        file, listening, theirs = str(config.absolute()), self._listening.fileno(), self._theirs
        work = (sys.executable, "-m", "sfumato.server.work.worker", file, str(theirs))
        gateway = (sys.executable, "-m", "sfumato.server.gateway.app", file, str(listening), str(theirs))
        around = {FOLDER: str(self.curator.state), **os.environ}  # where the key of a ledger in PostgreSQL is
        self.worker = Kept("the worker", work, (theirs,), around)
        names = [f"gateway {number}" for number in range(1, self.curator.gateways + 1)]
        self.gateways = [Kept(name, gateway, (listening, theirs), around) for name in names]

    @property
    def url(self) -> str:
        """Where it is reached."""
        return self.curator.url_at(self._listening.getsockname()[1])

    def run(self, *, ended: Event, started: Callable[[], None] = lambda: None) -> None:
        """Start all processes, and keep them until it is over.

        Args:
            ended: Set when it is over.
            started: Called once they were started.
        """
        kept = [self.worker, *self.gateways]
        try:
            for one in kept:
                one.look()
            started()
            while not ended.wait(_LOOK):
                for one in kept:
                    one.look()
        finally:
            _end(self.gateways)  # what is under way is answered first
            _end([self.worker])
            self._listening.close()
            os.close(self._alive)
            os.close(self._theirs)


def _end(kept: Sequence[Kept]) -> None:
    end = time.monotonic() + _SECONDS_TO_END
    for one in kept:
        one.end()
    for one in kept:
        one.wait(end - time.monotonic())


def _listening(curator: Curator) -> socket.socket:
    """The socket on which all gateways accept connections."""
    family = socket.AF_INET6 if ":" in curator.host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((curator.host, curator.port))
        listening.listen(_BACKLOG)
    except OSError:
        listening.close()
        requirement = "must be free, and one of this machine"
        raise ParameterError("address", f"{curator.host}:{curator.port}", requirement) from None
    return listening


def serve(config: Path, *, started: Callable[[Supervisor], None] = lambda _: None) -> None:
    """Serve a curator until this process is told to end.

    Args:
        config: The curator's file.
        started: Called once all processes were started.
    """
    supervisor, ended = Supervisor(config), Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    supervisor.run(ended=ended, started=lambda: started(supervisor))
