"""Run the exact half of a question on an engine, for tests alone: nothing here adds noise.

Engines sample by MD5 unless told otherwise, so that they can be compared to the last row.
"""

from functools import partial

from sfumato.engines.base import ExactGroups, aligned, groups
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.reference.engine import ReferenceEngine
from sfumato.engines.sources.sources import ArrowData, CsvFile, LazyData, ParquetFile, open_source, readable
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE
from sfumato.query.model.facts import Edition
from sfumato.query.model.relations import Relation, Source, tables_of
from sfumato.query.model.schema import Table
from sfumato.query.model.statement import Statement
from sfumato.query.planning.questions import Aggregate
from sfumato.query.planning.sections import draft
from sfumato.query.sql.questions import parse_question

SALT = "00112233445566778899aabbccddeeff"
ENGINES = {"duckdb": partial(DuckDBEngine, sampling="md5"), "reference": ReferenceEngine}
DATABASES = {}
"""Engines into which data has to be put first, and what does that, if a test has started one."""


def question(sql: str, *rows: Table | Relation) -> Aggregate:
    """What a question releases; a relation that is no table is called by the name of its first table."""
    relations = [Source(one) if isinstance(one, Table) else one for one in rows]
    return parse_question(sql, {tables_of(relation)[0].name: relation for relation in relations}).child


def statement(sql: str, *rows: Table | Relation, edition: Edition = Edition.FIRST) -> Statement:
    """The main statement of a question; by the first rules, in which each sum is measured as it is asked."""
    asked = question(sql, *rows)
    drafted = draft(asked, asked.child.keys, neighboring_relation=ADD_OR_REMOVE_ONE, edition=edition)
    return drafted.statements[0]


def started(engine: str, asked: Statement, data, **options):
    """An engine of a name over data by the names of tables; or over the data of the only table."""
    tables = tables_of(asked.rows)
    stored = data if isinstance(data, dict) else {tables[0].name: data}
    sources = {table.name: _source(stored[table.name], table) for table in tables}
    if engine in DATABASES:
        return DATABASES[engine]({table.name: (table, sources[table.name]) for table in tables}, **options)
    return ENGINES[engine](sources, **options)


def found(engine: str, asked: Statement, data, *, salt: str = SALT, **options) -> ExactGroups:
    """What an engine finds."""
    running = started(engine, asked, data, **options)
    try:
        return running.run(asked, salt=salt).open_for_noise()
    finally:
        running.close()


def by_place(answer: ExactGroups) -> dict[tuple, list[int]]:
    """The amounts of each group, or of each cell of it."""
    size = len(answer.amounts[0])
    keys = list(zip(*answer.keys, strict=True)) if answer.keys else [()] * size
    cells = [()] * size if answer.cells is None else [(cell,) for cell in answer.cells]
    return {
        (*key, *cell): [int(amounts[place]) for amounts in answer.amounts]
        for place, (key, cell) in enumerate(zip(keys, cells, strict=True))
    }


def ask(engine: str, sql: str, rows: Table | Relation, data, *, salt: str = SALT) -> list[list[int]]:
    """The measures of every public group, as they are before noise."""
    asked = statement(sql, rows)
    return aligned(asked, found(engine, asked, data, salt=salt), groups(asked)).tolist()


def count_where(engine: str, condition: str, table: Table, data) -> int:
    """How many rows of a table a condition keeps."""
    return ask(engine, f"SELECT COUNT(*) FROM {table.name} WHERE {condition}", table, data)[0][0]  # a test


def _source(data, table: Table):
    return (
        data if isinstance(data, ArrowData | CsvFile | LazyData | ParquetFile) else readable(open_source(data), table)
    )
