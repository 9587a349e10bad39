"""Whether what PostgreSQL computes for a view can fail on some row: only what is on the list here cannot.

Definition: the list is constants, columns, renames, comparisons, AND, OR, NOT, IS, IN, BETWEEN, COALESCE, NULLIF, CASE,
casts that lose nothing, WHERE, joins ON a condition, and UNION ALL. Arithmetic is not on it, because it overflows; nor
is any function.

**Guarantee**: what is on the list raises for no row and for no value of its columns, in whatever order it is evaluated,
if no operator and no type in it was made by a user. Memory and time apart. Proof: proofs/engines/postgres/totality.md.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Final, TypeAlias

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

Columns: TypeAlias = Mapping[str, str]
"""The types of the columns of a relation, as the catalog calls them; of an enumeration `enum`."""

_WHOLE: Final = ("int2", "int4", "int8")
_TEXTS: Final = frozenset({"text", "varchar", "bpchar", "name"})
_GROUPS: Final[Mapping[str, str]] = {
    **dict.fromkeys(_WHOLE, "whole"), **dict.fromkeys(_TEXTS, "text"), "float4": "double", "float8": "double",
    **{name: name for name in ("numeric", "bool", "date", "timestamp", "timestamptz", "uuid", "enum")},
}  # fmt: skip
"""Which types are compared, and mixed, without a cast that may fail."""

_NULL: Final = "null"
_TYPES: Final = {
    exp.DType.SMALLINT: "int2", exp.DType.INT: "int4", exp.DType.BIGINT: "int8", exp.DType.DECIMAL: "numeric",
    exp.DType.FLOAT: "float4", exp.DType.DOUBLE: "float8", exp.DType.TEXT: "text", exp.DType.VARCHAR: "varchar",
    exp.DType.CHAR: "bpchar", exp.DType.BPCHAR: "bpchar", exp.DType.NAME: "name", exp.DType.BOOLEAN: "bool",
    exp.DType.DATE: "date", exp.DType.TIMESTAMP: "timestamp", exp.DType.TIMESTAMPTZ: "timestamptz",
    exp.DType.UUID: "uuid", exp.DType.USERDEFINED: "enum",
}  # fmt: skip
_WIDER: Final = {
    "int2": frozenset({"int4", "int8", "numeric", "float4", "float8"}),
    "int4": frozenset({"int8", "numeric", "float4", "float8"}),
    "int8": frozenset({"numeric", "float4", "float8"}),
    "float4": frozenset({"float8"}),
}
"""Casts that fail for no value; any type may also be cast to text."""

_COMPARISONS: Final = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.NullSafeNEQ)
_SMALL: Final = 10**9


class _UnprovedError(Exception):
    """Something is not on the list."""


def is_total_query(definition: str, columns_of: Callable[[str, str], Columns | None]) -> bool:
    """Whether a query can fail on no row of what it reads.

    Args:
        definition: The query, as `pg_get_viewdef` gives it.
        columns_of: The columns of a relation by schema and name; None of one that is not known.

    Example:
        >>> pay = {"name": "text", "total": "float8", "hours": "float8"}
        >>> is_total_query("SELECT name AS who FROM public.pay WHERE total > hours", lambda *_: pay)
        True
        >>> is_total_query("SELECT name, total / hours AS rate FROM public.pay", lambda *_: pay)
        False
    """
    try:
        _check_query(sqlglot.parse_one(definition, read="postgres"), columns_of)
    except (SqlglotError, _UnprovedError, RecursionError):
        return False
    return True


def is_total_expression(definition: str, columns: Columns) -> bool:
    """Whether an expression over the columns of one relation can fail on no row of it, as `pg_get_expr` gives it."""
    try:
        _type_of(sqlglot.parse_one(definition, read="postgres"), {"": columns})
    except (SqlglotError, _UnprovedError, RecursionError):
        return False
    return True


def _check_query(query: exp.Expr, columns_of: Callable[[str, str], Columns | None]) -> None:
    match query:
        case exp.Union():
            _require_only(query, "this", "expression")
            _check_query(query.this, columns_of)
            _check_query(query.expression, columns_of)
        case exp.Select():
            _require_only(query, "expressions", "from_", "where")
            origin = query.args.get("from_")
            if origin is None:
                raise _UnprovedError
            scope: dict[str, Columns] = {}
            conditions: list[exp.Expr] = []
            _take(origin.this, scope, conditions, columns_of)
            for shown in query.expressions:
                _type_of(shown.this if isinstance(shown, exp.Alias) else shown, scope)
            where = query.args.get("where")
            for condition in [*conditions, *([] if where is None else [where.this])]:
                _require_group("bool", [_type_of(condition, scope)])
        case _:
            raise _UnprovedError


def _take(
    source: exp.Expr, scope: dict[str, Columns], conditions: list[exp.Expr],
    columns_of: Callable[[str, str], Columns | None],
) -> None:  # fmt: skip
    """The relations that a query reads, by the names it gives them, and the conditions of their joins."""
    match source:
        case exp.Table():
            _require_only(source, "this", "db", "alias", "joins", "only")
            alias = source.args.get("alias")
            if alias is not None:
                _require_only(alias, "this")
            columns = columns_of(source.db, source.name)
            if columns is None or source.alias_or_name in scope:
                raise _UnprovedError
            scope[source.alias_or_name] = columns
        case exp.Subquery():
            _require_only(source, "this", "joins")
            _take(source.this, scope, conditions, columns_of)
        case _:
            raise _UnprovedError
    for join in source.args.get("joins") or ():
        _require_only(join, "this", "on", "side", "kind")
        if join.args.get("on") is None or join.method:
            raise _UnprovedError
        conditions.append(join.args["on"])
        _take(join.this, scope, conditions, columns_of)


def _type_of(node: exp.Expr, scope: Mapping[str, Columns]) -> str:
    """The type of an expression that is on the list."""
    match node:
        case exp.Paren():
            return _type_of(node.this, scope)
        case exp.Column():
            return _column(node, scope)
        case exp.Null():
            return _NULL
        case exp.Boolean():
            return "bool"
        case exp.Literal():
            return _literal(node)
        case exp.Neg(this=exp.Literal(is_string=False)):
            return _literal(node.this)
        case exp.Cast():
            return _cast(node, scope)
        case exp.And() | exp.Or() | exp.Not():
            _require_group("bool", [_type_of(one, scope) for one in node.args.values() if isinstance(one, exp.Expr)])
            return "bool"
        case exp.Is() | exp.In() | exp.Between():
            return _test(node, scope)
        case exp.Coalesce() | exp.Nullif() | exp.Case():
            return _choice(node, scope)
        case _ if isinstance(node, _COMPARISONS):
            _require_only(node, "this", "expression")
            _mixed([_type_of(node.this, scope), *(_type_of(one, scope) for one in _compared(node.expression))])
            return "bool"
        case _:
            raise _UnprovedError


def _compared(right: exp.Expr) -> list[exp.Expr]:
    """What stands on the right of a comparison: one value, or any or all of an array of them."""
    if not isinstance(right, exp.Any | exp.All):
        return [right]
    inner = right.this
    while isinstance(inner, exp.Paren):
        inner = inner.this
    if not isinstance(inner, exp.Array):
        raise _UnprovedError
    return list(inner.expressions)


def _test(node: exp.Expr, scope: Mapping[str, Columns]) -> str:
    match node:
        case exp.Is():
            _require_only(node, "this", "expression")
            if not isinstance(node.expression, exp.Null | exp.Boolean):
                raise _UnprovedError
            _type_of(node.this, scope)
        case exp.In():
            _require_only(node, "this", "expressions")
            _mixed([_type_of(one, scope) for one in (node.this, *node.expressions)])
        case _:
            _require_only(node, "this", "low", "high")
            _mixed([_type_of(node.args[name], scope) for name in ("this", "low", "high")])
    return "bool"


def _choice(node: exp.Expr, scope: Mapping[str, Columns]) -> str:
    """The type of one of several values."""
    match node:
        case exp.Coalesce():
            _require_only(node, "this", "expressions")
            return _mixed([_type_of(one, scope) for one in (node.this, *node.expressions)])
        case exp.Nullif():
            _require_only(node, "this", "expression")
            return _mixed([_type_of(one, scope) for one in (node.this, node.expression)])
        case _:
            _require_only(node, "this", "ifs", "default")
            tested = [_type_of(branch.this, scope) for branch in node.args["ifs"]]
            if node.this is None:
                _require_group("bool", tested)
            else:
                _mixed([_type_of(node.this, scope), *tested])
            default = node.args.get("default")
            chosen = [branch.args["true"] for branch in node.args["ifs"]] + ([] if default is None else [default])
            return _mixed([_type_of(one, scope) for one in chosen])


def _column(node: exp.Column, scope: Mapping[str, Columns]) -> str:
    _require_only(node, "this", "table")
    if not isinstance(node.this, exp.Identifier):
        raise _UnprovedError
    named = [scope[node.table]] if node.table in scope else [] if node.table else list(scope.values())
    found = [columns[node.name] for columns in named if node.name in columns]
    if len(found) != 1 or found[0] not in _GROUPS:
        raise _UnprovedError
    return found[0]


def _literal(node: exp.Literal) -> str:
    if node.is_string:
        return "text"
    return "int4" if node.this.isdecimal() and int(node.this) < _SMALL else "numeric"


def _cast(node: exp.Cast, scope: Mapping[str, Columns]) -> str:
    """A constant, which was read when the view was made; or a cast that loses nothing."""
    _require_only(node, "this", "to")
    target = _TYPES.get(node.to.this)
    if target is None or (node.to.expressions and target not in _TEXTS):
        raise _UnprovedError
    inner = node.this
    if isinstance(inner, exp.Null) or (isinstance(inner, exp.Literal) and inner.is_string):
        return target
    stored = _type_of(inner, scope)
    if target not in _TEXTS and target != stored and target not in _WIDER.get(stored, ()):
        raise _UnprovedError
    return target


def _mixed(types: Iterable[str]) -> str:
    """The type of values of one group."""
    known = [one for one in types if one != _NULL]
    if len({_GROUPS[one] for one in known}) > 1:
        raise _UnprovedError
    return max(known, key=lambda name: _WHOLE.index(name) if name in _WHOLE else int(name == "float8"), default=_NULL)


def _require_group(group: str, types: Iterable[str]) -> None:
    if any(one not in {group, _NULL} for one in types):
        raise _UnprovedError


def _require_only(node: exp.Expr, *names: str) -> None:
    """Refuse a part of a node that is not known here."""
    if any(value for name, value in node.args.items() if name not in names):
        raise _UnprovedError
