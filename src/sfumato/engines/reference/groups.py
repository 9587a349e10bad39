"""From plain rows to the integers of each group, by the seven steps of `Statement`, one after another.

Rows are mappings of Python values, so that nothing that reads files or frames is loaded.
Proof: proofs/engines/sampling.md.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from sfumato.engines.base import ExactGroups, Integers
from sfumato.engines.reference.relations import OwnedRow
from sfumato.engines.sampling import least, rank_hash
from sfumato.query.analysis.shape import Metric, shape_of
from sfumato.query.analysis.unmixed import unmixed_cell, unmixed_measure
from sfumato.query.model.schema import Limits
from sfumato.query.model.statement import (
    Bins,
    CellCount,
    LatticeValue,
    Measure,
    RowCount,
    Statement,
    StepProduct,
    StepSum,
    UnitCount,
    ValueCount,
)
from sfumato.query.model.statement import Cell as Cells
from sfumato.query.values.cells import MAX_INT64, MIN_INT64, Cell, Row
from sfumato.query.values.evaluation import clamped_steps, evaluate

Place: TypeAlias = tuple[Cell, ...]
"""The keys of a group; behind them the cell, if the statement has cells."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What one unit has in one place: rows, and for each measure their sum and how many of them count for it."""

    unit: Cell
    place: Place
    rows: int
    sums: tuple[int, ...]
    counted: tuple[int, ...]


def exact_groups(statement: Statement, rows: Iterable[OwnedRow], *, salt: str) -> ExactGroups:
    """The measures of every group of rows that is not empty.

    Args:
        statement: What to compute.
        rows: The rows of its relation, as `relation_rows` gives them.
        salt: By which groups and rows above a limit are sampled.
    """
    statement, limits = _unmixed(statement), statement.limits
    if shape_of(statement.rows).metric is not Metric.UNITS:  # each row is a unit, and counts alone
        rows, limits = [(index, row) for index, (_, row) in enumerate(rows)], Limits()
    found = entries(placed(rows, statement), statement.measures)
    allowed = allowances(found, limits, key_count=len(statement.keys), salt=salt)
    return _as_found(statement, allowed)


def _unmixed(statement: Statement) -> Statement:
    columns = shape_of(statement.rows).columns
    return replace(
        statement, measures=tuple(unmixed_measure(measure, columns) for measure in statement.measures),
        cell=None if statement.cell is None else unmixed_cell(statement.cell, columns),
    )  # fmt: skip


def _as_found(statement: Statement, allowed: list[tuple[Entry, int]]) -> ExactGroups:
    """One entry for each group, or for each cell of a group unless cells are only counted."""
    key_count = len(statement.keys)
    shows_cells = statement.shown_cell is not None
    totals = added_up(allowed, statement.measures, by=key_count + shows_cells)
    columns: list[list[Any]] = [[place[index] for place in totals] for index in range(key_count + shows_cells)]
    return ExactGroups(
        keys=tuple(columns[:key_count]), cells=columns[key_count] if shows_cells else None,
        amounts=tuple(_integers([added[i] for added in totals.values()]) for i in range(len(statement.measures))),
    )  # fmt: skip


def _integers(amounts: list[int]) -> npt.NDArray[np.int64] | Integers:
    fit = all(MIN_INT64 <= amount <= MAX_INT64 for amount in amounts)
    return np.array(amounts, dtype=np.int64 if fit else object)


def placed(rows: Iterable[OwnedRow], statement: Statement) -> list[tuple[Cell, Place, Row]]:
    """Step 1: the rows that lie in a group and a cell, with their units."""
    found = ((unit, _place(row, statement), row) for unit, row in rows)
    return [(unit, place, row) for unit, place, row in found if place is not None]


def entries(rows: Iterable[tuple[Cell, Place, Row]], measures: tuple[Measure, ...]) -> list[Entry]:
    """Step 2: the rows of each unit and place together."""
    together: dict[tuple[Cell, Place], list[Row]] = defaultdict(list)
    for unit, place, row in rows:
        together[unit, place].append(row)
    return [
        Entry(
            unit=unit, place=place, rows=len(group),
            sums=tuple(sum(amount(measure, row) for row in group) for measure in measures),
            counted=tuple(sum(is_counted(measure, row) for row in group) for measure in measures),
        )
        for (unit, place), group in together.items()
    ]  # fmt: skip


