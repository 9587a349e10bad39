"""What can be read off an output: numbers and labels, one of each for every run.

Each column is a function of one output at a time, so an event on it is an event on the output. Numbers are float64 with
NaN for what is missing or no number; labels are text. Both sides of a pair may show different columns.
"""

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import partial
from math import inf, nan
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.audit.roles import Outputs

Column: TypeAlias = NDArray[Any]
Columns: TypeAlias = Mapping[str, Callable[[], Column]]
"""Columns by name, each computed when it is called."""

ANSWER: Final = "the answer"
WHOLE: Final = "the whole answer"
_MAX_COORDINATES: Final = 64
_NO_LABEL: Final = str(nan)  # as a missing number reads
_VECTORS: Final = (list, tuple, np.ndarray)


def numbers(outputs: Outputs) -> Columns:
    """The numbers that outputs consist of: the answer itself, its coordinates, or its values by key."""
    if isinstance(outputs, np.ndarray) and outputs.dtype.kind in "biuf":
        return _coordinates(outputs) if outputs.ndim > 1 else {ANSWER: lambda: outputs.astype(np.float64)}
    found: dict[str, Callable[[], Column]] = {}
    if any(_is_number(output) for output in outputs):
        found[ANSWER] = lambda: np.array([_number(output) for output in outputs], dtype=np.float64)
    if any(isinstance(output, _VECTORS) for output in outputs):
        found |= _coordinates(_matrix(outputs))
    for key in _keys(outputs):
        found[f"the value of {key!r}"] = partial(_values_of, outputs, key)
    return found


def columns(outputs: Outputs) -> Columns:
    """`numbers`, and what follows from several of them or from an output as a whole."""
    if isinstance(outputs, np.ndarray) and outputs.dtype.kind in "biuf":
        if outputs.ndim == 1:
            return numbers(outputs)
        return {**numbers(outputs), **_summaries(outputs), WHOLE: lambda: _row_labels(outputs)}
    found = {**numbers(outputs), WHOLE: lambda: np.array([_label(output) for output in outputs])}
    found["the type"] = lambda: np.array([type(output).__name__ for output in outputs])
    if any(isinstance(output, _VECTORS) for output in outputs):
        found |= _summaries(_matrix(outputs))
    if any(isinstance(output, Mapping) for output in outputs):
        found["the keys in order"] = lambda: np.array([_key_order(output) for output in outputs])
        for key in _keys(outputs):
            found[f"whether there is {key!r}"] = partial(_presence_of, outputs, key)
    return found


def column(outputs: Outputs, name: str) -> Column:
    """A column by name: missing everywhere if these outputs do not show it."""
    return picked(columns(outputs), name, len(outputs))


def picked(table: Columns, name: str, count: int) -> Column:
    """`column` of outputs whose columns are known already."""
    found = table.get(name)
    return found() if found is not None else np.full(count, np.nan)


def _coordinates(rows: NDArray[Any]) -> Columns:
    matrix = rows.reshape(len(rows), -1)
    wanted = range(min(matrix.shape[1], _MAX_COORDINATES))
    return {f"coordinate {i}": partial(np.asarray, matrix[:, i], np.float64) for i in wanted}


def _summaries(rows: NDArray[Any]) -> Columns:
    matrix = rows.reshape(len(rows), -1).astype(np.float64)
    present = ~np.isnan(matrix)
    if matrix.shape[1] == 0:
        return {}

    def largest() -> Column:
        return _or_missing(np.where(present, matrix, -inf).max(axis=1), present)

    def smallest() -> Column:
        return _or_missing(np.where(present, matrix, inf).min(axis=1), present)

    def spread() -> Column:
        with np.errstate(invalid="ignore"):  # ∞ − ∞ is no number, and stays one that is missing
            return np.asarray(largest() - smallest())

    def total() -> Column:
        with np.errstate(invalid="ignore"):
            return _or_missing(np.where(present, matrix, 0).sum(axis=1), present)

    def position() -> Column:
        return _or_missing(np.where(present, matrix, -inf).argmax(axis=1).astype(float), present)

    def length() -> Column:
        return _or_missing(present.sum(axis=1).astype(float), present)

    return {
        "the sum of coordinates": total,
        "the largest coordinate": largest,
        "the smallest coordinate": smallest,
        "the spread of coordinates": spread,
        "the index of the largest coordinate": position,
        "the number of coordinates": length,
    }


def _or_missing(values: Column, present: NDArray[np.bool_]) -> Column:
    return np.where(present.any(axis=1), values, np.nan)


def _row_labels(rows: NDArray[Any]) -> Column:
    """The text of each row; made once for each different row, since most samples repeat few of them."""
    matrix = np.ascontiguousarray(rows.reshape(len(rows), -1))
    if matrix.size == 0:
        return np.full(len(rows), "()")
    packed = matrix.view(np.dtype((np.void, matrix.dtype.itemsize * matrix.shape[1]))).ravel()
    _, first, which = np.unique(packed, return_index=True, return_inverse=True)
    return np.array([_label(tuple(row)) for row in matrix[first].tolist()])[which]


def _matrix(outputs: Outputs) -> NDArray[np.float64]:
    """Vectors of any lengths as rows, with NaN behind the shorter ones."""
    rows = [_flat(output) for output in outputs]
    width = max(map(len, rows))
    return np.array([[*map(_number, row), *[nan] * (width - len(row))] for row in rows], dtype=np.float64)


def _flat(output: Any) -> Sequence[Any]:
    if isinstance(output, np.ndarray):
        return list(output.ravel())[:_MAX_COORDINATES]
    return output[:_MAX_COORDINATES] if isinstance(output, list | tuple) else ()


def _keys(outputs: Outputs) -> list[Any]:
    seen = {key for output in outputs if isinstance(output, Mapping) for key in output}
    return sorted(seen, key=repr)


def _key_order(output: Any) -> str:
    return _label(tuple(output)) if isinstance(output, Mapping) else _NO_LABEL


def _has(output: Any, key: Any) -> bool:
    return isinstance(output, Mapping) and key in output


def _presence_of(outputs: Outputs, key: Any) -> Column:
    return np.array([1.0 if _has(output, key) else nan for output in outputs])


def _values_of(outputs: Outputs, key: Any) -> Column:
    return np.array([_number(output[key]) if _has(output, key) else nan for output in outputs])


def _is_number(output: Any) -> bool:
    return isinstance(output, int | float | Fraction | Decimal | np.number | np.bool_)


def _number(output: Any) -> float:
    if not _is_number(output):
        return nan
    try:
        return float(output)
    except OverflowError:
        return inf if output > 0 else -inf


def _label(output: Any) -> str:
    """Text that two outputs share if they read the same; NaN is one value here, and −0.0 is not 0.0."""
    return repr(output.tolist() if isinstance(output, np.ndarray) else output)
