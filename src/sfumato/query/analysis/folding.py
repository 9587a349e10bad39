"""Expressions with what is public of them computed in advance, so that a rewording of a query is the same query.

Every rule keeps the kind of the expression and its value on every row, NULL too, to the bit. `simplify` makes one form
of what may be written in another order; here it is known what columns hold: that an INTEGER is above 30 exactly if it
is at least 31, that `x + 0` is `x`, and that what is never NULL passes IS NOT NULL.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from math import ceil, floor
from operator import add, mul, sub
from typing import Final

from sfumato.query.analysis.inference import facts_of
from sfumato.query.analysis.shape import shape_of
from sfumato.query.analysis.simplify import MIRRORED, OPPOSITE
from sfumato.query.model.expressions import (
    And,
    Call,
    Case,
    Compare,
    Comparison,
    Expression,
    IsIn,
    IsNull,
    Literal,
    Not,
    Or,
)
from sfumato.query.model.facts import Facts
from sfumato.query.model.functions import Function
from sfumato.query.model.kinds import Kind
from sfumato.query.model.relations import (
    BoundRows,
    Distinct,
    Except,
    Filter,
    Grouped,
    Intersect,
    Join,
    PeoplePart,
    Relation,
    RowWindow,
    Select,
    SemiJoin,
    Source,
    UnionAll,
)
from sfumato.query.model.schema import MAX_KEY

_EXACT: Final = 2**53
"""Up to here doubles tell whole numbers apart: an engine that compares in doubles sees what is true."""

_NEUTRAL: Final[Mapping[Function, tuple[int, tuple[int, ...]]]] = {
    Function.ADD: (0, (0, 1)),
    Function.SUBTRACT: (0, (1,)),
    Function.MULTIPLY: (1, (0, 1)),
    Function.DIVIDE: (1, (1,)),
}
"""The constant that changes nothing, and the places where it may stand."""

_OF_WHOLE_NUMBERS: Final = frozenset({Function.FLOOR, Function.CEIL, Function.TRUNC, Function.ROUND})
"""Functions that leave an INTEGER as it is."""

_OF_CONSTANTS: Final[Mapping[Function, Callable[[int, int], int]]] = {
    Function.ADD: add,
    Function.SUBTRACT: sub,
    Function.MULTIPLY: mul,
}


def folded_rows(relation: Relation) -> Relation:
    """A relation with the same rows, of folded expressions; itself if there is nothing to fold.

    A condition that is always true is left out.
    """
    match relation:
        case Source() | PeoplePart():
            return relation
        case Filter(child, condition):
            rows, kept = folded_rows(child), folded(condition, shape_of(child).columns)
            new: Relation = rows if kept == Literal(value=True) else Filter(rows, kept)
        case Select(child, columns):
            known = shape_of(child).columns
            new = Select(folded_rows(child), tuple((name, folded(value, known)) for name, value in columns))
        case Grouped(child, keys, columns):
            known = shape_of(child).columns
            folds = (
                column if column.value is None else replace(column, value=folded(column.value, known))
                for column in columns
            )
            new = Grouped(folded_rows(child), keys, tuple(folds))
        case Distinct() | BoundRows() | RowWindow():
            new = replace(relation, child=folded_rows(relation.child))
        case SemiJoin():
            new = replace(relation, child=folded_rows(relation.child), other=folded_rows(relation.other))
        case Join() | UnionAll() | Intersect() | Except():
            new = replace(relation, left=folded_rows(relation.left), right=folded_rows(relation.right))
    return relation if new == relation else new  # whose shape is known


def folded(expression: Expression, columns: Mapping[str, Facts]) -> Expression:
    """The expression with its constant parts computed and what changes nothing left out.

    Args:
        expression: One that `facts_of` accepts.
        columns: What is known of the columns that it reads.

    Example:
        >>> from sfumato.query.model.expressions import ColumnRef
        >>> columns = {"age": Facts(kind=Kind.INTEGER, nullable=False)}
        >>> thirty = Call(Function.ADD, (Literal(Fraction(15)), Literal(Fraction(15))))
        >>> found = folded(Compare(Comparison.GREATER, ColumnRef("age"), thirty), columns)
        >>> found.comparison.value, found.right
        ('>=', Literal(value=Fraction(31, 1)))
        >>> folded(Not(IsNull(ColumnRef("age"))), columns)
        Literal(value=True)
    """
    match expression:
        case Call(function, arguments):
            return _call(Call(function, tuple(folded(argument, columns) for argument in arguments)), columns)
        case Compare(comparison, left, right):
            return _compare(comparison, folded(left, columns), folded(right, columns), columns)
        case IsNull(value):
            inner = folded(value, columns)
            return IsNull(inner) if facts_of(inner, columns).nullable else Literal(value=False)
        case IsIn(value, values):
            return IsIn(folded(value, columns), values)
        case Not(condition):
            return _negated(condition, columns)
        case And(conditions) | Or(conditions):
            return _joined(type(expression), [folded(condition, columns) for condition in conditions])
        case Case(branches, default):
            folded_branches = tuple((folded(c, columns), folded(v, columns)) for c, v in branches)
            return Case(folded_branches, folded(default, columns))
        case _:
            return expression


def _negated(condition: Expression, columns: Mapping[str, Facts]) -> Expression:
    """NOT of a condition, moved as far in as it goes, so that it meets comparisons."""
    match condition:
        case Not(inner):
            return folded(inner, columns)
        case And(conditions) | Or(conditions):
            return _joined(Or if isinstance(condition, And) else And, [_negated(one, columns) for one in conditions])
        case Compare(comparison, left, right):
            return _compare(OPPOSITE[comparison], folded(left, columns), folded(right, columns), columns)
        case _:
            inner = folded(condition, columns)
            return Literal(value=not inner.value) if isinstance(inner, Literal) else Not(inner)


def _joined(kind: type[And] | type[Or], conditions: list[Expression]) -> Expression:
    """AND without what is true, false if one is false; OR the other way round."""
    neutral, absorbing = Literal(value=kind is And), Literal(value=kind is Or)
    if absorbing in conditions:
        return absorbing
    kept = tuple(condition for condition in conditions if condition != neutral)
    if not kept:
        return neutral
    return kept[0] if len(kept) == 1 else kind(kept)


def _call(call: Call, columns: Mapping[str, Facts]) -> Expression:
    function, arguments = call.function, call.arguments
    constants = [value for value in map(_whole_constant, arguments) if value is not None]
    if function in _OF_CONSTANTS and len(constants) == len(arguments):
        result = _OF_CONSTANTS[function](*constants)
        return Literal(Fraction(result)) if -MAX_KEY - 1 <= result <= MAX_KEY else call
    if function in _NEUTRAL:
        neutral, places = _NEUTRAL[function]
        for place in places:
            other = arguments[1 - place]
            if _whole_constant(arguments[place]) == neutral and facts_of(other, columns).kind is Kind.INTEGER:
                return other
    is_whole = facts_of(arguments[0], columns).kind is Kind.INTEGER
    if is_whole and (function in _OF_WHOLE_NUMBERS or function is Function.TO_INTEGER):
        return arguments[0]
    if function is Function.COALESCE and not facts_of(arguments[0], columns).nullable:
        kinds = {facts_of(argument, columns).kind for argument in arguments}
        return arguments[0] if len(kinds) == 1 else call
    return call


def _whole_constant(expression: Expression) -> int | None:
    """The 64-bit whole number that a constant is; a Boolean is none."""
    value = expression.value if isinstance(expression, Literal) else None
    is_whole = isinstance(value, Fraction) and value.denominator == 1 and -MAX_KEY - 1 <= value <= MAX_KEY
    return int(value) if is_whole and isinstance(value, Fraction) else None


def _compare(
    comparison: Comparison, left: Expression, right: Expression, columns: Mapping[str, Facts]
) -> Expression:  # fmt: skip
    """Of an INTEGER and a constant: at least, or at most, a whole number."""
    if isinstance(left, Literal) and not isinstance(right, Literal):
        comparison, left, right = MIRRORED[comparison], right, left
    constant = right.value if isinstance(right, Literal) else None
    is_whole = not isinstance(left, Literal) and facts_of(left, columns).kind is Kind.INTEGER
    if not isinstance(constant, Fraction) or not is_whole:
        return Compare(comparison, left, right)
    bound = Fraction(float(constant))  # as engines read it: the nearest double of what is not whole
    if abs(bound) >= _EXACT:
        return Compare(comparison, left, right)
    match comparison:
        case Comparison.GREATER | Comparison.GREATER_EQUAL:
            least = floor(bound) + 1 if comparison is Comparison.GREATER else ceil(bound)
            return Compare(Comparison.GREATER_EQUAL, left, Literal(Fraction(least)))
        case Comparison.LESS | Comparison.LESS_EQUAL:
            most = ceil(bound) - 1 if comparison is Comparison.LESS else floor(bound)
            return Compare(Comparison.LESS_EQUAL, left, Literal(Fraction(most)))
        case _:
            return Compare(comparison, left, right)
