"""Conditions on typed rows in plain Python, with SQL's three-valued logic: True, False, or None for NULL."""

import math
from fractions import Fraction
from typing import Final, TypeAlias

from sfumato.engines.values import Cell
from sfumato.query.expressions import (
    OPERATORS,
    And,
    ColumnRef,
    Compare,
    Comparison,
    Condition,
    IsIn,
    IsNull,
    IsTrue,
    Literal,
    Not,
    Or,
    Scalar,
)

_TWO_63: Final = Fraction(2**63)
Truth: TypeAlias = bool | None


def holds(condition: Condition, row: dict[str, Cell]) -> Truth:
    """What a condition says of a row."""
    match condition:
        case And(conditions):
            return _all([holds(c, row) for c in conditions])
        case Or(conditions):
            return _not(_all([_not(holds(c, row)) for c in conditions]))
        case Not(inner):
            return _not(holds(inner, row))
        case IsNull(column):
            return row[column.name] is None
        case IsTrue(column):
            value = row[column.name]
            return None if value is None else bool(value)
        case IsIn(column, values):
            return holds(Or(tuple(Compare(Comparison.EQUAL, column, value) for value in values)), row)
        case Compare(comparison, left, right):
            first, second = _value(left, row), _value(right, row)
            if first is None or second is None:
                return None
            if isinstance(first, float) or isinstance(second, float):  # as engines do, not exactly as Python would
                first, second = float(first), float(second)
            return bool(OPERATORS[comparison](first, second))


def _all(truths: list[Truth]) -> Truth:
    return False if False in truths else None if None in truths else True


def _not(truth: Truth) -> Truth:
    return None if truth is None else not truth


def _value(side: Scalar, row: dict[str, Cell]) -> Cell:
    match side:
        case ColumnRef(name):
            return row[name]
        case Literal(value):
            return value if isinstance(value, str | bool) else number(value)


def number(value: Fraction) -> int | float:
    """A constant as engines compare it: a 64-bit integer where it is one, else the nearest double, if need be ±∞."""
    if value.denominator == 1 and abs(value) < _TWO_63:
        return int(value)
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
