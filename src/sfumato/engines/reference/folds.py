"""Sub-queries with GROUP BY in plain Python: one row for each combination of keys, its values folded exactly."""

import math
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from sfumato.engines.doubles import limited
from sfumato.engines.reference.entries import clamped_steps
from sfumato.engines.reference.mixing import unmixed
from sfumato.engines.reference.scalars import evaluate
from sfumato.engines.reference.sources import OwnedRow
from sfumato.engines.values import MAX_INT64, MIN_INT64, Cell, Row, greatest_of, least_of
from sfumato.query.analysis.inference import facts_of
from sfumato.query.analysis.shape import shape_of
from sfumato.query.model.expressions import Expression
from sfumato.query.model.facts import Facts
from sfumato.query.model.kinds import Kind
from sfumato.query.model.measures import Steps, steps_of
from sfumato.query.model.relations import Fold, Folded, Grouped

Folding: TypeAlias = Callable[[list[Cell]], Cell]
"""Makes one cell of those of a group, none of which is NULL."""


def folded_rows(grouped: Grouped, rows: list[OwnedRow]) -> list[OwnedRow]:
    """One row for each combination of the keys (of each unit, where rows have owners); none of no rows."""
    facts = shape_of(grouped.child).columns
    columns = {column.name: _column(column, facts) for column in grouped.columns}
    together: dict[tuple[Cell, ...], list[Row]] = defaultdict(list)
    for unit, row in rows:
        together[(unit, *(row[key] for key in grouped.keys))].append(row)
    return [
        (unit, dict(zip(grouped.keys, keys, strict=True)) | {name: fold(group) for name, fold in columns.items()})
        for (unit, *keys), group in together.items()
    ]


def _column(column: Folded, facts: Mapping[str, Facts]) -> Callable[[list[Row]], Cell]:
    if column.value is None:
        return len
    value, fold = unmixed(column.value, facts), _folding(column, column.value, facts)
    return lambda rows: fold([cell for cell in (evaluate(value, row) for row in rows) if cell is not None])


def _folding(column: Folded, value: Expression, facts: Mapping[str, Facts]) -> Folding:
    if column.fold not in {Fold.SUM, Fold.MEAN}:
        return _FOLDINGS[column.fold]
    known = facts_of(value, facts)
    steps = steps_of(value, known, bounds=None, what=column.name)
    if column.fold is Fold.MEAN:
        return lambda cells: _mean(cells, steps)
    whole = known.kind is Kind.INTEGER
    return lambda cells: _whole_sum(cells, steps) if whole else _sum(cells, steps)


_FOLDINGS: Final[Mapping[Fold, Folding]] = {
    Fold.COUNT: len,
    Fold.COUNT_DISTINCT: lambda cells: len(set(cells)),
    Fold.MIN: least_of,
    Fold.MAX: greatest_of,
}


def _total(cells: list[Cell], steps: Steps) -> int:
    points = (clamped_steps(cell, steps) for cell in cells)
    return sum(point for point in points if point is not None)


def _whole_sum(cells: list[Cell], steps: Steps) -> int | None:
    """The total of the steps times the resolution, exactly."""
    total = math.floor(_total(cells, steps) * steps.resolution)
    return total if cells and MIN_INT64 <= total <= MAX_INT64 else None


def _sum(cells: list[Cell], steps: Steps) -> float | None:
    """The total of the steps, as the nearest double, times the resolution."""
    return limited(float(_total(cells, steps)) * float(steps.resolution)) if cells else None


def _mean(cells: list[Cell], steps: Steps) -> float | None:
    """That total over the count, both as doubles, times the resolution."""
    if not cells:
        return None
    return limited(float(_total(cells, steps)) / float(len(cells)) * float(steps.resolution))
