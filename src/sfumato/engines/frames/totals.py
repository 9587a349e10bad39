"""From entries, or rows that are units each, to the totals of groups in Polars: steps 2, 6 and 7 of `Statement`."""

from collections.abc import Callable, Sequence
from typing import Final

import polars as pl

from sfumato.engines.frames.amounts import (
    ROWS,
    aggregates,
    allowed_amount,
    inputs,
    whole_amount,
)
from sfumato.engines.frames.bounding import (
    ALLOWED,
    Bounding,
    above,
    bounded,
    needs_order,
    simply_allowed,
)
from sfumato.engines.frames.entries import CELL, Mark, Marked
from sfumato.engines.frames.rows import UNIT, grouped
from sfumato.query.bounding import least
from sfumato.query.measures import CellCount, Measure, UnitCount

KEPT: Final = "kept"
"""How many entries of a group are allowed a row."""


def totals_of_rows(found: Marked, measures: Sequence[Measure], shown: Sequence[Mark]) -> pl.LazyFrame:
    """The totals where each row is a unit, or nobody's: no row is left out, and units are rows."""
    marks = [mark.name for mark in shown]
    cells = [_different(CELL).alias(CELL)] if counts_cells(measures) else []
    groups = grouped(_read(found, measures), marks, [*aggregates(measures), *cells])

    def total(place: int) -> pl.Expr:
        match measures[place]:
            case UnitCount():
                return pl.col(ROWS)
            case CellCount():
                return pl.col(CELL)
            case _:
                return whole_amount(place, measures)

    return groups.select(*marks, pl.col(ROWS).alias(KEPT), *_named(measures, total))


def totals_of_units(bounding: Bounding, shown: Sequence[Mark]) -> pl.LazyFrame:
    """The totals where rows have owners."""
    measures, marks = bounding.measures, [mark.name for mark in shown]
    has_cells = counts_cells(measures)
    one_an_entry = pl.len().cast(pl.Int64)

    def total(place: int) -> pl.Expr:
        match measures[place]:
            case UnitCount():  # of a group and cell a unit has one entry
                return _different(UNIT) if has_cells else one_an_entry
            case CellCount():
                return _different(CELL)
            case _:
                return pl.col(f"t{place}").sum()

    own = [UNIT, *marks, CELL] if has_cells else marks
    return grouped(_kept(bounding, own), marks, [one_an_entry.alias(KEPT), *_named(measures, total)])


def counts_cells(measures: Sequence[Measure]) -> bool:
    """Whether cells are counted and not shown."""
    return any(isinstance(measure, CellCount) for measure in measures)


def _read(found: Marked, measures: Sequence[Measure]) -> pl.LazyFrame:
    """The rows with what is added up of them."""
    unit = [UNIT] if found.rows.has_owners else []
    names = [*unit, *(mark.name for mark in found.marks)]
    read = inputs(measures, found.rows)
    added = [value.meta.output_name() for value in read]
    return found.rows.frame.with_columns(read).select(*names, *added) if names or added else found.rows.frame


def _kept(bounding: Bounding, own: Sequence[str]) -> pl.LazyFrame:
    """The entries that are allowed a row, and what they add."""
    measures = bounding.measures
    read = _read(bounding.marked, measures)
    entries = read.group_by(UNIT, *bounding.marks).agg(aggregates(measures))
    amounts = _named(measures, _amounts(bounding, simply_allowed(bounding)))
    own = [*own, ROWS]  # of entries without any other column the number would be lost
    if not needs_order(bounding):
        return entries.with_columns(amounts).select(*own, *_names(amounts))
    entries = entries.collect(engine="streaming").lazy()  # they are read three times
    units = above(bounding, entries)
    within = entries.join(units, on=UNIT, how="anti").with_columns(amounts).select(*own, *_names(amounts))
    amounts = _named(measures, _amounts(bounding, pl.col(ALLOWED)))
    others = bounded(bounding, entries, units).with_columns(amounts).select(*own, *_names(amounts))
    return pl.concat([within, others])


def _amounts(bounding: Bounding, allowed: pl.Expr) -> Callable[[int], pl.Expr]:
    """What an entry adds to each measure, if so many of its rows are allowed."""
    measures, limits = bounding.measures, bounding.limits
    most = least(limits.max_rows_per_group_per_unit, limits.max_rows_per_unit)
    if allowed.meta.eq(pl.col(ROWS)):
        return lambda place: whole_amount(place, measures)
    return lambda place: allowed_amount(place, measures, allowed, most=most)


def _named(measures: Sequence[Measure], amount: Callable[[int], pl.Expr]) -> list[pl.Expr]:
    return [amount(place).alias(f"t{place}") for place in range(len(measures))]


def _names(values: Sequence[pl.Expr]) -> list[str]:
    return [value.meta.output_name() for value in values]


def _different(name: str) -> pl.Expr:
    return pl.col(name).n_unique().cast(pl.Int64)
