"""How large a question may be: counted before anything else looks at it, so that no question costs much to refuse."""

from typing import Final, TypeAlias

from sfumato.errors import ParameterError
from sfumato.query.expressions import Expression, children
from sfumato.query.relations import (
    Bound,
    Distinct,
    Except,
    Filter,
    Grouped,
    Intersect,
    Join,
    Part,
    Relation,
    Select,
    SemiJoin,
    Source,
    UnionAll,
    inputs,
)

MAX_DEPTH: Final = 40
"""How deep relations and the expressions in them may be nested: later steps, and the stack, have room for more."""

MAX_RELATIONS: Final = 200
"""How many relations a question may be made of; one that is used twice counts twice."""

MAX_SIZE: Final = 100_000
"""How many relations, columns, constants and functions a question may hold in all."""

Node: TypeAlias = Relation | Expression
_RELATIONS: Final = (
    Source, Part, Filter, Select, Join, SemiJoin, UnionAll, Intersect, Except, Distinct, Bound, Grouped,
)  # fmt: skip


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
        relations += sum(isinstance(node, _RELATIONS) for node in level)
        _require(
            depth <= MAX_DEPTH, "levels", f"must be nested at most {MAX_DEPTH} deep; combine conditions side by side"
        )
        _require(relations <= MAX_RELATIONS, "relations", f"must be made of at most {MAX_RELATIONS} relations")
        _require(size <= MAX_SIZE, "terms", f"must hold at most {MAX_SIZE:,} columns, constants and functions")
        level = [inner for node in level for inner in _inside(node)]
        depth += 1


def _require(holds: bool, what: str, requirement: str) -> None:  # noqa: FBT001 # a private check reads as a sentence
    if not holds:
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
        case Source() | Part() | Join() | SemiJoin() | UnionAll() | Intersect() | Except() | Distinct() | Bound():
            return inputs(node)
        case _:
            return children(node)
