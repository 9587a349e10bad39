"""`sfumato serve`: it starts the worker and the gateways of a curator, and starts again what ends."""

import logging
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Final

from sfumato.errors import ParameterError
from sfumato.server.config import Curator, load_curator

_LOG: Final = logging.getLogger("sfumato.serve")
_BACKLOG: Final = 512
_LOOK: Final = 0.1
_FIRST_PAUSE: Final = 0.1
_LONGEST_PAUSE: Final = 10.0
_STEADY: Final = 30.0
"""A process that lived so long is started again at once."""

_SECONDS_TO_END: Final = 35.0


@dataclass(slots=True)
class Kept:
    """A process that is started again whenever it ends.

    Attributes:
        name: What logs call it.
        command: How it is started.
        descriptors: The open files that it inherits.
        process: The process itself.
    """

    name: str
    command: Sequence[str]
    descriptors: tuple[int, ...] = ()
    process: subprocess.Popen[bytes] = field(init=False)
    _since: float = field(init=False, default=0.0)
    _pause: float = field(init=False, default=_FIRST_PAUSE)
    _again_at: float | None = field(init=False, default=None)

    def start(self) -> None:
        """Start it."""
        self.process = subprocess.Popen(self.command, pass_fds=self.descriptors)  # noqa: S603 # this package
        self._since, self._again_at = time.monotonic(), None

    def look(self) -> None:
        """Start it again if it ended, after a pause that grows as long as it keeps ending."""
        if self.process.poll() is None:
            return
        now = time.monotonic()
        if self._again_at is None:
            _LOG.warning("%s ended with %d; it is started again", self.name, self.process.returncode)
            self._pause = _FIRST_PAUSE if now - self._since > _STEADY else min(2 * self._pause, _LONGEST_PAUSE)
            self._again_at = now + self._pause
        if now >= self._again_at:
            self.start()


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
        self._listening = _listening(self.curator)
        file, descriptor = str(config.absolute()), self._listening.fileno()
        gateway = (sys.executable, "-m", "sfumato.server.gateway.app", file, str(descriptor))
        self.worker = Kept("the worker", (sys.executable, "-m", "sfumato.server.work.worker", file))
        self.gateways = [
            Kept(f"gateway {number}", gateway, (descriptor,)) for number in range(1, self.curator.gateways + 1)
        ]

    @property
    def url(self) -> str:
        """Where it is reached."""
        return self.curator.url.replace(f":{self.curator.port}", f":{self._listening.getsockname()[1]}")

    def run(self, *, ended: Event, started: Callable[[], None] = lambda: None) -> None:
        """Start all processes, and keep them until it is over.

        Args:
            ended: Set when it is over.
            started: Called once they were started.
        """
        kept = [self.worker, *self.gateways]
        try:
            for one in kept:
                one.start()
            started()
            while not ended.wait(_LOOK):
                for one in kept:
                    one.look()
        finally:
            self._end([*self.gateways, self.worker])  # what is under way is answered first
            self._listening.close()

    @staticmethod
    def _end(kept: Sequence[Kept]) -> None:
        for one in kept:
            process = getattr(one, "process", None)
            if process is None or process.poll() is not None:
                continue
            process.terminate()
            try:
                process.wait(_SECONDS_TO_END)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


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
