"""The slow engine in plain Python, nothing clever: the oracle that every other engine is tested against.

It reads whole sources into memory, and computes by `groups` and `relations`, which need no source.
"""

import csv
from collections.abc import Generator, Mapping

import pyarrow as pa

from sfumato.engines.base import ExactGroups, cause_of, failing, in_batches
from sfumato.engines.reference.groups import exact_groups
from sfumato.engines.reference.relations import relation_rows
from sfumato.engines.sources.sources import DataSource, stored_rows
from sfumato.privacy.secret import Secret
from sfumato.query.model.schema import Table
from sfumato.query.model.statement import Statement
from sfumato.query.values.cells import Row, typed


class ReferenceEngine:
    """Holds sources by table name and computes statements row by row.

    Edge cases: a source is read anew for each statement, so one that changes meanwhile is seen as it is by then.

    Args:
        sources: Where the rows of each table come from.
    """

    name = "reference"
    sampling = "md5"

    def __init__(self, sources: Mapping[str, DataSource]) -> None:
        self._sources = dict(sources)

    def run(self, statement: Statement, *, salt: str) -> Secret[ExactGroups]:
        """See `Engine.run`."""
        return Secret(self._found(statement, salt))

    def batches(self, statement: Statement, *, salt: str, size: int) -> Generator[Secret[ExactGroups], None, None]:
        """See `Streaming.batches`."""
        return (Secret(one) for one in in_batches(self._found(statement, salt), size=size))

    def sql(self, _: Statement) -> str:
        """Nothing: it runs no SQL."""
        return ""

    def close(self) -> None:
        """Nothing is held open."""

    def _found(self, statement: Statement, salt: str) -> ExactGroups:
        with failing(self.name, "read a source", (OSError, csv.Error, pa.ArrowException), cause=cause_of):
            rows = relation_rows(statement.rows, self._read, salt=salt)
        return exact_groups(statement, rows, salt=salt)

    def _read(self, table: Table) -> list[Row]:
        records = stored_rows(self._sources[table.name], table).to_pylist()
        return [
            {name: typed(record.get(name), column) for name, column in table.columns.items()} for record in records
        ]  # fmt: skip
