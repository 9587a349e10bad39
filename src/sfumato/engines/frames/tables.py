"""The frames that relations are read from: typed at their first use, from wherever their rows are stored."""

from collections.abc import Mapping
from pathlib import Path

import polars as pl
from polars.selectors import by_name

from sfumato.engines.arrow_tables import parquet_schema, read_parquet
from sfumato.engines.csv_files import batches, rows
from sfumato.engines.frames.sources import is_computed, owned_rows, typed_columns
from sfumato.engines.sources import ArrowData, CsvFile, DataSource, LazyData, ParquetFile
from sfumato.query.schema import Table


class TypedFrames:
    """Makes a frame of `Rows` of every table that is asked for, once.

    Args:
        sources: Where the rows of each table come from.
    """

    def __init__(self, sources: Mapping[str, DataSource | LazyData]) -> None:
        self._sources = dict(sources)
        self._made: list[tuple[Table, pl.LazyFrame]] = []

    def named(self, table: Table) -> pl.LazyFrame:
        """The typed frame; it is made if there is none yet.

        Raises:
            polars.exceptions.PolarsError: It cannot be made.
            OSError: The source is gone.
        """
        for made, frame in self._made:
            if made == table:
                return frame
        frame = self._make(table)
        self._made.append((table, frame))
        return frame

    def _make(self, table: Table) -> pl.LazyFrame:
        """In memory what is read once, or has to be looked up; all else stays where it is."""
        frame = owned_rows(table, _typed(table, self._sources[table.name]), self.named)
        return frame.collect(engine="streaming").lazy() if is_computed(table) else frame


def _typed(table: Table, source: DataSource | LazyData) -> pl.LazyFrame:
    """The declared columns of a source."""
    match source:
        case LazyData(frame, _):
            return typed_columns(table, frame)
        case ArrowData(data, _):
            stored = pl.DataFrame(pl.from_arrow(data.select(list(table.columns)), rechunk=False))
            return typed_columns(table, stored.lazy())
        case ParquetFile(path, _):
            return typed_columns(table, _scanned(table, path))
        case CsvFile(path, names, has_header):
            records = batches(rows(path, names=names, has_header=has_header), names=names, wanted=table.columns)
            parts = [typed_columns(table, pl.DataFrame(batch).lazy()).collect() for batch in records]
            none = typed_columns(table, pl.LazyFrame(schema=dict.fromkeys(table.columns, pl.String))).collect()
            return pl.concat([none, *parts]).lazy()  # the text of a batch is gone when the next one is read


def _scanned(table: Table, path: Path) -> pl.LazyFrame:
    """The file in place; but its columns in memory, read and repaired by Arrow, where Polars cannot read them all."""
    parquet_schema(path)  # of a file that is gone an error, also if nothing of it is needed
    try:
        stored = pl.scan_parquet(path, glob=False, hive_partitioning=False).select(by_name(*table.columns))
        texts = [name for name, storage in stored.collect_schema().items() if storage == pl.String]
        if texts:  # some of which may not be UTF-8
            stored.select(by_name(texts).as_expr().str.len_bytes().sum()).collect(engine="streaming")
    except pl.exceptions.PolarsError:
        return pl.DataFrame(pl.from_arrow(read_parquet(path, table), rechunk=False)).lazy()
    return stored
