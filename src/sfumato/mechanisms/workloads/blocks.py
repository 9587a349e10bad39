"""Prefix sums of long columns: the best strategy for sums of blocks, and within each block the best for its cells.

A column of n cells is a·b cells in a blocks of b, the last ones of which stay empty. Of x, read as a matrix with one
row for each block, it measures

    m₁·B₁ ⊗ 1ᵀ   the best strategy for prefix sums of whole blocks, and of one block in part
    m₂·I ⊗ B₂    within each block the best strategy for what differs from the block's mean

B₂·1 = 0, so that neither says anything of what the other measures, and (BᵀB)⁺ is the sum of both.
"""

from dataclasses import dataclass, field
from functools import lru_cache
from math import isqrt, sqrt
from typing import Final

import numpy as np

from sfumato.errors import ParameterError
from sfumato.mechanisms.workloads.components import ColumnBounds, Dense, Query
from sfumato.mechanisms.workloads.optimal import COLUMN_LENGTH, optimal_component, optimal_factor, rounded
from sfumato.mechanisms.workloads.queries import Floats, Kind, quadratic_forms, queried, query_gram, query_row
from sfumato.noise.uniform.integers import Integers
from sfumato.numeric.rationals import positive_integer, set_fields

MOST_BLOCKED_CELLS: Final = 1 << 20
_FEWEST_BLOCKS: Final = 512  # the more blocks, the less is lost against the best strategy
_MULTIPLIER: Final = 256  # of the part with the smaller one: rounding it costs nothing that counts


@dataclass(frozen=True, slots=True, init=False, eq=False)
class Blocks:
    """Blocks and cells within them, for totals, cells and prefix sums.

    Args:
        cells: n, at most the cells of all blocks.
        upper: B₁, with one column for each block.
        lower: B₂, centered, with one column for each cell of a block.
        multipliers: m₁ and m₂, at least 1.

    Raises:
        ParameterError: B₂ is not centered, or the blocks have no room for all cells.
    """

    cells: int
    upper: Dense = field(repr=False)
    lower: Dense = field(repr=False)
    multipliers: tuple[int, int]
    bounds: ColumnBounds

    def __init__(self, cells: int, *, upper: Dense, lower: Dense, multipliers: tuple[int, int]) -> None:
        if not lower.is_centered or cells > upper.cells * lower.cells:
            raise ParameterError("lower", lower.is_centered, "must be centered, and blocks must hold all cells")
        for multiplier in multipliers:
            positive_integer(multiplier, "multipliers")
        bounds = _bounds(upper.bounds, lower.bounds, multipliers, width=lower.cells)
        set_fields(self, cells=cells, upper=upper, lower=lower, multipliers=multipliers, bounds=bounds)

    @property
    def measured(self) -> int:
        """Rows of B₁, and of B₂ for each block."""
        return self.upper.measured + self.upper.cells * self.lower.measured

    def sees(self, _kind: Kind) -> bool:
        """Every query."""
        return True

    def measure(self, values: Integers, axis: int) -> Integers:
        """The numbers of the blocks, then those within each block."""
        last = np.moveaxis(values, axis, -1)
        padding = self.upper.cells * self.lower.cells - self.cells
        padded = np.pad(last, [(0, 0)] * (last.ndim - 1) + [(0, padding)])
        blocks = padded.reshape(*last.shape[:-1], self.upper.cells, self.lower.cells)
        first, second = self.multipliers
        above = first * self.upper.measure(blocks.sum(axis=-1), last.ndim - 1)
        within = second * self.lower.measure(blocks, last.ndim)
        joined = np.concatenate([above, within.reshape(*last.shape[:-1], -1)], axis=-1)
        return np.moveaxis(joined, -1, axis)

    def recover(self, kind: Kind, measured: Floats, axis: int) -> Floats:
        """Queries of the cells that fit best."""
        last = np.moveaxis(measured, axis, -1)
        first, second = self.multipliers
        blocks, width = self.upper.cells, self.lower.cells
        above = self.upper.recover("cells", last[..., : self.upper.measured], last.ndim - 1) / (first * width)
        parts = last[..., self.upper.measured :].reshape(*last.shape[:-1], blocks, self.lower.measured)
        cells = above[..., np.newaxis] + self.lower.recover("cells", parts, last.ndim) / second
        fitted = cells.reshape(*last.shape[:-1], blocks * width)[..., : self.cells]
        return np.moveaxis(queried(kind, fitted, last.ndim - 1), -1, axis)

    def variances(self, kind: Kind) -> Floats:
        """The sum of the variances that blocks and cells lead to."""
        above, within = self.parts(kind)
        return above / self.multipliers[0] ** 2 + within / self.multipliers[1] ** 2

    def used(self, _kind: Kind) -> int:
        """All."""
        return self.measured

    def covariance(self, first: Query, second: Query) -> float:
        """Likewise."""
        shape = (self.upper.cells, self.lower.cells)
        rows = [np.zeros(shape[0] * shape[1]) for _ in range(2)]
        for row, (kind, index) in zip(rows, (first, second), strict=True):
            row[: self.cells] = query_row(kind, self.cells, index)
        ones, others = (row.reshape(shape) for row in rows)
        above = ones.mean(axis=1) @ self.upper.inverse @ others.mean(axis=1)
        within = np.einsum("hi,ij,hj", ones, self.lower.inverse, others, optimize=True)
        return float(above / self.multipliers[0] ** 2 + within / self.multipliers[1] ** 2)

    def parts(self, kind: Kind) -> tuple[Floats, Floats]:
        """The variances of each query that blocks lead to, and that cells within them do, with multipliers of 1."""
        block, place = np.divmod(np.arange(self.cells), self.lower.cells)
        inverse, width = self.upper.inverse, self.lower.cells
        if kind == "cells":
            return np.diagonal(inverse)[block] / width**2, np.diagonal(self.lower.inverse)[place]
        part = (place + 1) / width  # of a block, at the end of a prefix
        sums = np.pad(quadratic_forms("prefix", inverse), (1, 0))[block]
        crossed = np.tril(inverse, -1).sum(axis=1)[block]
        above = sums + 2 * part * crossed + part**2 * np.diagonal(inverse)[block]
        within = quadratic_forms("prefix", self.lower.inverse)[place]
        return (above[-1:], within[-1:]) if kind == "total" else (above, within)


