"""Frames and Parquet files as Arrow tables that no engine can stumble over.

Types that some value could make an engine fail on are refused when a source is opened, by their name in the schema;
text that is not UTF-8 is repaired. Days and times are days, or microseconds in UTC, of the years 1 to 9999: Arrow
stores counts of some unit in 64 bits, most of which are no day that Python or a database knows, and some of which make
them fail. They are counted here as plain integers, before anyone tries to read them; what is no such day is NULL.
"""

import math
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sfumato.errors import EngineError, ParameterError
from sfumato.privacy.neighbors import UnitColumn
from sfumato.query.model.kinds import TIMES
from sfumato.query.model.schema import Table
from sfumato.query.values.cells import check_digits
from sfumato.query.values.dates import as_timestamp

_DOUBLE: Final = 8  # bytes
_MOST_DIGITS: Final = 1_000
_LONGEST: Final = 10**_MOST_DIGITS
_TEXTS: Final = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
_READABLE: Final = (
    pa.types.is_boolean, pa.types.is_integer, pa.types.is_float32, pa.types.is_float64, pa.types.is_decimal128,
    pa.types.is_null, *_TEXTS,
)  # fmt: skip

_EPOCH: Final = date(1970, 1, 1).toordinal()
_DAYS: Final = (date.min.toordinal() - _EPOCH, date.max.toordinal() - _EPOCH)
_MILLISECONDS_OF_DAY: Final = 86_400_000
_MICROSECONDS_OF_DAY: Final = 86_400_000_000
_MICROSECONDS: Final = (_DAYS[0] * _MICROSECONDS_OF_DAY, (_DAYS[1] + 1) * _MICROSECONDS_OF_DAY - 1)
_IN_MICROSECONDS: Final = {"s": 1_000_000, "ms": 1_000, "us": 1, "ns": 1}
_NANOSECONDS: Final = 1_000


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


def holds_text(kind: Any) -> bool:
    """Whether a type of storage is text."""
    values = kind.value_type if pa.types.is_dictionary(kind) else kind
    return any(is_text(values) for is_text in _TEXTS)


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
    """The table with dictionaries written out, bytes that are not UTF-8 as U+FFFD, and `plain_times`."""
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


def is_time(kind: Any) -> bool:
    """Whether an Arrow type holds days or times."""
    return bool(pa.types.is_date(kind) or pa.types.is_timestamp(kind))


def plain_times(column: Any) -> Any:
    """Days as `date32`, times as `timestamp[us]` in UTC without a zone; NULL outside of the years 1 to 9999.

    What is finer than a day or a microsecond is cut off toward the past.

    Args:
        column: A chunked array of one of the types of `is_time`.
    """
    counts, missing = _counts(column), np.asarray(pc.is_null(column))
    if pa.types.is_date(column.type):
        days = counts // _MILLISECONDS_OF_DAY if pa.types.is_date64(column.type) else counts
        known, outside = _known(days, *_DAYS)
        return pa.array(known.astype(np.int32), mask=missing | outside).cast(pa.date32())
    factor = _IN_MICROSECONDS[column.type.unit]
    whole = counts // _NANOSECONDS if column.type.unit == "ns" else counts
    known, outside = _known(whole, *(end // factor for end in _MICROSECONDS))
    return pa.array(known * factor, mask=missing | outside).cast(pa.timestamp("us"))


def _counts(column: Any) -> npt.NDArray[np.int64]:
    """The stored integers; 0 for NULL."""
    stored = column.cast(pa.int32() if pa.types.is_date32(column.type) else pa.int64())
    return np.asarray(stored.fill_null(0), dtype=np.int64)


def _known(counts: npt.NDArray[np.int64], first: int, last: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """The counts, 0 for those outside of the ends; and which those are."""
    outside = (counts < first) | (counts > last)
    return np.where(outside, 0, counts), outside
