"""A ledger in one SQLite file on a local disk, shared by threads and processes.

A turn is one IMMEDIATE transaction in WAL mode with synchronous=FULL: all of it is on the disk when the turn is over.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from weakref import finalize

from sfumato.errors import LedgerError, LedgerMissingError
from sfumato.ledger.core.store import End, Pointer, Record
from sfumato.ledger.sqlite.failures import patiently
from sfumato.ledger.sqlite.file import check_pages, connect, make, prepare
from sfumato.ledger.sqlite.tables import SQLiteTables
from sfumato.ledger.sqlite.turns import Turnstile
from sfumato.ledger.writing.turns import OneAtATime, OpenTurn


class SQLiteStore:
    """Records, pointers and a snapshot in tables that triggers keep append-only.

    Args:
        path: The file; made if missing, with mode 0600.
        must_exist: Whether a missing file is an error.
        is_upgraded: Whether a file of a version that sealed nothing is opened, for who migrates it; else it is refused.

    Raises:
        LedgerError: No directory, no rights, no ledger in that file.
        LedgerCorruptError: The file is damaged.
    """

    def __init__(self, path: str | os.PathLike[str], *, must_exist: bool = False, is_upgraded: bool = False) -> None:
        self._path = Path(path).resolve()
        self._turns, self._turnstile = OneAtATime(str(self._path)), Turnstile(self._path)
        if not os.path.lexists(self._path):  # which is false, and no error, in a folder that this user may not enter
            if must_exist:
                raise LedgerMissingError(str(self._path), "does not exist; name the file of an existing ledger")
            patiently(lambda: make(self._path), self._path)
        # One connection sees what a turn has not yet committed, the other one never does.
        self._writer, self._reader = self._connected(), self._connected()
        self._reading = Lock()
        try:
            self._file = self._identity()
            patiently(lambda: prepare(self._writer, self._path, is_upgraded=is_upgraded), self._path)
            SQLiteTables(self._reader, self._path).end()
        except LedgerError:
            self.close()
            raise

    def read(self, start: int, *, limit: int | None = None) -> tuple[Record, ...]:
        """The records from an index on."""
        with self._committed() as tables:
            return tables.read(start, limit=limit)

    def find(self, name: str) -> Pointer | None:
        """The pointer of a name."""
        with self._committed() as tables:
            return tables.find(name)

    def pointers(self, *, after: str = "", limit: int) -> tuple[Pointer, ...]:
        """The pointers after a name."""
        with self._committed() as tables:
            return tables.pointers(after=after, limit=limit)

    def snapshot(self) -> str | None:
        """The last snapshot."""
        with self._committed() as tables:
            return tables.snapshot()

    def end(self) -> End:
        """How far it is."""
        with self._committed() as tables:
            return tables.end()

    @contextmanager
    def turn(self) -> Iterator[OpenTurn]:
        """Wait for the right to append, behind all who wait already; at the end of the block it is on the disk."""
        with self._turns.taken():
            self._require_same_file()
            with self._turnstile.passed(), self._transaction():
                tables = SQLiteTables(self._writer, self._path)
                with OpenTurn(tables, tables.end(), str(self._path)).ending() as turn:
                    yield turn

    def check(self) -> None:
        """Look through every page, and count."""
        with self._committed() as tables:
            patiently(lambda: check_pages(self._reader, self._path), self._path)
            tables.check()

    def close(self) -> None:
        """Close the file, once a turn that another thread has is over."""
        with self._turns.taken(), self._reading:
            self._reader.close()
            self._writer.close()

    def _connected(self) -> sqlite3.Connection:
        connection = patiently(lambda: connect(self._path), self._path)
        finalize(self, connection.close)  # a ledger that is merely forgotten closes its file too
        return connection

    @contextmanager
    def _committed(self) -> Iterator[SQLiteTables]:
        with self._reading:
            self._require_same_file()
            yield SQLiteTables(self._reader, self._path)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._require_same_file()  # which somebody may have replaced while this process waited
        try:  # from here on: an interruption that comes with the transaction must not leave it open
            patiently(lambda: self._writer.execute("BEGIN IMMEDIATE"), self._path)
            yield
            patiently(lambda: self._writer.execute("COMMIT"), self._path)
        finally:
            with suppress(sqlite3.Error):  # it must not hide why; what cannot be rolled back refuses the next turn
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")

    def _identity(self) -> tuple[int, int]:
        try:
            status = self._path.stat()
        except OSError as error:
            raise LedgerError(str(self._path), "was moved away while in use; put it back and open it again") from error
        return status.st_dev, status.st_ino

    def _require_same_file(self) -> None:
        """Refuse to use a file that nobody else will find under this name."""
        if self._identity() != self._file:
            raise LedgerError(str(self._path), "was replaced while in use; open the ledger again")
