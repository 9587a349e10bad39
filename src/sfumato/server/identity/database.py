"""The server's own database, opened and brought up to date, in SQLite or PostgreSQL.

A transaction that writes is an IMMEDIATE one in SQLite, in WAL mode with synchronous=FULL: at its end all of it is on
the disk. Errors of the database are hidden, because they quote statements with what they hold.
"""

import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext, MigrationStep
from alembic.script import ScriptDirectory
from sqlalchemy import URL, Connection, Engine, Insert, Table, create_engine, event, make_url, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from sfumato.errors import DatabaseError
from sfumato.ledger.keeping.files import draft_of

VERSION_TABLE: Final = "sfumato_server_version"
_MIGRATIONS: Final = Path(__file__).parent / "migrations"
_DRIVERS: Final = {"sqlite": "sqlite", "postgresql": "postgresql+psycopg"}
_PATIENCE: Final = 30  # seconds that SQLite waits for another writer
_PAUSE: Final = 0.01
_CONNECTIONS: Final = 16
_WRITES: Final = "sfumato_writes"
_SETTINGS: Final = {
    "sqlite": (
        "PRAGMA journal_mode = WAL",
        "PRAGMA synchronous = FULL",
        "PRAGMA fullfsync = ON",  # macOS: fsync alone does not reach the disk there
        "PRAGMA foreign_keys = ON",
        "PRAGMA trusted_schema = OFF",
    ),
    # Whatever the role was given, what is acknowledged is on the disk.
    "postgresql": (
        "SET synchronous_commit = on",
        "SET default_transaction_read_only = off",
        "SET default_transaction_isolation = 'read committed'",
    ),
}
_LOCK: Final = "SELECT pg_advisory_xact_lock(7360012)"
"""Of servers that start at once, one makes the tables."""


def utc_now() -> datetime:
    """The moment that it is."""
    return datetime.now(UTC)


