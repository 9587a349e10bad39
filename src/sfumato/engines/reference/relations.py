"""The rows of every relation in plain Python, each with its unit beside its columns; their order means nothing.

A table has units, paths to units, and no more matches than declared; a sub-query with GROUP BY has one row for each
combination of keys, its values folded exactly.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Final, TypeAlias, assert_never

from sfumato.engines.sampling import least, rank_hash
from sfumato.privacy.neighbors import UnitColumn
from sfumato.query.analysis.inference import facts_of
from sfumato.query.analysis.shape import Metric, shape_of
from sfumato.query.analysis.unmixed import unmixed
from sfumato.query.model.expressions import Expression
from sfumato.query.model.facts import Facts, merged
from sfumato.query.model.kinds import Kind
from sfumato.query.model.relations import (
    BoundRows,
    Distinct,
    Except,
    Filter,
    Fold,
    Folded,
    Grouped,
    Intersect,
    Join,
    JoinKind,
    PeoplePart,
    Relation,
    RowFunction,
    RowWindow,
    Select,
    SemiJoin,
    Source,
    UnionAll,
)
from sfumato.query.model.schema import Table, UnitPath
from sfumato.query.model.statement import LatticeValue, steps_of
from sfumato.query.values.cells import MAX_INT64, MIN_INT64, Cell, Row, converted, greatest_of, least_of
from sfumato.query.values.evaluation import clamped_steps, evaluate, holds
from sfumato.query.values.numbers import limited

OwnedRow: TypeAlias = tuple[Cell, Row]
"""The unit that a row belongs to, or None where rows have no owners; and its cells, in the order of its columns."""

Reader: TypeAlias = Callable[[Table], Iterable[Row]]
"""Gives the rows of a table with cells of their declared types."""

Key: TypeAlias = tuple[Cell, ...] | None
"""What must be equal for two rows to meet; None meets nothing."""

Folding: TypeAlias = Callable[[list[Cell]], Cell]
"""Makes one cell of those of a group, none of which is NULL."""

_NO_SALT = ""  # which rows match has to be the same in every question


def relation_rows(relation: Relation, read: Reader, *, salt: str, most: int | None = None) -> list[OwnedRow]:
    """The rows of a relation that `shape_of` accepts.

    Args:
        relation: What is asked for.
        read: Gives the typed rows of a table.
        salt: By which `BoundRows` samples.
        most: How many rows a join may make; None: as many as it makes. It is for rows that are nobody's: that there
            are more is told.

    Raises:
        OverflowError: A join would make more.
    """
    rows = partial(relation_rows, read=read, salt=salt, most=most)
    match relation:
        case Source(table):
            return source_rows(table, read)
        case PeoplePart():
            return _part(relation, source_rows(relation.child.table, read))
        case Filter():
            return _filtered(relation, rows(relation.child))
        case Select():
            return _selected(relation, rows(relation.child))
        case Distinct(child):
            return list({_values(owned): owned for owned in rows(child)}.values())
        case BoundRows():
            return _bounded(relation, rows(relation.child), salt)
        case Grouped():
            return folded_rows(relation, rows(relation.child))
        case RowWindow():
            return ordered_rows(relation, rows(relation.child))
        case SemiJoin():
            return semi_joined_rows(relation, rows(relation.child), rows(relation.other))
        case Join():
            return joined_rows(relation, rows(relation.left), rows(relation.right), most=most)
        case UnionAll() | Intersect() | Except():
            return _combined(relation, *_alike(relation, rows(relation.left), rows(relation.right)))
        case _:
            assert_never(relation)


def source_rows(table: Table, read: Reader) -> list[OwnedRow]:
    """The rows of a table with their units, of which those beyond the declared matches are left out."""
    rows = list(_owned(table, read))
    for columns, most in table.matches.items():
        rows = _truncated(rows, columns, most)
    return rows


def _owned(table: Table, read: Reader) -> Iterable[OwnedRow]:
    match table.unit:
        case UnitColumn(column):
            return [(row[column], row) for row in read(table) if row[column] is not None]
        case UnitPath() as path:
            owners = _owners(path, read)
            return [(unit, row) for row in read(table) for unit in owners.get(row[path.column], ())]
        case _:
            return [(None, row) for row in read(table)]


def _owners(path: UnitPath, read: Reader) -> Mapping[Cell, dict[Cell, None]]:
    """The different units behind each value of the key; NULL leads to none."""
    owners: dict[Cell, dict[Cell, None]] = defaultdict(dict)
    for unit, row in source_rows(path.table, read):
        if row[path.key] is not None:
            owners[row[path.key]][unit] = None
    return owners


def _truncated(rows: list[OwnedRow], columns: tuple[str, ...], most: int) -> list[OwnedRow]:
    """Of the rows (of one unit) that agree in some columns so many; NULL agrees with nothing."""

    def values(owned: OwnedRow) -> tuple[Cell, ...]:
        return tuple(owned[1][name] for name in columns)

    matching = [owned for owned in rows if None not in values(owned)]
    others = [owned for owned in rows if None in values(owned)]
    kept = least(
        matching, most, within=lambda owned: (owned[0], *values(owned)),
        rank=lambda owned: rank_hash(_NO_SALT, tuple(owned[1].values())),
    )  # fmt: skip
    return others + kept


def _part(part: PeoplePart, rows: list[OwnedRow]) -> list[OwnedRow]:
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


def _bounded(relation: BoundRows, rows: list[OwnedRow], salt: str) -> list[OwnedRow]:
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


def joined_rows(
    join: Join, left: list[OwnedRow], right: list[OwnedRow], *, most: int | None = None
) -> list[OwnedRow]:  # fmt: skip
    """Each row of the left side with each of its partners; of a left join, one without any with NULLs."""
    key_left, key_right = _keys(join.left, join.right, join.on)
    partners: dict[Key, list[Row]] = defaultdict(list)
    for owned in right:
        partners[key_right(owned)].append(owned[1])
    if most is not None and sum(len(_met(partners, key_left(owned))) for owned in left) > most:
        raise OverflowError
    alone: list[Row] = [dict.fromkeys(shape_of(join.right).columns)] if join.kind is JoinKind.LEFT else []
    return [
        (unit, {**row, **other}) for unit, row in left for other in _met(partners, key_left((unit, row))) or alone
    ]  # fmt: skip


def semi_joined_rows(join: SemiJoin, child: list[OwnedRow], other: list[OwnedRow]) -> list[OwnedRow]:
    """The rows that have a partner, or those that have none."""
    key_child, key_other = _keys(join.child, join.other, join.on)
    partners = {key: [row] for key, row in ((key_other(owned), owned[1]) for owned in other)}
    return [owned for owned in child if bool(_met(partners, key_child(owned))) is not join.negated]


def _met(partners: Mapping[Key, list[Row]], key: Key) -> list[Row]:
    return [] if key is None else partners.get(key, [])


def _keys(
    left: Relation, right: Relation, on: tuple[tuple[str, str], ...]
) -> tuple[Callable[[OwnedRow], Key], Callable[[OwnedRow], Key]]:
    """The keys of both sides; a whole number and a float are equal as doubles."""
    shapes = shape_of(left), shape_of(right)
    within_units = shapes[1].metric is Metric.UNITS
    kinds = [{shapes[0].column(first).kind, shapes[1].column(second).kind} for first, second in on]
    as_floats = [Kind.FLOAT in pair for pair in kinds]

    def key_of(names: list[str]) -> Callable[[OwnedRow], Key]:
        def key(owned: OwnedRow) -> Key:
            unit, row = owned
            pairs = zip(names, as_floats, strict=True)
            cells = [converted(row[name], Kind.FLOAT) if as_float else row[name] for name, as_float in pairs]
            return None if None in cells else (unit if within_units else None, *cells)

        return key

    return key_of([first for first, _ in on]), key_of([second for _, second in on])


def folded_rows(grouped: Grouped, rows: list[OwnedRow]) -> list[OwnedRow]:
    """One row for each combination of the keys (of each unit, where rows have owners); none of no rows."""
    facts = shape_of(grouped.child).columns
    columns = {column.name: _column(column, facts) for column in grouped.columns}
    together: dict[tuple[Cell, ...], list[Row]] = defaultdict(list)
    for unit, row in rows:
        together[(unit, *(row[key] for key in grouped.keys))].append(row)
    return [
        (unit, dict(zip(grouped.keys, keys, strict=True)) | {name: fold(group) for name, fold in columns.items()})
        for (unit, *keys), group in together.items()
    ]


def ordered_rows(window: RowWindow, rows: list[OwnedRow]) -> list[OwnedRow]:
    """Each row with what a window is of the rows of its unit that agree with it."""
    together: dict[tuple[Cell, ...], list[OwnedRow]] = defaultdict(list)
    for unit, row in rows:
        together[(unit, *(row[name] for name in window.within))].append((unit, row))
    made: list[OwnedRow] = []
    for rows_alike in together.values():
        group = rows_alike
        ties = [(name, False) for name in reversed([*shape_of(window.child).columns])]
        for name, descending in (*ties, *reversed(window.order)):
            missing = [owned for owned in group if owned[1][name] is None]
            present = [owned for owned in group if owned[1][name] is not None]
            present.sort(key=lambda owned, name=name: owned[1][name], reverse=descending)  # type: ignore[misc] # the name of each turn
            group = missing + present if descending else present + missing
        cells = _in_order(window, [row for _, row in group])
        made += [(unit, {**row, window.name: cell}) for (unit, row), cell in zip(group, cells, strict=True)]
    return made


def _in_order(window: RowWindow, rows: list[Row]) -> list[Cell]:
    """What a window is of rows that stand in its order."""
    count = len(rows)
    if window.value is not None:
        own = [row[window.value] for row in rows]
        if window.function is RowFunction.FIRST_VALUE:
            return own[:1] * count
        step = -window.distance if window.function is RowFunction.LAG else window.distance
        return [own[place + step] if 0 <= place + step < count else None for place in range(count)]
    if window.function is RowFunction.ROW_NUMBER:
        return list(range(1, count + 1))
    keys = [tuple(row[name] for name, _ in window.order) for row in rows]
    firsts = [place for place in range(count) if place == 0 or keys[place] != keys[place - 1]]
    is_dense = window.function is RowFunction.DENSE_RANK
    ends = [*firsts[1:], count]
    ranks: list[Cell] = []
    for number, (first, end) in enumerate(zip(firsts, ends, strict=True), start=1):
        ranks += [number if is_dense else first + 1] * (end - first)
    return ranks


def _column(column: Folded, facts: Mapping[str, Facts]) -> Callable[[list[Row]], Cell]:
    if column.value is None:
        return len
    value, fold = unmixed(column.value, facts), _folding(column, column.value, facts)
    return lambda rows: fold([cell for cell in (evaluate(value, row) for row in rows) if cell is not None])


def _folding(column: Folded, value: Expression, facts: Mapping[str, Facts]) -> Folding:
    if column.fold not in {Fold.SUM, Fold.MEAN}:
        return _FOLDINGS[column.fold]
    known = facts_of(value, facts)
    steps = steps_of(value, known, bounds=None, what=column.name)
    if column.fold is Fold.MEAN:
        return lambda cells: _mean(cells, steps)
    whole = known.kind is Kind.INTEGER
    return lambda cells: _whole_sum(cells, steps) if whole else _sum(cells, steps)


_FOLDINGS: Final[Mapping[Fold, Folding]] = {
    Fold.COUNT: len,
    Fold.COUNT_DISTINCT: lambda cells: len(set(cells)),
    Fold.MIN: least_of,
    Fold.MAX: greatest_of,
}


def _total(cells: list[Cell], steps: LatticeValue) -> int:
    points = (clamped_steps(cell, steps) for cell in cells)
    return sum(point for point in points if point is not None)


def _whole_sum(cells: list[Cell], steps: LatticeValue) -> int | None:
    """The total of the steps times the resolution, exactly."""
    total = math.floor(_total(cells, steps) * steps.resolution)
    return total if cells and MIN_INT64 <= total <= MAX_INT64 else None


def _sum(cells: list[Cell], steps: LatticeValue) -> float | None:
    """The total of the steps, as the nearest double, times the resolution."""
    return limited(float(_total(cells, steps)) * float(steps.resolution)) if cells else None


def _mean(cells: list[Cell], steps: LatticeValue) -> float | None:
    """That total over the count, both as doubles, times the resolution."""
    if not cells:
        return None
    return limited(float(_total(cells, steps)) / float(len(cells)) * float(steps.resolution))
