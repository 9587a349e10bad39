"""Sub-queries with GROUP BY in Polars, as `reference_folds` has them: sums of whole numbers, so order is nothing."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Final

import polars as pl

from sfumato.engines.frames.arithmetic import quotient
from sfumato.engines.frames.rows import Rows
from sfumato.engines.frames.rows import grouped as in_groups
from sfumato.engines.frames.steps import clamped_steps
from sfumato.engines.frames.terms import computed, guarded
from sfumato.engines.values import MAX_INT64, MIN_INT64
from sfumato.query.inference import facts_of
from sfumato.query.kinds import Kind
from sfumato.query.measures import Steps, steps_of
from sfumato.query.relations import Fold, Folded, Grouped

_ROWS: Final = "n"


def lower_grouped(grouped: Grouped, rows: Rows) -> pl.LazyFrame:
    """One row for each combination of the keys (of each unit, where rows have owners); none of no rows."""
    stored = [pl.col(rows.names[key]).alias(f"k{place}") for place, key in enumerate(grouped.keys)]
    values = [
        _value(one, rows).alias(f"v{place}") for place, one in enumerate(grouped.columns) if one.value is not None
    ]
    keys = [*rows.unit, *(f"k{place}" for place in range(len(stored)))]
    read = rows.frame.with_columns(*stored, *values)
    folds = [fold for place, one in enumerate(grouped.columns) for fold in _folded(one, place)]
    count = pl.len().alias(_ROWS)
    groups = in_groups(read, keys, [count, *folds]).filter(pl.col(_ROWS) > 0)
    made = [_made(one, rows, place) for place, one in enumerate(grouped.columns)]
    columns = [*(pl.col(f"k{place}") for place in range(len(stored))), *made]
    return groups.select(*rows.unit, *(column.alias(f"c{place}") for place, column in enumerate(columns)))


def _value(folded: Folded, rows: Rows) -> pl.Expr:
    """What is folded: for sums its lattice steps."""
    if folded.value is None:
        raise TypeError("rows are counted without a value")
    if folded.fold in {Fold.SUM, Fold.MEAN}:
        return clamped_steps(rows.term(folded.value), _steps(folded, rows)).cast(pl.Int128)
    return rows.value(folded.value)


_FOLDINGS: Final[Mapping[Fold, Callable[[pl.Expr], pl.Expr]]] = {
    Fold.COUNT: lambda value: value.count().cast(pl.Int64),
    Fold.COUNT_DISTINCT: lambda value: value.drop_nulls().n_unique().cast(pl.Int64),
    Fold.MIN: lambda value: value.min(),
    Fold.MAX: lambda value: value.max(),
}


def _folded(folded: Folded, place: int) -> list[pl.Expr]:
    """What is computed of each group, to make the column of."""
    value = pl.col(f"v{place}")
    if folded.fold is Fold.COUNT_ROWS:
        return []
    if folded.fold in _FOLDINGS:
        return [_FOLDINGS[folded.fold](value).alias(f"f{place}")]
    return [value.sum().alias(f"f{place}"), value.count().cast(pl.Int64).alias(f"n{place}")]


def _made(folded: Folded, rows: Rows, place: int) -> pl.Expr:
    """The column, made of the aggregates; of no values a sum is NULL."""
    if folded.fold is Fold.COUNT_ROWS:
        return pl.col(_ROWS).cast(pl.Int64)
    total, count = pl.col(f"f{place}"), pl.col(f"n{place}")
    if folded.value is None or folded.fold in _FOLDINGS:
        return total
    resolution = _steps(folded, rows).resolution
    if folded.fold is Fold.SUM and rows.term(folded.value).kind is Kind.INTEGER:
        return pl.when(count > 0).then(_whole_product(total, resolution))
    number = total.cast(pl.Float64)
    if folded.fold is Fold.MEAN:
        number = quotient(number, count.cast(pl.Float64))
    return pl.when(count > 0).then(computed(number * float(resolution)).settled)


def _whole_product(total: pl.Expr, resolution: Fraction) -> pl.Expr:
    """A sum of whole numbers, whose resolution is whole too; NULL beyond 64 bits, before it is multiplied."""
    step = int(resolution)
    within = guarded(total, lambda x: x.is_between(-(-MIN_INT64 // step), MAX_INT64 // step))
    return within.cast(pl.Int64) * step


def _steps(folded: Folded, rows: Rows) -> Steps:
    if folded.value is None:
        raise TypeError("rows are counted without a value")
    facts = facts_of(folded.value, rows.shape.columns)
    return steps_of(folded.value, facts, bounds=None, what=folded.name)
