"""The embedded engine: DuckDB, in this process, over files and frames.

A CSV file or a LazyFrame is read once, batch by batch, into a typed table of declared columns; other sources stay where
they are.
"""

import csv
import threading
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

import duckdb
import pyarrow as pa
from sqlglot import exp

from sfumato.engines.base import ExactGroups, cause_of, failing
from sfumato.engines.duckdb.database import connected, lock_down
from sfumato.engines.duckdb.dialect import DUCKDB, sql
from sfumato.engines.duckdb.tables import PreparedTables, TypedTables
from sfumato.engines.sampling import sampling_of
from sfumato.engines.sources.sources import CsvFile, DataSource, ParquetFile
from sfumato.engines.sql.expressions.terms import select, table
from sfumato.engines.sql.lists import list_table
from sfumato.engines.sql.lowering import Lowered, added_up, exact_groups, lower, presented, shown_sql
from sfumato.numeric.rationals import positive_integer
from sfumato.privacy.secret import Secret
from sfumato.query.analysis.shape import Metric, shape_of
from sfumato.query.model.schema import Table
from sfumato.query.model.statement import Statement, counts_cells

_BUCKETS: Final = "buckets"
_MOST_BUCKETS: Final = 1_000_000
_COMPUTED: Final = "computed the exact values of a query"
_FAILURES: Final = (duckdb.Error, pa.ArrowException, OSError, csv.Error, UnicodeError, MemoryError, RuntimeError)
"""Of the database and of sources; RuntimeError is what the database's bindings make of text that is not Unicode."""


class DuckDBEngine:
    """Holds sources by table name in one in-memory database.

    Args:
        sources: Where the rows of each table come from; nothing of them is read before the first run.
        sampling: By which hash units above a limit are sampled: `"native"`, the engine's own, or `"md5"`, which is
            slower and keeps the same rows on every engine.
        memory_limit: The most memory to use, as `"4GB"`; None leaves the engine's own.
        threads: How many threads to use; None leaves the engine's own.
        buckets: In how many parts units are handled one after the other where rows have owners, and groups by the
            million where they have none: more of them need less memory and more time.

    Raises:
        ParameterError: A setting that cannot be used.
    """

    name = "duckdb"

    def __init__(
        self, sources: Mapping[str, DataSource], *, sampling: str = "native", memory_limit: str | None = None,
        threads: int | None = None, buckets: int = 1,
    ) -> None:  # fmt: skip
        self._sampling = sampling_of(sampling)
        self._buckets = positive_integer(buckets, "buckets", most=_MOST_BUCKETS)
        self._lock = threading.Lock()
        self._database = connected(memory_limit=memory_limit, threads=threads)
        self._tables = TypedTables(self._database, sources)
        self._prepared = PreparedTables(self._database, self._tables)
        lock_down(self._database, [one.path for one in sources.values() if isinstance(one, ParquetFile)])
        self._files = [one.path for one in sources.values() if isinstance(one, CsvFile | ParquetFile)]

    def run(self, statement: Statement, *, salt: str) -> Secret[ExactGroups]:
        """See `Engine.run`."""
        with self._lock:
            with failing(self.name, "opened a source", _FAILURES, cause=self._cause):
                catalogue = self._prepared.catalogue(statement.rows)
                lowered = lower(statement, catalogue, dialect=DUCKDB, salt=salt, sampling=self._sampling)
            with failing(self.name, _COMPUTED, _FAILURES, cause=self._cause), self._lists(lowered):
                query = presented(lowered, self._totals(statement, lowered, salt))
                columns: Mapping[str, Any] = self._database.execute(_written(query)).fetchnumpy()
                return Secret(exact_groups(lowered, columns))

    def batches(self, statement: Statement, *, salt: str, size: int) -> Generator[Secret[ExactGroups], None, None]:
        """See `Streaming.batches`."""
        with self._lock, failing(self.name, _COMPUTED, _FAILURES, cause=self._cause):
            lowered = self._lowered(statement, salt, bucket=None)
            with self._lists(lowered):
                for query in self._parts(statement, lowered, salt):
                    with self._database.sql(_written(query)).to_arrow_reader(
                        size
                    ) as reader:  # let go before the lists are
                        for batch in reader:
                            columns = {name: batch[name].to_numpy(zero_copy_only=False) for name in batch.schema.names}
                            yield Secret(exact_groups(lowered, columns))

    @property
    def sampling(self) -> str:
        """See `Engine.sampling`."""
        return self._sampling.named(self.name)

    def sql(self, statement: Statement, /) -> str:
        """See `Engine.sql`; tables are called as the policy calls them."""
        return shown_sql(statement, sampling=self._sampling, dialect=DUCKDB)

    def prepare(self, table: Table) -> None:
        """Store a table by its units, which makes queries about it faster and changes no answer.

        It stays as it is stored, also if it is prepared again: what the source says later, the next session sees.

        Args:
            table: One whose rows have owners; others are left where they are.

        Raises:
            EngineError: The engine failed; without its text.
        """
        with self._lock, failing(self.name, "prepared a table", _FAILURES):
            self._prepared.prepare(table)

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    def _lowered(self, statement: Statement, salt: str, *, bucket: int | None) -> Lowered:
        place = None if bucket is None else (bucket, self._buckets)
        catalogue = self._prepared.catalogue(statement.rows)
        return lower(statement, catalogue, dialect=DUCKDB, salt=salt, sampling=self._sampling, bucket=place)

    def _cause(self, error: BaseException) -> str | None:
        """The class of a failure, unless a file is gone or somebody pressed a key."""
        is_of_no_row = isinstance(error, duckdb.InterruptException) or not all(one.is_file() for one in self._files)
        return None if is_of_no_row else cause_of(error)

    def _parts(self, statement: Statement, lowered: Lowered, salt: str) -> Iterator[exp.Select]:
        """Queries that give different groups, and together all of them: in buckets, where each row is a unit."""
        if shape_of(statement.rows).metric is Metric.UNITS or not statement.keys:
            yield presented(lowered, self._totals(statement, lowered, salt))
            return
        for bucket in range(self._buckets):
            own = self._lowered(statement, salt, bucket=bucket)
            yield presented(own, own.totals)

    def _totals(self, statement: Statement, lowered: Lowered, salt: str) -> exp.Select:
        """The totals, or where units are handled in buckets the table in which those were added up."""
        if (
            self._buckets == 1
            or shape_of(statement.rows).metric is not Metric.UNITS
            or counts_cells(statement.measures)
        ):
            return lowered.totals  # those of disjoint units add up; the number of different cells does not
        for bucket in range(self._buckets):
            own = self._lowered(statement, salt, bucket=bucket).totals
            so_far = added_up(lowered, table(_BUCKETS), own) if bucket else own
            self._database.execute(f"CREATE OR REPLACE TEMP TABLE {_BUCKETS} AS {sql(so_far)}")
        return select([], table(_BUCKETS))

    @contextmanager
    def _lists(self, lowered: Lowered) -> Iterator[None]:
        """The lists of public keys and cells, as tables; after it neither these nor the buckets are left."""
        for group in lowered.lists:
            self._database.register(group.table, list_table(group))
        try:
            yield
        finally:
            for group in lowered.lists:
                self._database.unregister(group.table)
            if self._buckets > 1:
                self._database.execute(f"DROP TABLE IF EXISTS {_BUCKETS}")


def _written(query: exp.Expr) -> str:
    """In SQL, of which each text is Unicode: else the database would say of it what it says of rows."""
    written = sql(query)
    written.encode()
    return written
