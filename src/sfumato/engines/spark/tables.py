"""The tables of Spark that relations are read from: queries of what is stored, typed where they are read.

Their columns are of types that the lowering knows, and have values that every engine has.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date, datetime, time
from typing import Any, Final
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.errors import AnalysisException
from pyspark.sql import types
from pyspark.sql.pandas.types import from_arrow_schema
from sqlglot import exp

from sfumato.engines.sources.sources import (
    Opened,
    PostgresData,
    SparkData,
    check_declared,
    check_distinct,
    may_fail_on_rows,
    stored_rows,
)
from sfumato.engines.spark.dialect import sql, with_zone
from sfumato.engines.spark.identities import is_total
from sfumato.engines.spark.session import sending
from sfumato.engines.sql.dialect import native
from sfumato.engines.sql.entries import GroupColumn
from sfumato.engines.sql.expressions.terms import (
    Sql,
    between,
    case,
    cast,
    column,
    constant,
    figure,
    select,
    stripped,
    text,
)
from sfumato.engines.sql.expressions.terms import table as name_of
from sfumato.engines.sql.lists import list_table
from sfumato.engines.sql.sources import owned_rows, typed_columns
from sfumato.errors import EngineError, ParameterError
from sfumato.privacy.neighbors import UnitColumn
from sfumato.query.model.columns import Column
from sfumato.query.model.kinds import TIMES, Kind
from sfumato.query.model.schema import Table
from sfumato.query.policy.policy import Risk
from sfumato.query.values.cells import LONGEST_STORED, check_digits

_PART: Final = re.compile(r"`((?:[^`]|``)*)`|([^.`]+)")
"""A part of the name of a table, between dots; in backticks if it has any in it."""

_STORAGE: Final[Mapping[type[types.DataType], str]] = {
    types.ByteType: "TINYINT", types.ShortType: "SMALLINT", types.IntegerType: "INTEGER", types.LongType: "BIGINT",
    types.DecimalType: "DECIMAL", types.FloatType: "FLOAT", types.DoubleType: "DOUBLE", types.StringType: "VARCHAR",
    types.CharType: "VARCHAR", types.VarcharType: "VARCHAR", types.BooleanType: "BOOLEAN", types.DateType: "DATE",
    types.TimestampNTZType: "TIMESTAMP", types.TimestampType: "TIMESTAMP",
}  # fmt: skip

_TIMES: Final = ("DATE", "TIMESTAMP")
_INEXACT: Final = ("DECIMAL", "FLOAT", "DOUBLE")
_ENDS: Final = {
    types.DateType: (date.min, date.max),
    types.TimestampNTZType: (datetime.combine(date.min, time.min), datetime.combine(date.max, time.max)),
}

_BYTES: Final = 4
"""No character of UTF-8, nor what is replaced by one, has more bytes."""

_BINARY: Final = "UTF8_BINARY"
_DECLARED: Final = "__CHAR_VARCHAR_TYPE_STRING"
"""Where the engine keeps that text is CHAR, which it fills up with spaces."""


class SparkTables:
    """Gives a query of `Rows` for every table that is asked for.

    Args:
        spark: The session they are read in.
        sources: Where the rows of each table come from; DataFrames by the names of views of them.

    Attributes:
        stored: What the lowering calls the types of the columns of each table of Spark.

    Raises:
        ParameterError: There is no such table, or it cannot be read as declared.
    """

    def __init__(self, spark: Any, sources: Mapping[str, Opened]) -> None:
        self._spark = spark
        self._sources = dict(sources)
        self._made: list[tuple[Table, exp.Select]] = []
        own = {name: source for name, source in sources.items() if isinstance(source, SparkData)}
        self.stored = {name: self._raw(source.table, source)[0] for name, source in own.items()}

    def named(self, table: Table) -> exp.Query:
        """The query of the typed table.

        Raises:
            pyspark.errors.PySparkException: It cannot be read.
            OSError: The source is gone.
        """
        for made, query in self._made:
            if made == table:
                return query
        storage, raw = self._raw(table, self._sources[table.name])
        typed = typed_columns(table, storage, raw)
        query = select([], owned_rows(table, typed, self.named))
        self._made.append((table, query))
        return query

    def whole(self, table: Table) -> exp.Select:
        """A query of the declared columns of all rows."""
        return self._raw(table, self._sources[table.name])[1]

    def check(self, table: Table) -> None:
        """Refuse a table whose definition was changed, and since then may fail on some row.

        Raises:
            EngineError: The definition was changed.
        """
        source = self._sources[table.name]
        if isinstance(source, SparkData):
            frame = self._spark.sql(f"SELECT * FROM {sql(_named(str(source.where)))}")
            if not self._accepts(source, frame):
                raise EngineError("spark", "checked whether a definition changed since the session was opened")

    @contextmanager
    def lists(self, by: Sequence[GroupColumn]) -> Iterator[Mapping[str, exp.Select]]:
        """The lists of public keys and cells, as queries by the names of their tables."""
        views = {group.table: self._view(list_table(group)) for group in by}
        try:
            yield {name: select([], name_of(view)) for name, view in views.items()}
        finally:
            for view in views.values():
                self._spark.catalog.dropTempView(view)

    def _raw(self, table: Table, source: Opened) -> tuple[Mapping[str, str], exp.Select]:
        """The types of the declared columns as they are stored, and a query of them."""
        if isinstance(source, SparkData):
            stored: exp.Table = _named(str(source.where))
        else:
            if isinstance(source, PostgresData):
                raise ParameterError("source", table.name, "belongs to another engine; Spark cannot read it")
            stored = name_of(self._view(stored_rows(source, table)))
        frame = self._frame(stored, source)
        schema = frame.schema
        check_distinct(schema.names, "a Spark table")
        check_declared(schema.names, table)
        if isinstance(source, SparkData):
            check_types(schema, table)
            if not self._accepts(source, frame):
                raise ParameterError("source", table.name, may_fail_on_rows(str(table.name)))
        return storage_of(schema, table), exp.Select(expressions=read_columns(schema, table)).from_(stored, copy=False)

    def _accepts(self, source: SparkData, frame: Any) -> bool:
        """Whether it can fail on no row, or its owner accepts that it may."""
        return Risk.FAILING_ROWS in source.accepted_risks or is_total(self._spark, str(source.where), frame)

    def _frame(self, stored: exp.Table, source: Opened) -> Any:
        try:
            frame = self._spark.sql(f"SELECT * FROM {sql(stored)}")
            frame.schema  # noqa: B018 # asked now, as it is then analyzed
        except AnalysisException:
            requirement = "is not a table or view of this Spark cluster; name it as spark:catalog.schema.table"
            raise ParameterError("source", getattr(source, "where", "a frame"), requirement) from None
        return frame

    def _view(self, data: Any) -> str:
        """A temporary view of an Arrow table."""
        name = f"sfumato_{uuid4().hex}"
        known = pa.table({column: _column(data.column(column)) for column in data.column_names})
        schema = from_arrow_schema(
            known.schema, prefer_timestamp_ntz=True
        )  # without it a server takes no table without rows
        with sending(self._spark):
            self._spark.createDataFrame(known, schema).createTempView(name)
        return name


def _named(name: str) -> exp.Table:
    parts = [quoted.replace("``", "`") or plain for quoted, plain in _PART.findall(name)]
    return exp.Table(this=exp.Var(this=".".join(sql(exp.to_identifier(part, quoted=True)) for part in parts)))


def _column(stored: Any) -> Any:
    """A column of an Arrow table, of a type that Spark has."""
    kind = stored.type
    if pa.types.is_null(kind) or pa.types.is_string_view(kind):
        return stored.cast(pa.string())
    if pa.types.is_uint64(kind):
        return pc.cast(stored, pa.decimal128(20, 0))
    return stored.cast(pa.int64()) if pa.types.is_unsigned_integer(kind) else stored


def storage_of(schema: types.StructType, table: Table) -> Mapping[str, str]:
    """What the lowering calls the types of the declared columns, of which it knows each."""
    return {name: _STORAGE[type(schema[name].dataType)] for name in table.columns}


def check_types(schema: types.StructType, table: Table) -> None:
    """Refuse declared columns of a type that cannot be read whatever it holds.

    Raises:
        ParameterError: A column of such a type, a day or time that is declared as anything else, an INTEGER in a type
            that 64 bits do not hold, or a unit column that is no text and no whole number.
    """
    for name, declared in table.columns.items():
        kind = schema[name].dataType
        storage, shown = _STORAGE.get(type(kind)), kind.simpleString()
        if storage is None:
            raise ParameterError("columns", name, f"is stored as {shown}; cast it to text, a whole number or a double")
        if storage in _TIMES and declared.kind not in TIMES:
            requirement = f"is stored as {shown}; declare it as a date or a timestamp, or cast it to text"
            raise ParameterError("columns", name, requirement)
        if isinstance(kind, types.DecimalType):
            check_digits(name, declared, digits=kind.precision - kind.scale, shown=shown)
        if storage in _INEXACT and isinstance(table.unit, UnitColumn) and table.unit.column == name:
            raise ParameterError("unit", name, f"is stored as {shown}; cast the ids to text or whole numbers")


def read_columns(schema: types.StructType, table: Table) -> list[Sql]:
    """The declared columns under their names: bytes that are not UTF-8 as U+FFFD, CHAR without the spaces behind it.

    Days and times outside of the years 1 to 9999 are NULL, and times are in UTC.
    """
    return [
        exp.Alias(this=_read(schema[name], declared), alias=exp.to_identifier(name, quoted=True))
        for name, declared in table.columns.items()
    ]


def _read(field: types.StructField, declared: Column) -> Sql:
    kind, value = field.dataType, column(field.name)
    match kind:
        case types.StringType() | types.CharType() | types.VarcharType():
            return _text(value, kind, str(field.metadata.get(_DECLARED, kind.simpleString())), declared)
        case types.DateType() | types.TimestampNTZType():
            first, last = map(constant, _ENDS[type(kind)])
            return case([(between(value, first, last), value)])
        case types.TimestampType():
            first, last = (with_zone(constant(end)) for end in _ENDS[types.TimestampNTZType])
            return case([(between(value, first, last), cast(value, "TIMESTAMP"))])
        case _:
            return value


def _text(value: Sql, kind: Any, stored: str, declared: Column) -> Sql:
    """Text that is UTF-8; of a long one the beginning that is used, so that its length costs no time."""
    if getattr(kind, "collation", _BINARY) != _BINARY:
        value = native("COLLATE", value, text(_BINARY))
    if stored.startswith("char("):
        return stripped(native("MAKE_VALID_UTF8", value), "TRAILING")
    used = declared.longest if declared.kind is Kind.TEXT else LONGEST_STORED
    if used is not None and not (declared.is_id or declared.is_whole):  # ids are used whole
        value = native("STRING", native("SUBSTRING", native("BINARY", value), figure(1), figure(_BYTES * used)))
    return native("MAKE_VALID_UTF8", value)
