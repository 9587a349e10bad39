"""PostgreSQL: tables where they are, asked by a role that only reads."""

import re
import threading
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Any, Final

import adbc_driver_postgresql.dbapi as adbc
import numpy as np
import pyarrow as pa
from sqlglot import exp

from sfumato.engines.base import ExactGroups, failing
from sfumato.engines.postgres.catalogue import StoredTable, check_server, stored
from sfumato.engines.postgres.connection import FAILURES, Connection, Transaction, cause_of
from sfumato.engines.postgres.dialect import POSTGRES, POSTGRES_WITHOUT_MD5, sql
from sfumato.engines.sampling import Sampling, sampling_of
from sfumato.engines.sources.sources import Opened, PostgresAddress, PostgresData
from sfumato.engines.sql.dialect import SqlDialect
from sfumato.engines.sql.lists import list_query
from sfumato.engines.sql.lowering import Lowered, exact_groups, lower, presented, shown_sql
from sfumato.engines.sql.relations import Catalogue
from sfumato.engines.sql.sources import owned_rows, typed_columns
from sfumato.errors import ParameterError
from sfumato.numeric.rationals import positive_integer
from sfumato.privacy.secret import Secret
from sfumato.query.analysis.shape import Metric, shape_of
from sfumato.query.model.relations import tables_of
from sfumato.query.model.schema import Table
from sfumato.query.model.statement import Statement
from sfumato.query.policy.policy import Risk

_UNREACHABLE: Final = (
    "cannot be opened; check host, port, database, user and password (in the address, in PGPASSWORD or in a passfile)"
)
_MD5: Final = "SELECT md5('')"
_ONE_PROCESS: Final = ("max_parallel_workers_per_gather", "0")
"""Units by groups are nearly as many as rows, which the planner does not know: it would group them in each process and
then once more, which takes twice the time."""

_MEMORY: Final = re.compile(r"([0-9]{1,9}) ?(kB|MB|GB|TB)")
_KILOBYTES: Final = {"kB": 1, "MB": 2**10, "GB": 2**20, "TB": 2**30}
_LEAST_MEMORY: Final = 64
_LONGEST: Final = 2_147_483
"""Seconds, of which PostgreSQL counts the milliseconds in 31 bits."""


class PostgresEngine:
    """Asks tables of one database, each query in a read-only transaction, and holds nothing of them.

    Args:
        sources: Where the rows of each table are; the catalog is asked for them now, and no row before the first run.
        sampling: By which hash units above a limit are sampled: `"native"`, the server's own, or `"md5"`, which is
            slower and keeps the same rows on every engine. Where the server has no MD5, SHA-256 serves instead.
        statement_timeout: After how many seconds a query is given up; what was charged for it stays charged.
        work_mem: The memory of each step of a query before it spills to disk, as `"256MB"`; None leaves the server's.
        allow_writing_role: Whether a role is accepted that could change the tables. Queries run in transactions that
            cannot write, but one lock is less than two.

    Raises:
        ParameterError: A setting that cannot be used; a database that cannot be reached, or is no PostgreSQL 16 with
            text in UTF8; no such table, one that cannot be read as declared, or one that the role can write.
    """

    name = "postgres"

    def __init__(
        self, sources: Mapping[str, Opened], *, sampling: str = "native", statement_timeout: int = 3_600,
        work_mem: str | None = None, allow_writing_role: bool = False,
    ) -> None:  # fmt: skip
        self._sampling = sampling_of(sampling)
        seconds = positive_integer(statement_timeout, "statement_timeout", most=_LONGEST)
        self._lock = threading.Lock()
        address, own = one_database(sources)
        self._connection = Connection(address.database, {"statement_timeout": f"{seconds}s", **_memory(work_mem)})
        try:
            self._tables = PostgresTables(self._connection, own, may_write=allow_writing_role)
            self._dialect = dialect_of(self._connection)
        except FAILURES:
            self.close()
            raise ParameterError("source", address.shown, _UNREACHABLE) from None
        except ParameterError:
            self.close()
            raise

    def run(self, statement: Statement, *, salt: str) -> Secret[ExactGroups]:
        """See `Engine.run`."""
        with self._answer(statement, salt) as (lowered, batches):
            pieces: dict[str, list[Any]] = {}
            for batch in batches:
                for name, cells in _columns(batch).items():
                    pieces.setdefault(name, []).append(cells)
            return Secret(exact_groups(lowered, {name: np.concatenate(pieces.pop(name)) for name in list(pieces)}))

    def batches(self, statement: Statement, *, salt: str, size: int) -> Generator[Secret[ExactGroups], None, None]:
        """See `Streaming.batches`."""
        with self._answer(statement, salt) as (lowered, batches):
            for batch in batches:
                for start in range(0, batch.num_rows, size):
                    yield Secret(exact_groups(lowered, _columns(batch.slice(start, size))))

    def rows(self, table: Table) -> Generator[Any, None, None]:
        """See `Whole.rows`."""
        phase = "read all rows of a table"
        with self._lock, failing(self.name, phase, FAILURES), self._connection.transaction() as asked:
            for batch in asked.batches(self._dialect.sql(self._tables.whole(asked, table))):
                yield pa.Table.from_batches([batch])

    @property
    def sampling(self) -> str:
        """See `Engine.sampling`."""
        if self._sampling is Sampling.MD5 and self._dialect is POSTGRES_WITHOUT_MD5:
            return "sha256"
        return self._sampling.named(self.name)

    def sql(self, statement: Statement, /) -> str:
        """See `Engine.sql`; tables are called as the policy calls them."""
        return shown_sql(statement, sampling=self._sampling, dialect=self._dialect)

    def storage(self, table: Table) -> Mapping[str, str]:
        """What the lowering calls the types in which the columns of a table are stored."""
        return self._tables.storage(table)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    @contextmanager
    def _answer(self, statement: Statement, salt: str) -> Iterator[tuple[Lowered, Iterator[Any]]]:
        """The statement in SQL, and its answer in Arrow batches."""
        phase = "computed the exact values of a query"
        with self._lock, failing(self.name, phase, FAILURES, cause=cause_of), self._connection.transaction() as asked:
            if shape_of(statement.rows).metric is Metric.UNITS:
                asked.set(*_ONE_PROCESS)
            stored = self._tables.check(asked, tables_of(statement.rows))
            catalogue = Catalogue(named=self._tables.named, is_reread=lambda table: table.name in stored)
            lowered = lower(statement, catalogue, salt=salt, sampling=self._sampling, dialect=self._dialect)
            query = presented(lowered, lowered.totals)
            for group in lowered.lists:
                name = exp.to_identifier(group.table, quoted=True)
                query = query.with_(name, as_=list_query(group), copy=False)
            with closing(asked.batches(self._dialect.sql(query))) as batches:
                yield lowered, batches


