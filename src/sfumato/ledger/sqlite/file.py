"""The SQLite file of a ledger: made whole, opened carefully, checked before use."""

import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

from sfumato.errors import LedgerCorruptError, LedgerError
from sfumato.ledger.core.store import unsealed
from sfumato.ledger.sqlite.failures import damaged
from sfumato.ledger.sqlite.schema import create, is_current, is_damaged, is_old, upgrade
from sfumato.noise.entropy import random_bytes

_SETTINGS: Final = (
    "PRAGMA synchronous = FULL",  # NORMAL is 30 times faster and forgets what it acknowledged when the power fails
    "PRAGMA fullfsync = ON",  # macOS: fsync alone does not reach the disk there
    "PRAGMA trusted_schema = OFF",
    "PRAGMA cell_size_check = ON",
)
_QUICKLY_READ: Final = 1 << 24  # bytes, in which SQLite looks through all pages within 20 ms


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
        with suppress(OSError):  # which must not hide why
            draft.unlink()


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
    if is_old(connection) and is_upgraded:
        _upgrade(connection, path)
    if is_old(connection):
        raise unsealed(str(path))
    if not is_current(connection):
        requirement = "holds no ledger that this version knows; name the ledger's own file"
        if is_damaged(connection):
            raise LedgerCorruptError(0, f"the file {path} {requirement}: tables of a ledger are damaged or gone")
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
        raise damaged(path)


def _upgrade(connection: sqlite3.Connection, path: Path) -> None:
    # From now on the head tells whether the last records are there, so they have to be there now.
    check_pages(connection, path)
    connection.execute("BEGIN IMMEDIATE")
    try:
        if is_old(connection):  # or another process was quicker
            upgrade(connection)
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _write_schema(path: Path) -> None:
    with closing(connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("BEGIN")
        create(connection)
        connection.execute("COMMIT")


def _lenient_text(raw: bytes) -> str:
    """Damaged text is read all the same: its hash will not verify, which names the entry."""
    return raw.decode("utf-8", "replace")
