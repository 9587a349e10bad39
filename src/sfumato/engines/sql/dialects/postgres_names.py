"""Values under names in PostgreSQL: computed once, however often a term reads them."""

from collections.abc import Callable, Mapping
from hashlib import md5
from typing import Final

from sqlglot import exp
from sqlglot.generator import Generator

from sfumato.engines.sql.terms import Sql, aliased, column

_LARGEST_REPEATED: Final = 12
"""As of `terms.named`, but for the next line."""

_SIZE_OF_AN_IDIOM: Final = 20
"""A call of one is a single node, and much SQL once it is written."""


class Under(exp.Tuple):
    """A term over names of values: the values as aliases, and last the term."""


def under_names(values: Mapping[str, Sql], body: Sql) -> Under:
    """A term over names of values."""
    return Under(expressions=[*(aliased(value, name) for name, value in values.items()), body])


def write_under(writer: Generator, node: exp.Expr) -> str:
    """As a query of one row, where OFFSET keeps the planner from putting the values in; with few steps of the stack."""
    *values, body = node.expressions
    named = ", ".join(f"{writer.sql(one.this)} AS {writer.sql(one.args['alias'])}" for one in values)
    return f'(SELECT {writer.sql(body)} FROM (SELECT {named} OFFSET 0) AS "n")'


def once(value: Sql, body: Callable[[Sql], Sql]) -> Sql:
    """What `body` makes of a value, under a name if it is large."""
    if sum(map(_size, value.walk())) <= _LARGEST_REPEATED:
        return body(value)
    name = f"x{md5(value.sql().encode(errors='replace'), usedforsecurity=False).hexdigest()[:16]}"
    return under_names({name: value}, body(column(name)))


def _size(node: exp.Expr) -> int:
    return _SIZE_OF_AN_IDIOM if type(node) is exp.Anonymous and node.name.islower() else 1
