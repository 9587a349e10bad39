"""The embedded engine: DuckDB, in this process, over files and frames.

A CSV file is read once, every field as text, into a typed table of declared columns; other sources stay where they are.
"""

import csv
import re
import threading
from collections.abc import Mapping
from pathlib import Path

import duckdb
import pyarrow as pa
from sqlglot import exp

from sfumato.engines.arrow_tables import read_parquet
from sfumato.engines.base import Integers, aligned
from sfumato.engines.csv_files import batches, rows
from sfumato.engines.lowering import TYPED, lower
from sfumato.engines.sources import ArrowData, CsvFile, DataSource, ParquetFile
from sfumato.engines.sql_terms import column, function
from sfumato.engines.sql_typing import lower_typed
from sfumato.errors import EngineError
from sfumato.privacy.secret import Secret
from sfumato.query.plan import Statement
from sfumato.query.relations import table_of
from sfumato.query.schema import Table


class DuckDBEngine:
    """Holds sources by table name in one in-memory database.

    Args:
        sources: Where the rows of each table come from; nothing of them is read before the first run.
    """

    name = "duckdb"

    def __init__(self, sources: Mapping[str, DataSource]) -> None:
        self._sources = dict(sources)
        self._ready: set[str] = set()
        self._lock = threading.Lock()
        self._database = duckdb.connect(
            config={"autoinstall_known_extensions": False, "autoload_known_extensions": False}
        )  # fmt: skip
        self._database.execute(f"CREATE SCHEMA {TYPED}")

    def run(self, statement: Statement, *, salt: str) -> Secret[Integers]:
        """See `Engine.run`."""
        sql = lower(statement, salt=salt).sql(dialect="duckdb")
        key_count = len(statement.keys)
        with self._lock:
            self._prepare(table_of(statement.rows))
            try:
                found_rows = self._database.execute(sql).fetchall()
            except duckdb.Error:
                raise EngineError(self.name, "computed the exact half of a question") from None
        found = {row[:key_count]: [amount or 0 for amount in row[key_count:]] for row in found_rows}
        return aligned(statement, found)

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    def _prepare(self, table: Table) -> None:
        """Make the typed table or view of a source, at its first use."""
        if table.name in self._ready:
            return
        source = self._sources[table.name]
        try:
            raw = f"raw {len(self._ready)}"  # in another schema than the typed tables, so that no name can collide
            storage = self._store(raw, table, source)
            kind = "TABLE" if isinstance(source, CsvFile) else "VIEW"
            select = _typed_columns(table, storage).from_(_quoted(raw))
            name = _quoted(table.name, db=TYPED).sql(dialect="duckdb")
            self._database.execute(f"CREATE {kind} {name} AS {select.sql(dialect='duckdb')}")
        except (duckdb.Error, pa.ArrowException, OSError, csv.Error):
            raise EngineError(self.name, "opened a source") from None
        self._ready.add(table.name)

    def _store(self, raw: str, table: Table, source: DataSource) -> Mapping[str, str]:
        """Make a view of a source as it is stored, and say the types of its columns."""
        match source:
            case ArrowData(data, _):
                self._database.register(raw, data)
            case ParquetFile():
                self._store_parquet(raw, table, source)
            case CsvFile(path, names, has_header):
                records = rows(path, names=names, has_header=has_header)
                self._database.register(raw, batches(records, names=names, wanted=table.columns))
                return dict.fromkeys(table.columns, "VARCHAR")
        return self._types(raw)

    def _store_parquet(self, raw: str, table: Table, source: ParquetFile) -> None:
        """The file in place; if some text in it is not UTF-8, which the engine would fail on, its repaired columns."""
        self._database.read_parquet(_literal_path(source.path)).create_view(raw)
        storage = self._types(raw)
        texts = [
            function("SUM", function("LENGTH", column(name))) for name in table.columns if storage[name] == "VARCHAR"
        ]
        try:
            self._database.execute(exp.select(*texts, "1").from_(_quoted(raw)).sql(dialect="duckdb")).fetchall()
        except duckdb.Error:
            self._database.execute(f"DROP VIEW {_quoted(raw).sql(dialect='duckdb')}")
            self._database.register(raw, read_parquet(source.path, table))

    def _types(self, name: str) -> Mapping[str, str]:
        described = self._database.execute(f"DESCRIBE {_quoted(name).sql(dialect='duckdb')}").fetchall()
        return {row[0]: str(row[1]).split("(")[0] for row in described}


def _typed_columns(table: Table, storage: Mapping[str, str]) -> exp.Select:
    """Every declared column under its declared name."""
    return exp.select(
        *(lower_typed(name, facts.kind, storage[name]).as_(name, quoted=True) for name, facts in table.columns.items())
    )


def _literal_path(path: Path) -> str:
    """A path of which no character is a wildcard."""
    return re.sub(r"[*?\[]", r"[\g<0>]", str(path))


def _quoted(name: str, db: str | None = None) -> exp.Table:
    return exp.Table(
        this=exp.to_identifier(name, quoted=True), db=None if db is None else exp.to_identifier(db, quoted=True)
    )
