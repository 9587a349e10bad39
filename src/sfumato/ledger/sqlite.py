"""A ledger in one SQLite file on a local disk, shared by threads and processes.

Every append is one IMMEDIATE transaction in WAL mode with synchronous=FULL: it is on the disk when it returns.
"""

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from time import sleep
from typing import Final, TypeVar
from weakref import finalize

from sfumato.errors import LedgerConflictError, LedgerCorruptError, LedgerError
from sfumato.ledger.journal import GENESIS, Record
from sfumato.ledger.sqlite_file import check, connect, failure, is_busy, make
from sfumato.noise.entropy import random_bytes

T = TypeVar("T")

_ATTEMPTS: Final = 10_000  # about 20 s


class SQLiteStore:
    """Records in one table that triggers keep append-only.

    Args:
        path: The file; made if missing, with mode 0600.
        must_exist: Whether a missing file is an error.

    Raises:
        LedgerError: No directory, no rights, no ledger in that file.
        LedgerCorruptError: The file is damaged.
    """

    def __init__(self, path: str | os.PathLike[str], *, must_exist: bool = False) -> None:
        self._path = Path(path).resolve()
        self._lock = Lock()
        if not self._path.exists():
            if must_exist:
                raise LedgerError(str(self._path), "does not exist; name the file of an existing ledger")
            self._patiently(lambda: make(self._path))
        self._connection = self._patiently(lambda: connect(self._path))
        finalize(self, self._connection.close)  # a ledger that is merely forgotten closes its file too
        try:
            self._file = self._identity()
            self._patiently(lambda: check(self._connection, self._path))
        except LedgerError:
            self._connection.close()
            raise

    def read(self, start: int) -> tuple[Record, ...]:
        """The records from an index on."""
        query = "SELECT position, previous, text, hash FROM record WHERE position >= ? ORDER BY position"
        with self._lock:
            self._require_same_file()
            rows = self._patiently(lambda: self._connection.execute(query, (start,)).fetchall())
        return tuple(_record(row) for row in rows)

    def append(self, record: Record, *, expected_head: str) -> None:
        """Keep a record if nobody came first."""
        with self._lock:
            self._require_same_file()
            self._patiently(lambda: self._append(record, expected_head))

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def _append(self, record: Record, expected_head: str) -> None:
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            head = self._head()
            if head != expected_head:
                raise LedgerConflictError(expected_head, head)
            row = (record.index, record.previous, record.text, record.hash)
            self._connection.execute("INSERT INTO record VALUES (?, ?, ?, ?)", row)
            self._connection.execute("COMMIT")
        finally:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")

    def _head(self) -> str:
        row = self._connection.execute("SELECT hash FROM record ORDER BY position DESC LIMIT 1").fetchone()
        return GENESIS if row is None else str(row[0])

    def _identity(self) -> tuple[int, int]:
        try:
            status = self._path.stat()
        except OSError as error:
            raise LedgerError(str(self._path), "was moved away while in use; put it back and open it again") from error
        return status.st_dev, status.st_ino

    def _require_same_file(self) -> None:
        """Refuse to write to a file that nobody else will find under this name."""
        if self._identity() != self._file:
            raise LedgerError(str(self._path), "was replaced while in use; open the ledger again")

    def _patiently(self, work: Callable[[], T]) -> T:
        """Do it, again and again while another process writes; SQLite's failures become errors of this package."""
        for _ in range(_ATTEMPTS):
            try:
                return work()
            except sqlite3.Error as error:
                if not is_busy(error):
                    raise failure(error, self._path) from error
            sleep(_pause())
        raise LedgerError(str(self._path), "another process holds it; end that process and ask again")


def _record(row: tuple[object, ...]) -> Record:
    match row:
        case (int(index), str(previous), str(text), str(digest)):
            return Record(index=index, previous=previous, text=text, hash=digest)
        case (int(index), *_):
            raise LedgerCorruptError(index)
        case _:
            raise LedgerCorruptError(0)


def _pause() -> float:
    """A random 0.5 to 3 ms: equal pauses let one process meet the other's transaction again and again."""
    return 0.0005 + 0.0025 * int.from_bytes(random_bytes(2), "big") / 0xFFFF
