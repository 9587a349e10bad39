"""The rows of every relation in plain Python, each with its unit beside its columns; their order means nothing."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import assert_never

from sfumato.engines.mixing import unmixed
from sfumato.engines.reference_folds import folded_rows
from sfumato.engines.reference_joins import joined_rows, semi_joined_rows
from sfumato.engines.reference_sources import OwnedRow, Reader, source_rows
from sfumato.engines.sampling import least, rank_hash
from sfumato.engines.scalars import evaluate, holds
from sfumato.engines.values import Cell, converted
from sfumato.query.facts import merged
from sfumato.query.kinds import Kind
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
)
from sfumato.query.shape import Metric, shape_of


def relation_rows(relation: Relation, read: Reader, *, salt: str) -> list[OwnedRow]:
    """The rows of a relation that `shape_of` accepts.

    Args:
        relation: What is asked for.
        read: Gives the typed rows of a table.
        salt: By which `Bound` samples.
    """
    match relation:
        case Source(table):
            return source_rows(table, read)
        case Part():
            return _part(relation, source_rows(relation.child.table, read))
        case Filter():
            return _filtered(relation, relation_rows(relation.child, read, salt=salt))
        case Select():
            return _selected(relation, relation_rows(relation.child, read, salt=salt))
        case Distinct(child):
            return _distinct(relation_rows(child, read, salt=salt))
        case Bound():
            return _bounded(relation, relation_rows(relation.child, read, salt=salt), salt)
        case Grouped():
            return folded_rows(relation, relation_rows(relation.child, read, salt=salt))
        case SemiJoin():
            sides = [relation_rows(side, read, salt=salt) for side in (relation.child, relation.other)]
            return semi_joined_rows(relation, *sides)
        case Join():
            sides = [relation_rows(side, read, salt=salt) for side in (relation.left, relation.right)]
            return joined_rows(relation, *sides)
        case UnionAll() | Intersect() | Except():
            sides = [relation_rows(side, read, salt=salt) for side in (relation.left, relation.right)]
            return _combined(relation, *_alike(relation, *sides))
        case _:
            assert_never(relation)


def _part(part: Part, rows: list[OwnedRow]) -> list[OwnedRow]:
    """The rows of one part, of units that keep it."""
    listed = [(unit, row) for unit, row in rows if row[part.by] in part.values]
    if shape_of(part).metric is Metric.UNITS:
        parts = least(
            {(unit, row[part.by]): None for unit, row in listed}, part.max_parts_per_unit,
            within=lambda place: place[0], rank=lambda place: (rank_hash(part.salt, place), place[1]),
        )  # fmt: skip
        kept = set(parts)
        listed = [(unit, row) for unit, row in listed if (unit, row[part.by]) in kept]
    return [(unit, row) for unit, row in listed if row[part.by] == part.value]


def _filtered(relation: Filter, rows: list[OwnedRow]) -> list[OwnedRow]:
    condition = unmixed(relation.condition, shape_of(relation.child).columns)
    return [(unit, row) for unit, row in rows if holds(condition, row)]


def _selected(relation: Select, rows: list[OwnedRow]) -> list[OwnedRow]:
    facts = shape_of(relation.child).columns
    columns = {name: unmixed(expression, facts) for name, expression in relation.columns}
    return [(unit, {name: evaluate(value, row) for name, value in columns.items()}) for unit, row in rows]


def _distinct(rows: list[OwnedRow]) -> list[OwnedRow]:
    return list({_values(owned): owned for owned in rows}.values())


def _bounded(relation: Bound, rows: list[OwnedRow], salt: str) -> list[OwnedRow]:
    return least(
        rows, relation.max_rows_per_unit, within=lambda owned: owned[0],
        rank=lambda owned: rank_hash(salt, _values(owned)),
    )  # fmt: skip


def _alike(
    relation: UnionAll | Intersect | Except, left: list[OwnedRow], right: list[OwnedRow]
) -> tuple[list[OwnedRow], list[OwnedRow]]:
    """Both sides with the names of the left one, and where whole numbers meet floats with floats."""
    columns, others = (shape_of(side).columns for side in (relation.left, relation.right))
    kinds = {
        name: merged([facts, other]).kind
        for (name, facts), other in zip(columns.items(), others.values(), strict=True)
    }  # fmt: skip
    return _as_kinds(left, kinds), _as_kinds(right, kinds)


def _as_kinds(rows: list[OwnedRow], kinds: Mapping[str, Kind]) -> list[OwnedRow]:
    return [(unit, dict(zip(kinds, _cells(row.values(), kinds.values()), strict=True))) for unit, row in rows]


def _cells(cells: Iterable[Cell], kinds: Iterable[Kind]) -> list[Cell]:
    pairs = zip(cells, kinds, strict=True)
    return [converted(cell, kind) if kind is Kind.FLOAT else cell for cell, kind in pairs]


def _combined(relation: UnionAll | Intersect | Except, left: list[OwnedRow], right: list[OwnedRow]) -> list[OwnedRow]:
    if isinstance(relation, UnionAll):
        return left + right
    rows = {_values(owned): owned for owned in left}
    counts, others = (Counter(map(_values, side)) for side in (left, right))
    kept = counts & others if isinstance(relation, Intersect) else counts - others
    return [rows[values] for values in kept.elements()]


def _values(owned: OwnedRow) -> tuple[Cell, ...]:
    """What tells rows apart: the unit, then all columns; NULL equals NULL."""
    unit, row = owned
    return (unit, *row.values())
