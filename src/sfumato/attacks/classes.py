"""Rows that share all their values: the classes into which quasi-identifiers divide a table."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError

Table: TypeAlias = Any
"""Anything that gives a column for its name: a `pyarrow.Table`, a frame, or a mapping of sequences."""

Whole: TypeAlias = NDArray[np.int64]
Coarsening: TypeAlias = Mapping[str, Callable[[Any], Any]]
"""For some columns a function from a value to a coarser one, such as a date to its year."""


def column_of(table: Table, name: str, *, rows: int | None = None) -> list[Any]:
    """The values of a column, as Python's own.

    Args:
        table: What has the column.
        name: The column.
        rows: How many values there must be, if the table has other columns too.

    Raises:
        ParameterError: There is no such column, or it has more or fewer values.

    Example:
        >>> column_of({"age": (30, 40)}, "age")
        [30, 40]
    """
    try:
        column = table[name]
    except (KeyError, IndexError):
        raise ParameterError("columns", name, "must be the name of a column of the table") from None
    listing = next(filter(partial(hasattr, column), ("to_pylist", "tolist")), None)  # of pyarrow; of NumPy and pandas
    values = list(column if listing is None else getattr(column, listing)())
    if rows is not None and len(values) != rows:
        raise ParameterError("table", f"{len(values)} values of {name}", f"must have {rows}, as of its other columns")
    return values


def codes(values: Sequence[Any]) -> Whole:
    """The number of each value among the different ones, in the order of first appearance.

    Example:
        >>> codes(["b", "a", None, "b"]).tolist()
        [0, 1, 2, 0]
    """
    number = {value: place for place, value in enumerate(dict.fromkeys(values))}
    return np.fromiter((number[value] for value in values), np.int64, len(values))


def classes(
    table: Table, *others: Table, columns: Sequence[str], coarsen: Coarsening | None = None
) -> tuple[Whole, ...]:
    """For each row of one or more tables its class: equal where all columns are, within and between the tables.

    Args:
        table: The first table.
        others: More tables with these columns.
        columns: What is compared.
        coarsen: Applied to the values of some of these columns first.

    Raises:
        ParameterError: No columns, or one is missing from a table, or is coarsened but not compared.

    Example:
        >>> rolls = {"zip": ["02138", "02139"]}, {"zip": ["02139"]}
        >>> [rows.tolist() for rows in classes(*rolls, columns=["zip"])]
        [[0, 1], [1]]
        >>> [rows.tolist() for rows in classes(*rolls, columns=["zip"], coarsen={"zip": lambda code: code[:3]})]
        [[0, 0], [0]]
    """
    functions = dict(coarsen or {})
    if not columns or not functions.keys() <= set(columns):
        requirement = "must name at least one column, and all that are coarsened"
        raise ParameterError("columns", tuple(columns), requirement)
    tables = (table, *others)
    by_column = [[column_of(each, column) for each in tables] for column in columns]
    _check_lengths([len(column) for column in by_column[0]], by_column)
    found = np.zeros(sum(map(len, by_column[0])), dtype=np.int64)
    for name, parts in zip(columns, by_column, strict=True):
        change = functions.get(name)
        values = [value if change is None else change(value) for part in parts for value in part]
        own = codes(values)
        found = np.unique(found * (own.max(initial=0) + 1) + own, return_inverse=True)[1].astype(np.int64)
    return tuple(np.split(found, np.cumsum([len(part) for part in by_column[0]])[:-1]))


def class_sizes(rows: Whole) -> Whole:
    """How many rows each class has.

    Example:
        >>> class_sizes(np.array([0, 1, 0])).tolist()
        [2, 1]
    """
    return np.bincount(rows)


def _check_lengths(wanted: list[int], by_column: list[list[list[Any]]]) -> None:
    if any([len(part) for part in parts] != wanted for parts in by_column):
        raise ParameterError("table", "columns of several lengths", "must have as many values in each column")
