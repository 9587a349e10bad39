"""What is measured of one column: a matrix B of whole numbers, and how queries are computed from B·x with noise.

A strategy measures Kronecker products of components, one for each column (`strategies`). Of each component it needs
exact bounds of BᵀB, for sensitivities, and W·(BᵀB)⁺ for queries W, for answers and their variances. None of the
matrices here is built but that of `Dense`.
"""

from dataclasses import dataclass, field
from typing import Final, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.mechanisms.workloads.queries import (
    Floats,
    Kind,
    Subsets,
    most_shared,
    quadratic_forms,
    queried,
    query_row,
    row_lengths,
)
from sfumato.noise.uniform.integers import Integers
from sfumato.numeric.rationals import set_fields

IntegerMatrix: TypeAlias = NDArray[np.int64]
Query: TypeAlias = tuple[Kind, int]
"""A kind of queries, and which of its rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnBounds:
    """Exact limits of a matrix B of whole numbers and of its Gram matrix BᵀB."""

    diagonal: tuple[int, int]
    """The least and the largest squared length of a column of B."""
    off_diagonal: tuple[int, int]
    """Limits of the inner product of two different columns; of one column alone those of the diagonal."""
    eigenvalue: int
    """BᵀB stretches no vector by more."""
    l1: int
    """The largest sum of absolute values of a column."""
    l0: int
    """The most numbers other than 0 in a column."""
    row: int
    """The largest sum of absolute values of a row: how much larger than x the numbers of B·x can be."""


class Component(Protocol):
    """One column's part of a measurement."""

    @property
    def cells(self) -> int:
        """How many values the column has."""
        ...

    @property
    def measured(self) -> int:
        """How many rows B has."""
        ...

    @property
    def bounds(self) -> ColumnBounds:
        """Exact limits of B."""
        ...

    def sees(self, kind: Kind) -> bool:
        """Whether queries of a kind depend on what this measures."""
        ...

    def measure(self, values: Integers, axis: int) -> Integers:
        """B·x along one axis, exact where nothing overflows."""
        ...

    def recover(self, kind: Kind, measured: Floats, axis: int) -> Floats:
        """W·(BᵀB)⁺·Bᵀ·y along one axis: the part of the answers that is seen."""
        ...

    def variances(self, kind: Kind) -> Floats:
        """The variance of each recovered answer if each measured number has variance 1: q·(BᵀB)⁺·qᵀ."""
        ...

    def covariance(self, first: Query, second: Query) -> float:
        """The covariance of two recovered answers."""
        ...

    def used(self, kind: Kind) -> int:
        """How many measured numbers an answer depends on, at most."""
        ...


@dataclass(frozen=True, slots=True)
class Total:
    """One number, the sum of all values."""

    cells: int

    @property
    def measured(self) -> int:
        """1."""
        return 1

    @property
    def bounds(self) -> ColumnBounds:
        """Of a row of ones."""
        return ColumnBounds(diagonal=(1, 1), off_diagonal=(1, 1), eigenvalue=self.cells, l1=1, l0=1, row=self.cells)

    def sees(self, _kind: Kind) -> bool:
        """Every query depends on the mean."""
        return True

    def measure(self, values: Integers, axis: int) -> Integers:
        """The sum."""
        return queried("total", values, axis)

    def recover(self, kind: Kind, measured: Floats, axis: int) -> Floats:
        """As if each cell had an equal part of the sum."""
        shape = [1] * measured.ndim
        shape[axis] = -1
        return measured * (row_lengths(kind, self.cells) / self.cells).reshape(shape)

    def variances(self, kind: Kind) -> Floats:
        """(length/n)²."""
        found: Floats = (row_lengths(kind, self.cells) / self.cells) ** 2
        return found

    def used(self, _kind: Kind) -> int:
        """1."""
        return 1

    def covariance(self, first: Query, second: Query) -> float:
        """Both lengths over n²."""
        parts = [row_lengths(kind, self.cells)[index] / self.cells for kind, index in (first, second)]
        return float(parts[0] * parts[1])