def _bounds(upper: ColumnBounds, lower: ColumnBounds, multipliers: tuple[int, int], *, width: int) -> ColumnBounds:
    """Of a sum of two Gram matrices: two cells of one block have the same column of B₁, those of two none of B₂."""
    first, second = multipliers
    above, within = first**2, second**2
    apart = [above * limit for limit in upper.off_diagonal]
    together = [
        above * diagonal + within * between
        for diagonal, between in zip(upper.diagonal, lower.off_diagonal, strict=True)
    ]
    return ColumnBounds(
        diagonal=(
            above * upper.diagonal[0] + within * lower.diagonal[0],
            above * upper.diagonal[1] + within * lower.diagonal[1],
        ),
        off_diagonal=(min(apart[0], together[0]), max(apart[1], together[1])),
        eigenvalue=max(above * width * upper.eigenvalue, within * lower.eigenvalue),
        l1=first * upper.l1 + second * lower.l1,
        l0=upper.l0 + lower.l0,
        row=max(first * width * upper.row, second * lower.row),
    )


@lru_cache(maxsize=16)
def blocked_component(cells: int, weights: tuple[tuple[Kind, float], ...]) -> Blocks:
    """Blocks for queries of several kinds of one column: those of least total variance, for the best multipliers.

    Args:
        cells: How many values the column has, at most 2^20.
        weights: How much the variance of each query counts, for totals, cells and prefix sums.

    Example:
        >>> blocked_component(3000, (("prefix", 1.0),)).upper.cells
        500
    """
    blocks = max(_FEWEST_BLOCKS, isqrt(cells - 1) + 1)
    width = -(-cells // blocks)
    blocks = -(-cells // width)
    above: Floats = np.zeros((blocks, blocks))
    for kind, weight in weights:
        above += weight * _gram_of_blocks(kind, blocks, width)
    upper = Dense(rounded(COLUMN_LENGTH * optimal_factor(above).matrix, is_centered=False), is_centered=False)
    within = tuple((kind, weight) for kind, weight in weights if kind != "total") or (("cells", 1.0),)
    lower = optimal_component(width, within, is_centered=True)
    plain = Blocks(cells, upper=upper, lower=lower, multipliers=(1, 1))
    totals = np.zeros(2)
    for kind, weight in weights:
        totals += [weight * part.sum() for part in plain.parts(kind)]
    sizes = [sqrt(sqrt(total / part.bounds.diagonal[1])) for total, part in zip(totals, (upper, lower), strict=True)]
    first, second = (round(_MULTIPLIER * size / min(sizes)) for size in sizes)
    return Blocks(cells, upper=upper, lower=lower, multipliers=(first, second))


def _gram_of_blocks(kind: Kind, blocks: int, width: int) -> Floats:
    """WᵀW of the queries as far as they see the means of blocks, each with weights of which a whole block has 1."""
    match kind:
        case "cells":
            return np.eye(blocks) / width
        case "total":
            return query_gram("total", blocks)
        case _:
            parts = np.arange(1, width + 1) / width
            strict = np.tril(np.ones((blocks, blocks)), -1)
            crossed = parts.sum() * (strict + strict.T)
            found: Floats = width * strict.T @ strict + crossed + (parts**2).sum() * np.eye(blocks)
            return found
