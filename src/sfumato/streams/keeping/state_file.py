"""A state in one SQLite file: what is live now, and a log that only grows, committed together.

The file is locked for as long as it is open, so that no second process of the host reads it meanwhile; the system lets
go of the lock when the process ends, however it ends. One commit syncs the disk once.
"""

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

from sfumato.errors import StateError
from sfumato.ledger.keeping.files import synced
from sfumato.noise.entropy import random_bytes

T = TypeVar("T")

_FORMAT: Final = 1
_SCHEMA: Final = (
    "CREATE TABLE header (id INTEGER PRIMARY KEY CHECK (id = 0), format INTEGER NOT NULL, text TEXT NOT NULL) STRICT",
    """CREATE TABLE state (
        id INTEGER PRIMARY KEY CHECK (id = 0), number INTEGER NOT NULL, owner TEXT NOT NULL, previous TEXT NOT NULL,
        head TEXT NOT NULL, content BLOB NOT NULL
    ) STRICT""",
    "CREATE TABLE log (number INTEGER PRIMARY KEY, row BLOB NOT NULL) STRICT",
)
_SETTINGS: Final = (
    "PRAGMA locking_mode = EXCLUSIVE",
    "PRAGMA synchronous = FULL",
    "PRAGMA fullfsync = ON",  # macOS: fsync alone does not reach the disk there
    "PRAGMA trusted_schema = OFF",
    "PRAGMA cell_size_check = ON",
)
_REMEDIES: Final = {
    sqlite3.SQLITE_BUSY: "another process has it open; end that process, or wait until it ends",
    sqlite3.SQLITE_LOCKED: "another process has it open; end that process, or wait until it ends",
    sqlite3.SQLITE_NOTADB: "is no state of a stream; name the state's own file",
    sqlite3.SQLITE_CORRUPT: "is damaged; a copy cannot replace it, as the ledger accepts the last state alone",
    sqlite3.SQLITE_FULL: "the disk is full; free disk space and open the stream again",
    sqlite3.SQLITE_READONLY: "cannot be written; give this user the right to write the file and its folder",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened; name a file in an existing local folder that this user may write",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveState:
    """The one state that goes on.

    Attributes:
        number: How many states there were before it.
        owner: What tells the process that has it from all others.
        previous: The fingerprint of the state before it; empty for the first.
        head: A hash of the whole log.
        content: What the stream keeps.
    """

    number: int = 0
    owner: str = ""
    previous: str = ""
    head: str = ""
    content: bytes = b""


class StateFile:
    """A state file that this process alone has open.

    Args:
        path: The file, which exists.

    Raises:
        StateError: It is missing, damaged, of another kind or version, or open elsewhere.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._process = os.getpid()
        if not os.path.lexists(path):
            raise StateError(str(path), "does not exist; name the file of an existing state")
        self._connection = self._failing(lambda: _connected(path))
        try:
            self.header = self._failing(self._locked)
        except BaseException:
            self._connection.close()
            raise

    def read(self) -> LiveState:
        """The live state."""
        query = "SELECT number, owner, previous, head, content FROM state"
        rows = self._failing(partial(_all_of, self._connection, query))
        if len(rows) != 1:
            raise StateError(str(self.path), _REMEDIES[sqlite3.SQLITE_CORRUPT])
        number, owner, previous, head, content = rows[0]
        return LiveState(number=number, owner=owner, previous=previous, head=head, content=content)

    def rows(self) -> Iterator[bytes]:
        """The log, in the order in which it was written."""
        query, after = "SELECT number, row FROM log WHERE number > ? ORDER BY number LIMIT 1", -1
        while page := self._failing(partial(_all_of, self._connection, query, after)):
            ((after, row),) = page
            yield row

    def write(self, state: LiveState, row: bytes) -> None:
        """Put a state in the place of the live one, and a row behind the log, unless it is empty; both or neither.

        Raises:
            StateError: It failed; whether it was kept is known once the file is opened again.
        """
        if os.getpid() != self._process:
            raise StateError(str(self.path), "was opened before a fork; open it again in one process alone")
        self._failing(lambda: self._write(state, row))

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def _locked(self) -> str:
        """Take the lock of the file, and read what it is of."""
        self._connection.execute("BEGIN IMMEDIATE")  # in this mode the lock stays after the transaction
        self._connection.execute("COMMIT")
        tables = {name for (name,) in self._connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
        if tables != {"header", "state", "log"}:
            raise StateError(str(self.path), _REMEDIES[sqlite3.SQLITE_NOTADB])
        rows = self._connection.execute("SELECT format, text FROM header").fetchall()
        if len(rows) != 1 or rows[0][0] != _FORMAT:
            raise StateError(str(self.path), "was written by another version of sfumato; install that version")
        return str(rows[0][1])

    def _write(self, state: LiveState, row: bytes) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            self._update(state, row)
            self._connection.execute("COMMIT")
        finally:
            if self._connection.in_transaction:
                with suppress(sqlite3.Error):
                    self._connection.execute("ROLLBACK")

    def _update(self, state: LiveState, row: bytes) -> None:
        self._connection.execute(
            "UPDATE state SET number = ?, owner = ?, previous = ?, head = ?, content = ?",
            (state.number, state.owner, state.previous, state.head, state.content),
        )
        if row:
            self._connection.execute("INSERT INTO log VALUES (?, ?)", (state.number, row))

    def _failing(self, work: Callable[[], T]) -> T:
        """What SQLite does, with its failures in our words: its own may quote the state."""
        try:
            return work()
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
            requirement = _REMEDIES.get(code, "cannot be read or written; open the stream again")
        raise StateError(str(self.path), requirement)


def make_state_file(path: Path, header: str) -> None:
    """Make a file with an empty state, in one step: whatever bears the name is whole.

    Raises:
        StateError: It exists, or cannot be made.
    """
    draft = path.with_name(f".{path.name}.{random_bytes(8).hex()}")
    try:
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        with closing(_connected(draft)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("BEGIN")
            for statement in _SCHEMA:
                connection.execute(statement)
            connection.execute("INSERT INTO header VALUES (0, ?, ?)", (_FORMAT, header))
            connection.execute("INSERT INTO state VALUES (0, 0, '', '', '', x'')")
            connection.execute("COMMIT")
        os.link(draft, path)
        synced(path.parent)
    except FileExistsError:
        raise StateError(str(path), "was made by another process meanwhile; open it again") from None
    except (OSError, sqlite3.Error):
        raise StateError(str(path), _REMEDIES[sqlite3.SQLITE_CANTOPEN]) from None
    finally:
        for name in (draft, draft.with_name(f"{draft.name}-wal")):
            with suppress(OSError):
                name.unlink()


def _all_of(connection: sqlite3.Connection, query: str, *parameters: object) -> list[tuple[Any, ...]]:
    return connection.execute(query, parameters).fetchall()


def _connected(path: Path) -> sqlite3.Connection:
    """A connection that waits for nobody, and never makes a file."""
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=rw", uri=True, timeout=0, isolation_level=None, check_same_thread=False
    )
    try:
        for setting in _SETTINGS:
            connection.execute(setting)
    except sqlite3.Error:
        connection.close()
        raise
    return connection
