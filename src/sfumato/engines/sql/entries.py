"""From rows to entries, and what these add to measures, in SQL: steps 1, 2 and 6 of `Statement`.

Keys and cells with public values are known by their places in a sorted list of those, which is a small table beside the
SQL: so the rows that lie in none are left out, and places are in the order of the values. Whole numbers without a gap
stand for themselves: a row is kept if its value lies between the ends.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Final

from sqlglot import exp

from sfumato.engines.sql.expressions.kinds import clamped_steps, double_steps, moved_steps
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
    joined,
    operation,
    present,
    select,
    table,
    whole,
)  # fmt: skip
from sfumato.engines.sql.hashes import encoded, hashed, place_hashed
from sfumato.engines.sql.rows import ENCODING, SqlRelation
from sfumato.query.model.expressions import ColumnRef, Expression
from sfumato.query.model.kinds import Kind
from sfumato.query.model.schema import Key
from sfumato.query.model.statement import (
    Bins,
    CellCount,
    Measure,
    RowCount,
    Statement,
    StepProduct,
    StepSum,
    UnitCount,
    ValueCount,
    counts_cells,
    fits,
    fits_doubles,
)
from sfumato.query.model.statement import Cell as Cells
from sfumato.query.values.cells import MAX_INT64

CELL: Final = "x"

VALUE, PLACE = "value", "place"
"""The columns of the table of a list, beside the encodings."""

ROWS: Final = "n"
"""How many rows an entry has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupColumn:
    """One of the columns that tell the entries of a unit apart: a key, or the cell.

    Attributes:
        name: What SQL calls it.
        kind: Of its values.
        values: The public ones, sorted; SQL has their places instead. None where there is no list.
        span: The first and the last of public whole numbers that follow each other: those need no list.
    """

    name: str
    kind: Kind
    values: tuple[Key, ...] | None
    span: tuple[int, int] | None = None

    @property
    def table(self) -> str:
        """The name of the table of its list."""
        return f"list {self.name}"

    @property
    def column(self) -> Sql:
        """The column, in SQL."""
        return column(self.name)

    @property
    def encoding(self) -> tuple[Sql, ...]:
        """Its value as MD5 reads it; from the list, if it has one."""
        if self.values is not None:
            return (column(ENCODING, self.table),)
        return encoded(self.column, self.kind, nullable=False)

    @property
    def hashed(self) -> tuple[Sql, ...]:
        """What the engine's own hash reads of it: its value, or its place in the list."""
        return place_hashed(self.column) if self.values is not None else hashed(self.column, self.kind, nullable=False)

    @property
    def count(self) -> int | None:
        """How many values are public; None of those that are private."""
        if self.span is not None:
            return self.span[1] - self.span[0] + 1
        return None if self.values is None else len(self.values)

    @property
    def place(self) -> Sql:
        """Which of the public values it is, from 0 on."""
        place = cast(self.column, "BIGINT")
        return operation(exp.Sub, place, whole(self.span[0])) if self.span is not None else place


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsByGroup:
    """The rows that lie in a group and a cell.

    Attributes:
        query: They, with all columns of the relation, and those that group them.
        relation: What they are made of.
        keys: One column a key.
        cell: The column of the cell, if the statement has cells.
        counts_cells: Whether cells are counted, and not shown.
    """

    query: exp.Select
    relation: SqlRelation
    keys: tuple[GroupColumn, ...]
    cell: GroupColumn | None
    counts_cells: bool

    @property
    def group_columns(self) -> tuple[GroupColumn, ...]:
        """All of them, the keys first."""
        return self.keys if self.cell is None else (*self.keys, self.cell)

    @property
    def shown(self) -> tuple[GroupColumn, ...]:
        """Those that are shown."""
        return self.keys if self.counts_cells else self.group_columns


def grouped_rows(statement: Statement, rows: SqlRelation) -> RowsByGroup:
    """Step 1: the rows that lie in a group and a cell, with those."""
    keys, stored = [], dict[GroupColumn, Sql]()
    for place, key in enumerate(statement.keys):
        keys.append(group := _group_column(f"k{place}", rows.kind(key.name), key.values))
        stored[group] = rows.value(ColumnRef(key.name))
    inner, cell = rows.query, statement.cell
    if cell is not None:
        inner = select([exp.Star(), aliased(_cell(cell, rows), CELL)], rows.query)
        of_cell = _column_of_cell(cell, rows)
        stored[of_cell] = column(CELL)
    return RowsByGroup(
        query=_listed(inner, rows, stored), relation=rows, keys=tuple(keys), cell=None if cell is None else of_cell,
        counts_cells=counts_cells(statement.measures),
    )  # fmt: skip


def with_lists(query: exp.Select, by: Sequence[GroupColumn]) -> exp.Select:
    """A query with the lists of its columns joined to it, by their places."""
    for group in by:
        if group.values is not None:
            meeting = operation(exp.EQ, column(PLACE, group.table), group.column)
            query = joined(query, table(group.table), group.table, on=meeting)
    return query