def allowances(
    found: list[Entry], limits: Limits, *, key_count: int, salt: str
) -> list[tuple[Entry, int]]:  # fmt: skip
    """Steps 3 to 5: the entries that are allowed a row, and how many.

    Entries of a unit come in the same order within a group and over all groups, that of the hash of all that tells them
    apart, so one walk does for both limits.
    """
    found = _in_kept_groups(found, limits.max_groups_per_unit, key_count, salt)
    in_group: dict[tuple[Cell, ...], int] = defaultdict(int)
    in_all: dict[Cell, int] = defaultdict(int)
    allowed = []
    for entry in sorted(found, key=lambda e: (rank_hash(salt, (e.unit, *e.place)), e.place)):
        group = (entry.unit, *entry.place[:key_count])
        here = _within(limits.max_rows_per_group_per_unit, in_group[group], entry.rows)
        rows = _within(limits.max_rows_per_unit, in_all[entry.unit], here)
        in_group[group] += here
        in_all[entry.unit] += rows
        if rows:
            allowed.append((entry, rows))
    return allowed


def scaled(total: int, *, counted: int, allowed: int) -> int:
    """Step 6: what so many rows would add on average, cut off toward zero; all of it if no more rows count for it.

    Example:
        >>> scaled(-7, counted=3, allowed=2), scaled(-7, counted=3, allowed=3)
        (-4, -7)
    """
    if counted <= allowed:
        return total
    magnitude = abs(total) * allowed // counted
    return magnitude if total > 0 else -magnitude


def added_up(
    allowed: Iterable[tuple[Entry, int]], measures: tuple[Measure, ...], *, by: int | None
) -> Mapping[Place, list[int]]:
    """Step 7: the measures of each place, or of each group of `by` keys."""
    together: dict[Place, list[tuple[Entry, int]]] = defaultdict(list)
    for entry, rows in allowed:
        together[entry.place[:by]].append((entry, rows))
    return {
        place: [_added(measure, index, group) for index, measure in enumerate(measures)]
        for place, group in together.items()
    }  # fmt: skip


def _added(measure: Measure, index: int, group: list[tuple[Entry, int]]) -> int:
    match measure:
        case UnitCount():
            return len({entry.unit for entry, _ in group})
        case CellCount():
            return len({entry.place[-1] for entry, _ in group})
        case _:
            return sum(scaled(e.sums[index], counted=e.counted[index], allowed=rows) for e, rows in group)


def _place(row: Row, statement: Statement) -> Place | None:
    """The group and the cell of a row, or None if it has none of them."""
    keys = [(row[key.name], key.values) for key in statement.keys]
    if any(value is None or (listed is not None and value not in listed) for value, listed in keys):
        return None
    place = tuple(value for value, _ in keys)
    if statement.cell is None:
        return place
    cell = _cell(statement.cell, row)
    return None if cell is None else (*place, cell)


def _cell(cell: Cells, row: Row) -> Cell:
    if isinstance(cell, Bins):
        steps = lattice_steps(cell.steps, row)
        return None if steps is None else (steps - cell.steps.lower) // cell.width
    value = evaluate(cell.value, row)
    return value if cell.values is None or value in cell.values else None


def _in_kept_groups(found: list[Entry], most: int | None, key_count: int, salt: str) -> list[Entry]:
    if most is None:
        return found
    groups = {(entry.unit, *entry.place[:key_count]): None for entry in found}
    kept = set(least(groups, most, within=lambda g: g[0], rank=lambda g: (rank_hash(salt, g), *g[1:])))
    return [entry for entry in found if (entry.unit, *entry.place[:key_count]) in kept]


def _within(limit: int | None, taken: int, wanted: int) -> int:
    return wanted if limit is None else min(wanted, limit - taken)


def is_counted(measure: Measure, row: Row) -> bool:
    """Whether nothing that must be present is NULL."""
    return all(evaluate(value, row) is not None for value in measure.present)


def amount(measure: Measure, row: Row) -> int:
    """What one row adds to a measure; nothing if something that must be present is NULL."""
    if not is_counted(measure, row):
        return 0
    match measure:
        case RowCount() | ValueCount() | UnitCount() | CellCount():
            return 1
        case StepSum(steps):
            return _moved(steps, row)
        case StepProduct(first, second):
            return _moved(first, row) * _moved(second, row)


def lattice_steps(steps: LatticeValue, row: Row) -> int | None:
    """The lattice point of the value on a row, between the bounds; None of NULL."""
    return clamped_steps(evaluate(steps.value, row), steps)


def _moved(steps: LatticeValue, row: Row) -> int:
    point = lattice_steps(steps, row)
    return steps.null_amount if point is None else point - steps.offset
