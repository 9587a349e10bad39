"""Queries in queries, of which PostgreSQL's planner makes one: a column of the inner one is put in wherever it is read.

Of values that are computed from computed ones, level by level, that makes terms that grow with the power of the levels:
twelve of them, a statement of 5 kB, take gigabytes before a row is read. OFFSET 0 keeps two levels apart.
"""

from collections.abc import Iterator
from typing import Final

from sqlglot import exp

_PLAIN: Final = (exp.Column, exp.Literal, exp.Star)
_NEVER_MERGED: Final = ("group", "distinct", "limit", "offset")


def kept_apart(query: exp.Expr) -> exp.Expr:
    """The query itself, in which no level computes from what a level below it that is merged with it computes."""
    levels: dict[int, int] = {}
    for select in reversed(list(query.find_all(exp.Select))):  # those within before those around them
        if _is_merged(select):
            below = max((levels.get(id(inner), 0) for inner in _read_by(select)), default=0)
            levels[id(select)] = below + _computes(select)
            if levels[id(select)] > 1:
                select.set("offset", exp.Offset(expression=exp.Literal.number(0)))
                levels[id(select)] = 0
    return query


def _is_merged(select: exp.Select) -> bool:
    """Whether the planner would merge a query into the one that reads it."""
    if any(select.args.get(part) for part in _NEVER_MERGED) or any(one.find(exp.Window) for one in select.expressions):
        return False
    return select.find_ancestor(exp.Subquery) is not None


def _computes(select: exp.Select) -> bool:
    values = (one.unalias() for one in select.expressions)
    return any(not isinstance(one.this if isinstance(one, exp.Cast) else one, _PLAIN) for one in values)


def _read_by(select: exp.Select) -> Iterator[exp.Select]:
    """The queries that a query reads, those that are combined each on its own."""
    for part in (select.args.get("from_"), *(select.args.get("joins") or ())):
        if part is not None and isinstance(part.this, exp.Subquery):
            yield from _combined(part.this.this)


def _combined(query: exp.Expr) -> Iterator[exp.Select]:
    match query:
        case exp.Select():
            yield query
        case exp.Subquery() | exp.Paren():
            yield from _combined(query.this)
        case exp.SetOperation():
            yield from _combined(query.this)
            yield from _combined(query.expression)
        case _:
            pass
