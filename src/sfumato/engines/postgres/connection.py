"""One connection to PostgreSQL, through ADBC: each query in a transaction that can only read, as of one moment."""

import re
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from typing import Any, Final
from weakref import finalize

import adbc_driver_postgresql.dbapi as adbc
import pyarrow as pa
from adbc_driver_manager._reader import AdbcRecordBatchReader

FAILURES: Final = (adbc.Error, pa.ArrowException, OSError, UnicodeError, MemoryError, RecursionError)
"""What the driver raises, and what is made of SQL; what is read while it streams fails as Arrow or the system does."""

_OUTAGES: Final = ("08", "57P01", "57P02", "57P03")
"""SQLSTATE codes, or how they begin, of a connection that is lost and a server that stops or starts."""

_UNPREPARED: Final = re.compile(r"[A-Z_]+: Failed to prepare query: ")
"""How the driver begins to tell that the server refused a query before it read a row."""

_SETTINGS: Final = {
    "search_path": "pg_catalog, pg_temp",  # so that no function or operator of somebody else's is called
    "TimeZone": "UTC",
    "DateStyle": "ISO, YMD",
    "IntervalStyle": "postgres",
    "extra_float_digits": "1",
    "bytea_output": "hex",
    "client_encoding": "UTF8",
    "standard_conforming_strings": "on",
    "transform_null_equals": "off",
    "array_nulls": "on",
    "row_security": "off",  # what it would hide without a word is an error
    "jit": "off",  # no question is long enough to be worth what compiling its many terms takes
    "lock_timeout": "60s",
    "idle_in_transaction_session_timeout": "60s",
}
"""What a transaction is told, whatever the role, the database or the server say."""

_NAME: Final = "sfumato"
"""What the server's list of sessions and its log call it, unless the address or PGAPPNAME has another name."""

_SEARCHED: Final = "SELECT pg_catalog.array_to_json(pg_catalog.current_schemas(false))::pg_catalog.text"

_BEGIN: Final = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"


class UnreachableError(OSError):
    """The database cannot be reached, or opens no transaction; without its text."""


def cause_of(error: BaseException) -> str | None:
    """The class of a failure while rows were read; None if it cannot be about them.

    That is a lost connection, a server that stops, what the server refuses when it prepares a query, and a question
    that cannot be written down.
    """
    if not isinstance(error, adbc.Error):
        is_of_no_row = isinstance(error, UnreachableError | UnicodeEncodeError | RecursionError)
        return None if is_of_no_row else type(error).__name__
    state = error.sqlstate
    if _UNPREPARED.match(str(error)) or (state is not None and state.startswith(_OUTAGES)):
        return None
    return "SQLSTATE unknown" if state is None else f"SQLSTATE class {state[:2]}"


class Connection:
    """A connection that is opened when it is needed, and opened anew if it was lost.

    Args:
        address: As libpq reads it.
        settings: More settings of each transaction.
    """

    def __init__(self, address: str, settings: Mapping[str, str]) -> None:
        self._address = address  # with a password, perhaps: this class has no fields that print
        self._settings = dict(_SETTINGS) | dict(settings)
        self._open: Any = None  # an adbc.Connection, which is not typed
        self._closing: Callable[[], object] | None = None  # else a process that ends without it prints a complaint

    @contextmanager
    def transaction(self) -> Iterator["Transaction"]:
        """A transaction that reads, of one state of the database; it is always rolled back.

        Raises:
            UnreachableError: The database cannot be reached.
            adbc.Error: It fails.
        """
        try:
            cursor = self._begun()
        except FAILURES:
            raise UnreachableError from None
        asked = Transaction(cursor)
        try:
            yield asked
        finally:
            self._end(cursor, is_read=asked.is_read)

    def schemas(self) -> str:
        """The schemas in which the role looks for a name without one, as JSON.

        Raises:
            UnreachableError: The database cannot be reached.
            adbc.Error: It fails.
        """
        with self.transaction():
            pass  # so that there is a connection
        with closing(self._open.cursor()) as cursor:
            cursor.execute(_SEARCHED)
            ((found,),) = cursor.fetchall()
        return str(found)

    def close(self) -> None:
        """Let go of it; the next transaction opens another one."""
        if self._closing is not None:
            self._closing()
        self._open = self._closing = None

    def _begun(self) -> Any:
        """A cursor in a new transaction; through another connection if the first was lost since the last one."""
        try:
            return self._begin()
        except FAILURES:
            was_open = self._open is not None
            self.close()
            if not was_open:
                raise
            return self._begin()

    def _begin(self) -> Any:
        if self._open is None:
            sign = "&" if "?" in self._address else "?"
            told = f"client_encoding=UTF8&fallback_application_name={_NAME}"
            self._open = adbc.connect(f"{self._address}{sign}{told}", autocommit=True)
            self._closing = finalize(self, _close, self._open)
        cursor = self._open.cursor()
        try:
            cursor.execute(_BEGIN)
            told = ", ".join(
                f"set_config(${2 * place + 1}, ${2 * place + 2}, true)" for place in range(len(self._settings))
            )
            cursor.execute(f"SELECT {told}", [text for setting in self._settings.items() for text in setting])
            cursor.fetchall()
        except FAILURES:
            with suppress(*FAILURES):
                cursor.close()
            raise
        return cursor

    def _end(self, cursor: Any, *, is_read: bool) -> None:
        """Roll back; a connection that cannot is let go of, as is one whose answer was not read to its end."""
        try:
            if is_read:
                cursor.execute("ROLLBACK")
            else:
                cursor.adbc_cancel()  # else the server would go on computing for nobody
            cursor.close()
        except FAILURES:
            is_read = False
        if not is_read:
            self.close()


def _close(opened: Any) -> None:
    with suppress(*FAILURES):
        opened.close()


class Transaction:
    """What can be asked within a transaction.

    Args:
        cursor: Of the connection.

    Attributes:
        is_read: Whether all that was asked for was read to its end.
    """

    def __init__(self, cursor: Any) -> None:
        self._cursor = cursor
        self.is_read = True

    def rows(self, query: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """The rows of a query of the catalog."""
        self._cursor.execute(query, list(parameters) or None)
        found: list[tuple[Any, ...]] = self._cursor.fetchall()
        return found

    def prepare(self, query: str) -> None:
        """Have a query checked: names, types and rights; no row is read.

        Raises:
            adbc.Error: It cannot be run.
        """
        self._cursor.adbc_prepare(query)

    def set(self, name: str, value: str) -> None:
        """Set something for what is asked next in this transaction."""
        self.rows("SELECT set_config($1, $2, true)", (name, value))

    def batches(self, query: str) -> Generator[Any, None, None]:
        """The answer to a query, as Arrow batches while they come; at the end it is certain that it was all of it.

        Raises:
            adbc.Error: The database failed.
            pa.ArrowException: The same.
            OSError: The connection failed.
        """
        self.is_read = False
        self._cursor.execute(query)
        # Not its fetch_record_batch(), which keeps the SQLSTATE of what fails while rows come to itself.
        stream = self._cursor.fetch_arrow()
        with AdbcRecordBatchReader._import_from_c(stream.address) as reader:  # noqa: SLF001 # has no public name
            yield pa.RecordBatch.from_pylist([], schema=reader.schema)
            yield from reader
        self.rows("SELECT 1")  # which fails where the server stopped sending before the end
        self.is_read = True
