"""Row conditions: frozen trees over columns and literals, with SQL's three-valued logic.

Every expression is total: whatever a row holds, it is true, false or NULL, never an error.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from operator import eq, ge, gt, le, lt, ne
from typing import Any, Final, TypeAlias

Value: TypeAlias = Fraction | str | bool


class Comparison(StrEnum):
    """The six comparisons."""

    EQUAL = "="
    NOT_EQUAL = "<>"
    LESS = "<"
    LESS_EQUAL = "<="
    GREATER = ">"
    GREATER_EQUAL = ">="


OPERATORS: Final[Mapping[Comparison, Callable[[Any, Any], bool]]] = {
    Comparison.EQUAL: eq,
    Comparison.NOT_EQUAL: ne,
    Comparison.LESS: lt,
    Comparison.LESS_EQUAL: le,
    Comparison.GREATER: gt,
    Comparison.GREATER_EQUAL: ge,
}


@dataclass(frozen=True, slots=True)
class ColumnRef:
    """The value of a column in this row."""

    name: str


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant: an exact number, text or a boolean."""

    value: Value


Scalar: TypeAlias = ColumnRef | Literal


@dataclass(frozen=True, slots=True)
class Compare:
    """A comparison; NULL if either side is."""

    comparison: Comparison
    left: Scalar
    right: Scalar


@dataclass(frozen=True, slots=True)
class IsIn:
    """Whether a column is one of some constants; NULL if the column is."""

    column: ColumnRef
    values: tuple[Literal, ...]


@dataclass(frozen=True, slots=True)
class IsNull:
    """Whether a column is NULL; never NULL itself."""

    column: ColumnRef


@dataclass(frozen=True, slots=True)
class IsTrue:
    """A boolean column used as a condition."""

    column: ColumnRef


@dataclass(frozen=True, slots=True)
class Not:
    """True for false, false for true, NULL for NULL."""

    condition: "Condition"


@dataclass(frozen=True, slots=True)
class And:
    """True if all are; false if any is; else NULL. Of nothing: true."""

    conditions: "tuple[Condition, ...]"


@dataclass(frozen=True, slots=True)
class Or:
    """True if any is; false if all are; else NULL. Of nothing: false."""

    conditions: "tuple[Condition, ...]"


Condition: TypeAlias = Compare | IsIn | IsNull | IsTrue | Not | And | Or


def depth(condition: Condition) -> int:
    """How deep AND, OR and NOT are nested; counted level by level, so that no depth is too much for it."""
    levels = 0
    level: list[Condition] = [condition]
    while level := [inner for outer in level for inner in _inner(outer)]:
        levels += 1
    return levels


def _inner(condition: Condition) -> "tuple[Condition, ...]":
    match condition:
        case And(conditions) | Or(conditions):
            return conditions
        case Not(inner):
            return (inner,)
        case _:
            return ()


def columns_of(condition: Condition) -> frozenset[str]:
    """The names of the columns a condition reads."""
    match condition:
        case And(conditions) | Or(conditions):
            return frozenset().union(*map(columns_of, conditions))
        case Not(inner):
            return columns_of(inner)
        case Compare(_, left, right):
            return frozenset(side.name for side in (left, right) if isinstance(side, ColumnRef))
        case IsIn(column, _) | IsNull(column) | IsTrue(column):
            return frozenset({column.name})
