"""A ledger in one SQLite file on a local disk, shared by threads and processes.

A write transaction is an IMMEDIATE one in WAL mode with synchronous=FULL: at its end all of it is on the disk.
"""

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import Final, TypeVar
from weakref import finalize

from sfumato.errors import LedgerCorruptError, LedgerError, LedgerMissingError, LedgerTimeoutError
from sfumato.ledger.core.store import unsealed
from sfumato.ledger.keeping.files import holder_of, locked
from sfumato.ledger.stores.failures import PATIENCE, damaged, patiently
from sfumato.ledger.stores.schema import SQLiteSchema
from sfumato.ledger.stores.tables import LedgerTables, Rows
from sfumato.ledger.stores.transactions import Gate, OpenTransaction, TableReader
from sfumato.noise.entropy import random_bytes

T = TypeVar("T")

_SETTINGS: Final = (
    "PRAGMA synchronous = FULL",  # NORMAL is 30 times faster and forgets what it acknowledged when the power fails
    "PRAGMA fullfsync = ON",  # macOS: fsync alone does not reach the disk there
    "PRAGMA trusted_schema = OFF",
    "PRAGMA cell_size_check = ON",
)
_QUICKLY_READ: Final = 1 << 24  # bytes, in which SQLite looks through all pages within 20 ms


class SQLiteStore(TableReader):
    """Records, index entries and a snapshot in tables that triggers keep append-only.

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
        self._gate, self._turnstile = Gate(str(self._path)), Turnstile(self._path)
        if not os.path.lexists(self._path):  # which is false, and no error, in a folder that this user may not enter
            if must_exist:
                raise LedgerMissingError(str(self._path), "does not exist; name the file of an existing ledger")
            patiently(lambda: make(self._path), self._path)
        # One connection sees what a transaction has not yet committed, the other one never does.
        self._writer, self._reader = self._connected(), self._connected()
        self._reading = Lock()
        try:
            self._file = self._identity()
            patiently(lambda: prepare(self._writer, self._path, is_upgraded=is_upgraded), self._path)
            self._tables(self._reader).end()
        except LedgerError:
            self.close()
            raise

    @contextmanager
    def transaction(self) -> Iterator[OpenTransaction]:
        """Wait for the right to append, behind all who wait already; at the end of the block it is on the disk."""
        with self._gate.entered():
            self._require_same_file()
            with self._turnstile.passed(), self._committed() as transaction, transaction.ending():
                yield transaction

    def check(self) -> None:
        """Look through every page, and count."""
        self._asked(lambda _: patiently(lambda: check_pages(self._reader, self._path), self._path))
        self._asked(LedgerTables.check)

    def close(self) -> None:
        """Close the file, once a transaction of another thread is over."""
        with self._gate.entered(), self._reading:
            self._reader.close()
            self._writer.close()

    def _connected(self) -> sqlite3.Connection:
        connection = patiently(lambda: connect(self._path), self._path)
        finalize(self, connection.close)  # a ledger that is merely forgotten closes its file too
        return connection

    def _asked(self, question: Callable[[LedgerTables], T]) -> T:
        with self._reading:
            self._require_same_file()
            return question(self._tables(self._reader))

    def _tables(self, connection: sqlite3.Connection) -> LedgerTables:
        return LedgerTables(SQLiteDialect(connection, self._path))

    @contextmanager
    def _committed(self) -> Iterator[OpenTransaction]:
        """A transaction of SQLite, which is committed at the end of the block."""
        self._require_same_file()  # which somebody may have replaced while this process waited
        try:  # from here on: an interruption that comes with the transaction must not leave it open
            patiently(lambda: self._writer.execute("BEGIN IMMEDIATE"), self._path)
            yield OpenTransaction(self._tables(self._writer), str(self._path))
            patiently(lambda: self._writer.execute("COMMIT"), self._path)
        finally:
            with suppress(sqlite3.Error):  # it must not hide why; what cannot be rolled back refuses the next one
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")

    def _identity(self) -> tuple[int, int]:
        try:
            status = self._path.stat()
        except OSError as error:
            raise LedgerError(str(self._path), "was moved while in use; move it back and open it again") from error
        return status.st_dev, status.st_ino

    def _require_same_file(self) -> None:
        """Refuse to use a file that nobody else will find under this name."""
        if self._identity() != self._file:
            raise LedgerError(str(self._path), "was replaced while in use; open the ledger again")


class SQLiteDialect:
    """How a ledger's tables are written in SQLite.

    Args:
        connection: From `connect`.
        path: The file.
    """

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection, self._path = connection, path
        self.place = str(path)

    def rows(self, query: str, *parameters: object) -> Rows:
        """The rows that a query returns."""
        text = query.format(*"??", schema="main")
        return patiently(lambda: self._connection.execute(text, parameters).fetchall(), self._path)

    def add_records(self, rows: Rows, seal: str | None) -> None:
        """Insert records, and a seal beside the head."""
        self._insert("INSERT INTO record VALUES (?, ?, ?, ?)", rows)
        if seal is not None:
            self._insert("UPDATE head SET seal = ?", [(seal,)])

    def add_index_entries(self, rows: Rows) -> None:
        """Insert index entries."""
        self._insert("INSERT INTO pointer VALUES (?, ?, ?)", rows)

    def forget_index_entries(self) -> None:
        """Make the table of index entries anew."""
        patiently(SQLiteSchema(self._connection).forget_index_entries, self._path)

    def replace_snapshot(self, text: str) -> None:
        """Put a snapshot in the place of the last one."""
        self._insert("INSERT OR REPLACE INTO snapshot VALUES (0, ?)", [(text,)])

    def _insert(self, statement: str, rows: Rows) -> None:
        patiently(lambda: self._connection.executemany(statement, rows), self._path)


class Turnstile:
    """The files by which the processes that share a ledger take turns: ``<file>.queue`` and ``<file>.turn``.

    SQLite's own waiting starves the second process: who has just let go takes the lock again before the other looks.
    Here the system wakes who waits, and one process at a time waits in the queue, so the one that comes back finds it
    occupied. The files only make it fair; that two never write is seen to by SQLite.

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


