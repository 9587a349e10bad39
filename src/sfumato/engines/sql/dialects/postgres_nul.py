"""Comparisons with a constant that has NUL in it, which no text of PostgreSQL has: told by what is before the NUL.

No text equals such a constant or is like it; those that are less are the ones up to what is before its first NUL.
"""

from collections.abc import Mapping
from typing import Any, Final

from sqlglot import exp
from sqlglot.generator import Generator

from sfumato.engines.sql.dialects.dialect import Handler
from sfumato.engines.sql.terms import Sql, case, one_of, operation, present, text

_NUL: Final = "\x00"
_SYMBOLS: Final[Mapping[type[exp.Expr], str]] = {
    exp.EQ: "=", exp.NEQ: "<>", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">=",
}  # fmt: skip
_TURNED: Final[Mapping[type[exp.Expr], type[exp.Expr]]] = {
    exp.LT: exp.GT, exp.LTE: exp.GTE, exp.GT: exp.LT, exp.GTE: exp.LTE,
}  # fmt: skip


def write_comparison(writer: Generator, node: Any) -> str:
    """One of two sides; where both are such constants they stay as they are written."""
    kind, left, right = type(node), node.this, node.expression
    if _has_nul(left):
        kind, left, right = _TURNED.get(kind, kind), right, left
    if not _has_nul(right) or _has_nul(left):
        return writer.binary(node, _SYMBOLS[type(node)])
    return writer.sql(_told(kind, left, right.name.partition(_NUL)[0]))


def write_in(writer: Generator, node: Any) -> str:
    """Whether a text is one of several, of which those with NUL are none."""
    if _has_nul(node.this) or not any(map(_has_nul, node.expressions)):
        return writer.in_sql(node)
    kept = [one for one in node.expressions if not _has_nul(one)]
    return writer.sql(one_of(node.this, kept) if kept else _of_each(node.this, truth=False))


def write_escape(writer: Generator, node: Any) -> str:
    """LIKE, with its escape."""
    like = node.this
    if _has_nul(like.this) or not _has_nul(like.expression):
        return writer.escape_sql(node)
    return writer.sql(_of_each(like.this, truth=False))


def _told(kind: type[exp.Expr], value: Sql, before: str) -> Sql:
    if kind in {exp.EQ, exp.NEQ}:
        return _of_each(value, truth=kind is exp.NEQ)
    return operation(exp.LTE if kind in {exp.LT, exp.LTE} else exp.GT, value, text(before))


def _of_each(value: Sql, *, truth: bool) -> Sql:
    """One truth of all that is not NULL."""
    return case([(present(value), exp.Boolean(this=truth))])


def _has_nul(value: Sql) -> bool:
    return isinstance(value, exp.Literal) and value.is_string and _NUL in value.name


COMPARISONS: Final[Mapping[type[exp.Expr], Handler]] = {
    **dict.fromkeys(_SYMBOLS, write_comparison), exp.In: write_in, exp.Escape: write_escape,
}  # fmt: skip
"""What a generator's TRANSFORMS have to be, beside others."""
