"""What OFFSET 0 keeps PostgreSQL's planner from: computing a value under a name more than once, and merging levels.

It makes one query of a query in a query: a column of the inner one is put in wherever it is read. Of values that are
computed from computed ones, level by level, that makes terms that grow with the power of the levels: twelve of them, a
statement of 5 kB, take gigabytes before a row is read.
"""

from collections.abc import Callable, Iterator, Mapping
from hashlib import md5
from typing import Final

from sqlglot import exp
from sqlglot.generator import Generator

from sfumato.engines.sql.expressions.terms import Sql, aliased, column

_LARGEST_REPEATED: Final = 12
"""As of `terms.named`, but for the next line."""

_SIZE_OF_AN_IDIOM: Final = 20
"""A call of one is a single node, and much SQL once it is written."""

_PLAIN: Final = (exp.Column, exp.Literal, exp.Star)
_NEVER_MERGED: Final = ("group", "distinct", "limit", "offset")


class NamedValues(exp.Tuple):
    """A term over names of values: the values as aliases, and last the term."""


def under_names(values: Mapping[str, Sql], body: Sql) -> NamedValues:
    """A term over names of values."""
    return NamedValues(expressions=[*(aliased(value, name) for name, value in values.items()), body])


def write_under(writer: Generator, node: exp.Expr) -> str:
    """As a query of one row, where OFFSET keeps the planner from putting the values in; with few steps of the stack."""
    *values, body = node.expressions
    named = ", ".join(f"{writer.sql(one.this)} AS {writer.sql(one.args['alias'])}" for one in values)
    return f'(SELECT {writer.sql(body)} FROM (SELECT {named} OFFSET 0) AS "n")'


def once(value: Sql, body: Callable[[Sql], Sql]) -> Sql:
    """What `body` makes of a value, under a name if it is large."""
    size = sum(_SIZE_OF_AN_IDIOM if type(node) is exp.Anonymous and node.name.islower() else 1 for node in value.walk())
    if size <= _LARGEST_REPEATED:
        return body(value)
    name = f"x{md5(value.sql().encode(errors='replace'), usedforsecurity=False).hexdigest()[:16]}"
    return under_names({name: value}, body(column(name)))


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
