"""Turns among the processes of one host: whoever has just had one does not get ahead of one who waits.

SQLite's own waiting starves the second process: who has just let go takes the lock again before the other looks. Here
the system wakes who waits. The two files make a turnstile: one process at a time waits in it for the turn, so the one
that comes back finds it occupied. The files only make it fair; that two never write is seen to by SQLite.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from sfumato.errors import LedgerError, LedgerTimeoutError
from sfumato.ledger.keeping.files import holder_of, locked

PATIENCE = 30.0
"""Seconds that a process waits for its turn."""


class Turnstile:
    """The files by which the processes that share a ledger take turns: ``<file>.queue`` and ``<file>.turn``.

    Args:
        path: The ledger's own file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._queue, self._turn = path.with_name(f"{path.name}.queue"), path.with_name(f"{path.name}.turn")

    @contextmanager
    def passed(self) -> Iterator[None]:
        """A block that one process at a time is in; the system lets the next one in if this one is killed.

        Raises:
            LedgerTimeoutError: Somebody holds it for longer than `PATIENCE`; it is named.
            LedgerError: The files cannot be made or locked.
        """
        with ExitStack() as turn:
            try:
                with locked(self._queue, patience=PATIENCE):
                    turn.enter_context(locked(self._turn, patience=PATIENCE))
            except TimeoutError as error:
                raise LedgerTimeoutError(str(self._path), PATIENCE, holder_of(self._turn)) from error
            except OSError as error:
                requirement = f"cannot be shared; give this user the right to lock {self._queue} and {self._turn}"
                raise LedgerError(str(self._path), requirement) from error
            yield
