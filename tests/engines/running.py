"""Run a question's exact half on an engine, for tests alone: nothing here adds noise."""

from sfumato.engines.duckdb import DuckDBEngine
from sfumato.engines.reference import ReferenceEngine
from sfumato.engines.sources import ArrowData, CsvFile, ParquetFile, open_source, readable
from sfumato.query.bounding import enforce_limits
from sfumato.query.compile import exact_half
from sfumato.query.relations import Aggregate, Rows, Source, table_of
from sfumato.query.schema import Table
from sfumato.query.sql import parse_question

SALT = "00112233445566778899aabbccddeeff"
ENGINES = {"duckdb": DuckDBEngine, "reference": ReferenceEngine}


class PlainRows:
    """Rows as the reference engine reads them from Arrow, without the time it takes to make a table."""

    def __init__(self, rows):
        self._rows = rows

    def to_pylist(self):
        return self._rows


def plain(rows, names):
    return ArrowData(PlainRows(rows), tuple(names))


def question(sql: str, rows: Table | Rows) -> Aggregate:
    rows = Source(rows) if isinstance(rows, Table) else rows
    return parse_question(sql, {table_of(rows).name: rows})


def exact(engine: str, asked: Aggregate, data, *, salt: str = SALT) -> list[list[int]]:
    """The measures of every group, as they are before noise."""
    statement, _, _ = exact_half(enforce_limits(asked))
    table = table_of(asked.child.child)
    source = data if isinstance(data, ArrowData | CsvFile | ParquetFile) else readable(open_source(data), table)
    running = ENGINES[engine]({table.name: source})
    try:
        return running.run(statement, salt=salt).open_for_noise().tolist()
    finally:
        running.close()


def ask(engine: str, sql: str, table: Table | Rows, data, *, salt: str = SALT) -> list[list[int]]:
    return exact(engine, question(sql, table), data, salt=salt)


def count_where(engine: str, condition: str, table: Table, data) -> int:
    return ask(engine, f"SELECT COUNT(*) FROM {table.name} WHERE {condition}", table, data)[0][0]  # a test