@dataclass(frozen=True, slots=True)
class Cells:
    """Each value by itself."""

    cells: int

    @property
    def measured(self) -> int:
        """One number for each value."""
        return self.cells

    @property
    def bounds(self) -> ColumnBounds:
        """Of the identity."""
        between = (0, 0) if self.cells > 1 else (1, 1)
        return ColumnBounds(diagonal=(1, 1), off_diagonal=between, eigenvalue=1, l1=1, l0=1, row=1)

    def sees(self, _kind: Kind) -> bool:
        """Every query is a sum of cells."""
        return True

    def measure(self, values: Integers, _axis: int) -> Integers:
        """The values themselves."""
        return values

    def recover(self, kind: Kind, measured: Floats, axis: int) -> Floats:
        """Sums of cells."""
        return queried(kind, measured, axis)

    def variances(self, kind: Kind) -> Floats:
        """How many cells are added up."""
        return row_lengths(kind, self.cells).astype(np.float64)

    def used(self, kind: Kind) -> int:
        """As many as the longest query adds up."""
        return int(row_lengths(kind, self.cells).max())

    def covariance(self, first: Query, second: Query) -> float:
        """How many cells both add up."""
        return float(query_row(first[0], self.cells, first[1]) @ query_row(second[0], self.cells, second[1]))


@dataclass(frozen=True, slots=True)
class Residual:
    """How far each value lies from the mean, times the number n of values: n·x − total, which is whole.

    B = n·I − J, where J is all ones, so that BᵀB = n²·(I − J/n). It says nothing of the total, and of two vectors of
    the same total as much as the differences x − total/n would, which are not whole.

    References: [XHZK23].
    """

    cells: int

    @property
    def measured(self) -> int:
        """One number for each value, of which any one follows from the others."""
        return self.cells

    @property
    def bounds(self) -> ColumnBounds:
        """Of n·I − J, for n of at least 2."""
        n = self.cells
        return ColumnBounds(
            diagonal=(n * (n - 1), n * (n - 1)),
            off_diagonal=(-n, -n),
            eigenvalue=n * n,
            l1=2 * (n - 1),
            l0=n,
            row=2 * (n - 1),
        )

    def sees(self, kind: Kind) -> bool:
        """The total is the one query that does not depend on it."""
        return kind != "total"

    def measure(self, values: Integers, axis: int) -> Integers:
        """n·x − total."""
        differences: Integers = self.cells * values - queried("total", values, axis)
        return differences

    def recover(self, kind: Kind, measured: Floats, axis: int) -> Floats:
        """Queries of (y − mean of y)/n."""
        centered = (measured - measured.mean(axis=axis, keepdims=True)) / self.cells
        return queried(kind, centered, axis)

    def variances(self, kind: Kind) -> Floats:
        """(length − length²/n)/n²."""
        lengths = row_lengths(kind, self.cells)
        found: Floats = (lengths - lengths**2 / self.cells) / self.cells**2
        return found

    def used(self, _kind: Kind) -> int:
        """All, because each lies in the mean."""
        return self.measured

    def covariance(self, first: Query, second: Query) -> float:
        """That of two centered rows, over n²."""
        rows = [query_row(kind, self.cells, index) for kind, index in (first, second)]
        return float(rows[0] @ (rows[1] - rows[1].mean())) / self.cells**2


@dataclass(frozen=True, slots=True)
class Direct:
    """The queries of one kind themselves, from which no others are computed."""

    kind: Kind
    cells: int

    @property
    def measured(self) -> int:
        """One number for each query."""
        return len(row_lengths(self.kind, self.cells))

    @property
    def bounds(self) -> ColumnBounds:
        """Of zeros and ones: an inner product of two columns is at most the length of the longer."""
        most, least = most_shared(self.kind, self.cells), 0 if isinstance(self.kind, Subsets) else 1
        return ColumnBounds(
            diagonal=(least, most),
            off_diagonal=(0, most),
            eigenvalue=self.cells * most,
            l1=most,
            l0=most,
            row=int(row_lengths(self.kind, self.cells).max()),
        )

    def sees(self, kind: Kind) -> bool:
        """Its own kind."""
        return kind == self.kind

    def measure(self, values: Integers, axis: int) -> Integers:
        """The answers."""
        return queried(self.kind, values, axis)

    def recover(self, _kind: Kind, measured: Floats, _axis: int) -> Floats:
        """The answers as they were measured."""
        return measured

    def variances(self, _kind: Kind) -> Floats:
        """1 each."""
        return np.ones(self.measured)

    def used(self, _kind: Kind) -> int:
        """1."""
        return 1

    def covariance(self, first: Query, second: Query) -> float:
        """Each answer has noise of its own."""
        return float(first == second)


