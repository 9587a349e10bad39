"""Joins in plain Python: rows meet where their keys are equal, and where both sides have owners their units are."""

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import TypeAlias

from sfumato.engines.reference_sources import OwnedRow
from sfumato.engines.values import Cell, Row, converted
from sfumato.query.kinds import Kind
from sfumato.query.relations import Join, JoinKind, Relation, SemiJoin
from sfumato.query.shape import Metric, shape_of

Key: TypeAlias = tuple[Cell, ...] | None
"""What must be equal for two rows to meet; None meets nothing."""


def joined_rows(join: Join, left: list[OwnedRow], right: list[OwnedRow]) -> list[OwnedRow]:
    """Each row of the left side with each of its partners; of a left join, one without any with NULLs."""
    key_left, key_right = _keys(join.left, join.right, join.on)
    partners: dict[Key, list[Row]] = defaultdict(list)
    for owned in right:
        partners[key_right(owned)].append(owned[1])
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
