"""One connection to the PostgreSQL of a ledger, opened when it is needed, and anew if it was lost."""

import os
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, TypeVar

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import TransactionStatus
from psycopg.sql import SQL, Composed, Identifier

from sfumato.errors import LedgerError, LedgerMissingError, LedgerTimeoutError
from sfumato.ledger.core.store import End, unsealed
from sfumato.ledger.postgres.address import Address
from sfumato.ledger.postgres.failures import PATIENCE, in_our_words
from sfumato.ledger.postgres.schema import exists, is_ledger, is_old, make, upgrade
from sfumato.ledger.postgres.tables import PostgresTables

T = TypeVar("T")

_REACHING: Final = {
    "connect_timeout": "10",
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "3",
}
"""Within what time a server that is gone is noticed; the address may say otherwise."""

_SETTINGS: Final = {
    "synchronous_commit": "on",  # else a turn is over before it is on the disk
    "search_path": "pg_catalog, pg_temp",  # so that no function or operator of somebody else's is called
    "default_transaction_isolation": "read committed",  # who makes a ledger sees what another maker committed
    "default_transaction_read_only": "off",
    "lock_timeout": f"{PATIENCE}s",
    "idle_in_transaction_session_timeout": "30s",  # a process that stops in its turn does not stop all others
}
"""What a session and each turn are told, whatever the role, the database or the server say."""

# The row lock is the turn: whoever asks for it next waits until this transaction ends. READ COMMITTED suffices, as
# every statement after the lock sees all that was committed before it was granted, and nobody else appends meanwhile;
# a stricter level would see the state before the lock, and fail instead of waiting.
_BEGIN: Final = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; {settings} SELECT FROM {schema}.head FOR UPDATE"
_HOLDER: Final = """
SELECT concat(nullif(regexp_replace(application_name, '^sfumato ', ''), ''), ' (PostgreSQL session ', a.pid, ')')
FROM pg_locks AS l JOIN pg_stat_activity AS a ON a.pid = l.pid
WHERE l.relation = %(head)s::regclass AND l.mode = 'RowShareLock' AND a.wait_event_type IS DISTINCT FROM 'Lock'
  AND a.pid <> pg_backend_pid()
ORDER BY a.xact_start LIMIT 1
"""
_LOST_AT_COMMIT: Final = "the connection was lost while a turn was kept: it may have been kept or not; read it again"


