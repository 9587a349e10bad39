"""Typed conditions from untyped parts, for both front ends: like is compared with like, or the question is refused."""

from decimal import Decimal
from fractions import Fraction
from typing import Final

from sfumato.errors import NotPrivateError, ParameterError
from sfumato.numeric.rationals import exact
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
from sfumato.query.schema import Kind, Table, unicode_text

_KIND_OF: Final = {Fraction: "number", str: "text", bool: "boolean"}
_FAMILY: Final = {Kind.INTEGER: "number", Kind.FLOAT: "number", Kind.TEXT: "text", Kind.BOOLEAN: "boolean"}


def literal(value: object) -> Literal:
    """A constant of one of the types that columns have.

    Raises:
        NotPrivateError: NULL, which compares with nothing.
        ParameterError: Something else, or text that is not Unicode.
    """
    match value:
        case None:
            raise NotPrivateError("NULL", "a comparison with NULL is never true", "Write IS NULL, or is_null().")
        case bool():
            return Literal(value)
        case str():
            return Literal(unicode_text(value, "literal"))
        case int() | float() | Decimal() | Fraction():
            return Literal(exact(value, "literal"))
        case _:
            raise ParameterError("literal", type(value).__name__, "must be a number, text or a boolean")


def compare(table: Table, comparison: Comparison, left: Scalar, right: Scalar) -> Condition:
    """A comparison of two sides of one type.

    Raises:
        ParameterError: The sides have different types, or a column does not exist.
    """
    first, second = family(table, left), family(table, right)
    if first != second:
        raise ParameterError("comparison", f"{first} {comparison} {second}", "must compare values of one type")
    if isinstance(left, Literal) and isinstance(right, Literal):  # decided here, exactly; engines would round
        return And(()) if OPERATORS[comparison](left.value, right.value) else Or(())
    return Compare(comparison, left, right)


def is_in(table: Table, column: ColumnRef, values: tuple[Literal, ...]) -> Condition:
    """Whether a column is one of some constants of its type.

    Raises:
        ParameterError: No constants, or one of another type.
    """
    if not values:
        raise ParameterError("IN", "()", "must list at least one constant")
    for value in values:
        compare(table, Comparison.EQUAL, column, value)
    return IsIn(column, values)


def is_true(table: Table, column: ColumnRef) -> Condition:
    """A boolean column as a condition.

    Raises:
        ParameterError: The column is of another type.
    """
    if family(table, column) != "boolean":
        raise ParameterError("condition", column.name, "must be true or false; compare the column with something")
    return IsTrue(column)


def checked(table: Table, condition: Condition) -> Condition:
    """A condition that was made elsewhere, held against the columns of this table.

    Raises:
        ParameterError: It names a column that does not exist here, or compares values of two types.
    """
    match condition:
        case And(conditions) | Or(conditions):
            for inner in conditions:
                checked(table, inner)
        case Not(inner):
            checked(table, inner)
        case Compare(comparison, left, right):
            compare(table, comparison, left, right)
        case IsIn(column, values):
            is_in(table, column, values)
        case IsTrue(column):
            is_true(table, column)
        case IsNull(column):
            family(table, column)
    return condition


def family(table: Table, side: Scalar) -> str:
    """What a side can be compared with: number, text or boolean."""
    if isinstance(side, ColumnRef):
        return _FAMILY[table.column(side.name).kind]
    return _KIND_OF[type(side.value)]
