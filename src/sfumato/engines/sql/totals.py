"""From entries, or from rows that are units each, to the totals of groups in SQL: steps 6 and 7 of `Statement`."""

from collections.abc import Callable, Sequence
from typing import Final

from sqlglot import exp

from sfumato.engines.sql.amounts import ROWS, aggregates, allowed_amount, sum_of, whole_amount
from sfumato.engines.sql.bounding import ABOVE, ALLOWED, ENTRIES, Bounding, above, bounded, needs_order, simply_allowed
from sfumato.engines.sql.entries import CELL, Mark, Marked
from sfumato.engines.sql.expressions.terms import Sql, aliased, column, different, figure, function, operation
from sfumato.engines.sql.queries import gathered, joined, same, select, table
from sfumato.engines.sql.rows import UNIT
from sfumato.query.analysis.bounding import least
from sfumato.query.model.measures import CellCount, Measure, UnitCount

KEPT: Final = "kept"
"""How many entries of a group are allowed a row."""


def totals_of_rows(found: Marked, measures: Sequence[Measure], shown: Sequence[Mark]) -> exp.Select:
    """The totals where each row is a unit, or nobody's: no row is left out, and units are rows."""
    marks = [mark.column for mark in shown]
    cells = [aliased(different(column(CELL)), CELL)] if counts_cells(measures) else []
    groups = select([*marks, *aggregates(measures, found.rows), *cells], found.query, group_by=marks)

    def total(place: int) -> Sql:
        match measures[place]:
            case UnitCount():
                return column(ROWS)
            case CellCount():
                return column(CELL)
            case _:
                return whole_amount(place, measures)

    return select([*marks, aliased(column(ROWS), KEPT), *_named(measures, total)], groups)


def totals_of_units(bounding: Bounding, shown: Sequence[Mark]) -> exp.Select:
    """The totals where rows have owners."""
    measures, found = bounding.measures, bounding.marked
    tells_above = needs_order(bounding) and bounding.dialect.orders_few
    marks = [column(UNIT), *(mark.column for mark in found.marks)]
    gathers = needs_order(bounding) and bounding.dialect.gathers_units
    rows = gathered(found.query, column(UNIT)) if gathers else found.query
    entries = select([*marks, *aggregates(measures, found.rows)], rows, group_by=marks)
    totals = _added_up(bounding, [mark.column for mark in shown])
    totals = totals.with_(ENTRIES, as_=entries, materialized=tells_above or None, copy=False)
    return totals.with_(ABOVE, as_=above(bounding), materialized=True, copy=False) if tells_above else totals


def counts_cells(measures: Sequence[Measure]) -> bool:
    """Whether cells are counted and not shown."""
    return any(isinstance(measure, CellCount) for measure in measures)


def _added_up(bounding: Bounding, marks: Sequence[Sql]) -> exp.Select:
    """Step 7."""
    measures, has_cells = bounding.measures, counts_cells(bounding.measures)
    one_an_entry = function("COUNT", exp.Star())

    def total(place: int) -> Sql:
        match measures[place]:
            case UnitCount():  # of a group and cell a unit has one entry
                return different(column(UNIT)) if has_cells else one_an_entry
            case CellCount():
                return different(column(CELL))
            case _:
                return function(sum_of(measures[place]), column(f"t{place}"))

    own = [column(UNIT, "r"), *marks, column(CELL)] if has_cells else marks
    columns = [*marks, aliased(one_an_entry, KEPT), *_named(measures, total)]
    return select(columns, _kept(bounding, own), group_by=marks)


def _kept(bounding: Bounding, own: Sequence[Sql]) -> exp.Query:
    """The entries that are allowed a row, and what they add."""
    measures, allowed = bounding.measures, simply_allowed(bounding)
    within = select([*own, *_named(measures, _amounts(bounding, allowed))], table(ENTRIES))
    if not needs_order(bounding):
        return within
    kept = operation(exp.GT, column(ALLOWED), figure(0))
    amounts = _named(measures, _amounts(bounding, column(ALLOWED)))
    ordered = select([*own, *amounts], bounded(bounding), where=[kept])
    if not bounding.dialect.orders_few:
        return ordered
    within = joined(within, table(ABOVE), "o", on=same(UNIT, "r", "o"), how="anti")
    return exp.union(within, ordered, distinct=False, copy=False)


def _amounts(bounding: Bounding, allowed: Sql) -> Callable[[int], Sql]:
    """What an entry adds to each measure, if so many of its rows are allowed."""
    measures, limits = bounding.measures, bounding.limits
    most = least(limits.max_rows_per_group_per_unit, limits.max_rows_per_unit)
    if allowed == column(ROWS):
        return lambda place: whole_amount(place, measures)
    return lambda place: allowed_amount(place, measures, allowed, most=most)


def _named(measures: Sequence[Measure], amount: Callable[[int], Sql]) -> list[Sql]:
    return [aliased(amount(place), f"t{place}") for place in range(len(measures))]
