"""Expressions over one row: frozen trees of columns, constants, functions and conditions, with SQL's NULL.

Every expression is total: whatever a row holds, it has a value or is NULL, never an error. What each function means is
said in `functions`; engines keep it to the bit.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from fractions import Fraction
from operator import eq, ge, gt, le, lt, ne
from typing import Any, Final, TypeAlias

from sfumato.errors import ParameterError
from sfumato.query.model.functions import Function
from sfumato.query.model.kinds import Kind

Value: TypeAlias = Fraction | str | bool | date
"""A constant: an exact number, text, a truth, a date, or (as `datetime`, which is a date too) a timestamp."""


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
    """A constant; 1 is not the constant true, though Python's `==` says so: as text they differ."""

    value: Value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Literal):
            return NotImplemented
        return isinstance(self.value, bool) is isinstance(other.value, bool) and self.value == other.value

    def __hash__(self) -> int:
        return hash((isinstance(self.value, bool), self.value))


@dataclass(frozen=True, slots=True)
class Null:
    """NULL, of a kind."""

    kind: Kind


@dataclass(frozen=True, slots=True)
class Call:
    """A function of `functions.Function` of some arguments; parameters that must be constants are `Literal`s."""

    function: Function
    arguments: "tuple[Expression, ...]"


@dataclass(frozen=True, slots=True)
class Case:
    """The value of the first branch whose condition is true, else the default.

    Raises:
        ParameterError: There are no branches: SQL has no such CASE.
    """

    branches: "tuple[tuple[Expression, Expression], ...]"
    default: "Expression"

    def __post_init__(self) -> None:
        if not self.branches:
            raise ParameterError("CASE", "no branches", "must have at least one WHEN … THEN …")


@dataclass(frozen=True, slots=True)
class Compare:
    """A comparison; NULL if either side is."""

    comparison: Comparison
    left: "Expression"
    right: "Expression"


@dataclass(frozen=True, slots=True)
class IsIn:
    """Whether a value is one of some constants; NULL if the value is.

    Raises:
        ParameterError: There are none: SQL has no such list, and engines do not agree on what is in it.
    """

    value: "Expression"
    values: tuple[Literal, ...]

    def __post_init__(self) -> None:
        if not self.values:
            raise ParameterError("IN", "()", "must list at least one constant")


@dataclass(frozen=True, slots=True)
class IsNull:
    """Whether a value is NULL; never NULL itself."""

    value: "Expression"


@dataclass(frozen=True, slots=True)
class Not:
    """True for false, false for true, NULL for NULL."""

    condition: "Expression"


@dataclass(frozen=True, slots=True)
class And:
    """True if all are; false if any is; else NULL. Of nothing: true."""

    conditions: "tuple[Expression, ...]"


@dataclass(frozen=True, slots=True)
class Or:
    """True if any is; false if all are; else NULL. Of nothing: false."""

    conditions: "tuple[Expression, ...]"


Expression: TypeAlias = ColumnRef | Literal | Null | Call | Case | Compare | IsIn | IsNull | Not | And | Or
Condition: TypeAlias = Expression
"""An expression of kind BOOLEAN."""

TRUE: Final = And(())
FALSE: Final = Or(())


def children(expression: Expression) -> tuple[Expression, ...]:
    """The expressions that an expression is made of."""
    match expression:
        case ColumnRef() | Literal() | Null():
            return ()
        case Call(_, arguments):
            return arguments
        case Case(branches, default):
            return (*(part for branch in branches for part in branch), default)
        case Compare(_, left, right):
            return (left, right)
        case IsIn(value, values):
            return (value, *values)
        case IsNull(value):
            return (value,)
        case Not(inner):
            return (inner,)
        case And(conditions) | Or(conditions):
            return conditions


def depth(expression: Expression) -> int:
    """How deep an expression is nested; counted level by level, so that no depth is too much for it."""
    levels = 0
    level: list[Expression] = [expression]
    while level := [inner for outer in level for inner in children(outer)]:
        levels += 1
    return levels


def columns_of(expression: Expression) -> frozenset[str]:
    """The names of the columns an expression reads."""
    if isinstance(expression, ColumnRef):
        return frozenset({expression.name})
    return frozenset().union(*map(columns_of, children(expression)))


def rebuilt(expression: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """The expression with every expression that it is made of changed, but not the constants of a list."""
    match expression:
        case Call(function, arguments):
            return Call(function, tuple(map(change, arguments)))
        case Case(branches, default):
            return Case(tuple((change(condition), change(value)) for condition, value in branches), change(default))
        case Compare(comparison, left, right):
            return Compare(comparison, change(left), change(right))
        case IsIn(value, values):
            return IsIn(change(value), values)
        case IsNull(value):
            return IsNull(change(value))
        case Not(condition):
            return Not(change(condition))
        case And(conditions):
            return And(tuple(map(change, conditions)))
        case Or(conditions):
            return Or(tuple(map(change, conditions)))
        case _:
            return expression


def replaced(expression: Expression, columns: Mapping[str, Expression]) -> Expression:
    """The expression with other expressions in place of some columns."""
    if isinstance(expression, ColumnRef):
        return columns.get(expression.name, expression)
    return rebuilt(expression, lambda inner: replaced(inner, columns))
