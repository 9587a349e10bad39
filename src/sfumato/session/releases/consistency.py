"""Sums over GROUPING SETS made to add up: the weighted least squares fit to all that was released, for free.

Each set of public keys is a full table with noise of one variance, so the fit needs no matrix: what tables say of a
common part of their keys is averaged by precision, part by part. Proof: proofs/session/releases/consistency.md.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.numeric.distributions import discrete_laplace_variance
from sfumato.numeric.noise_sums import IntegerNoise
from sfumato.query.planning.grouping import intersections
from sfumato.query.planning.plan import PrivatePlan
from sfumato.query.statistics.measurements import Section, SumOutput
from sfumato.session.releases.releasing import Released

Table: TypeAlias = NDArray[np.float64]
"""A number for each group, one axis a key of the query; of length 1 where the table does not group by it."""


@dataclass(frozen=True, slots=True, eq=False)
class NoisyTable:
    """A table that was released, and the variance of its noise."""

    keys: frozenset[str]
    table: Table
    variance: float


def consistent_figures(plan: PrivatePlan, released: Sequence[Released]) -> tuple[Mapping[str, Table], ...]:
    """For each section, for each of its columns, the figures of its groups, in their order, made to add up.

    Columns of which nothing was released, at an ε of 0, are left out.

    Args:
        plan: Of a query that `grouping_sets.with_listed_keys` accepts.
        released: What each section released.
    """
    figures: list[dict[str, Table]] = [{} for _ in plan.sections]
    for place in range(len(plan.sections[0].outputs)):
        noisy = [_noisy(plan, section, place, own) for section, own in zip(plan.sections, released, strict=True)]
        if any(one is None for one in noisy):
            continue
        fitted = fit([one for one in noisy if one is not None], plan.question.child.keys)
        for found, section, table in zip(figures, plan.sections, fitted, strict=True):
            output = _sum(section, place)
            found[output.name] = table.reshape(-1) * float(output.resolution)
    return tuple(figures)


def fit(noisy: Sequence[NoisyTable], keys: Sequence[str]) -> list[Table]:
    """The tables that add up and are nearest to those with noise, squares weighted by 1/variance.

    Args:
        noisy: Tables with different keys; one without noise is kept as it is.
        keys: The key of each axis.
    """
    grid = _Grid(tuple(keys), tuple(map(int, np.max([one.table.shape for one in noisy], axis=0))))
    parts: dict[frozenset[str], Table] = {}
    for common in intersections(tuple(tuple(one.keys) for one in noisy)):
        part = _averaged([one for one in noisy if one.keys >= common], common, grid)
        for smaller in [known for known in parts if known < common]:  # what its smaller parts say is known already
            part = part - grid.sums(part, smaller) / grid.cells(common - smaller)
        parts[common] = part
    return [_whole(one, parts, grid) for one in noisy]


@dataclass(frozen=True, slots=True)
class _Grid:
    """The key of each axis, and how many values it has."""

    keys: tuple[str, ...]
    lengths: tuple[int, ...]

    def cells(self, keys: frozenset[str]) -> int:
        """How many groups some keys make."""
        return prod(length for key, length in zip(self.keys, self.lengths, strict=True) if key in keys)

    def sums(self, table: Table, keys: frozenset[str]) -> Table:
        """The sums of a table over all keys but these."""
        others = tuple(axis for axis, key in enumerate(self.keys) if key not in keys)
        total: Table = np.sum(table, axis=others, keepdims=True)
        return total


def _averaged(noisy: Sequence[NoisyTable], keys: frozenset[str], grid: _Grid) -> Table:
    """What several tables say of the sums over all but some keys, by precision: a sum of n numbers has n variances."""
    for one in noisy:
        if one.variance == 0:
            return grid.sums(one.table, keys)
    weights = [1 / (one.variance * grid.cells(one.keys)) for one in noisy]
    weighted = [weight * grid.sums(one.table, keys) for weight, one in zip(weights, noisy, strict=True)]
    total: Table = np.sum(weighted, axis=0)
    return total / sum(weights)


def _whole(one: NoisyTable, parts: Mapping[frozenset[str], Table], grid: _Grid) -> Table:
    """A table put together from its parts, each spread evenly over the keys that it does not have."""
    table = np.zeros_like(one.table)
    for common, part in parts.items():
        if common <= one.keys:
            table += part / grid.cells(one.keys - common)
    return table


def _noisy(plan: PrivatePlan, section: Section, place: int, released: Released) -> NoisyTable | None:
    """One column of a section as a table; None where nothing was released."""
    terms = _sum(section, place).terms
    noises = section.noises([measurement for (measurement, _), _ in terms])
    if noises is None:
        return None
    listed = {key.name: key.values for key in section.keys}
    shape = [len(listed.get(key) or (None,)) for key in plan.question.child.keys]
    parts = [[factor * numbers[at] for numbers in released.measured[own]] for (own, at), factor in terms]
    column = [float(sum(numbers)) for numbers in zip(*parts, strict=True)]
    variance = sum(factor**2 * _variance(noise) for (_, factor), noise in zip(terms, noises, strict=True))
    return NoisyTable(frozenset(listed), np.array(column).reshape(shape), variance)


def _sum(section: Section, place: int) -> SumOutput:
    output = section.outputs[place]
    if not isinstance(output, SumOutput):
        raise TypeError("only sums add up")
    return output


def _variance(noise: IntegerNoise) -> float:
    """In squared lattice steps."""
    if noise.law == "gaussian" or noise.scale == 0:
        return float(noise.scale) ** 2
    return discrete_laplace_variance(noise.scale)
