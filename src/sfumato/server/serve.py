"""`sfumato serve`: it starts the worker and the gateways of a curator, and starts again what ends.

The processes end with the one that started them, however that ends: they hold one end of a pipe of which it has the
other. The socket on which clients connect is open in gateways alone.

After SIGHUP each gateway is replaced: its successor starts, and says that it accepts connections from the same socket;
then the old one ends, once it has answered what is under way. So no connection is refused. The worker is replaced
last, if its files changed or the gateways are now of another version.
"""

import logging
import os
import resource
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from typing import Final

from sfumato.errors import ParameterError, SfumatoError
from sfumato.ledger.locations import FOLDER
from sfumato.server.config import Curator, load_curator
from sfumato.version import __version__

_LOG: Final = logging.getLogger("sfumato.serve")
_BACKLOG: Final = 512
_LOOK: Final = 0.1
_FIRST_PAUSE: Final = 0.1
_LONGEST_PAUSE: Final = 10.0
_STEADY: Final = 30.0
"""A process that lived so long is started again at once."""

_SECONDS_TO_END: Final = 35.0
_SECONDS_TO_START: Final = 120.0


def end_with_parent(alive: int, end: Callable[[], None]) -> None:
    """Have something done once the process that started this one has ended; a SIGHUP is for that one alone.

    Args:
        alive: The end of its pipe that this process has inherited, and hands on to none.
        end: What is done then, in another thread.
    """
    os.set_inheritable(alive, False)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)

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
        self.version = __version__
        self._since, self._pause, self._again_at = 0.0, _FIRST_PAUSE, 0.0
        self._next: Successor | None = None
        self._leaving: list[tuple[subprocess.Popen[bytes], float]] = []

    @property
    def process_id(self) -> int | None:
        """Its number in the system, once it was started."""
        return None if self._process is None else self._process.pid

    def look(self) -> None:
        """Start it, again if it ended: after a pause that grows as long as it keeps ending; and let successors in."""
        now = time.monotonic()
        self._take_over(now)
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

    def change(self) -> None:
        """Start a successor, which takes the place once it says that it is ready; if it never is, all stays."""
        if self._next is None:
            try:
                self._next = Successor(self._command, self._descriptors, self._environment)
            except OSError as error:  # the machine has no room for a process now
                _LOG.warning("%s stays: its successor cannot be started: %s", self._name, error.strerror)

    @property
    def is_changing(self) -> bool:
        """Whether a successor starts, or who had the place before is not gone yet."""
        return self._next is not None or bool(self._leaving)

    def _take_over(self, now: float) -> None:
        if self._next is not None and self._next.version() is not None:
            if self._process is not None:
                self._process.terminate()
                self._leaving.append((self._process, now + _SECONDS_TO_END))
            self.version, self._process, self._since = str(self._next.version()), self._next.process, now
            self._next = None
        elif self._next is not None and self._next.has_failed(now):
            _LOG.error("%s stays: its successor did not start", self._name)
            self._next = None
        for process, last in self._leaving:
            if process.poll() is None and now > last:
                process.kill()
        self._leaving = [(process, last) for process, last in self._leaving if process.returncode is None]

    def end(self) -> None:
        """Tell it to end."""
        for process in self._all():
            process.terminate()

    def wait(self, seconds: float) -> None:
        """Wait until it has ended; after some seconds it is made to."""
        end = time.monotonic() + seconds
        for process in self._all():
            try:
                process.wait(max(0.0, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _all(self) -> Iterator[subprocess.Popen[bytes]]:
        """Every process that there is in this place."""
        yield from (process for process, _ in self._leaving)
        if self._next is not None:
            yield self._next.process
        if self._process is not None:
            yield self._process


class Successor:
    """A process that is to take the place of another one, once it says through a pipe of which version it is.

    Args:
        command: How it is started; the number of the pipe is added.
        descriptors: The open files that it inherits.
        environment: Its environment; None for that of this process.
    """

    def __init__(
        self, command: Sequence[str], descriptors: Sequence[int], environment: Mapping[str, str] | None
    ) -> None:
        self._heard, told = os.pipe()
        try:
            self.process = subprocess.Popen(  # noqa: S603 # this package
                (*command, str(told)), stdin=subprocess.DEVNULL, pass_fds=(*descriptors, told), env=environment
            )
        except OSError:
            os.close(self._heard)
            raise
        finally:
            os.close(told)
        self._last = time.monotonic() + _SECONDS_TO_START
        self._version: str | None = None

    def version(self) -> str | None:
        """Of which version it is; None as long as it is not ready."""
        if self._version is None and select.select([self._heard], [], [], 0)[0]:
            said = os.read(self._heard, 100).decode("utf-8", "replace").strip()
            if said:
                self._version = said
                os.close(self._heard)
        return self._version

    def has_failed(self, now: float) -> bool:
        """Whether it ended, or took too long; then it is made to end."""
        if self.process.poll() is None and now <= self._last:
            return False
        self.process.kill()
        self.process.wait()
        os.close(self._heard)
        return True


class Supervisor:
    """The processes of a curator.

    Args:
        config: The curator's file.
        only: ``"worker"`` or ``"gateways"``, if the others are started elsewhere; None for all.

    Raises:
        PolicyError: It says something impossible.
        ParameterError: Its address is in use, or its folder is open to others.
    """

    def __init__(self, config: Path, *, only: str | None = None) -> None:
        self._config = config.absolute()
        self.curator: Curator = load_curator(config)
        self.curator.make_state()
        write_no_core()
        self._listening = None if only == "worker" else _listening(self.curator)
        self._theirs, self._alive = os.pipe()
        file, theirs = str(self._config), self._theirs
        work = (sys.executable, "-m", "sfumato.server.work.worker", file, str(theirs))
        around = {FOLDER: str(self.curator.state), **os.environ}  # where the key of a ledger in PostgreSQL is
        self.worker = None if only == "gateways" else Kept("the worker", work, (theirs,), around)
        self.gateways = []
        if self._listening is not None:
            listening = self._listening.fileno()
            gateway = (sys.executable, "-m", "sfumato.server.gateway.app", file, str(listening), str(theirs))
            names = [f"gateway {number}" for number in range(1, self.curator.gateways + 1)]
            self.gateways = [Kept(name, gateway, (listening, theirs), around) for name in names]
        self._to_change: list[Kept] = []
        self._before: list[int | None] | None = None
        self._of_worker = self._stamp()

    @property
    def url(self) -> str:
        """Where it is reached."""
        return self.curator.url_at(self.curator.port if self._listening is None else self._listening.getsockname()[1])

    def run(self, *, ended: Event, started: Callable[[], None] = lambda: None, renewed: Event | None = None) -> None:
        """Start all processes, and keep them until it is over.

        Args:
            ended: Set when it is over.
            started: Called once they were started.
            renewed: Set when all processes are to be replaced.
        """
        kept = [*([] if self.worker is None else [self.worker]), *self.gateways]
        try:
            for one in kept:
                one.look()
            started()
            while not ended.wait(_LOOK):
                if renewed is not None and renewed.is_set() and self._before is None:
                    renewed.clear()  # whoever sends it often only has all replaced once more
                    self._begin_to_renew()
                self._renew_next()
                for one in kept:
                    one.look()
        finally:
            _end(self.gateways)  # what is under way is answered first
            _end([] if self.worker is None else [self.worker])
            if self._listening is not None:
                self._listening.close()
            os.close(self._alive)
            os.close(self._theirs)

    def _begin_to_renew(self) -> None:
        """From now on one gateway after the other is replaced, unless the curator's file is in error."""
        try:
            load_curator(self._config)
        except SfumatoError as error:
            _LOG.error("nothing is replaced: %s", error)  # the file's own error says enough
            return
        self._to_change, self._before = list(self.gateways), [one.process_id for one in self.gateways]

    def _renew_next(self) -> None:
        """Replace the next gateway once the last one is gone, and after all of them the worker."""
        if self._before is None or any(one.is_changing for one in self.gateways):
            return
        if self._to_change:
            self._to_change.pop(0).change()
            return
        stayed = any(one.process_id == before for one, before in zip(self.gateways, self._before, strict=True))
        self._before = None
        if self.worker is not None and not stayed and (not self.gateways or self._of_worker != self._stamp()):
            self._of_worker = self._stamp()
            self.worker.end()
        _LOG.warning("%s", "gateways that could not be replaced stay" if stayed else "all processes were renewed")

    def _stamp(self) -> tuple[object, ...]:
        """What the worker has to be started anew for: its files, and the version of the gateways."""
        files = [self._config, *(dataset.policy for dataset in self.curator.datasets.values())]
        contents = []
        for file in files:
            with suppress(OSError):  # a supervisor of gateways alone cannot read policies
                contents.append(file.read_bytes())
        return (*contents, *{one.version for one in self.gateways})


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


def serve(config: Path, *, started: Callable[[Supervisor], None] = lambda _: None, only: str | None = None) -> None:
    """Serve a curator until this process is told to end; SIGHUP replaces its processes.

    Args:
        config: The curator's file.
        started: Called once all processes were started.
        only: As of `Supervisor`.
    """
    ended, renewed = Event(), Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    signal.signal(signal.SIGHUP, lambda *_: renewed.set())
    supervisor = Supervisor(config, only=only)
    supervisor.run(ended=ended, started=lambda: started(supervisor), renewed=renewed)
