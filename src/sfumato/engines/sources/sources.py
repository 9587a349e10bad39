"""Where rows come from: CSV and Parquet files, Arrow tables, pandas and Polars frames, tables of databases.

Only names and types are read when a source is opened: the header of a CSV file, or what a frame's schema says. A query
of Polars does not run then.

A table of PostgreSQL has an address such as `postgresql://curator@db.example.org/hospital?table=public.visits`: that of
libpq, with one parameter more, `table`, the name of a table, a view or a foreign table as the catalog has it, case
included, with or without its schema. A name with a point in it stands in double quotes.
"""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, TypeAlias
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

import pyarrow as pa

from sfumato.engines.sources.arrow_tables import (
    arrow_table,
    check_types,
    holds_text,
    is_lazy,
    parquet_schema,
    read_parquet,
    repaired,
)
from sfumato.engines.sources.csv_files import batches, header
from sfumato.engines.sources.csv_text import check_is_csv, suggestion
from sfumato.errors import ParameterError
from sfumato.query.model.csv_format import DEFAULT_FORMAT, CsvFormat
from sfumato.query.model.schema import Table
from sfumato.query.policy.policy import Risk

SPARK_SCHEME: Final = "spark:"
"""What a source begins with that is the name of a table or a view; as a file: spark:parquet.`/folder`."""

_TABLE: Final = "table"
_PART: Final = r'"(?:[^"]|"")+"|[^".]+'
_NAME: Final = re.compile(rf"(?:(?P<schema>{_PART})\.)?(?P<name>{_PART})")
_FORM: Final = "must be like postgresql://user@host/database?table=schema.name"


@dataclass(frozen=True, slots=True)
class PostgresAddress:
    """Where a table is.

    Attributes:
        database: The address of the database as libpq reads it, perhaps with a password.
        shown: The same for people to read: without a password, and without parameters.
        schema: The schema; None for whichever the search path of the role finds.
        name: The name of the table.
    """

    database: str = field(repr=False)
    shown: str
    schema: str | None
    name: str


@dataclass(frozen=True, slots=True)
class CsvFile:
    """A CSV file; every field is text, spaces around it are not part of it, and an empty one is NULL."""

    path: Path
    names: tuple[str, ...]
    has_header: bool
    csv_format: CsvFormat = DEFAULT_FORMAT

    def batches(self, table: Table) -> Any:
        """The columns that a table declares, as `csv_files.batches` says."""
        return batches(
            self.path, names=self.names, has_header=self.has_header, columns=table.columns, csv_format=self.csv_format
        )  # fmt: skip


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
    """A query of Polars, which engines run when they first need its rows."""

    frame: Any = field(repr=False)  # polars.LazyFrame, which shows constants of the query
    schema: Any = field(repr=False)  # pyarrow.Schema

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""
        return tuple(self.schema.names)

    def stream(self, table: Table, take: Callable[[Any], None]) -> None:
        """Run the query, and hand on the columns that a table declares, as `lazy_frames.stream` says."""
        from sfumato.engines.sources.lazy_frames import stream  # noqa: PLC0415 # Polars is an extra

        stream(self.frame, schema=self.schema, wanted=table.columns, take=take)


@dataclass(frozen=True, slots=True)
class SparkData:
    """A table of Spark by its name, or a DataFrame of it, which only its own engine reads; and what is declared."""

    where: Any = field(repr=False)  # a str, or a pyspark.sql.DataFrame, which may show rows
    table: Table
    accepted_risks: Collection[Risk] = ()


@dataclass(frozen=True, slots=True)
class PostgresData:
    """A table of PostgreSQL by its address, which only its own engine reads; and what is declared."""

    address: PostgresAddress
    table: Table
    accepted_risks: Collection[Risk] = ()


DataSource: TypeAlias = CsvFile | ParquetFile | ArrowData | LazyData
"""What every engine reads."""

Opened: TypeAlias = DataSource | SparkData | PostgresData
"""What a session opens for its engine."""


