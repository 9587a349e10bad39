"""A ledger in PostgreSQL, shared by processes on several hosts.

A write transaction holds the only row of the table `head`: at its end all of it is on the server's disk.
"""

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from threading import Lock
from typing import Any, Final, TypeVar
from weakref import finalize

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import TransactionStatus
from psycopg.sql import SQL, Composed, Identifier, Literal

from sfumato.errors import LedgerError, LedgerMissingError, LedgerTimeoutError
from sfumato.ledger.core.store import unsealed
from sfumato.ledger.stores.address import LedgerAddress, address_of
from sfumato.ledger.stores.failures import PATIENCE, POSTGRES
from sfumato.ledger.stores.schema import PostgresSchema
from sfumato.ledger.stores.tables import LedgerTables, Rows
from sfumato.ledger.stores.transactions import Gate, OpenTransaction, TableReader

T = TypeVar("T")

_REACHING: Final = {
    "connect_timeout": "10",
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "3",
}
"""Within what time a server that is gone is noticed; the address may say otherwise."""

_SETTINGS: Final = {
    "synchronous_commit": "on",  # else a transaction is over before it is on the disk
    "search_path": "pg_catalog, pg_temp",  # so that no function or operator of somebody else's is called
    "default_transaction_isolation": "read committed",  # who makes a ledger sees what another maker committed
    "default_transaction_read_only": "off",
    "lock_timeout": f"{PATIENCE}s",
    "idle_in_transaction_session_timeout": "30s",  # a process that stops in its transaction does not stop all others
}
"""What a session and each transaction are told, whatever the role, the database or the server say."""

# The row lock is the right to append: whoever asks for it next waits until this transaction ends. READ COMMITTED
# suffices, as every statement after the lock sees all that was committed before it was granted, and nobody else appends
# meanwhile; a stricter level would see the state before the lock, and fail instead of waiting.
_BEGIN: Final = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; {settings} SELECT FROM {schema}.head FOR UPDATE"
_HOLDER: Final = """
SELECT concat(nullif(regexp_replace(application_name, '^sfumato ', ''), ''), ' (PostgreSQL session ', a.pid, ')')
FROM pg_locks AS l JOIN pg_stat_activity AS a ON a.pid = l.pid
WHERE l.relation = %(head)s::regclass AND l.mode = 'RowShareLock' AND a.wait_event_type IS DISTINCT FROM 'Lock'
  AND a.pid <> pg_backend_pid()
ORDER BY a.xact_start LIMIT 1
"""
_LOST_AT_COMMIT: Final = (
    "the connection was lost during COMMIT: the transaction may have been kept or not; read it again"
)
_RECORDS: Final = """
WITH sealed AS (UPDATE {schema}.head SET seal = coalesce({}, seal))
INSERT INTO {schema}.record SELECT * FROM unnest({}::bigint[], {}::text[], {}::text[], {}::text[])
"""
_INDEX_ENTRIES: Final = "INSERT INTO {schema}.pointer SELECT * FROM unnest({}::text[], {}::bigint[], {}::text[])"
_FORGET: Final = """
ALTER TABLE {schema}.pointer DISABLE TRIGGER pointer_stays;
DELETE FROM {schema}.pointer;
ALTER TABLE {schema}.pointer ENABLE ALWAYS TRIGGER pointer_stays
"""
_SEAL: Final = "UPDATE {schema}.head SET seal = {}"
_REPLACE: Final = """
INSERT INTO {schema}.snapshot VALUES (true, {}) ON CONFLICT (single) DO UPDATE SET text = excluded.text
"""


