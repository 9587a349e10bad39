"""The strategy of least total variance for the queries of one column, in whole numbers.

For queries W, Gaussian noise and a unit in one cell, measuring B and fitting by least squares errs in total by
tr(WᵀW·(BᵀB)⁻¹) times the largest squared length of a column of B. The best BᵀB is

    X = D^−½·R·D^−½   with R = (D^½·WᵀW·D^½)^½

for the diagonal D > 0 for which the diagonal of X is 1. For every D, (tr R)²/tr D is a lower bound of the total, so how
good a D is can be seen. Proof: proofs/mechanisms/workloads/workload_mechanism.md.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from sfumato.mechanisms.workloads.components import Dense, IntegerMatrix
from sfumato.mechanisms.workloads.queries import Floats, Kind, query_gram

MOST_CELLS: Final = 1024
"""Of a column whose best strategy is computed: time grows with the third power."""
COLUMN_LENGTH: Final = 1 << 12
"""How long a column is before it is rounded: that costs less than 1/1000 of the variance."""

_MOST_ROUNDS: Final = 30
_STRETCH: Final = 2.5  # with 1 it is the plain fixed point, which converges slowly
_NEAR: Final = 1.001  # to the lower bound
_NEAR_OF_MANY: Final = 1.003  # of more cells, so that 1,024 take about a second
_FEW_CELLS: Final = 256
_COARSE_ROUNDS: Final = 4
_COARSEST: Final = 32
_LEAST_PART: Final = 1e-4  # of the sum of all weights is that of each cell at least, times the number of cells
_LEAST_WEIGHT: Final = 1e-8  # of each cell beside the others: what hardly counts is still measured, and B has full rank


@dataclass(frozen=True, slots=True, eq=False)
class Factor:
    """A matrix B with columns of length about 1, and bounds of the total variance from both sides."""

    matrix: Floats
    total: float
    """What measuring B leads to."""
    lower_bound: float
    """No strategy leads to less."""


def optimal_factor(gram: Floats, *, is_centered: bool = False) -> Factor:
    """The best strategy in real numbers for queries W, within 0.3% of the lower bound, of few cells within 0.1%.

    Args:
        gram: WᵀW, or a matrix that stands for queries of different weights; of full rank.
        is_centered: Whether it has full rank but for WᵀW·1 = 0; B then has one row less.

    Example:
        >>> factor = optimal_factor(query_gram("prefix", 64))
        >>> factor.total / factor.lower_bound <= 1.001
        True

    References:
        [DMRST22] for the fixed point; [LM13] for the bound of D = I.
    """
    unseen, following = int(is_centered), _first_weights(gram)
    near = _NEAR if len(gram) <= _FEW_CELLS else _NEAR_OF_MANY
    for _ in range(_MOST_ROUNDS):
        weights = following
        values, vectors, diagonal = _root(gram, weights, unseen=unseen)
        largest = (diagonal / weights).max()
        total, lower_bound = values.sum() * largest, values.sum() ** 2 / weights.sum()
        if total <= near * lower_bound:
            break
        following = _following(weights, diagonal)
    rows = np.sqrt(values[unseen:])[:, np.newaxis] * vectors[:, unseen:].T
    return Factor(rows / np.sqrt(weights * largest), float(total), float(lower_bound))


def _root(gram: Floats, weights: Floats, *, unseen: int = 0) -> tuple[Floats, Floats, Floats]:
    """The eigenvalues of R, the first ones set to 0, its eigenvectors, and its diagonal."""
    roots = np.sqrt(weights)
    squares, vectors = np.linalg.eigh(roots[:, np.newaxis] * gram * roots)
    squares[:unseen] = 0
    values = np.sqrt(np.maximum(squares, 0))
    return values, vectors, (vectors**2) @ values


def _first_weights(gram: Floats) -> Floats:
    """Those of every second cell, which are found alike, and between them others: neighboring cells are alike."""
    if len(gram) <= _COARSEST:
        return np.ones(len(gram))
    coarse = gram[::2, ::2]
    weights = _first_weights(coarse)
    for _ in range(_COARSE_ROUNDS):
        weights = _following(weights, _root(coarse, weights)[2])
    places = np.linspace(0, len(weights) - 1, len(gram))
    return np.exp(np.interp(places, np.arange(len(weights)), np.log(weights)))


def _following(weights: Floats, diagonal: Floats) -> Floats:
    """The next weights; those of cells that hardly any query needs would fall until rounding is all that they are."""
    found: Floats = weights * (diagonal / weights) ** _STRETCH
    return found.clip(_LEAST_PART / len(weights) * float(found.sum()))


def rounded(matrix: Floats, *, is_centered: bool) -> IntegerMatrix:
    """The nearest whole numbers; if centered, those near it whose rows add up to 0, as the rows of the matrix do.

    Example:
        >>> rounded(np.array([[1.4, 1.4, -2.8]]), is_centered=True).tolist()
        [[2, 1, -3]]
    """
    if not is_centered:
        return np.rint(matrix).astype(np.int64)
    floors = np.floor(matrix)
    missing = -floors.sum(axis=1, keepdims=True)
    ranks = np.argsort(np.argsort(floors - matrix, axis=1, kind="stable"), axis=1, kind="stable")
    whole: IntegerMatrix = (floors + (ranks < missing)).astype(np.int64)
    return whole


@lru_cache(maxsize=16)
def optimal_component(cells: int, weights: tuple[tuple[Kind, float], ...], *, is_centered: bool) -> Dense:
    """The best strategy for queries of several kinds of one column.

    Args:
        cells: How many values the column has, at most `MOST_CELLS`.
        weights: How much the variance of each query of a kind counts; together they must see every cell.
        is_centered: Whether the total is measured apart, so that it need not be seen.

    Example:
        >>> optimal_component(16, (("prefix", 1.0),), is_centered=False).measured
        16
    """
    gram: Floats = np.zeros((cells, cells))
    for kind, weight in weights:
        gram += weight * query_gram(kind, cells)
    gram += _LEAST_WEIGHT * np.trace(gram) / cells * np.eye(cells)
    if is_centered:
        gram -= gram.mean(axis=0)
        gram -= gram.mean(axis=1, keepdims=True)
        gram = (gram + gram.T) / 2
    factor = COLUMN_LENGTH * optimal_factor(gram, is_centered=is_centered).matrix
    return Dense(rounded(factor, is_centered=is_centered), is_centered=is_centered)
