"""What entries and rows add to measures, in Polars: the sums of step 2, and how step 6 scales them."""

from collections.abc import Sequence
from typing import Final

import polars as pl

from sfumato.engines.frames.arithmetic import toward_zero
from sfumato.engines.frames.rows import Rows
from sfumato.engines.frames.scalars import all_of
from sfumato.engines.frames.steps import moved_steps
from sfumato.engines.frames.terms import named_together
from sfumato.engines.values import MAX_INT64
from sfumato.query.expressions import Expression
from sfumato.query.measures import (
    CellCount,
    Measure,
    RowCount,
    StepProduct,
    StepSum,
    UnitCount,
    ValueCount,
)

ROWS: Final = "n"
"""How many rows an entry has."""

_MOST_ROWS: Final = 2**40
"""No table has more rows; so many sums of as many steps as a measure may have fit 128 bits."""


def inputs(measures: Sequence[Measure], rows: Rows) -> list[pl.Expr]:
    """What is added up of each row: whether it counts for each measure, and what it adds."""
    counts = [
        all_of(rows.value(value).is_not_null() for value in values).alias(f"v{place}")
        for place, values in enumerate(_present(measures))
    ]
    sums = [_amount(measure, rows).alias(f"m{place}") for place, measure in enumerate(measures) if _has_sum(measure)]
    return [*counts, *sums]


def aggregate_names(measures: Sequence[Measure]) -> list[str]:
    """What frames call the number of rows, those that count for each measure, and the sums."""
    sums = [f"m{place}" for place, measure in enumerate(measures) if _has_sum(measure)]
    return [ROWS, *(f"v{place}" for place in range(len(_present(measures)))), *sums]


def aggregates(measures: Sequence[Measure]) -> list[pl.Expr]:
    """For the measures of a group of rows with `inputs`: how many there are, how many count for each, and the sums."""
    rows, *others = aggregate_names(measures)
    counts = [pl.col(name).sum().cast(pl.Int64) for name in others if name.startswith("v")]
    sums = [pl.col(name).sum() for name in others if name.startswith("m")]
    return [pl.len().cast(pl.Int64).alias(rows), *counts, *sums]


def whole_amount(place: int, measures: Sequence[Measure]) -> pl.Expr:
    """What an entry adds to a measure all of whose rows are allowed."""
    match measures[place]:
        case UnitCount() | CellCount():
            return pl.lit(1, pl.Int64)
        case RowCount() | ValueCount():
            return _counted(measures[place], measures)
        case _:
            return pl.col(f"m{place}")


def allowed_amount(place: int, measures: Sequence[Measure], allowed: pl.Expr, *, most: int | None) -> pl.Expr:
    """What an entry adds to a measure if so many of its rows are allowed, at least one.

    Args:
        place: Which of the measures.
        measures: All of the statement.
        allowed: How many rows of the entry are allowed.
        most: How many those are at most; None if they are either all or none.
    """
    measure = measures[place]
    match measure:
        case UnitCount() | CellCount():
            return pl.lit(1, pl.Int64)
        case RowCount() | ValueCount():
            return pl.min_horizontal(_counted(measure, measures), allowed)
        case _ if most is None:
            return pl.col(f"m{place}")
        case _:
            return _scaled(measure, pl.col(f"m{place}"), _counted(measure, measures), allowed, most)


def _scaled(measure: Measure, total: pl.Expr, counted: pl.Expr, allowed: pl.Expr, most: int) -> pl.Expr:
    """M if v ≤ a, else m·a/v cut off toward zero: in 64 bits where those hold it whatever m, else in 128 bits."""
    held = pl.Int64 if _greatest(measure) * most * _MOST_ROWS <= MAX_INT64 else pl.Int128
    product = total.cast(held) * allowed.cast(held)
    quotient = named_together((product, counted.clip(1).cast(held)), toward_zero)
    own = pl.Int64 if _is_narrow(measure) else pl.Int128
    return pl.when(counted <= allowed).then(total).otherwise(quotient.cast(own))


def _present(measures: Sequence[Measure]) -> list[tuple[Expression, ...]]:
    """What must be present, each combination once."""
    return list(dict.fromkeys(measure.present for measure in measures if measure.present))


def _counted(measure: Measure, measures: Sequence[Measure]) -> pl.Expr:
    """How many rows of an entry count for a measure."""
    return pl.col(f"v{_present(measures).index(measure.present)}" if measure.present else ROWS)


def _has_sum(measure: Measure) -> bool:
    return isinstance(measure, StepSum | StepProduct)


def _greatest(measure: Measure) -> int:
    return max(map(abs, measure.range()))


def _is_narrow(measure: Measure) -> bool:
    """Whether 64 bits hold the sum of any number of rows."""
    return _greatest(measure) * _MOST_ROWS <= MAX_INT64


def _amount(measure: Measure, rows: Rows) -> pl.Expr:
    """What a row adds; NULL if nothing."""
    held = pl.Int64 if _is_narrow(measure) else pl.Int128
    match measure:
        case StepSum(steps):
            return moved_steps(rows.term(steps.value), steps).cast(held)
        case StepProduct(first, second):
            sides = [moved_steps(rows.term(steps.value), steps).cast(held) for steps in (first, second)]
            return sides[0] * sides[1]
        case _:
            return pl.lit(1, pl.Int64)
