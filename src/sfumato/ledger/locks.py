"""A file by which processes wait for each other; the system lets go of it when a process ends, however it ends."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Inside, nobody else is, of all threads and processes that use this file; it is made, and stays.

    It has to stay: who waits for a file that is removed would be alone with it.

    Raises:
        OSError: It cannot be made, or its disk has no locks.
    """
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        fcntl.flock(descriptor, fcntl.LOCK_UN)  # closing would not let go of it where a fork has a copy
        os.close(descriptor)
