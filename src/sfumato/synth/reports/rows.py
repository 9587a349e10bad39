"""Rows as the numbers of their declared values, and how many are alike: real rows and synthetic ones in one way."""

from collections.abc import Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from sfumato.errors import ParameterError
from sfumato.query.model.kinds import Kind
from sfumato.session.training.attributes import Attribute

if TYPE_CHECKING:
    import pyarrow as pa

CodedRows: TypeAlias = Mapping[str, npt.NDArray[np.int64]]
"""For each column the number of the value of each row."""

_FRAME: Final = "must be a frame or an Arrow table with these columns"


def coded(rows: Any, attributes: Sequence[Attribute], name: str) -> CodedRows:
    """Rows of a frame as numbers of declared values, in the way in which a session counts them.

    A number beyond its bounds lies in the first or the last bin, and a date in the first or the last period. What is
    missing, NaN or not listed is missing.

    Args:
        rows: An Arrow table, or a pandas or Polars data frame.
        attributes: The columns.
        name: The argument that it is, for errors.

    Raises:
        ParameterError: It is no such table, lacks a column, has values of another kind, or has one that is missing
            where none can be.
    """
    table = _table(rows, name)
    absent = [one.name for one in attributes if table.column_names.count(one.name) != 1]
    if absent:
        raise ParameterError(name, ", ".join(absent), _FRAME)
    return {one.name: _codes(one, table.column(one.name), name) for one in attributes}


def cells_of(rows: CodedRows, sizes: Mapping[str, int], columns: Sequence[str]) -> npt.NDArray[np.int64]:
    """The number of each row's combination of values of some columns, the last column fastest."""
    found = np.zeros(len(rows[columns[0]]), dtype=np.int64)
    for column in columns:
        found = found * sizes[column] + rows[column]
    return found


def counted(rows: CodedRows, sizes: Mapping[str, int], columns: Sequence[str]) -> npt.NDArray[np.int64]:
    """How many rows have each combination of values of some columns, the last column fastest.

    Example:
        >>> rows = {"sex": np.array([0, 1, 1]), "ill": np.array([1, 0, 0])}
        >>> counted(rows, {"sex": 2, "ill": 2}, ["sex", "ill"]).tolist()
        [0, 1, 2, 0]
    """
    return np.bincount(cells_of(rows, sizes, columns), minlength=prod(sizes[column] for column in columns))


def _table(rows: Any, name: str) -> "pa.Table":
    import pyarrow as pa  # noqa: PLC0415 # loaded when rows are compared

    if isinstance(rows, pa.Table):
        return rows
    if isinstance(rows, type) or not hasattr(rows, "__arrow_c_stream__"):
        raise ParameterError(name, type(rows).__name__, _FRAME)
    try:
        return pa.table(rows)
    except (pa.ArrowException, TypeError, ValueError, AttributeError):
        raise ParameterError(name, type(rows).__name__, _FRAME) from None


def _codes(attribute: Attribute, column: "pa.ChunkedArray", name: str) -> npt.NDArray[np.int64]:
    """The numbers of the values of one column."""
    import pyarrow as pa  # noqa: PLC0415 # loaded when rows are compared

    try:
        if attribute.edges is not None:
            found = _bins(attribute, column)
        elif attribute.calendar is not None:
            found = _periods(attribute, column)
        else:
            found = _listed(attribute, column)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        raise ParameterError(name, attribute.name, f"must have values of {attribute.name} as it is declared") from None
    if attribute.missing is None and (found < 0).any():
        raise ParameterError(name, attribute.name, f"must have declared values of {attribute.name} in all rows")
    return np.where(found < 0, attribute.size - 1, found)


def _bins(attribute: Attribute, column: "pa.ChunkedArray") -> npt.NDArray[np.int64]:
    """The bin of each number; -1 where it is missing."""
    import pyarrow as pa  # noqa: PLC0415 # loaded when rows are compared

    is_whole = attribute.kind is Kind.INTEGER and pa.types.is_integer(column.type)
    values = column.cast(pa.int64() if is_whole else pa.float64())
    known = ~np.asarray(values.is_null(nan_is_null=True))
    numbers = values.fill_null(0).to_numpy()
    kind = np.int64 if is_whole else np.float64
    edges = np.array([int(edge) if is_whole else float(edge) for edge in attribute.edges or ()], dtype=kind)
    return np.where(known, np.searchsorted(edges[1:-1], numbers, side="right"), -1)


def _periods(attribute: Attribute, column: "pa.ChunkedArray") -> npt.NDArray[np.int64]:
    """The period of each date; -1 where it is missing."""
    import pyarrow as pa  # noqa: PLC0415 # loaded when rows are compared

    values = column.cast(pa.timestamp("us"))
    begun = np.array(attribute.values, dtype="datetime64[us]").astype(np.int64)
    moments = values.cast(pa.int64()).fill_null(0).to_numpy()
    return np.where(np.asarray(values.is_null()), -1, np.searchsorted(begun[1:], moments, side="right"))


def _listed(attribute: Attribute, column: "pa.ChunkedArray") -> npt.NDArray[np.int64]:
    """The place of each value among those listed; -1 where it is none of them."""
    places = {value: place for place, value in enumerate(attribute.values or ())}
    encoded = column.combine_chunks().dictionary_encode()
    own = np.array([places.get(value, -1) for value in encoded.dictionary.to_pylist()] + [-1], dtype=np.int64)
    found: npt.NDArray[np.int64] = own[encoded.indices.fill_null(len(own) - 1).to_numpy()]
    return found
