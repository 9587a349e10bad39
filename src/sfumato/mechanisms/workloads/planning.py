"""Which strategy answers a workload with the least predicted error, from public facts alone."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import prod
from typing import Final, cast, get_args

import numpy as np

from sfumato.errors import ParameterError
from sfumato.mechanisms.workloads.blocks import MOST_BLOCKED_CELLS, blocked_component
from sfumato.mechanisms.workloads.components import Cells, Component, Dense, IntegerMatrix, Residual, Total
from sfumato.mechanisms.workloads.optimal import MOST_CELLS, optimal_component
from sfumato.mechanisms.workloads.queries import Kind, LinearQueries, Subsets, row_lengths
from sfumato.mechanisms.workloads.sensitivity import (
    CellSensitivity,
    l1_sensitivity,
    l2_sensitivity_squared,
)
from sfumato.mechanisms.workloads.strategies import (
    Kinds,
    NoiseKind,
    Objective,
    Strategy,
    orthogonal_strategy,
    plain_strategy,
)
from sfumato.numeric.arguments import listed, of_kind, one_of
from sfumato.numeric.rationals import positive_integer

MOST_NUMBERS: Final = 1 << 24
"""Measured by a strategy other than the plain one, so that no plan counts all cells of a domain that is too large."""

_BRANCHINGS: Final = (2, 3, 4, 6, 8, 12, 16, 24, 32)
_CLEARLY: Final = 1 - 1e-6  # by how much a strategy must be better than a simpler one
_SWEEPS: Final = 2
_LIMITS: Final = {"prefix": MOST_BLOCKED_CELLS, "ranges": MOST_CELLS}


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadPlan:
    """The strategy for a workload, and its predicted error beside that of asking each query by itself.

    Args:
        columns: Names of columns with how many values each has, in the order of the histogram's axes.
        workload: The groups of queries.
        kinds: For each group of queries their kind in each column; the one value of a column is its total.
        unit: The most that one privacy unit changes the histogram.
        noise: "gaussian" or "laplace".
        strategy: What is measured.
        error: What is made least, for noise of scale 1 per unit of sensitivity: the sum of the variances of all
            answers, each times its weight, or the largest mean of them over a group.
        plain_error: The same where each query is measured by itself, and each group has the best part of the budget.

    Raises:
        ParameterError: The strategy does not answer the workload over these columns.
    """

    columns: tuple[tuple[str, int], ...]
    workload: tuple[LinearQueries, ...]
    kinds: tuple[Kinds, ...] = field(repr=False)
    unit: CellSensitivity
    noise: NoiseKind
    strategy: Strategy = field(compare=False)
    error: float
    plain_error: float

    def __post_init__(self) -> None:
        kinds = tuple(_kinds(queries, self.columns) for queries in self.workload)
        if self.kinds != kinds or not self.strategy.answers(kinds, [size for _, size in self.columns]):
            raise ParameterError("strategy", self.strategy.name, "must answer the workload over these columns")

    @property
    def tables(self) -> tuple[tuple[str, ...], ...]:
        """The smallest tables of which everything is measured: by which columns each is grouped."""
        names = [name for name, _ in self.columns]
        needed = {
            tuple(name for name, part in zip(names, each.components, strict=True) if not isinstance(part, Total))
            for each in self.strategy.measurements
        }
        return tuple(sorted(table for table in needed if not any(set(table) < set(other) for other in needed)))


def plan_workload(
    columns: Mapping[str, int],
    workload: Iterable[LinearQueries],
    *,
    unit: CellSensitivity,
    noise: NoiseKind = "gaussian",
    objective: Objective = "total",
) -> WorkloadPlan:
    """The best of several strategies for many linear queries of one histogram; never worse than separate queries.

    For Gaussian noise: residuals of marginals, which is best of all where each column is only totaled or counted by
    cells; the best strategy for the prefix sums and ranges of a column, and products of these. For Laplace noise: the
    cells, or trees of sums. Else "plain": each query by itself.

    Args:
        columns: How many values each column has, in the order of the histogram's axes.
        workload: Groups of queries.
        unit: The most that one privacy unit changes the histogram.
        noise: "gaussian" or "laplace".
        objective: "total" makes the weighted sum of all variances least, "largest" the largest weighted mean variance
            of a group: of a marginal that is the variance of each count.

    Raises:
        ParameterError: A query names no column, a column is too long for its queries, or nothing is asked.

    Example:
        >>> from sfumato.mechanisms import marginals
        >>> pairs = marginals(["age", "job", "sex"], ways=2)
        >>> one_row = CellSensitivity(l0=1, linf=1, is_nonnegative=True)
        >>> plan = plan_workload({"age": 8, "job": 5, "sex": 2}, pairs, unit=one_row)
        >>> plan.strategy.name, round(plan.error / plan.plain_error, 2)
        ('residual', 0.76)

    References:
        [XHZK23] for marginals and their products with prefix sums; [MMHM18], [LMHMR15] for strategies.
    """
    problem = _Problem.of(columns, workload, unit, noise, objective)
    plain, *others = problem.strategies()
    best, error = plain, problem.error(plain)
    plain_error = error
    for strategy in others:
        if strategy.size > MOST_NUMBERS:
            continue
        found = problem.error(strategy)
        if found < error * _CLEARLY:
            best, error = strategy, found
    return WorkloadPlan(
        columns=problem.columns,
        workload=problem.workload,
        kinds=problem.kinds,
        unit=unit,
        noise=noise,
        strategy=best,
        error=error,
        plain_error=plain_error,
    )


def squared_sensitivity(strategy: Strategy, unit: CellSensitivity) -> int:
    """The square of the most that one unit changes the measured numbers in L2."""
    return l2_sensitivity_squared(strategy.measurements, unit, is_orthogonal=strategy.is_orthogonal)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Problem:
    """A workload in terms of the axes of its histogram."""

    columns: tuple[tuple[str, int], ...]
    workload: tuple[LinearQueries, ...]
    kinds: tuple[Kinds, ...]
    weights: tuple[float, ...]
    unit: CellSensitivity
    noise: NoiseKind
    objective: Objective

    @classmethod
    def of(
        cls,
        columns: Mapping[str, int],
        workload: Iterable[LinearQueries],
        unit: CellSensitivity,
        noise: NoiseKind,
        objective: Objective,
    ) -> "_Problem":
        """What was handed over, checked."""
        sizes = tuple(
            (of_kind(name, "columns", str, "names of columns"), positive_integer(size, "columns"))
            for name, size in of_kind(columns, "columns", Mapping, "a mapping from names to numbers of values").items()
        )
        groups = tuple(
            of_kind(queries, "workload", LinearQueries, "LinearQueries")
            for queries in listed(workload, "workload", of="LinearQueries")
        )
        if not groups or not sizes:
            raise ParameterError("workload", groups, "must have at least one group of queries, of one column or more")
        one_of(noise, "noise", get_args(NoiseKind))
        one_of(objective, "objective", get_args(Objective))
        return cls(
            columns=sizes,
            workload=groups,
            kinds=tuple(_kinds(queries, sizes) for queries in groups),
            weights=tuple(float(queries.weight) for queries in groups),
            unit=of_kind(unit, "unit", CellSensitivity, "a CellSensitivity"),
            noise=noise,
            objective=objective,
        )

    def strategies(self) -> Iterable[Strategy]:
        """Separate queries, then others, the simpler ones first."""
        yield plain_strategy(
            self.kinds,
            [size for _, size in self.columns],
            self.weights,
            unit=self.unit,
            noise=self.noise,
            objective=self.objective,
        )
        if self.noise == "laplace":
            for name, choose in (("cells", _cells), ("trees", _tree)):
                yield self._strategy(name, [choose(self, column) for column in range(len(self.columns))])
            return
        yield self._strategy("cells", [_cells(self, column) for column in range(len(self.columns))])
        swept = self._swept()
        yield self._strategy("product", [(component,) for component in swept])
        apart = [_apart(self, column) for column in range(len(self.columns))]
        yield self._strategy("residual", apart)
        yield self._strategy(
            "residual and product",
            [
                (component,) if self.is_ordered(column) else parts
                for column, (component, parts) in enumerate(zip(swept, apart, strict=True))
            ],
        )

    def error(self, strategy: Strategy) -> float:
        """The objective, for noise of scale 1 per unit of sensitivity."""
        totals = [
            weight * strategy.total_variance(group, kinds)
            for group, (kinds, weight) in enumerate(zip(self.kinds, self.weights, strict=True))
        ]
        if self.objective == "total":
            together = sum(totals)
        else:
            answers = [
                prod(len(row_lengths(kind, size)) for kind, (_, size) in zip(kinds, self.columns, strict=True))
                for kinds in self.kinds
            ]
            together = max(total / count for total, count in zip(totals, answers, strict=True))
        if self.noise == "laplace":  # scale b has variance of about 2b²
            return 2 * together * float(l1_sensitivity(strategy.measurements, self.unit)) ** 2
        return together * float(squared_sensitivity(strategy, self.unit))

    def of_column(self, column: int) -> set[Kind]:
        """The kinds of queries of one column."""
        return {kinds[column] for kinds in self.kinds}

    def is_ordered(self, column: int) -> bool:
        """Whether sums of several values of a column are asked, such as prefix sums."""
        return any(isinstance(kind, Subsets) or kind in {"prefix", "ranges"} for kind in self.of_column(column))

    def weights_of(self, column: int, chosen: Sequence[Component | None]) -> tuple[tuple[Kind, float], ...]:
        """How much a variance of each kind counts in one column, by what the other columns contribute to it."""
        found: dict[Kind, float] = {}
        for kinds, weight in zip(self.kinds, self.weights, strict=True):
            others = [place for place in range(len(kinds)) if place != column]
            factor = prod(
                len(row_lengths(kinds[place], self.columns[place][1]))
                if (component := chosen[place]) is None
                else float(component.variances(kinds[place]).sum())
                for place in others
            )
            found[kinds[column]] = found.get(kinds[column], 0.0) + weight * factor
        return tuple(
            sorted(
                ((kind, weight / max(found.values())) for kind, weight in found.items()), key=lambda one: str(one[0])
            )
        )

    def _swept(self) -> list[Component]:
        """For each column one component that sees everything, the best given those of the other columns."""
        chosen: list[Component | None] = [None] * len(self.columns)
        for _ in range(_SWEEPS):
            for column, (_, size) in enumerate(self.columns):
                if not self.is_ordered(column):
                    (chosen[column],) = _cells(self, column)
                elif size > MOST_CELLS:
                    chosen[column] = blocked_component(size, self.weights_of(column, chosen))
                else:
                    chosen[column] = optimal_component(size, self.weights_of(column, chosen), is_centered=False)
        return cast("list[Component]", chosen)

    def _strategy(self, name: str, choices: Sequence[Sequence[Component]]) -> Strategy:
        return orthogonal_strategy(name, choices, self.kinds, self.weights, unit=self.unit, objective=self.objective)


def _kinds(queries: LinearQueries, columns: Sequence[tuple[str, int]]) -> Kinds:
    """In the order of the columns; the one value of a column is its total."""
    unknown = {name for name, _ in queries.kinds} - {name for name, _ in columns}
    if unknown:
        raise ParameterError("workload", sorted(unknown), "must name columns of the histogram")
    kinds: list[Kind] = []
    for name, size in columns:
        kind = queries.kind(name)
        limit = MOST_CELLS if isinstance(kind, Subsets) else _LIMITS.get(kind)
        if limit is not None and size > limit:
            shown = "subsets" if isinstance(kind, Subsets) else kind
            raise ParameterError("workload", f"{shown} of {name!r}", f"may be asked of at most {limit:,} values")
        if isinstance(kind, Subsets) and (max(map(max, kind.places)) >= size or 1 == size < len(kind.places)):
            requirement = f"must be of its {size:,} values, and of one value at most once"
            raise ParameterError("workload", f"subsets of {name!r}", requirement)
        kinds.append("total" if size == 1 else kind)
    return tuple(kinds)


def _cells(problem: _Problem, column: int) -> tuple[Component, ...]:
    size = problem.columns[column][1]
    return (Total(size),) if problem.of_column(column) == {"total"} else (Cells(size),)


def _apart(problem: _Problem, column: int) -> tuple[Component, ...]:
    """The total and what it does not see, or the best for both where every query depends on both."""
    size = problem.columns[column][1]
    asked = problem.of_column(column)
    if asked == {"total"}:
        return (Total(size),)
    if not problem.is_ordered(column) or size > MOST_CELLS:
        return Total(size), Residual(size)
    weights = problem.weights_of(column, [None] * len(problem.columns))
    if "total" not in asked:
        return (optimal_component(size, weights, is_centered=False),)
    without = tuple((kind, weight) for kind, weight in weights if kind != "total")
    return Total(size), optimal_component(size, without, is_centered=True)


def _tree(problem: _Problem, column: int) -> tuple[Component, ...]:
    """The best tree of sums for the prefix sums and ranges of a column, or its cells."""
    size = problem.columns[column][1]
    if not problem.is_ordered(column) or size > MOST_CELLS:
        return _cells(problem, column)
    weights = problem.weights_of(column, [None] * len(problem.columns))
    candidates: list[Component] = [Cells(size)]
    candidates += [Dense(tree(size, branching), is_centered=False) for branching in _BRANCHINGS if branching < size]

    def error(component: Component) -> float:
        return component.bounds.l1**2 * sum(weight * float(component.variances(kind).sum()) for kind, weight in weights)

    return (min(candidates, key=error),)


def tree(cells: int, branching: int) -> IntegerMatrix:
    """A tree of sums: all cells, then parts of about equal length, at last single cells.

    Example:
        >>> tree(4, 2).tolist()
        [[1, 1, 1, 1], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    """
    nodes, level = [], [(0, cells)]
    while level:
        nodes += level
        parents = [(start, stop) for start, stop in level if stop - start > 1]
        level = [
            part
            for start, stop in parents
            for part in pairwise(
                sorted({start + (stop - start) * place // branching for place in range(branching + 1)})
            )
        ]
    position = np.arange(cells)
    return np.array([(start <= position) & (position < stop) for start, stop in nodes], dtype=np.int64)
