"""A database's failures in our words, with the remedy; those that pass are waited for.

A driver's own words may quote an address, and with it a password: none of them is shown.
"""

import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import sleep
from typing import Any, Final, TypeVar

from sfumato.errors import LedgerCorruptError, LedgerError, LedgerTimeoutError
from sfumato.ledger.keeping.files import holder_of
from sfumato.noise.entropy import random_bytes

T = TypeVar("T")

PATIENCE: Final = 30
"""Seconds that a process waits for its turn."""
_ATTEMPTS: Final = 10_000
_SECONDS: Final = 20  # which so many attempts take, about
_LOST: Final = ("08", "57P")  # the first characters of a connection's ends, which a server that shuts down announces


@dataclass(frozen=True, slots=True, kw_only=True)
class Driver:
    """How a driver tells what failed, and what we say of it.

    Attributes:
        code_of: From an error of the driver, its code.
        busy: The codes of what passes.
        damage: The codes of files that are damaged.
        remedies: By its code, what we say of a failure.
        otherwise: From its code, what we say of any other one.
    """

    code_of: Callable[[Any], int | str]
    busy: frozenset[int | str]
    damage: frozenset[int | str]
    remedies: Mapping[int | str, str]
    otherwise: Callable[[int | str], str]

    def failure(self, code: int | str, place: str) -> LedgerError:
        """The error of a failure; of one that passes, if it was waited for in vain.

        Args:
            code: From the driver.
            place: The ledger, as errors name it.
        """
        if code in self.damage:
            return damaged(place)
        if code in self.busy:
            return LedgerTimeoutError(place, PATIENCE)
        return LedgerError(place, self.remedies.get(code) or self.otherwise(code))


def damaged(place: str) -> LedgerCorruptError:
    """The error of tables or pages that contradict each other."""
    return LedgerCorruptError(0, f"the ledger {place} is damaged, at this entry or after")


def patiently(work: Callable[[], T], path: Path) -> T:
    """Do what calls SQLite, again and again while another program holds the file.

    Raises:
        LedgerError: It failed, or the file stays busy.
        LedgerCorruptError: The file is damaged.
    """
    for _ in range(_ATTEMPTS):
        try:
            return work()
        except sqlite3.Error as error:
            code = SQLITE.code_of(error)
            if code not in SQLITE.busy:
                raise SQLITE.failure(code, str(path)) from error
        # A random 0.5 to 3 ms: equal pauses let one process meet the other's transaction again and again.
        sleep(0.0005 + 0.0025 * int.from_bytes(random_bytes(2), "big") / 0xFFFF)
    raise LedgerTimeoutError(str(path), _SECONDS, holder_of(path.with_name(f"{path.name}.turn")))


def _refused(state: int | str) -> str:
    if state and not str(state).startswith(_LOST):
        return f"cannot be used: PostgreSQL refused with SQLSTATE {state}; the query is refused"
    return "lost its connection, or cannot be reached; check host, database, user and password. The query is refused"


SQLITE: Final = Driver(
    # the primary result code; an error that Python itself raised has none
    code_of=lambda error: getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF,
    busy=frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}),
    damage=frozenset({sqlite3.SQLITE_CORRUPT}),
    remedies={
        sqlite3.SQLITE_NOTADB: "is not an SQLite file; name the ledger's own file, or restore a good copy",
        sqlite3.SQLITE_FULL: "the disk is full; free disk space and try again. The query is refused",
        sqlite3.SQLITE_READONLY: "cannot be written; give this user the right to write the file and its directory",
        sqlite3.SQLITE_CANTOPEN: "cannot be opened; check that it is a file, with the right to read and write it",
        sqlite3.SQLITE_CONSTRAINT: "an index entry has a name that is taken",  # records are known to fit here
        sqlite3.SQLITE_IOERR: "the disk failed; the query is refused and may count as spent",
    },
    otherwise=lambda _: "cannot be used: it is closed, or SQLite refused",
)
POSTGRES: Final = Driver(
    code_of=lambda error: error.sqlstate or "",
    busy=frozenset({"55P03"}),
    damage=frozenset({"XX001", "XX002"}),
    remedies={
        "23505": "an index entry has a name that is taken",
        "25006": "is on a server that only reads, such as a standby; name the primary",
        "25P03": "ended a write transaction that took too long; nothing of it is kept. Try again",
        "3D000": "is in a database that does not exist; make it, or name another",
        "3F000": "is missing; restore a good copy",
        "42501": "may not be used by this role; grant it the rights, or CREATE on the database to make a ledger",
        "42P01": "is missing, or a part of it is; restore a good copy",
        "53100": "the server's disk is full; free disk space and try again. The query is refused",
        "53300": "the server has no free connection; close others, or raise its max_connections",
    },
    otherwise=_refused,
)
