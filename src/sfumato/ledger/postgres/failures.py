"""PostgreSQL's failures in our words, with the remedy; its own may quote an address, and with it a password."""

from collections.abc import Callable
from typing import Final, TypeVar

import psycopg

from sfumato.errors import LedgerCorruptError, LedgerError, LedgerTimeoutError

T = TypeVar("T")

_REMEDIES: Final = {
    "23505": "a pointer has a name that is taken",
    "25006": "is on a server that only reads, such as a standby; name the primary",
    "25P03": "ended a turn that took too long; nothing of it is kept. Ask again",
    "3D000": "is in a database that does not exist; make it, or name another",
    "3F000": "is gone; restore a good copy",
    "42501": "may not be used by this role; grant it the rights, or CREATE on the database to make a ledger",
    "42P01": "is gone, or a part of it; restore a good copy",
    "53100": "the server's disk is full; make room and ask again. What was asked is refused",
    "53300": "the server has no connection left; close others, or raise its max_connections",
}
PATIENCE: Final = 30
"""Seconds that a process waits for its turn."""
_LOCK_TIMEOUT: Final = "55P03"
_DAMAGE: Final = ("XX001", "XX002")
_LOST: Final = ("08", "57P")  # the first characters of a connection's ends, which a server that shuts down announces


def in_our_words(work: Callable[[], T], place: str, *, told: str | None = None) -> T:
    """Do it.

    Args:
        work: What calls the driver.
        place: The ledger, as errors name it.
        told: What is said of every failure of this work; else each has its own remedy.

    Raises:
        LedgerError: It failed.
        LedgerCorruptError: The server says that its files are damaged.
    """
    try:
        return work()
    except psycopg.Error as error:
        state = error.sqlstate or ""
    # Not in the block above, where Python would keep the driver's own error as the context of this one.
    if state == _LOCK_TIMEOUT:
        raise LedgerTimeoutError(place, PATIENCE)
    if state in _DAMAGE:
        raise damaged(place)
    raise LedgerError(place, told or _REMEDIES.get(state) or _refused(state))


def damaged(place: str) -> LedgerCorruptError:
    """The error of tables that contradict each other."""
    return LedgerCorruptError(0, f"the ledger {place} is damaged, at this entry or after")


def _refused(state: str) -> str:
    if state and not state.startswith(_LOST):
        return f"cannot be used: PostgreSQL refused with SQLSTATE {state}; what was asked is refused"
    return (
        "lost its connection, or cannot be reached; check host, database, user and password. What was asked is refused"
    )