def make(path: Path) -> None:
    """Make an empty ledger under another name, then give it its own name in one step.

    So whatever bears the name is a whole ledger or was damaged, and an empty file is never taken for a fresh budget.

    Raises:
        LedgerError: There is no such directory, or no right to write there.
    """
    draft = path.with_name(f".{path.name}.{random_bytes(8).hex()}")
    try:
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        with closing(connect(draft)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("BEGIN")
            SQLiteSchema(connection).create()
            connection.execute("COMMIT")
        with suppress(FileExistsError):  # another process made it meanwhile: theirs is as good
            os.link(draft, path)
    except OSError as error:
        requirement = "cannot be made; name a file in an existing local directory where this user may write"
        raise LedgerError(str(path), requirement) from error
    finally:
        with suppress(OSError):  # which must not hide why
            draft.unlink()


def connect(path: Path) -> sqlite3.Connection:
    """A connection in which every commit reaches the disk, and which waits for nobody."""
    # Mode rw never makes a file; timeout 0, because SQLite's own waiting starves the second process.
    connection = sqlite3.connect(
        f"{path.as_uri()}?mode=rw", uri=True, timeout=0, isolation_level=None, check_same_thread=False
    )
    try:
        # Damaged text is read all the same: its hash will not verify, which names the entry.
        connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
        for setting in _SETTINGS:
            connection.execute(setting)
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def prepare(connection: sqlite3.Connection, path: Path, *, is_upgraded: bool) -> None:
    """Refuse a file that holds something else, cannot be shared, or is damaged.

    Args:
        connection: To the file.
        path: Its name, for errors.
        is_upgraded: Whether a file of a version that sealed nothing gets the tables of today; else it is refused.

    Raises:
        sqlite3.Error: It cannot be read.
        LedgerError: It is no ledger, or its disk cannot share it.
        LedgerCorruptError: Its pages or its tables are damaged, or it is of a version that sealed nothing.
    """
    schema = SQLiteSchema(connection)
    if schema.is_old() and is_upgraded:
        _upgrade(connection, schema, path)
    if schema.is_old():
        raise unsealed(str(path))
    if not schema.is_current():
        requirement = "holds no ledger that this version knows; name the ledger's own file"
        if schema.is_damaged():
            raise LedgerCorruptError(0, f"the file {path} {requirement}: tables of a ledger are damaged or missing")
        raise LedgerError(str(path), requirement)
    if connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
        raise LedgerError(str(path), "cannot be shared safely here; keep it on a local disk")
    ((size,),) = connection.execute("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size").fetchall()
    if size < _QUICKLY_READ:
        check_pages(connection, path)


def check_pages(connection: sqlite3.Connection, path: Path) -> None:
    """Look through the whole file.

    Raises:
        sqlite3.Error: It cannot be read.
        LedgerCorruptError: A page is damaged.
    """
    if connection.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
        raise damaged(str(path))


def _upgrade(connection: sqlite3.Connection, schema: SQLiteSchema, path: Path) -> None:
    # From now on the head tells whether the last records are there, so they have to be there now.
    check_pages(connection, path)
    connection.execute("BEGIN IMMEDIATE")
    try:
        if schema.is_old():  # or another process was quicker
            schema.upgrade()
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
