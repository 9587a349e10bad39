"""What columns say about the unit of a row, so that a join is within units only if its conditions say so.

Every relation is computed within units anyway. These rules refuse SQL that would mean something else, instead of giving
it another meaning silently.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from sfumato.privacy.neighbors import UnitColumn
from sfumato.query.analysis.shape import shape_of
from sfumato.query.model.expressions import ColumnRef, Expression
from sfumato.query.model.relations import (
    BoundRows,
    Distinct,
    Except,
    Filter,
    Fold,
    Grouped,
    Intersect,
    Join,
    JoinKind,
    PeoplePart,
    Relation,
    RowWindow,
    Select,
    SemiJoin,
    Source,
    UnionAll,
)
from sfumato.query.model.schema import Table, UnitPath


@dataclass(frozen=True, slots=True)
class Unit:
    """The column holds the unit itself."""


@dataclass(frozen=True, slots=True)
class Path:
    """The row belongs to whoever owns the row of `table` whose `key` is this value."""

    table: str
    key: str


@dataclass(frozen=True, slots=True)
class Own:
    """The row is one of `table`, and this its own `key`."""

    table: str
    key: str


Tie: TypeAlias = Unit | Path | Own
Ties: TypeAlias = frozenset[Tie]
UNIT: Final = Unit()
NO_TIES: Final[Ties] = frozenset()


def ties_of(relation: Relation) -> Mapping[str, Ties]:
    """What each column says about the unit of its row; columns that say nothing are left out."""
    match relation:
        case Source(table):
            return {name: ties for name in table.columns if (ties := _of_column(table, name))}
        case PeoplePart() | Filter() | Distinct() | BoundRows() | SemiJoin() | RowWindow():
            return ties_of(relation.child)
        case Select(child, columns):
            return _carried(ties_of(child), columns)
        case Join():
            return {**ties_of(relation.left), **(ties_of(relation.right) if relation.kind is JoinKind.INNER else {})}
        case UnionAll() | Intersect() | Except():
            return _common(relation)
        case Grouped(child, keys, columns):
            inner = ties_of(child)
            units = ((c.name, c.value) for c in columns if c.fold is Fold.MIN and holds_unit(c.value, inner))
            return _carried(inner, (*((key, ColumnRef(key)) for key in keys), *units))


def holds_unit(value: Expression | None, ties: Mapping[str, Ties]) -> bool:
    """Whether an expression is a column that holds the unit itself."""
    return isinstance(value, ColumnRef) and UNIT in ties.get(value.name, NO_TIES)


def determines_unit(ties: Ties) -> bool:
    """Whether rows of one group by this column belong to one unit."""
    return any(isinstance(tie, Unit | Path) for tie in ties)


def same_unit(first: Ties, second: Ties) -> bool:
    """Whether rows with equal values in two columns belong to one unit, by what the owner declared.

    They do if both hold the unit; or if one is a foreign key by which the policy says whose its row is, and the other
    the key that it leads to, or another such foreign key.
    """
    both = first & second
    return UNIT in both or any(isinstance(tie, Path) for tie in both) or _leads(first, second) or _leads(second, first)


def _leads(first: Ties, second: Ties) -> bool:
    return any(isinstance(tie, Path) and Own(tie.table, tie.key) in second for tie in first)


def _of_column(table: Table, column: str) -> Ties:
    if not table.has_owners:
        return NO_TIES
    ties: set[Tie] = {Own(table.name, column)}
    match table.unit:
        case UnitColumn(name) if name == column:
            ties.add(UNIT)
        case UnitPath(name, other, key) if name == column:
            ties.add(Path(other.name, key))
            ties |= {UNIT} & _of_column(other, key)
        case _:
            pass
    return frozenset(ties)


def _carried(ties: Mapping[str, Ties], columns: Iterable[tuple[str, Expression | None]]) -> Mapping[str, Ties]:
    return {name: ties[e.name] for name, e in columns if isinstance(e, ColumnRef) and e.name in ties}


def _common(relation: UnionAll | Intersect | Except) -> Mapping[str, Ties]:
    """Of columns at the same place, what both sides tell; named as on the left."""
    left, right = ties_of(relation.left), ties_of(relation.right)
    places = zip(shape_of(relation.left).columns, shape_of(relation.right).columns, strict=True)
    return {first: left.get(first, NO_TIES) & right.get(second, NO_TIES) for first, second in places}
