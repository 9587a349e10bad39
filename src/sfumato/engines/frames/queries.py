"""Lazy frames as sources that stay where they are: of a query only the schema is asked before a question runs it."""

import polars as pl
import pyarrow as pa

from sfumato.engines.arrow_tables import check_types
from sfumato.engines.sources import DataSource, LazyData, check_declared, check_distinct, open_source, readable
from sfumato.errors import ParameterError
from sfumato.query.schema import Table


def open_in_place(source: object, table: Table, *, names: tuple[str, ...] | None = None) -> DataSource | LazyData:
    """The source behind a path or a frame, with what a table declares of it; a lazy frame is not collected.

    Args:
        source: As `sources.open_source` takes it.
        table: What is declared of it.
        names: The columns of a CSV file without a header.

    Raises:
        ParameterError: There is no such source, or it cannot be read as declared.
    """
    if not isinstance(source, pl.LazyFrame):
        return readable(open_source(source, names=names), table)
    try:
        columns = source.collect_schema()
        schema = pl.DataFrame(schema=columns).to_arrow().schema
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, pa.ArrowException, OSError):
        raise ParameterError("source", "a Polars query", "must have a schema of text, numbers or times") from None
    check_distinct(columns.names(), "a frame")
    check_declared(columns.names(), table)
    check_types(schema, table)
    return LazyData(source, tuple(columns.names()))
