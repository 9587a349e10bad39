"""Frames and Parquet files as Arrow tables that no engine can stumble over.

Types that some value could make an engine fail on are refused when a source is opened, by their name in the schema;
text that is not UTF-8 is repaired, and days and times that no engine should see are NULL (`arrow_times`).
"""

import math
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sfumato.engines.dates import as_timestamp
from sfumato.engines.sources.arrow_times import is_time, plain_times
from sfumato.engines.values import check_digits
from sfumato.errors import EngineError, ParameterError
from sfumato.privacy.neighbors import UnitColumn
from sfumato.query.model.kinds import TIMES
from sfumato.query.model.schema import Table

_DOUBLE: Final = 8  # bytes
_MOST_DIGITS: Final = 1_000
_LONGEST: Final = 10**_MOST_DIGITS
_TEXTS: Final = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
_READABLE: Final = (
    pa.types.is_boolean, pa.types.is_integer, pa.types.is_float32, pa.types.is_float64, pa.types.is_decimal128,
    pa.types.is_null, *_TEXTS,
)  # fmt: skip


def arrow_table(frame: Any) -> Any:
    """A frame as an Arrow table; pandas columns of objects become text, so that no cell decides a column's type.

    A LazyFrame is none: `lazy_frames` reads those.

    Raises:
        ParameterError: It is no frame that is known here.
    """
    if isinstance(frame, pa.Table):
        return frame
    module = _library(frame)
    if module == "polars" and not is_lazy(frame) and hasattr(frame, "columns"):
        return _polars_table(frame)
    if module == "pandas" and hasattr(frame, "columns"):
        return _pandas_table(frame)
    raise ParameterError("source", type(frame).__name__, "must be a path, or an Arrow, pandas or Polars frame")


def is_lazy(frame: object) -> bool:
    """Whether it is a LazyFrame of Polars, told without loading Polars."""
    return _library(frame) == "polars" and hasattr(frame, "collect")


def parquet_schema(path: Path) -> Any:
    """The schema of a Parquet file.

    Raises:
        EngineError: It has none that can be read.
    """
    try:
        return pq.read_schema(path)
    except (pa.ArrowException, OSError):
        raise EngineError("parquet", "read the schema of the file") from None


def read_parquet(path: Path, table: Table) -> Any:
    """The declared columns of a Parquet file, repaired."""
    return repaired(pq.read_table(path, columns=list(table.columns)))


def check_types(schema: Any, table: Table) -> None:
    """Refuse declared columns of a type that cannot be read whatever it holds.

    Raises:
        ParameterError: A column of such a type, a day or time that is declared as anything else, an INTEGER in a type
            that 64 bits do not hold, or a unit column that is no text and no whole number.
    """
    for name, column in table.columns.items():
        kind = schema.field(name).type
        values = kind.value_type if pa.types.is_dictionary(kind) else kind
        if is_time(kind):
            if column.kind not in TIMES:
                raise ParameterError(
                    "columns", name, f"is stored as {kind}; declare it as a date or a timestamp, or cast it to text"
                )
        elif not _is_readable(kind, values):
            raise ParameterError("columns", name, f"is stored as {kind}; cast it to text, a whole number or a double")
        check_digits(name, column, digits=_digits(values), shown=str(kind))
        inexact = pa.types.is_floating(values) or pa.types.is_decimal(values)
        if inexact and isinstance(table.unit, UnitColumn) and table.unit.column == name:
            raise ParameterError("unit", name, f"is stored as {kind}; cast the ids to text or whole numbers")


def _digits(kind: Any) -> int:
    """How many digits before the point the whole numbers of an exact type have; 0 of any other type."""
    if pa.types.is_decimal(kind):
        return int(kind.precision - kind.scale)
    return len(str(2**64 - 1)) if pa.types.is_uint64(kind) else 0