class PostgresStore(TableReader):
    """Records, index entries and a snapshot in tables that triggers keep append-only, in a schema of their own.

    Args:
        location: ``postgresql://user@host/database?ledger=name``, as libpq reads it but for the ledger's name; the
            schema is ``sfumato_name``, made if missing.
        must_exist: Whether a missing ledger is an error.
        is_upgraded: Whether a ledger of a version that sealed nothing is opened, for who migrates it.

    Raises:
        ParameterError: The location is no such address.
        LedgerError: The server cannot be reached, may forget, or has no ledger there.
        LedgerCorruptError: Records are gone.
    """

    def __init__(self, location: str, *, must_exist: bool = False, is_upgraded: bool = False) -> None:
        address = address_of(location)
        self._place = address.shown
        self._gate = Gate(self._place)
        # One connection sees what a transaction has not yet committed, the other one never does and never waits for it.
        self._writer = LedgerConnection(address, must_exist=must_exist, is_upgraded=is_upgraded)
        self._reader = LedgerConnection(address, must_exist=True)
        self._reading = Lock()
        finalize(self, _close, self._writer, self._reader)
        self._writer.asked(LedgerTables.end)

    @contextmanager
    def transaction(self) -> Iterator[OpenTransaction]:
        """Wait for the right to append; at the end of the block it is on the server's disk."""
        with self._gate.entered():
            try:
                transaction = OpenTransaction(self._writer.begin(), self._place)
                with transaction.ending():
                    yield transaction
                self._writer.commit()
            finally:
                self._writer.end()

    def check(self) -> None:
        """Count; that the server's pages are whole is for its own tools to say."""
        self._asked(LedgerTables.check)

    def close(self) -> None:
        """Close both connections, once a transaction of another thread is over."""
        with self._gate.entered(), self._reading:
            _close(self._writer, self._reader)

    def _asked(self, question: Callable[[LedgerTables], T]) -> T:
        with self._reading:
            return self._reader.asked(question)


def _close(*connections: "LedgerConnection") -> None:
    for connection in connections:
        connection.close()


