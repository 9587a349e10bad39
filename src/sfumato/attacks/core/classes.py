"""Rows that share all their values: the classes into which quasi-identifiers divide a table."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import zip_longest
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import called, listed, of_kind

Table: TypeAlias = Any
"""Anything that gives a column for its name: a `pyarrow.Table`, a frame, or a mapping of sequences."""

Whole: TypeAlias = NDArray[np.int64]
Coarsening: TypeAlias = Mapping[str, Callable[[Any], Any]]
"""For some columns a function from a value to a coarser one, such as a date to its year."""

_A_TABLE: Final = "must be a table: a mapping of columns, a frame, or a pyarrow.Table"


def looked_up(table: Table, name: str, *, parameter: str = "columns", of: str = "table") -> Any:
    """A column as the table gives it.

    Args:
        table: The table that is read.
        name: The column.
        parameter: By which parameter the name came, for the error.
        of: By which one the table came.

    Raises:
        ParameterError: It is no table, or has no such column.

    Example:
        >>> looked_up({"age": (30, 40)}, "age")
        (30, 40)
    """
    has_no_names = isinstance(table, np.ndarray | np.generic) and table.dtype.names is None
    if has_no_names or isinstance(table, str | bytes | list | tuple) or not hasattr(type(table), "__getitem__"):
        is_several = isinstance(table, Iterable) and not isinstance(table, str)  # and may be somebody's data
        raise ParameterError(of, f"a {type(table).__name__}" if is_several else table, _A_TABLE)
    if isinstance(name, Hashable):  # of a list of names a frame would give a frame
        with suppress(Exception):  # each library has its own for a name that is not there
            return table[name]
    raise ParameterError(parameter, name, f"must be the name of a column of the {of}")


def column_of(
    table: Table, name: str, *, rows: int | None = None, parameter: str = "columns", of: str = "table"
) -> list[Any]:
    """The values of a column, as Python's own.

    Args:
        table: The table that is read.
        name: The column.
        rows: The required number of values; None allows any.
        parameter: By which parameter the name came, for the error.
        of: By which one the table came.

    Raises:
        ParameterError: There is no such column, it holds no values, or more or fewer.

    Example:
        >>> column_of({"age": (30, 40)}, "age")
        [30, 40]
    """
    column = looked_up(table, name, parameter=parameter, of=of)
    listing = next(filter(partial(hasattr, column), ("to_pylist", "tolist")), None)  # of pyarrow; of NumPy and pandas
    found = column if listing is None else getattr(column, listing)()
    if isinstance(found, str | bytes | Mapping) or not isinstance(found, Iterable):
        raise ParameterError(of, f"a {type(column).__name__} as {name}", "must have a list of values in each column")
    values = list(found)
    if rows is not None and len(values) != rows:
        raise ParameterError(of, f"{len(values)} values of {name}", f"must have {rows}, like its other columns")
    return values


def values_of(values: Any, name: str) -> list[Any]:
    """Values that were handed over by themselves; those of Arrow as Python's own, which equal others.

    Raises:
        ParameterError: They are no list.

    Example:
        >>> values_of(("Ann", "Bob"), "truth")
        ['Ann', 'Bob']
    """
    return list(listed(values.to_pylist() if hasattr(type(values), "to_pylist") else values, name))


def names_of(columns: Iterable[str], *, and_all_that_are: str | None = None, of: Iterable[Any] = ()) -> tuple[str, ...]:
    """Names of columns, one or more.

    Args:
        columns: The names.
        and_all_that_are: What else is done to some columns, for the error: "cut".
        of: The names of those.

    Raises:
        ParameterError: They are no list of names, or something is done to other columns.

    Example:
        >>> names_of(["zip", "born"])
        ('zip', 'born')
    """
    names = listed(columns, "columns", of="names of columns")
    others = [name for name in of if not any(equal(name, one) for one in names)]
    if not names or others:
        extra = "" if and_all_that_are is None else f", and all that are {and_all_that_are}"
        raise ParameterError("columns", names, f"must name at least one column{extra}")
    return names


def equal(one: Any, other: Any) -> bool:
    """Whether two values are the same; what cannot be told, as of one that is missing, is not.

    Example:
        >>> equal(1, 1.0), equal("1", 1)
        (True, False)
    """
    try:
        return bool(one == other)
    except (TypeError, ValueError):
        return False


def codes(values: Sequence[Any], *, name: str = "table") -> Whole:
    """The number of each value among the different ones, in the order of first appearance.

    Args:
        values: The values of a column.
        name: By which parameter they came, for the error.

    Raises:
        ParameterError: They cannot be told apart, such as lists.

    Example:
        >>> codes(["b", "a", None, "b"]).tolist()
        [0, 1, 2, 0]
    """
    try:
        number = {value: place for place, value in enumerate(dict.fromkeys(values))}
    except TypeError:  # without a hash
        raise ParameterError(name, "a column", "must hold single values, such as numbers and text") from None
    return np.fromiter((number[value] for value in values), np.int64, len(values))


def classes(
    table: Table,
    *others: Table,
    columns: Sequence[str],
    coarsen: Coarsening | None = None,
    names: Sequence[str] = (),
) -> tuple[Whole, ...]:
    """For each row of one or more tables its class: equal where all columns are, within and between the tables.

    Args:
        table: The first table.
        others: More tables with these columns.
        columns: The columns to compare.
        coarsen: Applied to the values of some of these columns first.
        names: By which parameters the tables came, for errors.

    Raises:
        ParameterError: No columns, or one is missing from a table, or is coarsened but not compared.

    Example:
        >>> rolls = {"zip": ["02138", "02139"]}, {"zip": ["02139"]}
        >>> [rows.tolist() for rows in classes(*rolls, columns=["zip"])]
        [[0, 1], [1]]
        >>> [rows.tolist() for rows in classes(*rolls, columns=["zip"], coarsen={"zip": lambda code: code[:3]})]
        [[0, 0], [0]]
    """
    functions = {} if coarsen is None else of_kind(coarsen, "coarsen", Mapping, "functions of some columns, by name")
    columns = names_of(columns, and_all_that_are="coarsened", of=functions)
    for function in functions.values():
        called(function, "coarsen", "functions of some columns, by name")
    tables = (table, *others)
    by_column = [
        [column_of(each, column, of=of) for each, of in zip_longest(tables, names, fillvalue="table")]
        for column in columns
    ]
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
        raise ParameterError("table", "columns of different lengths", "must have as many values in each column")
