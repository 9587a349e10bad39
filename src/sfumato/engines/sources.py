"""Where rows come from: CSV and Parquet files, Arrow tables, pandas and Polars frames.

Only names and types are read when a source is opened: the header of a CSV file, or what a frame's schema says.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

from sfumato.engines.arrow_tables import arrow_table, check_types, parquet_schema, repaired
from sfumato.engines.csv_files import header
from sfumato.engines.postgres_address import Address
from sfumato.errors import ParameterError
from sfumato.query.schema import Table


@dataclass(frozen=True, slots=True)
class CsvFile:
    """A CSV file; every field is text, spaces around it are not part of it, and an empty one is NULL."""

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


@dataclass(frozen=True, slots=True)
class LazyData:
    """A query of Polars that its own engine runs where its rows are; to other engines its result is an Arrow table."""

    frame: Any = field(repr=False)  # polars.LazyFrame, which shows constants of the query
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SparkData:
    """A table of Spark by its name, or a DataFrame of it, which only its own engine reads; and what is declared."""

    where: Any = field(repr=False)  # a str, or a pyspark.sql.DataFrame, which may show rows
    table: Table


@dataclass(frozen=True, slots=True)
class PostgresData:
    """A table of PostgreSQL by its address, which only its own engine reads; and what is declared."""

    address: Address
    table: Table


DataSource: TypeAlias = CsvFile | ParquetFile | ArrowData
"""What every engine reads."""

Opened: TypeAlias = DataSource | LazyData | SparkData | PostgresData
"""What a session opens for its engine."""


def open_source(source: object, *, names: tuple[str, ...] | None = None) -> DataSource:
    """The source behind a path or a frame.

    Args:
        source: A path to a Parquet file (.parquet) or a CSV file (any other), or an Arrow, pandas or Polars frame.
        names: The columns of a CSV file without a header.

    Raises:
        ParameterError: No such file, no kind of source that is known here, or two columns of one name.
    """
    opened = _file(Path(source), names) if isinstance(source, str | Path) else _frame(source)
    shown = "a frame" if isinstance(opened, ArrowData) else opened.path.name  # no names: they may be a row
    check_distinct(opened.names, shown)
    return opened


def readable(source: DataSource, table: Table) -> DataSource:
    """The source with what the table declares of it, of types that can be read whatever they hold.

    Raises:
        ParameterError: A declared column does not exist, or is of a type that cannot be read.
    """
    check_declared(source.names, table)
    match source:
        case CsvFile():
            return source
        case ParquetFile():
            check_types(parquet_schema(source.path), table)
            return source
        case ArrowData():
            check_types(source.table.schema, table)
            return replace(source, table=repaired(source.table.select(list(table.columns))), names=tuple(table.columns))


def check_distinct(names: Sequence[str], shown: str) -> None:
    """Refuse names of columns that engines, which ignore case, would not tell apart.

    Raises:
        ParameterError: There are such names.
    """
    if len({name.lower() for name in names}) != len(names):
        raise ParameterError("source", shown, "must have column names that differ in more than case")


def check_declared(names: Collection[str], table: Table) -> None:
    """Refuse declared columns that a source does not have.

    Raises:
        ParameterError: There is such a column.
    """
    for column in table.columns:
        if column not in names:  # without naming those that exist: a file without a header would show a row
            requirement = f"is no column of {table.name}; check its spelling, or give names= if the file has no header"
            raise ParameterError("columns", column, requirement)


def keeps_rows(source: Opened) -> bool:
    """Whether every record is a row whatever it holds; of a CSV file, whose lines may be empty, it is not said.

    Nor is it of a query or a view, which may read one, or leave rows out.
    """
    return not isinstance(source, CsvFile | LazyData | SparkData | PostgresData)


def _file(path: Path, names: tuple[str, ...] | None) -> DataSource:
    if not path.is_file():
        raise ParameterError("source", str(path), "must be an existing file (CSV or Parquet), or a frame")
    if path.suffix.lower() in {".parquet", ".pq"}:
        return ParquetFile(path, tuple(parquet_schema(path).names))
    return CsvFile(path, header(path) if names is None else names, has_header=names is None)


def _frame(frame: object) -> ArrowData:
    table = arrow_table(frame)
    return ArrowData(table, tuple(table.column_names))