class LedgerConnection:
    """A connection that is sure to lead to the ledger, on a server that forgets nothing.

    Args:
        address: Where the ledger is.
        must_exist: Whether a ledger that is missing is an error; else it is made.
        is_upgraded: Whether one of a version that sealed nothing gets the tables of today; else it is refused.
    """

    def __init__(self, address: LedgerAddress, *, must_exist: bool, is_upgraded: bool = False) -> None:
        self._address, self._must_exist, self._is_upgraded = address, must_exist, is_upgraded
        self._open: psycopg.Connection[tuple[Any, ...]] | None = None
        self._is_closed = False
        self._process = os.getpid()

    def asked(self, question: Callable[[LedgerTables], T]) -> T:
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

    def begin(self) -> LedgerTables:
        """Wait for the right to append; no other process has it until `commit` or `end`.

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
        opened = self._open  # never another one, opened anew: that would have nothing to commit, and say that it has
        if opened is None:
            raise LedgerError(self._address.shown, "is not in a transaction")
        done = in_our_words(lambda: opened.execute("COMMIT"), self._address.shown, told=_LOST_AT_COMMIT)
        if done.statusmessage != "COMMIT":  # PostgreSQL says ROLLBACK, and no error, where a statement failed before
            raise LedgerError(self._address.shown, "a statement of this transaction failed, so nothing of it is kept")

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
        """Who may append: of those who have locked the row, whoever does not wait for it."""
        asked = {"head": SQL("{}.head").format(Identifier(self._address.schema)).as_string()}
        found = in_our_words(lambda: self._connected().execute(_HOLDER, asked).fetchone(), self._address.shown)
        return None if found is None else str(found[0])

    def _begun(self, tables: LedgerTables) -> LedgerTables:
        begin = SQL(_BEGIN).format(settings=_settings(local=True), schema=Identifier(self._address.schema))
        in_our_words(lambda: self._connected().execute(begin), self._address.shown)
        return tables

    def _tables(self) -> LedgerTables:
        return LedgerTables(PostgresDialect(self._connected(), self._address))

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
            requirement = "is on a server with fsync off, which loses entries when the power fails; turn it on"
            raise LedgerError(self._address.shown, requirement)
        schema = PostgresSchema(PostgresDialect(opened, self._address), self._address.schema)
        if not schema.exists():
            if self._must_exist:
                raise LedgerMissingError(self._address.shown, "does not exist; name an existing ledger")
            schema.create()
        if schema.is_old():
            if not self._is_upgraded:
                raise unsealed(self._address.shown)
            schema.upgrade()
        if not schema.is_current():
            raise LedgerError(self._address.shown, "holds no ledger that this version knows; name the ledger's own")


class PostgresDialect:
    """How a ledger's tables are written in PostgreSQL; as a `PostgresServer` it makes them.

    Args:
        connection: In a transaction or in none.
        address: Which ledger of that database.
    """

    def __init__(self, connection: psycopg.Connection[Any], address: LedgerAddress) -> None:
        self._connection, self.place = connection, address.shown
        self._schema = Identifier(address.schema)

    def rows(self, query: str, *parameters: object) -> Rows:
        """The rows that a query returns."""
        return in_our_words(lambda: self._execute(query, parameters).fetchall(), self.place)

    def run(self, statements: str, *literals: str) -> None:
        """Run a statement without a result."""
        text = SQL(statements).format(*map(Literal, literals), schema=self._schema)
        in_our_words(lambda: self._connection.execute(text), self.place)

    def written(self, text: str) -> str:
        """A text of SQL with the name of the schema in it."""
        return SQL(text).format(schema=self._schema).as_string()

    def transaction(self) -> AbstractContextManager[object]:
        """A block that is done as a whole or not at all."""
        return self._connection.transaction()

    def add_records(self, rows: Rows, seal: str | None) -> None:
        """Insert records and put the seal there; one statement however many they are: one way there and back."""
        if rows:
            self._do(_RECORDS, seal, *map(list, zip(*rows, strict=True)))
        elif seal is not None:
            self._do(_SEAL, seal)

    def add_index_entries(self, rows: Rows) -> None:
        """Insert index entries."""
        self._do(_INDEX_ENTRIES, *map(list, zip(*rows, strict=True)))

    def forget_index_entries(self) -> None:
        """Remove all index entries, past the trigger that keeps them."""
        self.run(_FORGET)

    def replace_snapshot(self, text: str) -> None:
        """Put a snapshot in the place of the last one."""
        self._do(_REPLACE, text)

    def _do(self, statement: str, *parameters: object) -> None:
        in_our_words(lambda: self._execute(statement, parameters), self.place)

    def _execute(self, statement: str, parameters: tuple[object, ...]) -> psycopg.Cursor[Any]:
        marks = [SQL("%s")] * len(parameters)
        return self._connection.execute(SQL(statement).format(*marks, schema=self._schema), parameters)


def in_our_words(work: Callable[[], T], place: str, *, told: str | None = None) -> T:
    """Call the driver, and raise its errors as errors of the ledger.

    Args:
        work: What calls it.
        place: The ledger, as errors name it.
        told: What is said of every failure of this work; else each has its own remedy.

    Raises:
        LedgerError: The call failed.
        LedgerCorruptError: The server says that its files are damaged.
    """
    try:
        return work()
    except psycopg.Error as error:
        failure = POSTGRES.failure(POSTGRES.code_of(error), place)
    # Not in the block above, where Python would keep the driver's own error as the context of this one.
    raise LedgerError(place, told) if told and type(failure) is LedgerError else failure


def _connect(database: str) -> psycopg.Connection[tuple[Any, ...]]:
    told: dict[str, Any] = _REACHING | conninfo_to_dict(database) | {"client_encoding": "UTF8"}
    told["application_name"] = f"sfumato {os.getpid()} on {socket.gethostname()}"
    return psycopg.connect(autocommit=True, **told)


def _settings(*, local: bool) -> Composed:
    """Statements that set what a session or, if they are local, a transaction is told."""
    statement = SQL("SELECT pg_catalog.set_config({}, {}, {});")  # SET would take a search path for one name
    return SQL(" ").join(statement.format(name, value, local) for name, value in _SETTINGS.items())
