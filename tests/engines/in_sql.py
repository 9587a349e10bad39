"""Terms and queries of SQL, run on DuckDB: for tests alone."""

from functools import cache

import duckdb
import pyarrow as pa

from sfumato.engines.duckdb.dialect import DUCKDB, sql
from sfumato.query.model.kinds import Kind

ARROW = {
    Kind.INTEGER: pa.int64(),
    Kind.FLOAT: pa.float64(),
    Kind.TEXT: pa.string(),
    Kind.BOOLEAN: pa.bool_(),
    Kind.DATE: pa.date32(),
    Kind.TIMESTAMP: pa.timestamp("us"),
}
"""What cells of each kind are stored in."""


@cache
def database():
    return duckdb.connect(config={"python_enable_replacements": False})


def run(query, dialect=DUCKDB, **tables):
    """The rows of a query over Arrow tables by name."""
    for name, data in tables.items():
        database().register(name, data)
    try:
        return database().execute(dialect.sql(query)).fetchall()
    finally:
        for name in tables:
            database().unregister(name)


def values_of(term, cells=None):
    """What a term is on every row of a table: of columns by name, each an Arrow array; of none on one row."""
    data = pa.table(cells or {"nothing": [0]})
    database().register("cells", data)
    try:
        return [value for (value,) in database().execute(f"SELECT {sql(term)} FROM cells").fetchall()]
    finally:
        database().unregister("cells")


def value_of(term):
    """What a term without columns is."""
    (value,) = values_of(term)
    return value
