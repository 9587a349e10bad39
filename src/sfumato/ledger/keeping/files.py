"""Files beside a ledger: on the disk before they get their name, and locks that processes wait for.

The system lets go of a lock when its process ends, however it ends.
"""

import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from threading import Event, Lock, Thread

from sfumato.noise.entropy import random_bytes

_LONGEST = 200  # bytes that name a holder


def synced(path: Path) -> None:
    """Wait until whatever was written to a file, or to the list of a folder, is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def draft_of(path: Path, content: bytes, *, is_synced: bool = True) -> Iterator[Path]:
    """A file beside another one, with its content on the disk, which only its owner may read.

    Inside, it is given a name in one step, by `os.link` or `Path.replace`; afterwards that is on the disk too. What is
    not synced is whole unless the power fails.

    Raises:
        OSError: It cannot be written.
    """
    draft = path.with_name(f".{path.name}.{random_bytes(8).hex()}")
    try:
        with os.fdopen(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
            file.write(content)
        if is_synced:
            synced(draft)
        yield draft
        if is_synced:
            synced(path.parent)
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def locked(path: Path, *, patience: float | None = None) -> Iterator[None]:
    """Inside, nobody else is, of all threads and processes that use this file; it is made, and stays.

    It has to stay: who waits for a file that is removed would be alone with it. With patience, the file names who holds
    it, for those who have waited so long.

    Args:
        path: The file.
        patience: How many seconds to wait, such as for a process that was stopped; None for ever.

    Raises:
        TimeoutError: Somebody holds it for longer.
        OSError: It cannot be made, or its disk has no locks.
    """
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    if patience is not None:
        _take(descriptor, patience)
    try:
        if patience is None:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        else:
            _name(descriptor)
        yield
    finally:
        fcntl.flock(descriptor, fcntl.LOCK_UN)  # closing would not let go of it where a fork has a copy
        os.close(descriptor)


def holder_of(path: Path) -> str | None:
    """Who took a lock last, with patience: its process and host; None if that is not known."""
    try:
        return path.read_bytes()[:_LONGEST].decode("utf-8", "replace").strip() or None
    except OSError:
        return None


def _name(descriptor: int) -> None:
    """Say who holds it; who has held it last need not write it again, which every sync of the disk would wait for."""
    name = _holder(os.getpid())
    if os.pread(descriptor, _LONGEST, 0) != name:
        with suppress(OSError):  # on a full disk nobody is named
            os.pwrite(descriptor, name, 0)


@lru_cache(maxsize=1)
def _holder(process: int) -> bytes:
    return f"{process} on {socket.gethostname()}".encode()[:_LONGEST].ljust(_LONGEST)


def _take(descriptor: int, patience: float) -> None:
    """Wait for a lock; the descriptor is closed if it does not come in time."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        # The system wakes who waits, in order, as asking again and again would not; and only a thread can be left.
        waiting = _Waiting(descriptor)
        Thread(target=waiting.wait, name="sfumato-lock", daemon=True).start()
        if not waiting.comes_within(patience):
            raise TimeoutError from None
    except BaseException:
        os.close(descriptor)
        raise


class _Waiting:
    """A thread that waits for a lock, and lets go of it at once if nobody wants it any more."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._came, self._lock, self._is_left = Event(), Lock(), False

    def wait(self) -> None:
        fcntl.flock(self._descriptor, fcntl.LOCK_EX)
        with self._lock:
            if self._is_left:
                os.close(self._descriptor)
            self._came.set()

    def comes_within(self, patience: float) -> bool:
        self._came.wait(patience)
        with self._lock:
            self._is_left = not self._came.is_set()
            return not self._is_left