def _is_readable(kind: Any, values: Any) -> bool:
    if pa.types.is_dictionary(kind):
        return bool(pa.types.is_string(values) or pa.types.is_large_string(values))
    if pa.types.is_decimal128(values) and values.scale < 0:
        return False
    return any(is_kind(values) for is_kind in _READABLE)


def holds_times(schema: Any, table: Table) -> bool:
    """Whether a declared column holds days or times: an engine that reads files by itself gets `read_parquet` instead.

    Some of them are fatal to DuckDB (2.0): a time that 64 bits do not hold in microseconds, even inside of TRY_CAST.
    """
    return any(is_time(schema.field(name).type) for name in table.columns)


def repaired(data: Any) -> Any:
    """The table with dictionaries written out, bytes that are not UTF-8 as U+FFFD, and times as `arrow_times` says."""
    return pa.table({name: _repaired(data.column(name)) for name in data.column_names})


def _repaired(column: Any) -> Any:
    if pa.types.is_dictionary(column.type):
        column = pc.cast(column, column.type.value_type, safe=False)
    if is_time(column.type):
        return plain_times(column)
    if not any(is_text(column.type) for is_text in _TEXTS):
        return column
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        stored = pc.cast(column, pa.large_binary()).to_pylist()
        return pa.array([None if cell is None else cell.decode(errors="replace") for cell in stored], pa.large_string())
    return column


def _library(frame: object) -> str:
    return type(frame).__module__.partition(".")[0]


def _polars_table(frame: Any) -> Any:
    try:
        return frame.to_arrow()
    except pa.ArrowException:  # a type that Arrow does not know, such as whole numbers of 128 bits
        raise ParameterError("source", "a Polars frame", "must hold text, numbers, booleans or times") from None


def _pandas_table(frame: Any) -> Any:
    names = [str(name) for name in frame.columns]
    if len(set(names)) != len(names):
        raise ParameterError("source", "a pandas frame", "must have distinct column names")
    try:
        return pa.table({name: _pandas_column(frame.iloc[:, place]) for place, name in enumerate(names)})
    except pa.ArrowException:
        raise ParameterError("source", "a pandas frame", "must hold text, numbers, booleans or times") from None


def _pandas_column(column: Any) -> Any:
    """A column of one type as it is, a categorical one by its categories, any other cell by cell as text."""
    kind = type(column.dtype).__name__
    if kind == "SparseDtype":
        return _pandas_column(column.sparse.to_dense())
    if kind == "CategoricalDtype":
        codes = np.asarray(column.cat.codes)
        return pc.take(_pandas_column(column.cat.categories.to_series()), pa.array(codes, mask=codes < 0))
    is_arrow = kind == "ArrowDtype" or (kind == "StringDtype" and column.dtype.storage != "python")
    is_plain = getattr(column.dtype, "kind", "O") in "iufbM" and column.dtype.itemsize <= _DOUBLE
    if is_arrow or is_plain:
        return pa.array(column, from_pandas=True)
    return pa.array([_text(value) for value in column], pa.large_string())


def _text(value: object) -> str | None:
    """One cell as it reads in a column of one type: 1.0 as 1, because a missing cell turns integers into floats.

    Cells of types without one obvious text are missing: what they would print is their own affair, and may fail.
    """
    match value:
        case bool() | np.bool_():
            return "true" if value else "false"
        case int() | np.integer():
            return str(value) if abs(int(value)) < _LONGEST else None
        case float() | np.floating():
            number = float(value)
            return None if math.isnan(number) else str(int(number)) if number.is_integer() else repr(number)
        case Decimal():
            return f"{value:f}" if value.is_finite() and abs(value.adjusted()) < _MOST_DIGITS else None
        case str():
            # the text itself, whatever a subclass shows; half a surrogate pair becomes a question mark
            return str.encode(value, errors="replace").decode()
        case datetime(year=int()):  # a missing time has no year
            moment = as_timestamp(value)
            return None if moment is None else moment.isoformat()
        case date() if not isinstance(value, datetime):
            return value.isoformat()
        case _:
            return None
