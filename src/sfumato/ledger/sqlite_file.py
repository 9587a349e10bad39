"""The SQLite file of a ledger: made whole, opened carefully, checked before use, its failures put in our words."""

import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

from sfumato.errors import LedgerCorruptError, LedgerError
from sfumato.noise.entropy import random_bytes

# BEFORE INSERT also stops INSERT OR REPLACE, which deletes without asking the triggers on DELETE.
_SCHEMA: Final = """
CREATE TABLE record (
  position INTEGER PRIMARY KEY,
  previous TEXT NOT NULL,
  text TEXT NOT NULL,
  hash TEXT NOT NULL
);
CREATE TRIGGER record_is_next BEFORE INSERT ON record
WHEN NEW.position IS NOT (SELECT coalesce(max(position) + 1, 0) FROM record)
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER record_is_not_updated BEFORE UPDATE ON record
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER record_is_not_deleted BEFORE DELETE ON record
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
"""
_SETTINGS: Final = (
    "PRAGMA synchronous = FULL",  # NORMAL is 30 times faster and forgets what it acknowledged when the power fails
    "PRAGMA fullfsync = ON",  # macOS: fsync alone does not reach the disk there
    "PRAGMA trusted_schema = OFF",
    "PRAGMA cell_size_check = ON",
)
_REMEDIES: Final = {
    sqlite3.SQLITE_NOTADB: "is not an SQLite file; name the ledger's own file, or restore a good copy",
    sqlite3.SQLITE_FULL: "the disk is full; make room and ask again. What was asked is refused",
    sqlite3.SQLITE_READONLY: "cannot be written; give this user the right to write the file and its directory",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened; check that it is a file, with the right to read and write it",
    sqlite3.SQLITE_IOERR: "the disk failed; what was asked is refused and may count as spent",
}


def make(path: Path) -> None:
    """Make an empty ledger under another name, then give it its own name in one step.

    So whatever bears the name is a whole ledger or was damaged, and an empty file is never taken for a fresh budget.

    Raises:
        LedgerError: There is no such directory, or no right to write there.
    """
    draft = path.with_name(f".{path.name}.{random_bytes(8).hex()}")
    try:
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        _write_schema(draft)
        with suppress(FileExistsError):  # another process made it meanwhile: theirs is as good
            os.link(draft, path)
    except OSError as error:
        requirement = "cannot be made; name a file in an existing local directory where this user may write"
        raise LedgerError(str(path), requirement) from error
    finally:
        draft.unlink(missing_ok=True)


def connect(path: Path) -> sqlite3.Connection:
    """A connection in which every commit reaches the disk, and which waits for nobody."""
    # Mode rw never makes a file; timeout 0, because SQLite's own waiting starves the second process.
    connection = sqlite3.connect(
        f"{path.as_uri()}?mode=rw", uri=True, timeout=0, isolation_level=None, check_same_thread=False
    )
    try:
        connection.text_factory = _lenient_text
        for setting in _SETTINGS:
            connection.execute(setting)
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def check(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a file that holds something else, cannot be shared, or is damaged.

    Raises:
        LedgerError: It is no ledger, or its disk cannot share it.
        LedgerCorruptError: Its pages are damaged.
    """
    if _schema(connection) != _schema_of_a_new_ledger():
        raise LedgerError(str(path), "holds no ledger that this version knows; name the ledger's own file")
    if connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
        raise LedgerError(str(path), "cannot be shared safely here; keep it on a local disk")
    # A damaged page may hide the last records, which no hash would miss.
    if connection.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
        raise _damaged(path)


def is_busy(error: sqlite3.Error) -> bool:
    """Whether another process holds the file just now."""
    return _code(error) in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


def failure(error: sqlite3.Error, path: Path) -> LedgerError:
    """SQLite's failure in our words, with the remedy."""
    code = _code(error)
    if code == sqlite3.SQLITE_CORRUPT:
        return _damaged(path)
    return LedgerError(str(path), _REMEDIES.get(code, "cannot be used: it is closed, or SQLite refused"))


def _write_schema(path: Path) -> None:
    with closing(connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(_SCHEMA)


def _schema(connection: sqlite3.Connection) -> list[tuple[str, str, str]]:
    return connection.execute("SELECT type, name, sql FROM sqlite_master ORDER BY type, name").fetchall()


def _schema_of_a_new_ledger() -> list[tuple[str, str, str]]:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(_SCHEMA)
        return _schema(connection)


def _damaged(path: Path) -> LedgerCorruptError:
    return LedgerCorruptError(0, f"the file {path} is damaged, at this entry or after")


def _lenient_text(raw: bytes) -> str:
    """Damaged text is read all the same: its hash will not verify, which names the entry."""
    return raw.decode("utf-8", "replace")


def _code(error: sqlite3.Error) -> int:
    """The primary result code; an error that Python itself raised has none."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