class LedgerConnection:
    """A connection that is sure to lead to the ledger, on a server that forgets nothing.

    Args:
        address: Where the ledger is.
        must_exist: Whether a ledger that is missing is an error; else it is made.
        is_upgraded: Whether one of a version that sealed nothing gets the tables of today; else it is refused.
    """

    def __init__(self, address: Address, *, must_exist: bool, is_upgraded: bool = False) -> None:
        self._address, self._must_exist, self._is_upgraded = address, must_exist, is_upgraded
        self._open: psycopg.Connection[tuple[Any, ...]] | None = None
        self._is_closed = False
        self._process = os.getpid()

    def asked(self, question: Callable[[PostgresTables], T]) -> T:
        """Ask; once more if it turns out that the connection was lost since it was used last.

        Raises:
            LedgerError: It cannot be reached, or refused.
        """
        was_open = self._open is not None
        try:
            return question(self._tables())
        except LedgerError:
            if not (was_open and self._is_lost()):
                raise
        return question(self._tables())

    def begin(self) -> tuple[PostgresTables, End]:
        """Wait for the turn; no other process has it until `commit` or `end`.

        Raises:
            LedgerTimeoutError: Somebody has it for too long, and is named.
            LedgerError: It cannot be reached, or refused.
        """
        try:
            return self.asked(self._begun)
        except LedgerTimeoutError as error:
            self.end()
            raise LedgerTimeoutError(error.ledger, error.seconds, self._holder()) from None

    def commit(self) -> None:
        """Keep what was written; afterwards it is on the server's disk.

        Raises:
            LedgerError: It was refused; or the connection was lost, and who knows.
        """
        turn = self._open  # never another one, opened anew: that would have nothing to commit, and say that it has
        if turn is None:
            raise LedgerError(self._address.shown, "is not in a turn")
        done = in_our_words(lambda: turn.execute("COMMIT"), self._address.shown, told=_LOST_AT_COMMIT)
        if done.statusmessage != "COMMIT":  # PostgreSQL says ROLLBACK, and no error, where a statement failed before
            raise LedgerError(self._address.shown, "a statement of this turn failed, so nothing of the turn is kept")

    def end(self) -> None:
        """Roll back whatever was not committed; a connection that cannot is let go of."""
        try:
            if self._open is not None and self._open.info.transaction_status != TransactionStatus.IDLE:
                self._open.execute("ROLLBACK")
        except psycopg.Error:
            self._let_go()

    def close(self) -> None:
        """Let go of it for good."""
        self._is_closed = True
        self._let_go()

    def _holder(self) -> str | None:
        """Who has the turn: of those who have locked the row, whoever does not wait for it."""
        asked = {"head": SQL("{}.head").format(Identifier(self._address.schema)).as_string()}
        found = in_our_words(lambda: self._connected().execute(_HOLDER, asked).fetchone(), self._address.shown)
        return None if found is None else str(found[0])

    def _begun(self, tables: PostgresTables) -> tuple[PostgresTables, End]:
        begin = SQL(_BEGIN).format(settings=_settings(local=True), schema=Identifier(self._address.schema))
        in_our_words(lambda: self._connected().execute(begin), self._address.shown)
        return tables, tables.end()

    def _tables(self) -> PostgresTables:
        return PostgresTables(self._connected(), self._address)

    def _connected(self) -> psycopg.Connection[tuple[Any, ...]]:
        if self._is_closed:
            raise LedgerError(self._address.shown, "is closed; open it again")
        if self._is_lost():
            self._let_go()
        if self._open is None:
            self._open = self._opened()
        return self._open

    def _is_lost(self) -> bool:
        return self._open is not None and self._open.closed

    def _let_go(self) -> None:
        # A process that was forked from the one that opened it would end the session of that one.
        if self._open is not None and self._process == os.getpid():
            with suppress(psycopg.Error):
                self._open.close()
        self._open = None

    def _opened(self) -> psycopg.Connection[tuple[Any, ...]]:
        opened = in_our_words(lambda: _connect(self._address.database), self._address.shown)
        try:
            in_our_words(lambda: self._prepare(opened), self._address.shown)
        except LedgerError:
            opened.close()
            raise
        self._must_exist = True  # one that is gone when it is opened again is not made anew
        return opened

    def _prepare(self, opened: psycopg.Connection[tuple[Any, ...]]) -> None:
        """Refuse a server that may forget, and a schema that is no ledger."""
        opened.execute(_settings(local=False))
        if opened.execute("SELECT pg_is_in_recovery()").fetchone() != (False,):
            raise LedgerError(self._address.shown, "is on a standby, which only reads; name the primary")
        if opened.execute("SELECT current_setting('fsync')").fetchone() != ("on",):
            requirement = "is on a server with fsync off, which forgets when the power fails; turn it on"
            raise LedgerError(self._address.shown, requirement)
        if not exists(opened, self._address.schema):
            if self._must_exist:
                raise LedgerMissingError(self._address.shown, "does not exist; name an existing ledger")
            make(opened, self._address.schema)
        if is_old(opened, self._address.schema):
            if not self._is_upgraded:
                raise unsealed(self._address.shown)
            upgrade(opened, self._address.schema)
        if not is_ledger(opened, self._address.schema):
            raise LedgerError(self._address.shown, "holds no ledger that this version knows; name the ledger's own")


def _connect(database: str) -> psycopg.Connection[tuple[Any, ...]]:
    told: dict[str, Any] = _REACHING | conninfo_to_dict(database) | {"client_encoding": "UTF8"}
    told["application_name"] = f"sfumato {os.getpid()} on {socket.gethostname()}"
    return psycopg.connect(autocommit=True, **told)


def _settings(*, local: bool) -> Composed:
    """Statements that set what a session or, if they are local, a transaction is told."""
    statement = SQL("SELECT pg_catalog.set_config({}, {}, {});")  # SET would take a search path for one name
    return SQL(" ").join(statement.format(name, value, local) for name, value in _SETTINGS.items())
