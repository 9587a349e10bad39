"""Relations to Polars, one step a node, as `reference_relations` has them."""

from collections.abc import Callable
from typing import Final, TypeAlias, assert_never

import polars as pl

from sfumato.engines.frames.folds import lower_grouped
from sfumato.engines.frames.hash import encoded
from sfumato.engines.frames.joins import lower_join, lower_semi_join
from sfumato.engines.frames.ranking import least_ranked
from sfumato.engines.frames.rows import UNIT, Rows
from sfumato.engines.frames.terms import TYPES, constant
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
from sfumato.query.schema import Table
from sfumato.query.shape import shape_of

Catalogue: TypeAlias = Callable[[Table], pl.LazyFrame]
"""Gives the frame of a table of `Rows`: declared columns, owners, no more matches than declared."""

_PART: Final = "p"
_LEFT, _RIGHT, _TIMES = "n", "m", "t"


def lower_relation(relation: Relation, catalogue: Catalogue, *, salt: str) -> Rows:
    """A relation that `shape_of` accepts, in Polars.

    Args:
        relation: What is asked for.
        catalogue: Where tables are.
        salt: By which `Bound` samples.
    """
    return Rows(frame=_frame(relation, catalogue, salt), shape=shape_of(relation))


def _frame(relation: Relation, catalogue: Catalogue, salt: str) -> pl.LazyFrame:
    def rows(inner: Relation) -> Rows:
        return lower_relation(inner, catalogue, salt=salt)

    match relation:
        case Source(table):
            return catalogue(table)
        case Part(child=child):
            return _part(relation, rows(child))
        case Filter(child, condition):
            inner = rows(child)
            return inner.frame.filter(inner.value(condition))
        case Select():
            return _selected(relation, rows(relation.child))
        case Distinct(child):
            return rows(child).frame.unique()
        case Bound(child, most):
            return _bounded(rows(child), most, salt)
        case Grouped(child=child):
            return lower_grouped(relation, rows(child))
        case SemiJoin():
            return lower_semi_join(relation, rows(relation.child), rows(relation.other))
        case Join():
            return lower_join(relation, rows(relation.left), rows(relation.right))
        case UnionAll() | Intersect() | Except():
            return _combined(relation, rows(relation.left), rows(relation.right))
        case _:
            assert_never(relation)


def _selected(relation: Select, rows: Rows) -> pl.LazyFrame:
    """Beside the columns there were, so that constants have as many rows; then alone."""
    values = [rows.value(value).alias(f"c{place}") for place, (_, value) in enumerate(relation.columns)]
    return rows.frame.with_columns(values).select(*rows.unit, *(f"c{place}" for place in range(len(values))))


def _part(part: Part, rows: Rows) -> pl.LazyFrame:
    """The rows of one part, of units that keep it under the salt that all parts share."""
    name, kind = rows.names[part.by], rows.kind(part.by)
    listed = pl.col(name).is_in(pl.lit(pl.Series(part.values, dtype=TYPES[kind])).implode())
    here = rows.frame.filter(pl.col(name) == constant(part.value), listed)
    if not rows.has_owners:
        return here
    parts = rows.frame.filter(listed).select(UNIT, pl.col(name).alias(_PART)).unique()
    encodings = [*rows.unit_encoding, encoded(pl.col(_PART), kind, nullable=False)]
    kept = least_ranked(
        parts, part.max_parts_per_unit, within=[UNIT], salt=part.salt, encodings=encodings, ties=[_PART]
    )  # fmt: skip
    return here.join(kept.filter(pl.col(_PART) == constant(part.value)), on=UNIT, how="semi")


def _bounded(rows: Rows, most: int, salt: str) -> pl.LazyFrame:
    return least_ranked(rows.frame, most, within=rows.unit, salt=salt, encodings=[*rows.unit_encoding, *rows.encodings])


def _combined(relation: UnionAll | Intersect | Except, left: Rows, right: Rows) -> pl.LazyFrame:
    """Both sides with columns of the same kinds; whole numbers that meet floats are floats."""
    pairs = zip(left.shape.columns.values(), right.shape.columns.values(), strict=True)
    kinds = [merged([first, second]).kind for first, second in pairs]
    sides = _alike(left, kinds), _alike(right, kinds)
    if isinstance(relation, UnionAll):
        return pl.concat(sides)
    first, second = (
        side.group_by(left.selected).agg(pl.len().cast(pl.Int64).alias(name))
        for side, name in zip(sides, (_LEFT, _RIGHT), strict=True)
    )
    both = first.join(second, on=left.selected, how="left", nulls_equal=True)
    others = pl.col(_RIGHT).fill_null(0)
    times = pl.min_horizontal(_LEFT, others) if isinstance(relation, Intersect) else pl.col(_LEFT) - others
    counted = both.with_columns(times.alias(_TIMES)).filter(pl.col(_TIMES) > 0)
    return counted.with_columns(pl.int_ranges(_TIMES).alias(_TIMES)).explode(_TIMES).select(left.selected)


def _alike(rows: Rows, kinds: list[Kind]) -> pl.LazyFrame:
    columns = [
        pl.col(name).cast(pl.Float64) if kind is Kind.FLOAT else pl.col(name)
        for name, kind in zip(rows.names.values(), kinds, strict=True)
    ]
    return rows.frame.select(*rows.unit, *columns)
