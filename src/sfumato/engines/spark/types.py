"""Columns of Spark as the lowering takes them: of a type that it knows, and of values that every engine has."""

from collections.abc import Mapping
from datetime import date, datetime, time
from typing import Any, Final

from pyspark.sql import types
from sqlglot import exp

from sfumato.engines.spark.dialect import with_zone
from sfumato.engines.sql.dialect import native
from sfumato.engines.sql.expressions.terms import Sql, between, case, cast, column, constant, stripped, text
from sfumato.engines.values import check_digits
from sfumato.errors import ParameterError
from sfumato.privacy.neighbors import UnitColumn
from sfumato.query.model.kinds import TIMES
from sfumato.query.model.schema import Table

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
_BINARY: Final = "UTF8_BINARY"
_DECLARED: Final = "__CHAR_VARCHAR_TYPE_STRING"
"""Where the engine keeps that text is CHAR, which it fills up with spaces."""


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
        exp.Alias(this=_read(schema[name]), alias=exp.to_identifier(name, quoted=True)) for name in table.columns
    ]  # fmt: skip


def _read(field: types.StructField) -> Sql:
    kind, value = field.dataType, column(field.name)
    match kind:
        case types.StringType() | types.CharType() | types.VarcharType():
            return _text(value, kind, str(field.metadata.get(_DECLARED, kind.simpleString())))
        case types.DateType() | types.TimestampNTZType():
            first, last = map(constant, _ENDS[type(kind)])
            return case([(between(value, first, last), value)])
        case types.TimestampType():
            first, last = (with_zone(constant(end)) for end in _ENDS[types.TimestampNTZType])
            return case([(between(value, first, last), cast(value, "TIMESTAMP"))])
        case _:
            return value


def _text(value: Sql, kind: Any, declared: str) -> Sql:
    if getattr(kind, "collation", _BINARY) != _BINARY:
        value = native("COLLATE", value, text(_BINARY))
    valid = native("MAKE_VALID_UTF8", value)
    return stripped(valid, "TRAILING") if declared.startswith("char(") else valid
