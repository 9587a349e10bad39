"""Strategies of the matrix mechanism: what to measure so that a workload of linear queries can be computed from it.

A matrix has one row for each query and one column for each cell of the histogram that it is asked of. Entries are whole
numbers, so that the most by which one unit changes the measurements is known exactly.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from operator import index
from typing import Any, Final, TypeAlias, assert_never

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.numeric.rationals import exact
from sfumato.privacy.neighbors import NeighboringRelation

Matrix: TypeAlias = Sequence[Sequence[Any]] | NDArray[Any]
IntegerMatrix: TypeAlias = NDArray[np.int64]
Rationals: TypeAlias = tuple[tuple[Fraction, ...], ...]

LARGEST_ENTRY: Final = 1 << 20
LARGEST_ROWS: Final = 1 << 20
"""With both limits, sums of squared differences of two columns stay within an int64."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Movement:
    """The most by which one unit changes the measurements: in how many of them, in L1, and in L2 squared."""

    l0: int
    l1: int
    l2_squared: int


def movement(strategy: IntegerMatrix, neighboring_relation: NeighboringRelation) -> Movement:
    """The largest column, or under replacement also the largest difference of two columns: each size by itself.

    A unit is counted in at most one cell: adding it adds that cell's column to the measurements, replacing it may also
    take another column off. That a replaced unit is counted before and after is not taken for granted.

    Example:
        >>> movement(hierarchical(4), NeighboringRelation.ADD_OR_REMOVE_ONE)
        Movement(l0=3, l1=3, l2_squared=3)
    """
    match neighboring_relation:
        case NeighboringRelation.ADD_OR_REMOVE_ONE:
            return _movement(strategy)
        case NeighboringRelation.REPLACE_ONE:
            columns = np.pad(strategy, ((0, 0), (0, 1)))  # the last for units that no cell counts
            pairs = [_movement(columns - columns[:, [cell]]) for cell in range(columns.shape[1])]
            return Movement(
                l0=max(pair.l0 for pair in pairs),
                l1=max(pair.l1 for pair in pairs),
                l2_squared=max(pair.l2_squared for pair in pairs),
            )
        case _:
            assert_never(neighboring_relation)


def _movement(columns: IntegerMatrix) -> Movement:
    return Movement(
        l0=int((columns != 0).sum(axis=0).max()),
        l1=int(np.abs(columns).sum(axis=0).max()),
        l2_squared=int((columns**2).sum(axis=0).max()),
    )


def identity(cells: int) -> IntegerMatrix:
    """Every cell by itself."""
    return np.eye(cells, dtype=np.int64)


def hierarchical(cells: int) -> IntegerMatrix:
    """A binary tree of sums: all cells, each half, each quarter, … down to single cells.

    Example:
        >>> hierarchical(3).tolist()
        [[1, 1, 1], [1, 0, 0], [0, 1, 1], [0, 1, 0], [0, 0, 1]]
    """
    nodes, level = [], [(0, cells)]
    while level:
        nodes += level
        parents = [(start, end, (start + end) // 2) for start, end in level if end - start > 1]
        level = [child for start, end, middle in parents for child in ((start, middle), (middle, end))]
    return np.array([[start <= cell < end for cell in range(cells)] for start, end in nodes], dtype=np.int64)


def whole_multiple(workload: Rationals) -> IntegerMatrix:
    """The workload itself, times the common denominator of its entries.

    Raises:
        ParameterError: An entry is then larger than 2^20.
    """
    denominator = lcm(*(entry.denominator for row in workload for entry in row))
    return whole([[int(entry * denominator) for entry in row] for row in workload], cells=len(workload[0]))


def whole(matrix: Matrix, *, cells: int) -> IntegerMatrix:
    """A strategy that is given, checked.

    Raises:
        ParameterError: It is no matrix of whole numbers up to 2^20 with a column for each cell and at most 2^20 rows.
    """
    requirement = f"must have 1 to 2^20 rows of {cells} whole numbers, none beyond ±2^20"
    try:
        rows = [[index(entry) for entry in row] for row in matrix]
    except TypeError:
        raise ParameterError("strategy", "a matrix", requirement) from None
    fits = all(len(row) == cells and max(map(abs, row)) <= LARGEST_ENTRY for row in rows)
    if not fits or not 0 < len(rows) <= LARGEST_ROWS:
        raise ParameterError("strategy", "a matrix", requirement)
    return np.array(rows, dtype=np.int64)


def rationals(workload: Matrix) -> Rationals:
    """A workload that is given, checked, in exact numbers.

    Raises:
        ParameterError: It is no matrix of numbers up to 2^20 with at least one row and one column.
    """
    rows = workload.tolist() if isinstance(workload, np.ndarray) else workload
    requirement = "must have at least one row, all of one length, and no entry beyond ±2^20"
    if not isinstance(rows, Sequence) or not all(
        isinstance(row, Sequence) and not isinstance(row, str) for row in rows
    ):
        raise ParameterError("workload", "no matrix", requirement)
    numbers = tuple(tuple(exact(entry, "workload") for entry in row) for row in rows)
    lengths = {len(row) for row in numbers}
    if len(lengths) != 1 or lengths == {0} or any(abs(entry) > LARGEST_ENTRY for row in numbers for entry in row):
        raise ParameterError("workload", "a matrix", requirement)
    return numbers
