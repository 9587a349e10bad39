"""One way of writing the queries of this package, for one engine.

Terms are made of functions. A name in upper case is one that all engines have, with one meaning: GREATEST and LEAST
pass over NULL, and SUM is for sums that fit 64 bits. A name in lower case is an idiom, such as `double_quotient`: each
dialect has a table of idioms, which says what its engine writes for them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from sqlglot import exp
from sqlglot.generator import Generator

Idioms: TypeAlias = Mapping[str, Callable[..., exp.Expr]]
"""For each idiom what makes the engine's term of its arguments; for a function that an engine calls otherwise too."""

Handler: TypeAlias = Callable[[Generator, exp.Expr], str]


class Native(exp.Anonymous):
    """A call of the engine's own function, though an idiom may be called like it."""


def native(name: str, *arguments: exp.Expr) -> Native:
    """A call of the engine's own function, for tables of idioms."""
    return Native(this=name, expressions=list(arguments))


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlDialect:
    """How SQL is written for an engine, and which shape of query is the best for it.

    Attributes:
        writer: A generator whose functions are written by `writing` a table of idioms.
        base: What sqlglot calls the language that it writes.
        halves_hashes: Whether a hash is a number, which is put in order as two halves; else it is one text.
        orders_few: Whether units above a limit are told first, and only their entries put in order; else all entries
            are put in order at once, which is better where a query is not computed once to be read twice.
        finds_ranks: Whether it finds the least few numbers of a group without sorting them, by the idiom `nth_least`.
        gathers_units: Whether all rows of a unit are sent to one place before anything is added up, so that its entries
            need not be sent once more to be put in order: where rows are on several machines.
    """

    writer: type[Generator]
    base: str
    halves_hashes: bool = False
    orders_few: bool = False
    finds_ranks: bool = False
    gathers_units: bool = False

    def sql(self, query: exp.Expr, *, pretty: bool = False) -> str:
        """A query as the engine reads it; for people on several lines."""
        return self.writer(dialect=self.base, pretty=pretty).generate(query)


def writing(idioms: Idioms) -> Mapping[type[exp.Expr], Handler]:
    """What a generator's TRANSFORMS have to be, beside others, to write idioms."""

    def write(writer: Generator, node: exp.Expr) -> str:
        while type(node) is exp.Anonymous and node.name in idioms:
            node = idioms[node.name](*node.expressions)
        if isinstance(node, exp.Anonymous):
            return _called(writer, node)
        return f"({writer.sql(node)})" if isinstance(node, exp.Binary) else writer.sql(node)  # as what is called is one

    return {exp.Anonymous: write, Native: write}


def _called(writer: Generator, node: exp.Anonymous) -> str:
    """A call; few steps of the stack for each, of which deep terms would need many."""
    if writer.pretty:
        return writer.anonymous_sql(node)
    return f"{node.name}({', '.join(map(writer.sql, node.expressions))})"
