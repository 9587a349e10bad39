"""Polars LazyFrames: their types when they are opened, their rows in batches when a query needs them.

A LazyFrame may call functions of Python, which raise what they like, with a row in the text; a panic of Polars is no
`Exception` at all. None of it leaves this module, not even as the context of another error.
"""

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, Final

import polars as pl
import pyarrow as pa
from polars.selectors import by_name

from sfumato.engines.sources.arrow_tables import repaired
from sfumato.errors import FailedOnRowsError, ParameterError

_BATCH: Final = 122_880
"""Rows: as many as a row group of DuckDB, so that it writes none twice."""


def schema_of(frame: pl.LazyFrame) -> Any:
    """The Arrow schema of what a LazyFrame gives; no row is read.

    Raises:
        ParameterError: It has none, or a column of a type that Arrow does not know.
    """
    schema = None
    with suppress(Exception, pl.exceptions.PanicException):
        schema = frame.collect_schema().to_frame().to_arrow().schema
    if schema is None:  # said here, because an error keeps what is handled while it is raised
        raise ParameterError("source", "a Polars query", "must have a schema of text, numbers, booleans or times")
    return schema


def stream(frame: pl.LazyFrame, *, schema: Any, wanted: Iterable[str], take: Callable[[Any], None]) -> None:
    """Run a LazyFrame once, and hand on some of its columns in repaired Arrow tables of at most `_BATCH` rows.

    Batches are pushed, by `sink_batches`: the iterator of `collect_batches` (Polars 2.1) just ends when a query panics,
    as if there were no more rows.

    Args:
        frame: The query.
        schema: Its `schema_of` when it was opened.
        wanted: The columns, which the query must still give with the same types.
        take: Gets the tables one after the other, in some thread; the first one is without rows.

    Raises:
        FailedOnRowsError: The query failed or gave other types, or `take` failed; without its text.
    """
    stored = pa.schema([schema.field(name) for name in wanted])

    def hand_on(part: pl.DataFrame) -> None:
        data = part.to_arrow()
        if data.schema != stored:
            raise TypeError
        take(repaired(data))

    failed = False
    try:
        take(repaired(stored.empty_table()))
        frame.select(by_name(*stored.names)).sink_batches(hand_on, chunk_size=_BATCH, engine="streaming")
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 # a function in the query may raise anything
        failed = True
    if failed:  # said here, because an error keeps what is handled while it is raised
        raise FailedOnRowsError("polars", "gave the rows of a LazyFrame", "LazyFrame")