_EXACT: Final = {1 << 53: np.float64, 1 << 62: np.int64}
"""How sums of products are computed up to some size: of doubles many times as fast, and exact as well."""


@dataclass(frozen=True, slots=True, init=False, eq=False)
class Dense:
    """Any matrix B of whole numbers whose columns are linearly independent, or are so but for their sum, which is 0.

    Args:
        matrix: B, one column for each value.
        is_centered: Whether the columns add up to 0, so that it says nothing of the total.

    Raises:
        ParameterError: It is said to be centered and is not.
    """

    matrix: IntegerMatrix = field(repr=False)
    is_centered: bool
    bounds: ColumnBounds
    _inverse: Floats = field(repr=False)
    """(BᵀB)⁺."""

    def __init__(self, matrix: IntegerMatrix, *, is_centered: bool) -> None:
        if is_centered and matrix.sum(axis=1).any():
            raise ParameterError("is_centered", value=True, requirement="needs rows that each add up to 0")
        largest = int(np.abs(matrix).max()) ** 2 * int(matrix.size)
        exact = matrix.astype(next((kind for most, kind in _EXACT.items() if largest <= most), object))
        gram = exact.T @ exact
        gram = gram if gram.dtype == object else gram.astype(np.int64)
        set_fields(
            self,
            matrix=matrix,
            is_centered=is_centered,
            bounds=_bounds(matrix, gram),
            _inverse=_pseudo_inverse(gram.astype(np.float64), is_centered=is_centered),
        )
        matrix.setflags(write=False)

    @property
    def cells(self) -> int:
        """The columns of B."""
        return int(self.matrix.shape[1])

    @property
    def measured(self) -> int:
        """The rows of B."""
        return int(self.matrix.shape[0])

    def sees(self, kind: Kind) -> bool:
        """Everything, or everything but the total."""
        return not (self.is_centered and kind == "total")

    def measure(self, values: Integers, axis: int) -> Integers:
        """B·x."""
        matrix = self.matrix.astype(object) if values.dtype == object else self.matrix
        return np.moveaxis(np.tensordot(matrix, values, axes=(1, axis)), 0, axis)

    def recover(self, kind: Kind, measured: Floats, axis: int) -> Floats:
        """Queries of the vector that fits B·x best in least squares, of those that sum to 0 if B is centered."""
        fitted = self._inverse @ self.matrix.T.astype(np.float64)
        return queried(kind, np.moveaxis(np.tensordot(fitted, measured, axes=(1, axis)), 0, axis), axis)

    def variances(self, kind: Kind) -> Floats:
        """q·(BᵀB)⁺·qᵀ."""
        return quadratic_forms(kind, self._inverse)

    def used(self, _kind: Kind) -> int:
        """All."""
        return self.measured

    def covariance(self, first: Query, second: Query) -> float:
        """q·(BᵀB)⁺·q′ᵀ."""
        rows = [query_row(kind, self.cells, index) for kind, index in (first, second)]
        return float(rows[0] @ self._inverse @ rows[1])

    @property
    def inverse(self) -> Floats:
        """(BᵀB)⁺."""
        return self._inverse


def _bounds(matrix: IntegerMatrix, gram: Integers) -> ColumnBounds:
    diagonal = np.diagonal(gram)
    between = gram[~np.eye(len(gram), dtype=np.bool_)] if len(gram) > 1 else diagonal
    sizes = np.abs(matrix)
    return ColumnBounds(
        diagonal=(int(diagonal.min()), int(diagonal.max())),
        off_diagonal=(int(between.min()), int(between.max())),
        eigenvalue=int(np.abs(gram).sum(axis=1).max()),
        l1=int(sizes.sum(axis=0).max()),
        l0=int((matrix != 0).sum(axis=0).max()),
        row=int(sizes.sum(axis=1).max()),
    )


def _pseudo_inverse(gram: Floats, *, is_centered: bool) -> Floats:
    """Of a Gram matrix of full rank, or if centered of one whose null space is that of equal numbers."""
    lift = float(np.trace(gram)) / len(gram) ** 2 if is_centered else 0.0
    inverse = np.linalg.inv(gram + lift)
    if is_centered:
        inverse -= 1 / (lift * len(gram) ** 2)
    symmetric: Floats = (inverse + inverse.T) / 2
    return symmetric
