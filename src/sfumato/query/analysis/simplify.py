"""One form for ways of writing an expression that have the same value on every row, NULL too, to the bit.

Negations are pushed in; AND and OR are flat, sorted and without repeats; lists of IN are sorted; comparisons have the
constant on the right; the operands of sums, products, LEAST and GREATEST are sorted. Nothing is computed but the
comparison of two constants, and sums of three are not taken apart, because doubles depend on their order.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime
from fractions import Fraction
from typing import Any, Final, TypeAlias

from sfumato.privacy.stored_names import unstored
from sfumato.query.model.expressions import (
    OPERATORS,
    And,
    Call,
    Case,
    ColumnRef,
    Compare,
    Comparison,
    Condition,
    Expression,
    IsIn,
    IsNull,
    Literal,
    Not,
    Null,
    Or,
    Value,
)
from sfumato.query.model.functions import Function
from sfumato.query.model.kinds import Kind

Json: TypeAlias = "Mapping[str, Json] | list[Json] | str | int | None"

_COMMUTATIVE: Final = frozenset({Function.ADD, Function.MULTIPLY, Function.LEAST, Function.GREATEST})
OPPOSITE: Final[Mapping[Comparison, Comparison]] = {
    Comparison.EQUAL: Comparison.NOT_EQUAL,
    Comparison.NOT_EQUAL: Comparison.EQUAL,
    Comparison.LESS: Comparison.GREATER_EQUAL,
    Comparison.GREATER_EQUAL: Comparison.LESS,
    Comparison.GREATER: Comparison.LESS_EQUAL,
    Comparison.LESS_EQUAL: Comparison.GREATER,
}
MIRRORED: Final[Mapping[Comparison, Comparison]] = {
    Comparison.EQUAL: Comparison.EQUAL,
    Comparison.NOT_EQUAL: Comparison.NOT_EQUAL,
    Comparison.LESS: Comparison.GREATER,
    Comparison.GREATER: Comparison.LESS,
    Comparison.LESS_EQUAL: Comparison.GREATER_EQUAL,
    Comparison.GREATER_EQUAL: Comparison.LESS_EQUAL,
}


class Origin(ColumnRef):
    """A column by what it is made of, whatever it is called: its name is a document as `text_of` writes it."""

    __slots__ = ()


def simplify(expression: Expression) -> Expression:
    """The expression in the one form of those that have its value."""
    match expression:
        case ColumnRef() | Literal() | Null():
            return expression
        case Not(condition):
            return _negated(simplify(condition))
        case And(conditions) | Or(conditions):
            return _flat(type(expression), map(simplify, conditions))
        case Compare(comparison, left, right):
            return _oriented(comparison, simplify(left), simplify(right))
        case IsIn(value, values):
            return _listed(simplify(value), values)
        case IsNull(value):
            return IsNull(simplify(value))
        case Case(branches, default):
            return Case(
                tuple((simplify(condition), simplify(value)) for condition, value in branches), simplify(default)
            )
        case Call(function, arguments):
            inner = tuple(map(simplify, arguments))
            return Call(function, tuple(sorted(inner, key=text_of)) if function in _COMMUTATIVE else inner)


def text_of(expression: Expression) -> str:
    """An expression as one line, which no other expression has."""
    return text(document_of(expression))


def text(document: Json) -> str:
    """A document as one line."""
    return json.dumps(document, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def document_of(expression: Expression) -> Json:
    """An expression as nested lists; constants with their kind, as '1', 1 and true are three things."""
    match expression:
        case Origin(name):
            document: Json = json.loads(name)
            return document
        case ColumnRef(name):
            return ["column", name]
        case Literal():
            return _constant(expression)
        case Null(kind):
            return ["null", kind.value]
        case Call(function, arguments):
            return ["call", function.value, *map(document_of, arguments)]
        case Case(branches, default):
            return ["case", *([document_of(c), document_of(v)] for c, v in branches), document_of(default)]
        case Compare(comparison, left, right):
            return ["compare", comparison.value, document_of(left), document_of(right)]
        case IsIn(value, values):
            return ["in", document_of(value), *map(document_of, values)]
        case IsNull(value):
            return ["is null", document_of(value)]
        case Not(condition):
            return ["not", document_of(condition)]
        case And(conditions) | Or(conditions):
            return ["and" if isinstance(expression, And) else "or", *map(document_of, conditions)]
        case _:
            raise unstored("expression", expression)


def _constant(literal: Literal) -> Json:
    match literal.value:
        case bool(value):
            return ["boolean", str(value).lower()]
        case Fraction() as value:
            return ["number", str(value)]
        case datetime() as value:
            return ["timestamp", value.isoformat()]
        case date() as value:
            return ["date", value.isoformat()]
        case value:
            return ["text", value]


def expression_of(document: Any) -> Expression:
    """The expression that `document_of` wrote; of one without `Origin`.

    Raises:
        TypeError, ValueError, KeyError: It is none.

    Example:
        >>> expression_of(["compare", ">", ["column", "age"], ["number", "50"]])
        Compare(comparison=<Comparison.GREATER: '>'>, left=ColumnRef(name='age'), right=Literal(value=Fraction(50, 1)))
    """
    match document:
        case ["column", str(name)]:
            return ColumnRef(name)
        case [str(kind), str(value)] if kind in _CONSTANTS:
            return Literal(_CONSTANTS[kind](value))
        case ["null", kind]:
            return Null(Kind(kind))
        case ["call", function, *arguments]:
            return Call(Function(function), tuple(map(expression_of, arguments)))
        case ["case", *branches, default]:
            pairs = tuple((expression_of(condition), expression_of(value)) for condition, value in branches)
            return Case(pairs, expression_of(default))
        case ["compare", comparison, left, right]:
            return Compare(Comparison(comparison), expression_of(left), expression_of(right))
        case ["in", value, *values]:
            return IsIn(expression_of(value), tuple(map(_literal_of, values)))
        case ["is null", value]:
            return IsNull(expression_of(value))
        case ["not", condition]:
            return Not(expression_of(condition))
        case ["and" | "or" as tag, *conditions]:
            return (And if tag == "and" else Or)(tuple(map(expression_of, conditions)))
        case _:
            raise ValueError("no expression is written so")


def _literal_of(document: Any) -> Literal:
    found = expression_of(document)
    if not isinstance(found, Literal):
        raise TypeError("a list holds constants")
    return found


_CONSTANTS: Final[Mapping[str, Callable[[str], Value]]] = {
    "boolean": {"true": True, "false": False}.__getitem__,
    "number": Fraction,
    "timestamp": datetime.fromisoformat,
    "date": date.fromisoformat,
    "text": str,
}
"""How constants of each kind are read."""


def _negated(condition: Condition) -> Condition:
    """NOT of a condition in the one form."""
    match condition:
        case Not(inner):
            return inner
        case And(conditions):
            return _flat(Or, map(_negated, conditions))
        case Or(conditions):
            return _flat(And, map(_negated, conditions))
        case Compare(comparison, left, right):
            return _oriented(OPPOSITE[comparison], left, right)
        case Literal(value):
            return Literal(not value)
        case _:
            return Not(condition)


def _flat(kind: type[And] | type[Or], conditions: Iterable[Condition]) -> Condition:
    """One level of AND (or OR): without its neutral element, decided by its absorbing one."""
    neutral = kind is And
    members: dict[str, Condition] = {}
    for condition in conditions:
        inner = (
            condition.conditions if isinstance(condition, And | Or) and isinstance(condition, kind) else (condition,)
        )
        members |= {text_of(member): member for member in inner}
    truths = {member.value for member in members.values() if isinstance(member, Literal)}
    if (not neutral) in truths:
        return Literal(not neutral)
    rest = [members[key] for key in sorted(members) if not isinstance(members[key], Literal)]
    if len(rest) == 1:
        return rest[0]
    return kind(tuple(rest)) if rest else Literal(neutral)


def _oriented(comparison: Comparison, left: Expression, right: Expression) -> Condition:
    """Constants on the right, else in the order of their texts; a comparison of two constants is decided."""
    if isinstance(left, Literal) and isinstance(right, Literal):
        truth = _decided(comparison, left, right)
        if truth is not None:
            return Literal(truth)
    mirrored = MIRRORED[comparison]
    if (_order(left), comparison) > (_order(right), mirrored):
        return Compare(mirrored, right, left)
    return Compare(comparison, left, right)


def _decided(comparison: Comparison, left: Literal, right: Literal) -> bool | None:
    """Unless engines, to which numbers are doubles, might see it in another way."""
    exactly = OPERATORS[comparison](left.value, right.value)
    if isinstance(left.value, Fraction) and isinstance(right.value, Fraction):
        in_doubles = OPERATORS[comparison](float(left.value), float(right.value))
        return exactly if in_doubles is exactly else None
    return exactly


def _order(side: Expression) -> tuple[bool, str]:
    return isinstance(side, Literal), text_of(side)


def _listed(value: Expression, values: tuple[Literal, ...]) -> Condition:
    listed = {text_of(member): member for member in values}
    members = tuple(listed[key] for key in sorted(listed))
    return IsIn(value, members) if len(members) > 1 else _oriented(Comparison.EQUAL, value, members[0])
