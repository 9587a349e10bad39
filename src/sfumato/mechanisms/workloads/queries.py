"""Linear queries of a histogram over several columns: totals, cells, prefix sums and ranges, and products of them.

A histogram has one cell for each combination of the columns' values. Queries of one column with n values are the rows
of a matrix of zeros and ones, which is never built:

    total   1 row    all values
    cells   n rows   each value
    prefix  n rows   the values up to each value, itself among them
    ranges  n(n+1)/2 rows   the values from one value to another, ordered by their start, then by their end
    Subsets as many rows as it has   chosen values, whichever they are

Queries of several columns are the Kronecker product of these matrices; a column that is not named is totaled.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any, Final, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import listed, of_kind, one_of, whole
from sfumato.numeric.rationals import Number, positive, set_fields

NamedKind: TypeAlias = Literal["total", "cells", "prefix", "ranges"]
Floats: TypeAlias = NDArray[np.float64]
KINDS: Final[tuple[NamedKind, ...]] = get_args(NamedKind)


@dataclass(frozen=True, slots=True, init=False)
class Subsets:
    """Sums of chosen values of one column, such as the counts from 20 to 29 and from 65 on.

    Args:
        places: For each query the places of its values in the column, the first of them 0; in any order.

    Raises:
        ParameterError: There is no query, one has no value, or a place is negative or named twice.

    Example:
        >>> Subsets([(1, 0), (2,)]).places
        ((0, 1), (2,))
    """

    places: tuple[tuple[int, ...], ...]

    def __init__(self, places: Iterable[Iterable[int]]) -> None:
        queries = [
            sorted(whole(place, "places") for place in listed(query, "places", of="places"))
            for query in listed(places, "places", of="queries")
        ]
        if not queries or any(not query or len(set(query)) < len(query) for query in queries):
            raise ParameterError("places", places, "must have at least one query, each of different places")
        set_fields(self, places=tuple(map(tuple, queries)))

    def matrix(self, cells: int) -> NDArray[np.int64]:
        """The queries as rows of zeros and ones."""
        found = np.zeros((len(self.places), cells), dtype=np.int64)
        for row, query in zip(found, self.places, strict=True):
            row[list(query)] = 1
        return found


Kind: TypeAlias = NamedKind | Subsets


@dataclass(frozen=True, slots=True, init=False)
class LinearQueries:
    """The same kind of queries for all values of some columns, such as the counts of each pair of age and sex.

    Args:
        kinds: For each column "cells", "prefix", "ranges" or some `Subsets`; columns that are not named are totaled.
        weight: How much the variance of each answer counts when the strategy is chosen, above 0.

    Raises:
        ParameterError: A kind is unknown, or the weight is not above 0.

    Example:
        >>> LinearQueries({"age": "prefix", "sex": "cells"}).kind("sex")
        'cells'
        >>> LinearQueries({}).kind("age")
        'total'
    """

    kinds: tuple[tuple[str, Kind], ...]
    weight: Fraction

    def __init__(self, kinds: Mapping[str, Kind], *, weight: Number = 1) -> None:
        named = of_kind(kinds, "kinds", Mapping, 'a mapping from columns to kinds, such as {"age": "prefix"}')
        for column, kind in named.items():
            of_kind(column, "kinds", str, "a mapping from names of columns")
            if not isinstance(kind, Subsets):
                one_of(kind, "kinds", KINDS)
        set_fields(self, kinds=tuple(named.items()), weight=positive(weight, "weight"))

    def kind(self, column: str) -> Kind:
        """The kind of queries of one column."""
        return dict(self.kinds).get(column, "total")


def marginals(columns: Iterable[str], *, ways: int, weight: Number = 1) -> tuple[LinearQueries, ...]:
    """The counts of all combinations of values, for each choice of `ways` columns.

    Args:
        columns: Names of columns, also as the keys of a mapping.
        ways: How many columns each marginal has: 0 for the total count, 1 for histograms of single columns.
        weight: As in `LinearQueries`.

    Raises:
        ParameterError: There are fewer columns.

    Example:
        >>> [queries.kinds for queries in marginals(["age", "sex"], ways=1)]
        [(('age', 'cells'),), (('sex', 'cells'),)]
    """
    given = listed(columns.keys() if isinstance(columns, Mapping) else columns, "columns", of="names")
    names = [of_kind(name, "columns", str, "names of columns") for name in given]
    whole(ways, "ways", most=len(names))
    return tuple(LinearQueries(dict.fromkeys(chosen, "cells"), weight=weight) for chosen in combinations(names, ways))


def row_lengths(kind: Kind, cells: int) -> NDArray[np.int64]:
    """How many values each query of one column adds up."""
    match kind:
        case "total":
            return np.array([cells])
        case "cells":
            return np.ones(cells, dtype=np.int64)
        case "prefix":
            return np.arange(1, cells + 1)
        case Subsets():
            return np.array(list(map(len, kind.places)))
        case "ranges":
            starts, stops = range_ends(cells)
            return stops - starts


def range_ends(cells: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The first value of each range, and the one after its last.

    Example:
        >>> [ends.tolist() for ends in range_ends(2)]
        [[0, 0, 1], [1, 2, 2]]
    """
    starts, stops = np.triu_indices(cells + 1, k=1)
    return starts.astype(np.int64), stops.astype(np.int64)


