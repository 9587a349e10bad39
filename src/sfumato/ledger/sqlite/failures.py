"""SQLite's failures: those that pass are waited for, the others are put in our words with the remedy."""

import sqlite3
from collections.abc import Callable
from pathlib import Path
from time import sleep
from typing import Final, TypeVar

from sfumato.errors import LedgerCorruptError, LedgerError, LedgerTimeoutError
from sfumato.ledger.keeping.files import holder_of
from sfumato.noise.entropy import random_bytes

T = TypeVar("T")

_ATTEMPTS: Final = 10_000
_SECONDS: Final = 20  # which so many attempts take, about
_BUSY: Final = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_REMEDIES: Final = {
    sqlite3.SQLITE_NOTADB: "is not an SQLite file; name the ledger's own file, or restore a good copy",
    sqlite3.SQLITE_FULL: "the disk is full; make room and ask again. What was asked is refused",
    sqlite3.SQLITE_READONLY: "cannot be written; give this user the right to write the file and its directory",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened; check that it is a file, with the right to read and write it",
    sqlite3.SQLITE_CONSTRAINT: "a pointer has a name that is taken",  # records are known to fit when they come here
    sqlite3.SQLITE_IOERR: "the disk failed; what was asked is refused and may count as spent",
}


def patiently(work: Callable[[], T], path: Path) -> T:
    """Do it, again and again while another program holds the file.

    Raises:
        LedgerError: It failed, or the file stays busy.
        LedgerCorruptError: The file is damaged.
    """
    for _ in range(_ATTEMPTS):
        try:
            return work()
        except sqlite3.Error as error:
            if _code(error) not in _BUSY:
                raise _failure(error, path) from error
        sleep(_pause())
    raise LedgerTimeoutError(str(path), _SECONDS, holder_of(path.with_name(f"{path.name}.turn")))


def damaged(path: Path) -> LedgerCorruptError:
    """The error of a file whose pages or tables contradict each other."""
    return LedgerCorruptError(0, f"the file {path} is damaged, at this entry or after")


def _failure(error: sqlite3.Error, path: Path) -> LedgerError:
    code = _code(error)
    if code == sqlite3.SQLITE_CORRUPT:
        return damaged(path)
    return LedgerError(str(path), _REMEDIES.get(code, "cannot be used: it is closed, or SQLite refused"))


def _code(error: sqlite3.Error) -> int:
    """The primary result code; an error that Python itself raised has none."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF


def _pause() -> float:
    """A random 0.5 to 3 ms: equal pauses let one process meet the other's transaction again and again."""
    return 0.0005 + 0.0025 * int.from_bytes(random_bytes(2), "big") / 0xFFFF
