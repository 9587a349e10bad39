"""Spark: tables and DataFrames where they are, asked in a session of the engine's own."""

from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

import pyarrow as pa
from pyspark.core.rdd import RDD
from pyspark.serializers import NoOpSerializer
from pyspark.sql.pandas.types import to_arrow_schema
from sqlglot import exp

from sfumato.engines.base import Cause, ExactGroups, failing
from sfumato.engines.sampling import sampling_of
from sfumato.engines.sources.sources import Opened
from sfumato.engines.spark.dialect import SPARK, sql
from sfumato.engines.spark.session import FAILURES, OwnSession, cause_of, quiet
from sfumato.engines.spark.tables import SparkTables
from sfumato.engines.sql.lowering import Lowered, exact_groups, lower, presented, shown_sql
from sfumato.engines.sql.relations import Catalogue
from sfumato.errors import ParameterError
from sfumato.privacy.secret import Secret
from sfumato.query.model.relations import tables_of
from sfumato.query.model.schema import Table
from sfumato.query.model.statement import Statement

_ZONE: Final = "UTC"


class SparkEngine:
    """Holds sources by table name in a session of its own, whose settings are its own too.

    Args:
        sources: Where the rows of each table come from: tables of Spark, of which names and types are asked now, and
            nothing else before the first run; or files and frames, which are then sent to it.
        session: A `SparkSession`, classic or of Spark Connect, whose tables and temporary views are meant; it stays as
            it is. None, with neither of the next two: that of the DataFrames among the sources.
        master: A cluster to start an application on, as `"local[4]"` or `"spark://host:7077"`.
        remote: A Spark Connect server, as `"sc://host:15002"`.
        sampling: By which hash units above a limit are sampled: `"native"`, the engine's own, or `"md5"`, which is
            slower and keeps the same rows on every engine.

    Raises:
        ParameterError: A setting that cannot be used, no such table, or one that cannot be read as declared.
        EngineError: Spark cannot be reached, or failed; without its text.
    """

    name = "spark"

    def __init__(
        self, sources: Mapping[str, Opened], *, session: Any = None, master: str | None = None,
        remote: str | None = None, sampling: str = "native",
    ) -> None:  # fmt: skip
        self._sampling = sampling_of(sampling)
        with self._failing("opened a source"):
            self._own = OwnSession(sources, session=session, master=master, remote=remote)
            try:
                self._tables = SparkTables(self._own.spark, self._own.located(sources))
            except (*FAILURES, ParameterError):
                self._own.close()
                raise

    def run(self, statement: Statement, *, salt: str) -> Secret[ExactGroups]:
        """See `Engine.run`."""
        with self._answer(statement, salt) as (lowered, answer):
            stored: Any = answer.toArrow()
            return Secret(exact_groups(lowered, {name: stored[name].to_numpy() for name in stored.column_names}))

    def batches(self, statement: Statement, *, salt: str, size: int) -> Generator[Secret[ExactGroups], None, None]:
        """See `Streaming.batches`; of the answer one partition at a time is here."""
        with self._answer(statement, salt) as (lowered, answer):
            for batch in _batches_of(answer, size=size):
                yield Secret(
                    exact_groups(
                        lowered, {name: batch[name].to_numpy(zero_copy_only=False) for name in batch.schema.names}
                    )
                )

    def rows(self, table: Table) -> Generator[Any, None, None]:
        """See `Whole.rows`."""
        with self._failing("read all rows of a table"):
            yield self._own.spark.sql(sql(self._tables.whole(table))).toArrow()

    @property
    def sampling(self) -> str:
        """See `Engine.sampling`."""
        return self._sampling.named(self.name)

    def sql(self, statement: Statement, /) -> str:
        """See `Engine.sql`; tables are called as the policy calls them."""
        return shown_sql(statement, sampling=self._sampling, dialect=SPARK)

    def storage(self, table: Table) -> Mapping[str, str]:
        """What the lowering calls the types in which the columns of a table of Spark are stored."""
        return self._tables.stored[table.name]

    @property
    def spark(self) -> Any:
        """The session that it asks."""
        return self._own.spark

    def close(self) -> None:
        """Leave the session of its own, and end the application if it is its own too."""
        self._own.close()

    @contextmanager
    def _answer(self, statement: Statement, salt: str) -> Iterator[tuple[Lowered, Any]]:
        """The statement in SQL, and the DataFrame of its answer, of which nothing is computed yet."""
        with self._failing("opened a source", cause=cause_of):
            for source in tables_of(statement.rows):
                self._tables.named(source)
                self._tables.check(source)
        with self._failing("computed the exact values of a query", cause=cause_of):
            catalogue = Catalogue(named=self._tables.named)
            lowered = lower(statement, catalogue, salt=salt, sampling=self._sampling, dialect=SPARK)
            query = presented(lowered, lowered.totals)
            with self._tables.lists(lowered.lists) as lists:
                for name, stored in lists.items():
                    query = query.with_(exp.to_identifier(name, quoted=True), as_=stored, copy=False)
                yield lowered, self._own.spark.sql(sql(query))

    @contextmanager
    def _failing(self, phase: str, *, cause: Cause | None = None) -> Iterator[None]:
        with quiet(), failing(self.name, phase, FAILURES, cause=cause):
            yield


def _batches_of(answer: Any, *, size: int) -> Iterator[Any]:
    """The rows of a DataFrame in Arrow batches, which executors make: as Python objects they would take far longer."""
    found = _of_server(answer) if hasattr(answer, "_plan") else _of_application(answer, size)
    for batch in found:
        for start in range(0, batch.num_rows, size):
            yield batch.slice(start, size)


def _of_application(answer: Any, size: int) -> Iterator[Any]:
    """Messages without a schema, of one partition after another; the next one is computed meanwhile."""
    schema = to_arrow_schema(answer.schema, timezone=_ZONE)
    context = answer.sparkSession.sparkContext
    made = answer._jdf.toArrowBatchRdd(size, _ZONE, False, False)  # noqa: SLF001 # has no public name
    messages: Iterator[Any] = RDD(made.toJavaRDD(), context, NoOpSerializer()).toLocalIterator(prefetchPartitions=True)
    for message in messages:
        yield pa.ipc.read_record_batch(message, schema)


def _of_server(answer: Any) -> Iterator[Any]:
    """Tables, and before them their types."""
    client, plan = answer.sparkSession.client, answer._plan  # noqa: SLF001 # has no public name
    for piece in client.to_table_as_iterator(plan.to_proto(client), plan.observations):
        if isinstance(piece, pa.Table):
            yield from piece.to_batches()
