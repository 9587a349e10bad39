"""Older measures of how anonymous a table is: uniqueness, k-anonymity, l-diversity, t-closeness.

They look at one table at a time and at classes of rows with equal quasi-identifiers. None of them bounds what an answer
tells, and none of them composes: `generalization` attacks tables that satisfy them.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.core.classes import Coarsening, Table, class_sizes, classes, codes, column_of
from sfumato.errors import ParameterError


def uniqueness(table: Table, *, columns: Sequence[str], coarsen: Coarsening | None = None) -> float:
    """The share of rows whose values of these columns are theirs alone.

    Args:
        table: One row a person.
        columns: The quasi-identifiers.
        coarsen: Functions of some of them.

    Raises:
        ParameterError: A column is missing, or there are no rows.

    Example:
        >>> uniqueness({"zip": [1, 1, 2, 3]}, columns=["zip"])
        0.5

    References:
        [Swe00], [Gol06].
    """
    sizes = _sizes(table, columns, coarsen)
    return float((sizes == 1).sum() / sizes.sum())


def k_anonymity(table: Table, *, columns: Sequence[str], coarsen: Coarsening | None = None) -> int:
    """The largest k for which each row has the same quasi-identifiers as k − 1 others: the size of the smallest class.

    Args:
        table: One row a person.
        columns: The quasi-identifiers.
        coarsen: Functions of some of them.

    Raises:
        ParameterError: A column is missing, or there are no rows.

    Example:
        >>> k_anonymity({"zip": [1, 1, 2, 2, 2]}, columns=["zip"])
        2

    References:
        [Swe02].
    """
    return int(_sizes(table, columns, coarsen).min())


def distinct_diversity(
    table: Table, *, columns: Sequence[str], sensitive: str, coarsen: Coarsening | None = None
) -> int:
    """Distinct l-diversity: the fewest different sensitive values of any class.

    Args:
        table: One row a person.
        columns: The quasi-identifiers.
        sensitive: The column that nobody should learn of a person.
        coarsen: Functions of some of the quasi-identifiers.

    Raises:
        ParameterError: A column is missing, or there are no rows.

    Example:
        >>> distinct_diversity({"zip": [1, 1, 2, 2], "ill": ["a", "b", "c", "c"]}, columns=["zip"], sensitive="ill")
        1

    References:
        [MKGV07].
    """
    return int((_shares(table, columns, sensitive, coarsen) > 0).sum(axis=1).min())


def entropy_diversity(
    table: Table, *, columns: Sequence[str], sensitive: str, coarsen: Coarsening | None = None
) -> float:
    """Entropy l-diversity: the smallest e^H over classes, where H = −Σ p·log p of the sensitive values in a class.

    Args:
        table: One row a person.
        columns: The quasi-identifiers.
        sensitive: The column that nobody should learn of a person.
        coarsen: Functions of some of the quasi-identifiers.

    Raises:
        ParameterError: A column is missing, or there are no rows.

    Example:
        >>> table = {"zip": [1, 1, 2, 2], "ill": ["a", "b", "c", "d"]}
        >>> round(entropy_diversity(table, columns=["zip"], sensitive="ill"), 9)
        2.0

    References:
        [MKGV07].
    """
    shares = _shares(table, columns, sensitive, coarsen)
    logs = np.log(np.where(shares > 0, shares, 1))
    return float(np.exp(-(shares * logs).sum(axis=1)).min())


def t_closeness(table: Table, *, columns: Sequence[str], sensitive: str, coarsen: Coarsening | None = None) -> float:
    """The largest distance between the sensitive values of a class and those of the whole table.

    The distance is that of total variation, ½·Σ |p − q|: the earth mover's where all values lie equally far apart.

    Args:
        table: One row a person.
        columns: The quasi-identifiers.
        sensitive: The column that nobody should learn of a person.
        coarsen: Functions of some of the quasi-identifiers.

    Raises:
        ParameterError: A column is missing, or there are no rows.

    Example:
        >>> t_closeness({"zip": [1, 1, 2, 2], "ill": ["a", "b", "c", "c"]}, columns=["zip"], sensitive="ill")
        0.5

    References:
        [LLV07].
    """
    shares = _shares(table, columns, sensitive, coarsen)
    values = codes(column_of(table, sensitive, parameter="sensitive"))  # in the order of the columns of shares
    overall = np.bincount(values) / len(values)
    return float(np.abs(shares - overall).sum(axis=1).max() / 2)


def _sizes(table: Table, columns: Sequence[str], coarsen: Coarsening | None) -> NDArray[np.int64]:
    (rows,) = classes(table, columns=columns, coarsen=coarsen)
    _check_rows(len(rows))
    return class_sizes(rows)


def _shares(
    table: Table, columns: Sequence[str], sensitive: str, coarsen: Coarsening | None
) -> NDArray[np.float64]:  # fmt: skip
    """For each class, in rows, the shares of the sensitive values, in columns."""
    (rows,) = classes(table, columns=columns, coarsen=coarsen)
    values = codes(column_of(table, sensitive, rows=len(rows), parameter="sensitive"))
    _check_rows(len(rows))
    different = int(values.max()) + 1
    counts = np.bincount(rows * different + values, minlength=(int(rows.max()) + 1) * different)
    table_of_counts = counts.reshape(-1, different)
    shares: NDArray[np.float64] = table_of_counts / table_of_counts.sum(axis=1, keepdims=True)
    return shares


def _check_rows(rows: int) -> None:
    if rows == 0:
        raise ParameterError("table", "a table without rows", "must hold at least one")
