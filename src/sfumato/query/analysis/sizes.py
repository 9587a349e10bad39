"""How large a query may be, and how many rows its joins may make of one.

The first is counted before anything else looks at it, so that no query costs much to refuse. Joins that may make
more rows than an engine holds are refused, whoever is in the data: that it failed would tell that somebody has rows.
"""

from itertools import chain
from typing import Final, TypeAlias

from sfumato.errors import ParameterError
from sfumato.query.analysis.bounding import Seen, matches, most_rows
from sfumato.query.model.expressions import Expression, children
from sfumato.query.model.relations import (
    BoundRows,
    Filter,
    Grouped,
    Join,
    Relation,
    Select,
    Source,
    UnionAll,
    inputs,
    lineage,
)

MAX_DEPTH: Final = 40
"""How deep relations and the expressions in them may be nested: later steps, and the stack, have room for more."""

MAX_RELATIONS: Final = 200
"""How many relations a query may be made of; one that is used twice counts twice."""

MAX_SIZE: Final = 100_000
"""How many relations, columns, constants and functions a query may hold in all."""

Node: TypeAlias = Relation | Expression


def check_size(*roots: Node) -> None:
    """Refuse what is nested too deeply or is too large, in time that its size does not bound.

    A tree that shares its branches is as large as the one that does not, so it may have 2^40 nodes at depth 40:
    counting stops at the limit.

    Raises:
        ParameterError: It is too deep, or too large.
    """
    size = relations = depth = 0
    level = list(roots)
    while level:
        size += len(level)
        relations += sum(isinstance(node, Relation) for node in level)
        deeper = f"must be nested at most {MAX_DEPTH} deep; combine conditions without nesting"
        _check_at_most(depth, MAX_DEPTH, "levels", deeper)
        _check_at_most(relations, MAX_RELATIONS, "relations", f"must consist of at most {MAX_RELATIONS} relations")
        _check_at_most(size, MAX_SIZE, "terms", f"must hold at most {MAX_SIZE:,} columns, constants and functions")
        level = list(chain.from_iterable(map(_inside, level)))
        depth += 1


def _check_at_most(number: int, most: int, what: str, requirement: str) -> None:
    if number > most:
        raise ParameterError("question", f"too many {what}", requirement)


def _inside(node: Node) -> tuple[Node, ...]:
    """What a relation or an expression is made of."""
    match node:
        case Filter(child, condition):
            return (child, condition)
        case Select(child, columns):
            return (child, *(expression for _, expression in columns))
        case Grouped(child, _, columns):
            return (child, *(column.value for column in columns if column.value is not None))
        case _ if isinstance(node, Relation):
            return inputs(node)
        case _:
            return children(node)


MAX_ROWS_MADE: Final = 10**7
"""How many rows joins may make of those of one unit, or of one row where nothing limits those."""


def check_growth(relation: Relation) -> None:
    """Refuse joins that could make more rows of one unit than an engine holds.

    Raises:
        ParameterError: They could, by the limits and the matches that the policy declares.
    """
    seen: Seen = {}
    made = max(rows_made(step, seen) for step in lineage(relation))
    if made > MAX_ROWS_MADE:
        raise ParameterError(
            "question", f"joins that may make {made:,} rows of one unit",
            f"must make at most {MAX_ROWS_MADE:,}: join on columns that the policy declares to be unique, "
            "aggregate the rows of a unit before you join them, or lower the limits of rows",
        )  # fmt: skip


def rows_made(relation: Relation, seen: Seen) -> int:
    """How many rows a relation may have of one unit, or of each of its rows where it is not known how many it has."""
    match relation:
        case Source(table):
            return most_rows(table.limits) or 1
        case Join(left=left):
            return rows_made(left, seen) * matches(relation, seen)
        case UnionAll(left, right):
            return rows_made(left, seen) + rows_made(right, seen)
        case Grouped(keys=()):
            return 1
        case BoundRows(child, most):
            return min(most, rows_made(child, seen))
        case _:
            return rows_made(inputs(relation)[0], seen)
