"""From rows to entries in SQL: steps 1 and 2 of `Statement`.

Keys and cells with public values are known by their places in a sorted list of those, which is a small table beside the
SQL: so the rows that lie in none are left out, and places are in the order of the values. Whole numbers without a gap
stand for themselves: a row is kept if its value lies between the ends.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sqlglot import exp

from sfumato.engines.sql.expressions.terms import Sql, aliased, between, column, function, operation, present, whole
from sfumato.engines.sql.hash import encoded
from sfumato.engines.sql.queries import joined, select, table
from sfumato.engines.sql.rows import ENCODING, Rows
from sfumato.engines.sql.steps import clamped_steps
from sfumato.query.model.kinds import Kind
from sfumato.query.model.schema import Key
from sfumato.query.model.statement import Bins, Statement
from sfumato.query.model.statement import Cell as Cells

CELL: Final = "x"
VALUE, PLACE = "value", "place"
"""The columns of the table of a list, beside the encodings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
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
        """It."""
        return column(self.name)

    @property
    def encoding(self) -> tuple[Sql, ...]:
        """Its value as the salted hash reads it; from the list, if it has one."""
        if self.values is not None:
            return (column(ENCODING, self.table),)
        return encoded(self.column, self.kind, nullable=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    """The rows that lie in a group and a cell.

    Attributes:
        query: They, with all of their columns, and the marks.
        rows: What they are made of.
        keys: One mark a key.
        cell: The mark of the cell, if the statement has cells.
    """

    query: exp.Select
    rows: Rows
    keys: tuple[Mark, ...]
    cell: Mark | None

    @property
    def marks(self) -> tuple[Mark, ...]:
        """All of them, the keys first."""
        return self.keys if self.cell is None else (*self.keys, self.cell)


def marked(statement: Statement, rows: Rows) -> Marked:
    """Step 1: the rows that lie in a group and a cell, with those."""
    keys = tuple(
        _mark(f"k{place}", rows.kind(key.name), key.values) for place, key in enumerate(statement.keys)
    )  # fmt: skip
    cell = None if statement.cell is None else _mark_of_cell(statement.cell, rows)
    stored = {mark: column(rows.names[key.name]) for mark, key in zip(keys, statement.keys, strict=True)}
    inner = rows.query
    if cell is not None and statement.cell is not None:
        inner = select([exp.Star(), aliased(_cell(statement.cell, rows), CELL)], rows.query)
        stored[cell] = column(CELL)
    return Marked(query=_listed(inner, rows, stored), rows=rows, keys=keys, cell=cell)


def with_lists(query: exp.Select, marks: Sequence[Mark]) -> exp.Select:
    """A query with the lists of its marks joined to it, by their places."""
    for mark in marks:
        if mark.values is not None:
            meeting = operation(exp.EQ, column(PLACE, mark.table), mark.column)
            query = joined(query, table(mark.table), mark.table, on=meeting)
    return query


def _mark(name: str, kind: Kind, values: tuple[Key, ...] | None) -> Mark:
    listed = None if values is None else tuple(sorted(values))
    span = _span(listed) if kind is Kind.INTEGER and listed else None
    return Mark(name=name, kind=kind, values=None if span else listed, span=span)


def _span(listed: tuple[Key, ...]) -> tuple[int, int] | None:
    """The ends of whole numbers without a gap."""
    numbers = [value for value in listed if isinstance(value, int)]
    return (numbers[0], numbers[-1]) if numbers == list(range(numbers[0], numbers[0] + len(listed))) else None


def _mark_of_cell(cell: Cells, rows: Rows) -> Mark:
    if isinstance(cell, Bins):
        return _mark(CELL, Kind.INTEGER, None)
    return _mark(CELL, rows.term(cell.value).kind, cell.values)


def _cell(cell: Cells, rows: Rows) -> Sql:
    """What cell a row is in, or NULL."""
    if not isinstance(cell, Bins):
        return rows.value(cell.value)
    steps = clamped_steps(rows.term(cell.steps.value), cell.steps)
    return function("whole_quotient", operation(exp.Sub, steps, whole(cell.steps.lower)), whole(cell.width))


def _listed(inner: exp.Query, rows: Rows, stored: Mapping[Mark, Sql]) -> exp.Select:
    """The rows whose marks are in their lists or spans, or where there is neither are not NULL."""
    values = {mark: value if mark.values is None else column(PLACE, mark.table) for mark, value in stored.items()}
    columns = [column(name) for name in rows.selected] + [aliased(value, mark.name) for mark, value in values.items()]
    kept = [_kept(mark, value) for mark, value in stored.items() if mark.values is None]
    query = select(columns, inner, where=kept)
    for mark, value in stored.items():
        if mark.values is not None:
            meeting = operation(exp.EQ, column(VALUE, mark.table), value)
            query = joined(query, table(mark.table), mark.table, on=meeting)
    return query


def _kept(mark: Mark, value: Sql) -> Sql:
    return present(value) if mark.span is None else between(value, *map(whole, mark.span))
