"""When a ledger notes how far it is, and where else that is sent.

A sink is out of reach of whoever can put back ledger, checkpoint and key together.
"""

import logging
import math
import os
import shlex
import subprocess
import time
from pkgutil import resolve_name
from typing import Final

from sfumato.errors import LedgerError
from sfumato.ledger.keeping.checkpoint_files import CheckpointFile
from sfumato.ledger.keeping.checkpoints import Checkpoint, encode_checkpoint

SINK: Final = "SFUMATO_LEDGER_SINK"
"""Names a command that reads a checkpoint on its standard input, or a URL that fsspec writes to."""
_SECONDS: Final = 30  # seconds that a command may take
_MINUTE: Final = 60
_LOG: Final = logging.getLogger("sfumato.ledger")


class CheckpointNotes:
    """Notes how far a ledger is after every batch, on the disk at most a second later, and when the process ends.

    Args:
        file: Where.
        sink: Where else, once a minute and at the end; see `sinks`. What fails there is logged, and stops nobody.
    """

    def __init__(self, file: CheckpointFile, *, sink: str = "") -> None:
        self.file, self._sink = file, sink
        self._process = os.getpid()
        self._last: Checkpoint | None = None
        self._synced_at = self._sent_at = -math.inf
        self.is_synced = True

    def is_due(self) -> bool:
        """Whether the next note is to be on the disk at once."""
        return time.monotonic() - self._synced_at >= 1

    def write(self, checkpoint: Checkpoint, *, is_synced: bool) -> None:
        """Note it; if it need not be on the disk at once, it is by the next one that does, or at the end."""
        self.file.write(checkpoint, is_synced=is_synced)
        self._last, self.is_synced = checkpoint, is_synced
        if is_synced:
            self._synced_at = time.monotonic()
            if self._synced_at - self._sent_at >= _MINUTE:
                self._send()

    def finish(self) -> None:
        """Sync and send the last one; not in a fork of the process that wrote it."""
        if self._last is None or os.getpid() != self._process:
            return
        if not self.is_synced:
            self.file.sync()
            self.is_synced = True
        self._send()
        self._last = None

    def _send(self) -> None:
        self._sent_at = time.monotonic()
        if self._sink and self._last is not None:
            try:
                send(self._sink, f"{encode_checkpoint(self._last)}\n")
            except LedgerError as error:
                _LOG.warning("%s", error)


def send(sink: str, text: str) -> None:
    """Hand a checkpoint over.

    Args:
        sink: A URL such as ``s3://bucket/hospital.checkpoint``, written by fsspec; else a command, run without a shell.
        text: The checkpoint, one line.

    Raises:
        LedgerError: The command failed, or the URL cannot be written.

    Example:
        >>> send("cat", "a checkpoint")
    """
    try:
        if "://" in sink.partition(" ")[0]:
            with resolve_name("fsspec:open")(sink, "w") as file:
                file.write(text)
        else:
            subprocess.run(  # noqa: S603 # the owner's own command
                shlex.split(sink), input=text, text=True, check=True, timeout=_SECONDS, capture_output=True
            )
    except ImportError:
        raise LedgerError(sink.partition("://")[0], "this sink needs the package fsspec; install it") from None
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        requirement = "the checkpoint was not accepted there; run the command, or write to the URL, by hand to see why"
        raise LedgerError(sink.partition(" ")[0].partition("://")[0], requirement) from error
