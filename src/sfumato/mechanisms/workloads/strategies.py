"""What a workload's answers are computed from: measurements, their multipliers, and which of them each answer needs.

The measurements of an orthogonal strategy see nothing in common, so that its Gram matrix is a sum Σ t_A·G_A of products
of components with G_A·G_B = 0. The variance of an answer then is a sum of one term v_A/t_A for each measurement that it
depends on, and one unit costs at most Σ t_A·p_A; the best t_A is in closed form.
Proof: proofs/mechanisms/workloads/workload_mechanism.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import product
from math import prod
from typing import Final, Literal, TypeAlias

import numpy as np

from sfumato.errors import ParameterError
from sfumato.mechanisms.workloads.components import Cells, Component, Dense, Direct, Query, Residual, Total
from sfumato.mechanisms.workloads.queries import Floats, Kind
from sfumato.mechanisms.workloads.sensitivity import (
    CellSensitivity,
    Measurement,
    l1_sensitivity,
    l2_sensitivity_squared,
)

Kinds: TypeAlias = tuple[Kind, ...]
"""The kinds of some queries, one for each column."""
Objective: TypeAlias = Literal["total", "largest"]
NoiseKind: TypeAlias = Literal["gaussian", "laplace"]

_LEAST_MULTIPLIER: Final = 1024
"""Of the measurement with the most noise: rounding multipliers then changes no variance by more than 1/1000."""
_MOST_ROUNDS: Final = 2000
_NEAR: Final = 1.001  # to the least that is possible


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Strategy:
    """Measurements, and those that the answers of each group of queries are computed from.

    Args:
        name: How it was made.
        measurements: What is measured, all with noise of one distribution.
        sources: For each group of queries, the places of its measurements.
        is_orthogonal: Whether no measurement sees what another one sees.

    Raises:
        ParameterError: It is said to be orthogonal and is not.
    """

    name: str
    measurements: tuple[Measurement, ...] = field(repr=False)
    sources: tuple[tuple[int, ...], ...] = field(repr=False)
    is_orthogonal: bool

    def __post_init__(self) -> None:
        if self.is_orthogonal and not _see_nothing_in_common(self.measurements):
            requirement = "needs measurements of which no two see anything in common"
            raise ParameterError("is_orthogonal", value=True, requirement=requirement)

    @property
    def size(self) -> int:
        """How many numbers are measured."""
        return sum(each.size for each in self.measurements)

    def answers(self, groups: Sequence[Kinds], cells: Sequence[int]) -> bool:
        """Whether groups of queries of columns with so many values follow from it, with no measurement to spare."""
        sizes = {tuple(part.cells for part in each.components) for each in self.measurements}
        needed = {place for own in self.sources for place in own}
        if sizes != {tuple(cells)} or needed != set(range(len(self.measurements))):
            return False
        return all(self.sources) and all(
            part.sees(kind)
            for kinds, own in zip(groups, self.sources, strict=True)
            for place in own
            for part, kind in zip(self.measurements[place].components, kinds, strict=True)
        )

    def variances(self, group: int, kinds: Kinds) -> Floats:
        """The variance of each answer of a group if the noise has variance 1; one axis for each column."""
        parts: list[Floats] = []
        for place in self.sources[group]:
            measurement = self.measurements[place]
            of_columns = [part.variances(kind) for part, kind in zip(measurement.components, kinds, strict=True)]
            parts.append(reduce(np.multiply.outer, of_columns) / measurement.multiplier**2)
        total: Floats = np.sum(parts, axis=0)
        return total

    def total_variance(self, group: int, kinds: Kinds) -> float:
        """The sum of `variances`, without an array of them."""
        return sum(
            prod(float(part.variances(kind).sum()) for part, kind in zip(each.components, kinds, strict=True))
            / each.multiplier**2
            for each in (self.measurements[place] for place in self.sources[group])
        )

    def covariance(self, groups: tuple[int, int], queries: tuple[Sequence[Query], Sequence[Query]]) -> float:
        """The covariance of two answers if the noise has variance 1."""
        shared = [place for place in self.sources[groups[0]] if place in self.sources[groups[1]]]
        return sum(
            prod(part.covariance(*pair) for part, *pair in zip(each.components, *queries, strict=True))
            / each.multiplier**2
            for each in (self.measurements[place] for place in shared)
        )


def _see_nothing_in_common(measurements: Sequence[Measurement]) -> bool:
    """Whether any two differ in a column of which one sees the total alone, and the other all but the total."""
    of_columns = (set(parts) for parts in zip(*(each.components for each in measurements), strict=True))
    are_apart = all(len(parts) == 1 or _are_total_and_rest(*parts) for parts in of_columns)
    return are_apart and len({each.components for each in measurements}) == len(measurements)


def _are_total_and_rest(first: Component, second: Component, *others: Component) -> bool:
    rest = second if isinstance(first, Total) else first
    is_rest = isinstance(rest, Residual) or (isinstance(rest, Dense) and rest.is_centered)
    return is_rest and not others and (isinstance(first, Total) or isinstance(second, Total))


def orthogonal_strategy(
    name: str,
    choices: Sequence[Sequence[Component]],
    groups: Sequence[Kinds],
    weights: Sequence[float],
    *,
    unit: CellSensitivity,
    objective: Objective,
) -> Strategy:
    """The best multipliers for all products of components on which some answer depends.

    Args:
        name: How it was made.
        choices: For each column one component, or several that see nothing in common.
        groups: The kinds of each group of queries.
        weights: How much the variance of each answer of a group counts.
        unit: The most that one privacy unit changes the histogram.
        objective: Whether the sum of all variances is to be least, or the largest mean variance of a group.

    Example:
        >>> from sfumato.mechanisms.workloads.components import Residual
        >>> choices, unit = [(Total(3), Residual(3))], CellSensitivity(l0=1, linf=1, is_nonnegative=True)
        >>> strategy = orthogonal_strategy("residual", choices, [("cells",)], [1.0], unit=unit, objective="total")
        >>> [measurement.multiplier for measurement in strategy.measurements]  # nearly a multiple of I
        [1774, 1024]

    References:
        [XHZK23] for the closed form.
    """
    places: dict[tuple[Component, ...], int] = {}
    sources = []
    for kinds in groups:
        seen = [[part for part in parts if part.sees(kind)] for parts, kind in zip(choices, kinds, strict=True)]
        sources.append(tuple(places.setdefault(chosen, len(places)) for chosen in product(*seen)))
    terms = np.zeros((len(groups), len(places)))
    known: dict[tuple[Component, Kind], float] = {}
    for parts, place in places.items():
        for group in (group for group, of_group in enumerate(sources) if place in of_group):
            for column in zip(parts, groups[group], strict=True):
                if column not in known:
                    variances = column[0].variances(column[1])
                    known[column] = float(variances.sum() if objective == "total" else variances.mean())
            terms[group, place] = prod(known[column] for column in zip(parts, groups[group], strict=True))
    measured = [Measurement(multiplier=1, components=parts) for parts in places]
    multipliers = np.sqrt(best_shares(terms, _costs(measured, unit), np.array(weights), objective))
    return Strategy(
        name=name, measurements=_multiplied(measured, multipliers), sources=tuple(sources), is_orthogonal=True
    )


def plain_strategy(
    groups: Sequence[Kinds],
    cells: Sequence[int],
    weights: Sequence[float],
    *,
    unit: CellSensitivity,
    noise: NoiseKind,
    objective: Objective,
) -> Strategy:
    """Every query measured by itself, each group with the best part of the budget.

    Args:
        groups: The kinds of each group of queries.
        cells: How many values each column has.
        weights: How much the variance of each answer of a group counts.
        unit: The most that one privacy unit changes the histogram.
        noise: Of Laplace noise budgets add up in L1, of Gaussian noise in L2.
        objective: As in `orthogonal_strategy`.
    """
    measured = [
        Measurement(multiplier=1, components=tuple(_direct(*column) for column in zip(kinds, cells, strict=True)))
        for kinds in groups
    ]
    sizes = np.array([each.size if objective == "total" else 1.0 for each in measured], dtype=np.float64)
    if noise == "gaussian":
        multipliers = np.sqrt(best_shares(np.diag(sizes), _costs(measured, unit), np.array(weights), objective))
    else:  # Σ w·size/m² is least for a given Σ m·p, or the largest w/m²
        costs = np.array([float(l1_sensitivity([each], unit)) for each in measured])
        multipliers = (weights * sizes / costs) ** (1 / 3) if objective == "total" else np.sqrt(weights)
    return Strategy(
        name="plain",
        measurements=_multiplied(measured, multipliers),
        sources=tuple((place,) for place in range(len(groups))),
        is_orthogonal=False,
    )


def best_shares(terms: Floats, costs: Floats, weights: Floats, objective: Objective) -> Floats:
    """The t with the least Σ_k w_k·V_k, or the least max_k w_k·V_k, where V_k = Σ_A terms[k, A]/t_A and Σ t·costs = 1.

    The first is t_A ∝ √(v_A/p_A) with v = weights·terms. The second is the first for some other weights, which are
    found by raising those of what is too large; the sum for any weights that add up to 1 is a lower bound.

    Example:
        >>> best_shares(np.eye(2), np.ones(2), np.array([1.0, 4.0]), "total").round(3).tolist()
        [0.333, 0.667]
        >>> best_shares(np.eye(2), np.ones(2), np.array([1.0, 4.0]), "largest").round(3).tolist()
        [0.2, 0.8]
    """
    shares = _shares(weights @ terms, costs)
    if objective == "total":
        return shares
    raised = np.ones(len(weights)) / len(weights)
    for _ in range(_MOST_ROUNDS):
        shares = _shares((raised * weights) @ terms, costs)
        found = weights * (terms / shares).sum(axis=1)
        if found.max() <= _NEAR * (raised @ found):
            break
        raised *= found
        raised /= raised.sum()
    return shares


def _shares(variances: Floats, costs: Floats) -> Floats:
    shares: Floats = np.sqrt(variances / costs)
    return shares / (shares @ costs)


def _direct(kind: Kind, cells: int) -> Component:
    match kind:
        case "total":
            return Total(cells)
        case "cells":
            return Cells(cells)
        case _:
            return Direct(kind, cells)


def _costs(measured: Sequence[Measurement], unit: CellSensitivity) -> Floats:
    """What one unit costs in each measurement alone; for a unit in one cell these add up exactly."""
    return np.array([float(l2_sensitivity_squared([each], unit)) for each in measured])


def _multiplied(measured: Sequence[Measurement], multipliers: Floats) -> tuple[Measurement, ...]:
    """Whole multiples in about the same proportions; of one alone 1."""
    least = multipliers.min() if len(measured) == 1 else multipliers.min() / _LEAST_MULTIPLIER
    return tuple(
        Measurement(multiplier=round(multiplier / least), components=each.components)
        for each, multiplier in zip(measured, multipliers.tolist(), strict=True)
    )
