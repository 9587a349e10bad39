"""The embedded engine: DuckDB, in this process, over files and frames.

A CSV file is read once, every field as text, into a typed table of declared columns; other sources stay where they are.
"""

import re
import threading
from collections.abc import Mapping
from pathlib import Path

import duckdb
from sqlglot import exp

from sfumato.engines.base import Integers, aligned
from sfumato.engines.lowering import lower
from sfumato.engines.sources import ArrowData, CsvFile, DataSource, ParquetFile
from sfumato.engines.sql_terms import column, stripped
from sfumato.engines.sql_typing import lower_typed
from sfumato.errors import EngineError
from sfumato.privacy.secret import Secret
from sfumato.query.plan import Statement
from sfumato.query.relations import table_of
from sfumato.query.schema import Table

_RAW = "raw {}"
_MAX_LINE = 2**24


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

    def run(self, statement: Statement, *, salt: str) -> Secret[Integers]:
        """See `Engine.run`."""
        sql = lower(statement, salt=salt).sql(dialect="duckdb")
        key_count = len(statement.keys)
        with self._lock:
            self._prepare(table_of(statement.rows))
            try:
                rows = self._database.execute(sql).fetchall()
            except duckdb.Error:
                raise EngineError(self.name, "computed the exact half of a question") from None
        found = {row[:key_count]: [amount or 0 for amount in row[key_count:]] for row in rows}
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
            raw = self._raw(table.name, source)
            storage = {
                row[0]: str(row[1]).split("(")[0] for row in self._database.execute(f"DESCRIBE {raw}").fetchall()
            }
            kind = "TABLE" if isinstance(source, CsvFile) else "VIEW"
            select = _typed_columns(table, storage).from_(raw)
            self._database.execute(f"CREATE {kind} {_quoted(table.name)} AS {select.sql(dialect='duckdb')}")
        except duckdb.Error:
            raise EngineError(self.name, "opened a source") from None
        self._ready.add(table.name)

    def _raw(self, name: str, source: DataSource) -> str:
        """A view of a source as it is stored, and its quoted name."""
        raw = _quoted(_RAW.format(name))
        match source:
            case ArrowData(data, _):
                self._database.register(_RAW.format(name), data)
            case ParquetFile(path, _):
                self._database.read_parquet(_literal_path(path)).create_view(_RAW.format(name))
            case CsvFile():
                self._database.execute(f"CREATE VIEW {raw} AS {_read_csv(source)}")
        return raw


def _typed_columns(table: Table, storage: Mapping[str, str]) -> exp.Select:
    """Every declared column under its declared name."""
    return exp.select(
        *(lower_typed(name, facts.kind, storage[name]).as_(name, quoted=True) for name, facts in table.columns.items())
    )


def _read_csv(source: CsvFile) -> str:
    """All fields as text without spaces around them, empty ones NULL; broken rows are cut, filled or left out."""
    fields = exp.Struct(
        expressions=[
            exp.PropertyEQ(this=exp.Literal.string(name), expression=exp.Literal.string("VARCHAR"))
            for name in source.names
        ]
    )
    options: dict[str, exp.Expr] = {
        "header": exp.Boolean(this=source.has_header), "auto_detect": exp.false(), "columns": fields,
        "delim": exp.Literal.string(","), "quote": exp.Literal.string('"'), "escape": exp.Literal.string('"'),
        "null_padding": exp.true(), "strict_mode": exp.false(), "ignore_errors": exp.true(),
        "parallel": exp.false(), "max_line_size": exp.Literal.number(_MAX_LINE),
    }  # fmt: skip
    arguments: list[exp.Expr] = [exp.Literal.string(_literal_path(source.path))]
    arguments += [exp.PropertyEQ(this=exp.to_identifier(name), expression=value) for name, value in options.items()]
    columns = [
        exp.Nullif(this=stripped(column(name)), expression=exp.Literal.string("")).as_(name, quoted=True)
        for name in source.names
    ]
    call = exp.Anonymous(this="read_csv", expressions=arguments)
    return exp.select(*columns).from_(exp.Table(this=call)).sql(dialect="duckdb")


def _literal_path(path: Path) -> str:
    """A path of which no character is a wildcard."""
    return re.sub(r"[*?\[]", r"[\g<0>]", str(path))


def _quoted(name: str) -> str:
    return exp.to_identifier(name, quoted=True).sql(dialect="duckdb")