def open_source(
    source: object, *, names: tuple[str, ...] | None = None, csv: CsvFormat | None = None
) -> DataSource:  # fmt: skip
    """The source behind a path or a frame.

    Args:
        source: A path to a Parquet file (.parquet) or a CSV file (any other, which may be compressed: .csv.gz or
            .csv.zst), or an Arrow, pandas or Polars frame.
        names: The columns of a CSV file without a header.
        csv: How a CSV file is written, if otherwise than in UTF-8 with commas.

    Raises:
        ParameterError: No such file, no kind of source that is known here, two columns of one name, or a format for
            what is no CSV file.
    """
    opened = _file(Path(source), names, csv or DEFAULT_FORMAT) if isinstance(source, str | Path) else _frame(source)
    if csv is not None and not isinstance(opened, CsvFile):
        raise _no_csv_file(source)
    shown = opened.path.name if isinstance(opened, CsvFile | ParquetFile) else "a frame"  # no names: they may be a row
    check_distinct(opened.names, shown)
    return opened


def readable(source: DataSource, table: Table) -> DataSource:
    """The source with what the table declares of it, of types that can be read whatever they hold.

    Raises:
        ParameterError: A declared column does not exist, or is of a type that cannot be read.
    """
    if isinstance(source, CsvFile):
        _check_columns(source, table)
    else:
        check_declared(source.names, table)
    match source:
        case CsvFile():
            pass
        case ParquetFile():
            check_types(parquet_schema(source.path), table)
        case ArrowData():
            check_types(source.table.schema, table)
            return replace(source, table=repaired(source.table.select(list(table.columns))), names=tuple(table.columns))
        case LazyData():
            check_types(source.schema, table)
    return source


def open_in_place(
    source: object,
    table: Table,
    *,
    names: tuple[str, ...] | None = None,
    csv: CsvFormat | None = None,
    accepted_risks: Collection[Risk] = (),
) -> Opened:
    """The source behind an address or a DataFrame of Spark, where it is; or as `open_source` and `readable` have it.

    Whether a database has it, and as it is declared, its engine asks when it is opened.

    Args:
        source: An address as `address_of` reads it, the name of a table behind `spark:`, a DataFrame of Spark, or
            as `open_source` takes it.
        table: What is declared of it.
        names: The columns of a CSV file without a header.
        csv: How a CSV file is written.
        accepted_risks: What the owner accepts of a source that stays where it is.

    Raises:
        ParameterError: An address names no table; there is no such file, or it cannot be read as declared.
    """
    is_address = isinstance(source, str) and source.startswith(("postgresql:", "postgres:", SPARK_SCHEME))
    is_spark = type(source).__module__.startswith("pyspark.")
    if csv is not None and (is_address or is_spark):
        raise _no_csv_file(source)
    if isinstance(source, str) and source.startswith(("postgresql:", "postgres:")):
        return PostgresData(address_of(source), table, accepted_risks)
    if isinstance(source, str) and source.startswith(SPARK_SCHEME):
        return SparkData(source.removeprefix(SPARK_SCHEME), table, accepted_risks)
    if is_spark:
        return SparkData(source, table, accepted_risks)
    return readable(open_source(source, names=names, csv=csv), table)


def stored_rows(source: DataSource, table: Table) -> Any:
    """The declared columns as they are stored, as one Arrow table, for engines that read nothing in place.

    Raises:
        pyarrow.ArrowException: They cannot be read.
        OSError: The source is gone.
        csv.Error: A CSV file is none.
        EngineError: A query of Polars failed.
    """
    match source:
        case CsvFile():
            return source.batches(table).read_all()
        case ParquetFile(path, _):
            return read_parquet(path, table)
        case ArrowData(data, _):
            return data
        case LazyData():
            parts: list[Any] = []
            source.stream(table, parts.append)
            return pa.concat_tables(parts)


