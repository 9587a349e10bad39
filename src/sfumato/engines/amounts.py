"""What one row adds to each measure of a statement, in whole numbers."""

import math

from sfumato.engines.scalars import evaluate
from sfumato.engines.values import Cell, Row
from sfumato.query.measures import CellCount, Measure, RowCount, StepProduct, Steps, StepSum, UnitCount, ValueCount


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


def lattice_steps(steps: Steps, row: Row) -> int | None:
    """The lattice point of the value on a row, between the bounds; None of NULL."""
    return clamped_steps(evaluate(steps.value, row), steps)


def clamped_steps(value: Cell, steps: Steps) -> int | None:
    """The lattice point of a number, floor(x / resolution + 1/2) in doubles, clamped to the bounds; None of NULL."""
    if not isinstance(value, int | float):
        return None
    scaled = float(value) / float(steps.resolution)
    if scaled >= steps.upper:
        return steps.upper
    if scaled <= steps.lower:
        return steps.lower
    return min(max(math.floor(scaled + 0.5), steps.lower), steps.upper)


def _moved(steps: Steps, row: Row) -> int:
    point = lattice_steps(steps, row)
    return steps.null_amount if point is None else point - steps.offset
