"""Frames and Parquet files as Arrow tables that no engine can stumble over.

Types that some value could make an engine fail on are refused when a source is opened, by their name in the schema;
text that is not UTF-8 is repaired.
"""

from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sfumato.errors import EngineError, ParameterError
from sfumato.privacy.neighbors import UnitColumn
from sfumato.query.schema import Table

_TEXTS: Final = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
_READABLE: Final = (
    pa.types.is_boolean, pa.types.is_integer, pa.types.is_float32, pa.types.is_float64, pa.types.is_decimal128,
    pa.types.is_null, *_TEXTS,
)  # fmt: skip


def arrow_table(frame: Any) -> Any:
    """A frame as an Arrow table; pandas columns of objects become text, so that no cell decides a column's type.

    Raises:
        ParameterError: It is no frame that is known here.
    """
    if isinstance(frame, pa.Table):
        return frame
    module = type(frame).__module__.partition(".")[0]
    if module == "polars":
        collected = frame.collect() if hasattr(frame, "collect") else frame  # a LazyFrame
        return collected.to_arrow()
    if module == "pandas":
        return pa.table({str(name): _pandas_column(frame[name]) for name in frame.columns})
    raise ParameterError("source", type(frame).__name__, "must be a path, or an Arrow, pandas or Polars frame")


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
        ParameterError: A column of such a type, or a unit column that is no text and no whole number.
    """
    for name in table.columns:
        kind = schema.field(name).type
        values = kind.value_type if pa.types.is_dictionary(kind) else kind
        if not any(is_kind(values) for is_kind in _READABLE):
            raise ParameterError("columns", name, f"is stored as {kind}; cast it to text, a whole number or a double")
        inexact = pa.types.is_floating(values) or pa.types.is_decimal(values)
        if inexact and isinstance(table.unit, UnitColumn) and table.unit.column == name:
            raise ParameterError("unit", name, f"is stored as {kind}; cast the ids to text or whole numbers")


def repaired(data: Any) -> Any:
    """The table with dictionaries written out, and bytes that are not UTF-8 as U+FFFD."""
    return pa.table({name: _repaired(data.column(name)) for name in data.column_names})


def _repaired(column: Any) -> Any:
    if pa.types.is_dictionary(column.type):
        column = pc.cast(column, column.type.value_type, safe=False)
    if not any(is_text(column.type) for is_text in _TEXTS):
        return column
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        stored = pc.cast(column, pa.large_binary()).to_pylist()
        return pa.array([None if cell is None else cell.decode(errors="replace") for cell in stored], pa.large_string())
    return column


def _pandas_column(column: Any) -> Any:
    if str(column.dtype).startswith("Sparse"):
        column = column.sparse.to_dense()
    if getattr(column.dtype, "kind", "O") in "iufb":
        return pa.array(column, from_pandas=True)
    cells = zip(column, column.isna(), strict=True)
    return pa.array([None if missing else _text(value) for value, missing in cells], pa.large_string())


def _text(value: object) -> str:
    """One cell as it reads in a column of one type: 1.0 as 1, because a missing cell turns integers into floats."""
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).encode(errors="replace").decode()  # half a surrogate pair becomes a question mark
