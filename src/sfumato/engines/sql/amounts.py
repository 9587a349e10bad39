"""What entries and rows add to measures, in SQL: the sums of step 2, and how step 6 scales them."""

from collections.abc import Sequence
from typing import Final

from sqlglot import exp

from sfumato.engines.sql.expressions.terms import (
    Sql,
    aliased,
    all_of,
    between,
    case,
    cast,
    clamped,
    column,
    figure,
    function,
    operation,
    present,
    whole,
)  # fmt: skip
from sfumato.engines.sql.rows import Rows
from sfumato.engines.sql.steps import moved_steps
from sfumato.engines.values import MAX_INT64
from sfumato.query.model.expressions import Expression
from sfumato.query.model.measures import CellCount, Measure, RowCount, StepProduct, StepSum, UnitCount, ValueCount, fits

ROWS: Final = "n"
"""How many rows an entry has."""


def aggregates(measures: Sequence[Measure], rows: Rows) -> list[Sql]:
    """For the measures of a group of rows: how many there are, how many count for each, and the sums."""
    counts = [
        aliased(_count([rows.value(value) for value in values]), f"v{place}")
        for place, values in enumerate(_present(measures))
    ]
    sums = [aliased(_sum(measure, rows), f"m{place}") for place, measure in enumerate(measures) if _has_sum(measure)]
    return [aliased(function("COUNT", exp.Star()), ROWS), *counts, *sums]


def aggregate_names(measures: Sequence[Measure]) -> list[str]:
    """What SQL calls them."""
    sums = [f"m{place}" for place, measure in enumerate(measures) if _has_sum(measure)]
    return [ROWS, *(f"v{place}" for place in range(len(_present(measures)))), *sums]


def whole_amount(place: int, measures: Sequence[Measure]) -> Sql:
    """What an entry adds to a measure all of whose rows are allowed."""
    match measures[place]:
        case UnitCount() | CellCount():
            return whole(1)
        case RowCount() | ValueCount():
            return _counted(measures[place], measures)
        case _:
            return column(f"m{place}")


def allowed_amount(place: int, measures: Sequence[Measure], allowed: Sql, *, most: int | None) -> Sql:
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
            return whole(1)
        case RowCount() | ValueCount():
            return function("LEAST", _counted(measure, measures), allowed)
        case _:
            return _scaled(column(f"m{place}"), _counted(measure, measures), allowed, most)


def _scaled(total: Sql, counted: Sql, allowed: Sql, most: int | None) -> Sql:
    """M if v ≤ a, else m·a/v cut off toward zero: in 64 bits where those hold it, in 128 bits elsewhere.

    Each division is total wherever it is evaluated, and 128 bits hold m·a: see proofs/engines/sql/bounding.md.
    """
    all_of_it = (operation(exp.LTE, counted, allowed), total)
    if most is None:
        return case([all_of_it], figure(0))
    divisor = function("GREATEST", counted, whole(1))
    ends = [figure(end) for end in (-(MAX_INT64 // most), MAX_INT64 // most)]
    small = cast(clamped(total, *ends), "BIGINT")
    narrow = function("whole_quotient", operation(exp.Mul, small, allowed), divisor)
    wide = function("wide_quotient", operation(exp.Mul, cast(total, "HUGEINT"), allowed), divisor)
    return case([all_of_it, (between(total, *ends), narrow)], wide)


def sum_of(measure: Measure) -> str:
    """The function that adds up what entries add to a measure: in 64 bits where those hold all of it."""
    return "SUM" if fits(measure) else "wide_sum"


def _present(measures: Sequence[Measure]) -> list[tuple[Expression, ...]]:
    """What must be present, each combination once."""
    return list(dict.fromkeys(measure.present for measure in measures if measure.present))


def _counted(measure: Measure, measures: Sequence[Measure]) -> Sql:
    """How many rows of an entry count for a measure."""
    return column(f"v{_present(measures).index(measure.present)}" if measure.present else ROWS)


def _has_sum(measure: Measure) -> bool:
    return isinstance(measure, StepSum | StepProduct)


def _count(values: Sequence[Sql]) -> Sql:
    """The rows in which no value is NULL."""
    if len(values) == 1:
        return function("COUNT", values[0])
    return function("COUNT", case([(all_of(map(present, values)), figure(1))]))


def _sum(measure: Measure, rows: Rows) -> Sql:
    """In 128 bits; in 64 where no sum of so many rows needs more, each of which is then of 24 bits at most."""
    idiom = "narrow_sum" if fits(measure) else "wide_sum"
    total = function("COALESCE", function(idiom, _amount(measure, rows)), figure(0))
    return cast(total, "BIGINT" if fits(measure) else "HUGEINT")


def _amount(measure: Measure, rows: Rows) -> Sql:
    """What a row adds; NULL if nothing."""
    match measure:
        case StepSum(steps):
            return moved_steps(rows.term(steps.value), steps)
        case StepProduct(first, second):
            sides = [moved_steps(rows.term(steps.value), steps) for steps in (first, second)]
            if max(map(abs, measure.range())) > MAX_INT64:
                sides = [cast(side, "HUGEINT") for side in sides]
            return operation(exp.Mul, *sides)
        case _:
            return whole(1)
