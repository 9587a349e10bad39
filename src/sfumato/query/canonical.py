"""The canonical form of a question: equal for ways of writing that mean the same, and its hash.

Output names, the order of conditions and keys in IN, BETWEEN, `x >= 3` for `NOT x < 3`, and `1 = 1` make no difference.
Two questions that mean the same may still differ here: then the second is charged, which is safe.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256
from typing import Final, TypeAlias

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
    Value,
)
from sfumato.query.relations import Aggregate, Bound, Filter, Part, Rows, Source
from sfumato.query.schema import Limits

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | None"

_OPPOSITE: Final[Mapping[Comparison, Comparison]] = {
    Comparison.EQUAL: Comparison.NOT_EQUAL,
    Comparison.NOT_EQUAL: Comparison.EQUAL,
    Comparison.LESS: Comparison.GREATER_EQUAL,
    Comparison.GREATER_EQUAL: Comparison.LESS,
    Comparison.GREATER: Comparison.LESS_EQUAL,
    Comparison.LESS_EQUAL: Comparison.GREATER,
}
_MIRRORED: Final[Mapping[Comparison, Comparison]] = {
    Comparison.EQUAL: Comparison.EQUAL,
    Comparison.NOT_EQUAL: Comparison.NOT_EQUAL,
    Comparison.LESS: Comparison.GREATER,
    Comparison.GREATER: Comparison.LESS,
    Comparison.LESS_EQUAL: Comparison.GREATER_EQUAL,
    Comparison.GREATER_EQUAL: Comparison.LESS_EQUAL,
}


def question_text(question: Aggregate) -> str:
    """The canonical form as one line of JSON."""
    document: Json = {
        "rows": _rows(question.child.child),
        "keys": list(question.child.keys),
        "statistics": [[type(s).__name__, getattr(s, "column", None)] for _, s in question.statistics],
    }
    return _text(document)


def question_hash(question: Aggregate) -> str:
    """The SHA-256 of the canonical form: what a ledger and a receipt call a question by."""
    return sha256(question_text(question).encode()).hexdigest()


def simplify(condition: Condition) -> Condition:
    """The condition with negations pushed in, nested AND and OR flattened, sorted and without repeats."""
    match condition:
        case Not(inner):
            return _negated(inner)
        case And(conditions) | Or(conditions):
            return _flat(type(condition), tuple(map(simplify, conditions)))
        case Compare():
            return _oriented(condition)
        case IsIn(column, values):
            members = tuple(sorted(set(values), key=_literal_text))
            return replace(condition, values=members) if len(members) > 1 else _equals(column, members[0])
        case IsNull() | IsTrue():
            return condition


def _equals(column: ColumnRef, value: Literal) -> Condition:
    return Compare(Comparison.EQUAL, column, value)


def _negated(condition: Condition) -> Condition:
    match condition:
        case Not(inner):
            return simplify(inner)
        case And(conditions):
            return _flat(Or, tuple(_negated(c) for c in conditions))
        case Or(conditions):
            return _flat(And, tuple(_negated(c) for c in conditions))
        case Compare(comparison, left, right):
            return _oriented(Compare(_OPPOSITE[comparison], left, right))
        case IsIn() | IsNull() | IsTrue():
            inner = simplify(condition)
            return Not(inner) if not isinstance(inner, Compare) else _negated(inner)


def _oriented(compare: Compare) -> Condition:
    """Columns before literals, names in order; a comparison of two literals is decided."""
    left, right = compare.left, compare.right
    if isinstance(left, Literal) and isinstance(right, Literal):
        return And(()) if OPERATORS[compare.comparison](left.value, right.value) else Or(())
    if _order(left) > _order(right):
        return Compare(_MIRRORED[compare.comparison], right, left)
    return compare


def _order(side: Scalar) -> tuple[bool, str]:
    return isinstance(side, Literal), _side_text(side)


def _flat(kind: type[And] | type[Or], conditions: tuple[Condition, ...]) -> Condition:
    """One level of AND (or OR): without its neutral element, decided by its absorbing one."""
    absorbing: Condition = Or(()) if kind is And else And(())
    members: dict[str, Condition] = {}
    for condition in conditions:
        inner = condition.conditions if isinstance(condition, And | Or) and type(condition) is kind else (condition,)
        members |= {_text(_condition(c)): c for c in inner}
    if absorbing in members.values():
        return absorbing
    if len(members) == 1:
        return next(iter(members.values()))
    return kind(tuple(members[key] for key in sorted(members)))


def _rows(rows: Rows) -> Json:
    """Filters are one simplified condition; the salt of a part names its partition."""
    match rows:
        case Source(table):
            return {"source": table.name, "unit": str(table.unit)}
        case Part():
            values: Json = [_text(_key(v)) for v in rows.values]
            return {
                "part": _rows(rows.child), "by": rows.by, "values": values, "value": _text(_key(rows.value)),
                "parts": rows.max_parts_per_unit, "partition": rows.salt,
            }  # fmt: skip
        case Filter():
            return _filters(rows)
        case Bound(child, limits):
            return {"bound": _rows(child), "limits": _limits(limits)}


def _filters(rows: Filter) -> Json:
    conditions: list[Condition] = []
    child: Rows = rows
    while isinstance(child, Filter):
        conditions.append(child.condition)
        child = child.child
    condition = simplify(And(tuple(conditions)))
    return _rows(child) if condition == And(()) else {"filter": _rows(child), "where": _condition(condition)}


def _limits(limits: Limits) -> Json:
    return [limits.max_rows_per_unit, limits.max_groups_per_unit, limits.max_rows_per_group_per_unit]


def _condition(condition: Condition) -> Json:
    match condition:
        case And(conditions) | Or(conditions):
            return [type(condition).__name__, *(_condition(c) for c in conditions)]
        case Not(inner):
            return ["Not", _condition(inner)]
        case Compare(comparison, left, right):
            return ["Compare", comparison.value, _side_text(left), _side_text(right)]
        case IsIn(column, values):
            return ["IsIn", column.name, *(_literal_text(v) for v in values)]
        case IsNull(column) | IsTrue(column):
            return [type(condition).__name__, column.name]


def _side_text(side: Scalar) -> str:
    return f"column {side.name}" if isinstance(side, ColumnRef) else _literal_text(side)


def _literal_text(literal: Literal) -> str:
    return _text(_key(literal.value))


def _key(value: Value | int) -> Json:
    """A constant with its type: the text '1', the number 1 and true are three things."""
    return [type(value).__name__.replace("Fraction", "int"), str(value)]


def _text(document: Json) -> str:
    return json.dumps(document, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