def query_row(kind: Kind, cells: int, index: int) -> Floats:
    """One row of the matrix of a kind."""
    position = np.arange(cells)
    match kind:
        case "total":
            chosen = np.ones(cells, dtype=np.bool_)
        case "cells":
            chosen = position == index
        case "prefix":
            chosen = position <= index
        case Subsets():
            chosen = kind.matrix(cells)[index] == 1
        case "ranges":
            starts, stops = range_ends(cells)
            chosen = (starts[index] <= position) & (position < stops[index])
    return chosen.astype(np.float64)


def queried(kind: Kind, values: NDArray[Any], axis: int) -> NDArray[Any]:
    """The matrix of a kind times an array, along one axis: exact where the array holds integers that do not overflow.

    Example:
        >>> queried("prefix", np.array([[1, 2, 3]]), 1).tolist()
        [[1, 3, 6]]
    """
    found: NDArray[Any]
    match kind:
        case "total":
            found = values.sum(axis=axis, keepdims=True)
        case "cells":
            found = values
        case "prefix":
            found = np.cumsum(values, axis=axis)
        case Subsets():
            matrix = kind.matrix(values.shape[axis]).astype(values.dtype)
            found = np.moveaxis(np.tensordot(matrix, values, axes=(1, axis)), 0, axis)
        case "ranges":
            starts, stops = range_ends(values.shape[axis])
            sums = np.insert(np.cumsum(values, axis=axis), 0, 0, axis=axis)
            found = np.take(sums, stops, axis=axis) - np.take(sums, starts, axis=axis)
    return found


def query_gram(kind: Kind, cells: int) -> Floats:
    """WᵀW for the matrix W of a kind: in how many queries each pair of values is added up."""
    position = np.arange(cells)
    match kind:
        case "total":
            found = np.ones((cells, cells))
        case "cells":
            found = np.eye(cells)
        case "prefix":
            found = cells - np.maximum.outer(position, position)
        case Subsets():
            rows = kind.matrix(cells)
            return (rows.T @ rows).astype(np.float64)
        case "ranges":
            found = (np.minimum.outer(position, position) + 1) * (cells - np.maximum.outer(position, position))
    return found.astype(np.float64)


def quadratic_forms(kind: Kind, matrix: Floats) -> Floats:
    """qᵀ·M·q for each query q of a kind and a symmetric matrix M.

    Example:
        >>> quadratic_forms("prefix", np.eye(3)).tolist()
        [1.0, 2.0, 3.0]
    """
    match kind:
        case "total":
            return np.array([matrix.sum()])
        case "cells":
            return np.diagonal(matrix).copy()
        case "prefix":
            return np.diagonal(np.cumsum(np.cumsum(matrix, axis=0), axis=1)).copy()
        case Subsets():
            rows = kind.matrix(len(matrix))
            forms: Floats = ((rows @ matrix) * rows).sum(axis=1)
            return forms
        case "ranges":
            starts, stops = range_ends(len(matrix))
            sums = np.pad(np.cumsum(np.cumsum(matrix, axis=0), axis=1), ((1, 0), (1, 0)))
            corners = np.diagonal(sums)
            found: Floats = corners[stops] + corners[starts] - 2 * sums[starts, stops]
            return found


def most_shared(kind: Kind, cells: int) -> int:
    """In how many queries of a kind one value is added up, at most.

    Example:
        >>> [most_shared(kind, 4) for kind in ("total", "cells", "prefix", "ranges")]
        [1, 1, 4, 6]
    """
    match kind:
        case "total" | "cells":
            return 1
        case "prefix":
            return cells
        case Subsets():
            return int(kind.matrix(cells).sum(axis=0).max())
        case "ranges":
            return ((cells + 1) // 2) * (cells // 2 + 1)