def may_fail_on_rows(name: str) -> str:
    """What is required of a relation that is computed when it is read, and may fail on some row."""
    return (
        f"reads {name}, which is computed when it is read and may fail on some row: a failing query would reveal"
        ' something about one person. Read a snapshot (snapshot = "rows.parquet" at the table, made by `sfumato'
        " prepare`); or define it by columns, constants, comparisons, COALESCE and CASE alone; or accept it:"
        ' accepted_risks = ["failing_rows"]'
    )


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
            requirement = (
                f"is not a column of {table.name}; check its spelling, or give names= if the file has no header"
            )
            raise ParameterError("columns", column, requirement)


def keeps_rows(source: Opened) -> bool:
    """Whether every record is a row whatever it holds; of a CSV file, whose lines may be empty, it is not said.

    Nor is it of a query or a view, which may read one, or leave rows out.
    """
    return not isinstance(source, CsvFile | LazyData | SparkData | PostgresData)


def text_columns(source: DataSource, table: Table) -> Collection[str]:
    """The declared columns that a source holds as text, by their types alone."""
    match source:
        case CsvFile():
            return table.columns.keys()
        case ParquetFile(path, _):
            schema = parquet_schema(path)
        case ArrowData(data, _):
            schema = data.schema
        case LazyData():
            schema = source.schema
    return [name for name in table.columns if holds_text(schema.field(name).type)]


def _check_columns(source: CsvFile, table: Table) -> None:
    """As `check_declared`; of a file with a header, the error says with which format it would have them."""
    try:
        check_declared(source.names, table)
    except ParameterError as error:
        if not source.has_header or (hint := suggestion(source.path, source.csv_format, table.columns)) is None:
            raise
        raise ParameterError(error.name, error.value, f"{error.requirement}. {hint}") from None


def _no_csv_file(source: object) -> ParameterError:
    shown = source if isinstance(source, Path) else type(source).__name__  # an address may hold a password
    return ParameterError("csv", str(shown), "must be a CSV file, because csv= describes one")


def _file(path: Path, names: tuple[str, ...] | None, csv: CsvFormat) -> DataSource:
    if not path.is_file():
        raise ParameterError("source", str(path), "must be an existing file (CSV or Parquet), or a frame")
    if path.suffix.lower() in {".parquet", ".pq"}:
        return ParquetFile(path, tuple(parquet_schema(path).names))
    if names is None:
        return CsvFile(path, header(path, csv), has_header=True, csv_format=csv)
    check_is_csv(path, csv.encoding, has_header=False)
    return CsvFile(path, names, has_header=False, csv_format=csv)


def _frame(frame: Any) -> ArrowData | LazyData:
    if is_lazy(frame):
        from sfumato.engines.sources.lazy_frames import schema_of  # noqa: PLC0415 # Polars is an extra

        return LazyData(frame, schema_of(frame))
    table = arrow_table(frame)
    return ArrowData(table, tuple(table.column_names))


def address_of(source: str) -> PostgresAddress:
    """The address behind a source.

    Raises:
        ParameterError: It names no table.

    Example:
        >>> address_of("postgresql://curator:secret@db.example.org/hospital?table=public.visits")
        PostgresAddress(shown='postgresql://curator@db.example.org/hospital', schema='public', name='visits')
    """
    try:
        parts = urlsplit(source)
        parameters = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
    except ValueError:
        raise ParameterError("source", "postgresql:…", _FORM) from None
    user, _, host = parts.netloc.rpartition("@")
    place = f"{user.partition(':')[0]}@{host}" if user else host
    shown = urlunsplit((parts.scheme, place, parts.path, "", ""))
    names = [value for name, value in parameters if name == _TABLE]
    found = _NAME.fullmatch(names[0]) if len(names) == 1 else None
    if found is None:
        raise ParameterError("source", shown, _FORM)
    # PostgreSQL's library reads a plus sign as one, and no space.
    others = urlencode([one for one in parameters if one[0] != _TABLE], quote_via=quote)
    database = urlunsplit((parts.scheme, parts.netloc, parts.path, others, ""))
    schema = found["schema"]
    return PostgresAddress(database, shown, None if schema is None else _unquoted(schema), _unquoted(found["name"]))


def _unquoted(name: str) -> str:
    return name[1:-1].replace('""', '"') if name.startswith('"') else name
