"""Where rows come from: CSV and Parquet files, Arrow tables, pandas and Polars frames.

Only names are read when a source is opened: the header of a CSV file, or the names a frame already knows.
"""

import csv
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TextIO, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.errors import EngineError, ParameterError

_MAX_FIELD: Final = 2**31 - 1


@dataclass(frozen=True, slots=True)
class CsvFile:
    """A CSV file in UTF-8; every field is text, spaces around it are not part of it, and an empty one is NULL."""

    path: Path
    names: tuple[str, ...]
    has_header: bool


@dataclass(frozen=True, slots=True)
class ParquetFile:
    """A Parquet file."""

    path: Path
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ArrowData:
    """An Arrow table in memory."""

    table: Any = field(repr=False)  # pyarrow.Table, which ships no types and shows its rows
    names: tuple[str, ...]


DataSource: TypeAlias = CsvFile | ParquetFile | ArrowData


def open_source(source: object, *, names: tuple[str, ...] | None = None) -> DataSource:
    """The source behind a path or a frame.

    Args:
        source: A path to a Parquet file (.parquet) or a CSV file (any other), or an Arrow, pandas or Polars frame.
        names: The columns of a CSV file without a header.

    Raises:
        ParameterError: No such file, no kind of source that is known here, or two columns of one name.
    """
    if isinstance(source, str | Path):
        return _with_distinct_names(_file(Path(source), names))
    table = _arrow(source)
    return _with_distinct_names(ArrowData(table, tuple(table.column_names)))


def _with_distinct_names(source: DataSource) -> DataSource:
    """Engines ignore case, so names that differ in nothing else would be mixed up."""
    if len({name.lower() for name in source.names}) != len(source.names):
        raise ParameterError("source", ", ".join(source.names), "must have column names that differ in more than case")
    return source


def csv_rows(source: CsvFile) -> Iterator[list[str | None]]:
    """The rows of a CSV file, each cut or filled to its names; rows that are not UTF-8 are left out."""
    with source.path.open(newline="", encoding="utf-8-sig", errors="surrogateescape") as file:
        reader = _reader(file)
        if source.has_header:
            next(reader, None)
        for row in reader:
            if not row and len(source.names) > 1:  # an empty line; in a file of one column it is an empty field
                continue
            if not any(_broken(field) for field in row):
                fields = [field.strip(" ") or None for field in row[: len(source.names)]]
                yield fields + [None] * (len(source.names) - len(fields))


def _reader(file: TextIO) -> Iterator[list[str]]:
    csv.field_size_limit(_MAX_FIELD)  # or a single long field would be an error, which tells that there is one
    return csv.reader(file)


def _broken(field: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in field)


def _file(path: Path, names: tuple[str, ...] | None) -> DataSource:
    if not path.is_file():
        raise ParameterError("source", str(path), "must be an existing file (CSV or Parquet), or a frame")
    if path.suffix.lower() in {".parquet", ".pq"}:
        return ParquetFile(path, _parquet_names(path))
    if names is not None:
        return CsvFile(path, names, has_header=False)
    return CsvFile(path, _header(path), has_header=True)


def _header(path: Path) -> tuple[str, ...]:
    try:
        with path.open(newline="", encoding="utf-8-sig", errors="replace") as file:
            header = next(_reader(file), [])
    except OSError:
        raise ParameterError("source", path.name, "must be a file that can be read") from None
    names = tuple(name.strip(" ") for name in header)
    if not names or "" in names or len(set(names)) != len(names):
        raise ParameterError("source", path.name, "must start with a header of distinct column names, or get names=")
    return names


def _parquet_names(path: Path) -> tuple[str, ...]:
    try:
        return tuple(pq.read_schema(path).names)
    except (pa.ArrowException, OSError):
        raise EngineError("parquet", "read the schema of the file") from None


def _arrow(frame: Any) -> Any:
    """A frame as an Arrow table; columns of Python objects become text, so that no cell decides a column's type."""
    if isinstance(frame, pa.Table):
        return _readable(frame)
    module = type(frame).__module__.partition(".")[0]
    if module == "polars":
        collected = frame.collect() if hasattr(frame, "collect") else frame  # a LazyFrame
        return collected.to_arrow()
    if module == "pandas":
        return pa.table({str(name): _pandas_column(frame[name]) for name in frame.columns})
    raise ParameterError("source", type(frame).__name__, "must be a path, or an Arrow, pandas or Polars frame")


def _readable(table: Any) -> Any:
    """A table without the two types that engines cannot read; refused now, because a question would be paid for."""
    for column in table.schema:
        if pa.types.is_float16(column.type) or pa.types.is_decimal256(column.type):
            raise ParameterError("source", column.name, f"is of type {column.type}; cast it to a double first")
    return table


def _pandas_column(column: Any) -> Any:
    if column.dtype == object:
        texts = [None if missing else _unicode(value) for value, missing in zip(column, column.isna(), strict=True)]
        return pa.array(texts, pa.string())
    return pa.array(column, from_pandas=True)


def _unicode(value: object) -> str:
    """The text of a value; unpaired surrogates, which would be an error that tells of them, become question marks."""
    return str(value).encode(errors="replace").decode()