def _columns(batch: Any) -> Mapping[str, Any]:
    return {name: batch[name].to_numpy(zero_copy_only=False) for name in batch.schema.names}


def _memory(work_mem: str | None) -> Mapping[str, str]:
    if work_mem is None:
        return {}
    size = _MEMORY.fullmatch(work_mem)
    if size is None or not _LEAST_MEMORY <= int(size[1]) * _KILOBYTES[size[2]] < 2**31:
        raise ParameterError("work_mem", work_mem, "must be a size such as '256MB', from 64kB to 1TB")
    return {"work_mem": work_mem}


class PostgresTables:
    """Looks tables up in the catalog, once, and says how they are read; nothing is made in the database.

    Args:
        connection: To their database.
        sources: Where they are, and what is declared of them.
        may_write: Whether a role is accepted that could change them.

    Raises:
        ParameterError: One cannot be read as declared, or the server cannot be asked safely.
        adbc.Error: The database cannot be reached.
    """

    def __init__(self, connection: Connection, sources: Mapping[str, PostgresData], *, may_write: bool) -> None:
        self._stored: dict[str, StoredTable] = {}
        self._filtered = {name for name, one in sources.items() if Risk.ROW_SECURITY in one.accepted_risks}
        if not sources:
            return
        path = connection.schemas()
        with connection.transaction() as asked:
            for name, source in sources.items():
                check_server(asked, source.address.shown)
                self._stored[name] = stored(
                    asked, source.address, source.table, path=path, may_write=may_write,
                    accepted_risks=source.accepted_risks,
                )  # fmt: skip

    def storage(self, table: Table) -> Mapping[str, str]:
        """What the lowering calls the types in which the columns of a table are stored."""
        return self._stored[table.name].storage

    def named(self, table: Table) -> exp.Query:
        """A table of `Rows`."""
        own = self._stored[table.name]
        return owned_rows(table, typed_columns(table, own.storage, own.query), self.named)

    def whole(self, asked: Transaction, table: Table) -> exp.Query:
        """The declared columns of all rows; numbers of any length as text."""
        self.check(asked, [table])
        return self._stored[table.name].whole

    def check(self, asked: Transaction, tables: Iterable[Table]) -> Collection[str]:
        """Before rows of some tables are read: let row-level security hide those that the owner accepts are hidden.

        Returns:
            The names of those of which the transaction reads the same rows each time.

        Raises:
            EngineError: A definition was changed, and may now fail on some row.
            adbc.Error: Row-level security hides rows of another one of the tables.
        """
        names = {table.name for table in tables}
        stored = {name for name in names if self._stored[name].require_as_it_was(asked)}
        if names & self._filtered:
            for name in names - self._filtered:
                asked.prepare(sql(self._stored[name].query))
            asked.set("row_security", "on")
        return stored


def dialect_of(connection: Connection) -> SqlDialect:
    """The SQL of a server: with MD5, unless it has none."""
    try:
        with connection.transaction() as asked:
            asked.rows(_MD5)
    except adbc.Error as error:
        if error.sqlstate is None or error.sqlstate.startswith(("08", "57")):
            raise
        return POSTGRES_WITHOUT_MD5
    return POSTGRES


def one_database(sources: Mapping[str, Opened]) -> tuple[PostgresAddress, Mapping[str, PostgresData]]:
    """The database that all sources are in, and they.

    Raises:
        ParameterError: One is no table of PostgreSQL, or they are in several databases.
    """
    own: dict[str, PostgresData] = {}
    for name, source in sources.items():
        if not isinstance(source, PostgresData):
            requirement = "must be an address like postgresql://user@host/database?table=schema.name"
            raise ParameterError("source", type(source).__name__, requirement)
        own[name] = source
    addresses = [source.address for source in own.values()] or [PostgresAddress("", "", None, "")]
    for address in addresses:
        if address.database != addresses[0].database:
            requirement = "must be the address of all tables of the policy that are in PostgreSQL, but for table="
            raise ParameterError("source", address.shown, requirement)
    return addresses[0], own