def _group_column(name: str, kind: Kind, values: tuple[Key, ...] | None) -> GroupColumn:
    listed = None if values is None else tuple(sorted(values))
    span = _span(listed) if kind is Kind.INTEGER and listed else None
    return GroupColumn(name=name, kind=kind, values=None if span else listed, span=span)


def _span(listed: tuple[Key, ...]) -> tuple[int, int] | None:
    """The ends of whole numbers without a gap."""
    numbers = [value for value in listed if isinstance(value, int)]
    return (numbers[0], numbers[-1]) if numbers == list(range(numbers[0], numbers[0] + len(listed))) else None


def _column_of_cell(cell: Cells, rows: SqlRelation) -> GroupColumn:
    if isinstance(cell, Bins):
        return _group_column(CELL, Kind.INTEGER, None)
    return _group_column(CELL, rows.term(cell.value).kind, cell.values)


def _cell(cell: Cells, rows: SqlRelation) -> Sql:
    """What cell a row is in, or NULL."""
    if not isinstance(cell, Bins):
        return rows.value(cell.value)
    steps = clamped_steps(rows.term(cell.steps.value), cell.steps)
    return function("whole_quotient", operation(exp.Sub, steps, whole(cell.steps.lower)), whole(cell.width))


def _listed(inner: exp.Query, rows: SqlRelation, stored: Mapping[GroupColumn, Sql]) -> exp.Select:
    """The rows whose keys and cells are in their lists or spans, or where there is neither are not NULL."""
    columns, kept = list[Sql](map(column, rows.selected)), list[Sql]()
    for group, value in stored.items():
        if group.values is not None:
            columns.append(aliased(column(PLACE, group.table), group.name))
            continue
        columns.append(aliased(value, group.name))
        kept.append(present(value) if group.span is None else between(value, *map(whole, group.span)))
    query = select(columns, inner, where=kept)
    for group, value in stored.items():
        if group.values is not None:
            meeting = operation(exp.EQ, column(VALUE, group.table), value)
            query = joined(query, table(group.table), group.table, on=meeting)
    return query


def aggregates(measures: Sequence[Measure], rows: SqlRelation, *, scaled: bool = True) -> list[Sql]:
    """For the measures of a group of rows: how many there are, how many count for each, and the sums.

    Args:
        measures: All of the statement.
        rows: The relation.
        scaled: Whether sums may be scaled, for which each needs to know how many rows count for it.
    """
    counted = {measure.present for measure in measures if scaled or isinstance(measure, ValueCount)}
    found: list[Sql] = [aliased(function("COUNT", exp.Star()), ROWS)]
    doubles = [_in_doubles(measure, rows) for measure in measures]
    for place, values in enumerate(_present(measures)):
        if values in counted:
            found.append(aliased(_count(values, rows, zip(measures, doubles, strict=True)), f"v{place}"))
    for place, (measure, amount) in enumerate(zip(measures, doubles, strict=True)):
        if isinstance(measure, StepSum | StepProduct):
            found.append(aliased(_sum(measure, rows, amount), f"m{place}"))
    return found


def aggregate_names(measures: Sequence[Measure]) -> list[str]:
    """What SQL calls them."""
    sums = [f"m{place}" for place, measure in enumerate(measures) if isinstance(measure, StepSum | StepProduct)]
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
    return list(dict.fromkeys(filter(None, map(attrgetter("present"), measures))))


def _counted(measure: Measure, measures: Sequence[Measure]) -> Sql:
    """How many rows of an entry count for a measure."""
    return column(f"v{_present(measures).index(measure.present)}" if measure.present else ROWS)


def _count(values: Sequence[Expression], rows: SqlRelation, doubles: Iterable[tuple[Measure, Sql | None]]) -> Sql:
    """The rows in which no value is NULL: told from what is summed in doubles, so that it is computed once."""
    for measure, amount in doubles:
        if amount is not None and measure.present == values:
            return function("COUNT", amount)
    stored = [rows.value(value) for value in values]
    if len(stored) == 1:
        return function("COUNT", stored[0])
    return function("COUNT", case([(all_of(map(present, stored)), figure(1))]))


def _sum(measure: Measure, rows: SqlRelation, in_doubles: Sql | None) -> Sql:
    """In 128 bits; in 64 where no sum of so many rows needs more, each of which is then of 24 bits at most.

    Doubles are summed as fast as they are stored, and so are whole ones, which add up exactly while sums have 53 bits.
    """
    if in_doubles is not None:
        return cast(function("COALESCE", function("SUM", in_doubles), figure(0)), "BIGINT")
    idiom = "narrow_sum" if fits(measure) else "wide_sum"
    total = function("COALESCE", function(idiom, _amount(measure, rows)), figure(0))
    return cast(total, "BIGINT" if fits(measure) else "HUGEINT")


def _in_doubles(measure: Measure, rows: SqlRelation) -> Sql | None:
    """What a row adds as a double, if doubles hold the sums of few rows and there are no more; NULL if nothing."""
    if not isinstance(measure, StepSum) or not rows.has_few_rows or not fits_doubles(measure):
        return None
    return double_steps(rows.term(measure.steps.value), measure.steps)


def _amount(measure: Measure, rows: SqlRelation) -> Sql:
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
