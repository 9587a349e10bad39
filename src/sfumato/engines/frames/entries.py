"""From rows to entries in Polars: step 1 of `Statement`.

Keys and cells with public values of text are held as an enumeration of those, sorted: so the rows that lie in none are
left out, and places are in the order of the values.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import polars as pl

from sfumato.engines.frames.hash import encoded
from sfumato.engines.frames.rows import Rows
from sfumato.engines.frames.scalars import all_of
from sfumato.engines.frames.steps import clamped_steps
from sfumato.engines.frames.terms import TYPES
from sfumato.engines.sampling import encoded as encoded_cell
from sfumato.query.kinds import Kind
from sfumato.query.schema import Key
from sfumato.query.statement import Bins, Statement
from sfumato.query.statement import Cell as Cells

CELL: Final = "x"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """One of the columns that tell the entries of a unit apart: a key, or the cell.

    Attributes:
        name: What frames call it.
        kind: Of its values.
        values: The public ones, sorted; None where there is no list.
    """

    name: str
    kind: Kind
    values: tuple[Key, ...] | None

    @property
    def is_enumerated(self) -> bool:
        """Whether it is held as an enumeration."""
        return self.values is not None and self.kind is Kind.TEXT

    @property
    def encoding(self) -> pl.Expr:
        """Its value as the salted hash reads it; of an enumeration each is encoded once."""
        if not self.is_enumerated:
            return encoded(pl.col(self.name), self.kind, nullable=False)
        encodings = _enumeration(map(encoded_cell, self.values or ()))
        return pl.col(self.name).to_physical().cat.to(encodings).cast(pl.String)

    def of(self, value: pl.Expr) -> pl.Expr:
        """A value as the mark has it; NULL if it is not listed."""
        if self.values is None:
            return value
        if self.is_enumerated:
            return value.cast(_enumeration(self.values), strict=False)
        first, last = self.values[0], self.values[-1]
        if isinstance(first, int) and isinstance(last, int) and last - first + 1 == len(self.values):
            return pl.when(value.is_between(first, last)).then(value)
        listed = pl.lit(pl.Series(self.values, dtype=TYPES[self.kind])).implode()
        return pl.when(value.is_in(listed)).then(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    """The rows that lie in a group and a cell.

    Attributes:
        rows: They, with the marks beside their own columns.
        keys: One mark a key.
        cell: The mark of the cell, if the statement has cells.
    """

    rows: Rows
    keys: tuple[Mark, ...]
    cell: Mark | None

    @property
    def marks(self) -> tuple[Mark, ...]:
        """All of them, the keys first."""
        return self.keys if self.cell is None else (*self.keys, self.cell)


def marked(statement: Statement, rows: Rows) -> Marked:
    """Step 1: the rows that lie in a group and a cell, with those."""
    keys = tuple(_mark(f"k{place}", rows.kind(key.name), key.values) for place, key in enumerate(statement.keys))
    values = [mark.of(pl.col(rows.names[key.name])) for mark, key in zip(keys, statement.keys, strict=True)]
    cell = None if statement.cell is None else _mark_of_cell(statement.cell, rows)
    if statement.cell is not None and cell is not None:
        values.append(cell.of(_cell(statement.cell, rows)))
    found = Marked(rows=rows, keys=keys, cell=cell)
    names = [mark.name for mark in found.marks]
    frame = rows.frame.with_columns(value.alias(name) for value, name in zip(values, names, strict=True))
    kept = Rows(frame=frame.filter(all_of(pl.col(name).is_not_null() for name in names)), shape=rows.shape)
    return Marked(rows=kept, keys=keys, cell=cell)


def _enumeration(values: Iterable[Key]) -> pl.Enum:
    return pl.Enum(pl.Series(list(values), dtype=pl.String))


def _mark(name: str, kind: Kind, values: tuple[Key, ...] | None) -> Mark:
    return Mark(name=name, kind=kind, values=None if values is None else tuple(sorted(values)))


def _mark_of_cell(cell: Cells, rows: Rows) -> Mark:
    if isinstance(cell, Bins):
        return _mark(CELL, Kind.INTEGER, None)
    return _mark(CELL, rows.term(cell.value).kind, cell.values)


def _cell(cell: Cells, rows: Rows) -> pl.Expr:
    """What cell a row is in, or NULL."""
    if not isinstance(cell, Bins):
        return rows.value(cell.value)
    return (clamped_steps(rows.term(cell.steps.value), cell.steps) - cell.steps.lower) // cell.width