class Database:
    """People, keys, acts, approvals and releases in one database that processes share.

    Args:
        location: ``sqlite:///file.db`` or ``postgresql://user:password@host/database``.
        now: Tells the time in UTC.

    Raises:
        DatabaseError: The location is none of these, the database cannot be used, or a newer version wrote it.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     database = Database(f"sqlite:///{folder}/people.db")
        ...     with database.reading() as connection:
        ...         print(connection.execute(text("SELECT count(*) FROM person")).scalar_one())
        ...     database.close()
        0
    """

    def __init__(self, location: str, *, now: Callable[[], datetime] = utc_now) -> None:
        url = url_of(location)
        self.name, self.now = url.render_as_string(hide_password=True), now
        self._kind = url.get_backend_name()
        if self._kind == "sqlite":
            self._make_private(Path(str(url.database)))
        self._writer = self._engine(url)
        reads = {} if self._kind == "sqlite" else {"isolation_level": "AUTOCOMMIT"}
        self._reader = self._writer.execution_options(**reads)
        try:
            self._migrate()
        except BaseException:
            self.close()
            raise

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection for statements that change nothing; each sees what is committed by then.

        Raises:
            DatabaseError: The database cannot be used.
        """
        with self._hidden("read"), self._reader.connect() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction, which is on the disk at the end of the block, or undone if the block fails.

        Raises:
            DatabaseError: The database cannot be used, or refuses a change.
        """
        with self._hidden("written"), self._writer.connect() as connection:
            connection = connection.execution_options(**{_WRITES: True})  # noqa: PLW2901 # the same connection
            with connection.begin():
                yield connection

    def insert_new(self, connection: Connection, table: Table, **values: object) -> bool:
        """Insert a row, unless one with the same key is there; whether it was inserted."""
        statement: Insert = (
            sqlite.insert(table).values(**values).on_conflict_do_nothing()
            if self._kind == "sqlite"
            else postgresql.insert(table).values(**values).on_conflict_do_nothing()
        )
        return connection.execute(statement.execution_options(preserve_rowcount=True)).rowcount == 1

    def lock(self, connection: Connection, table: Table) -> None:
        """Let nobody else write a table until the transaction ends; everybody may read it."""
        if self._kind == "postgresql":  # in SQLite, whoever may write is alone
            connection.execute(text(f"LOCK TABLE {table.name} IN EXCLUSIVE MODE"))

    def close(self) -> None:
        """Close all connections."""
        self._writer.dispose()

    def _engine(self, url: URL) -> Engine:
        options: dict[str, Any] = (
            {"connect_args": {"timeout": _PATIENCE}}
            if self._kind == "sqlite"
            else {"isolation_level": "READ COMMITTED", "pool_pre_ping": True}
        )
        engine = create_engine(
            url.set(drivername=_DRIVERS[self._kind]), hide_parameters=True, pool_size=_CONNECTIONS, **options
        )
        event.listen(engine, "connect", self._set_up)
        if self._kind == "sqlite":
            event.listen(engine, "begin", _begin)
        return engine

    def _set_up(self, connection: Any, _: object) -> None:
        if self._kind == "sqlite":
            connection.isolation_level = None  # the module sqlite3 begins nothing by itself; `_begin` does
        cursor = connection.cursor()
        for setting in _SETTINGS[self._kind]:
            _patiently(cursor, setting)
        cursor.close()
        connection.commit()

    def _migrate(self) -> None:
        """Apply the revisions that the database lacks, all or none."""
        scripts = ScriptDirectory(str(_MIGRATIONS), version_locations=[str(_MIGRATIONS)])

        def steps(heads: Iterable[str], _: MigrationContext) -> list[MigrationStep]:
            found = scripts.iterate_revisions("head", tuple(heads) or "base")
            revisions = scripts.revision_map
            return [MigrationStep.upgrade_from_script(revisions, each) for each in reversed(list(found))]

        with self.writing() as connection:
            if self._kind == "postgresql":
                connection.execute(text(_LOCK))
            context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE, "fn": steps})
            known = {script.revision for script in scripts.walk_revisions()}
            if not known.issuperset(context.get_current_heads()):
                raise DatabaseError(self.name, "a newer version of sfumato wrote it; upgrade sfumato here")
            with Operations.context(context):
                context.run_migrations()

    def _make_private(self, path: Path) -> None:
        """Make the file if it is missing; only its owner may read it, and what SQLite puts beside it.

        It is never opened under its own name: when a process closes a file, it loses the locks that SQLite has on it.
        """
        try:
            if not path.exists():
                with draft_of(path, b"") as draft, suppress(FileExistsError):  # another process may have been quicker
                    os.link(draft, path)
            path.chmod(0o600)
        except OSError as error:
            requirement = "cannot be made; name a file in an existing local folder where this user may write"
            raise DatabaseError(self.name, requirement) from error

    @contextmanager
    def _hidden(self, what: str) -> Iterator[None]:
        try:
            yield
        except SQLAlchemyError as error:
            kind = type(getattr(error, "orig", None) or error).__name__
            requirement = f"could not be {what} ({kind}); see that it can be reached, has room and is the server's own"
            raise DatabaseError(self.name, requirement) from None


def url_of(location: str) -> URL:
    """A location, taken apart.

    Raises:
        DatabaseError: It is of no kind known here; it is not shown, as it may hold a password.
    """
    with suppress(ArgumentError, ValueError):
        url = make_url(location)
        is_file = url.drivername == "sqlite" and url.database not in (None, "", ":memory:") and not url.query
        if is_file or url.drivername == "postgresql":
            return url
    raise DatabaseError("…", "its location must be sqlite:///FILE or postgresql://USER:PASSWORD@HOST/DATABASE")


def _patiently(cursor: Any, setting: str) -> None:
    """Set something; where another process is making the file, SQLite says at once that it is locked."""
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            cursor.execute(setting)
        except sqlite3.OperationalError:
            if time.monotonic() >= end:
                raise
            time.sleep(_PAUSE)
        else:
            return


def _begin(connection: Connection) -> None:
    """Begin as one who writes, before anything is read: a transaction that first reads could not wait for others."""
    if connection.get_execution_options().get(_WRITES):
        connection.exec_driver_sql("BEGIN IMMEDIATE")
