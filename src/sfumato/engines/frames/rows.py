"""A relation in Polars: a lazy frame whose columns are called by their places, so that no name can collide."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

from sfumato.engines.frames.hash import encoded
from sfumato.engines.frames.scalars import lower_expression
from sfumato.engines.frames.terms import Term
from sfumato.query.expressions import Expression
from sfumato.query.kinds import Kind
from sfumato.query.shape import Metric, Shape

UNIT: Final = "u"
"""The column of the unit, in relations whose rows have owners."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """A frame with the columns `c0`, `c1`, … in the order of a shape; before them the unit, where rows have owners.

    Attributes:
        frame: The frame.
        shape: What is known of it.
    """

    frame: pl.LazyFrame
    shape: Shape

    @property
    def has_owners(self) -> bool:
        """Whether there is a column of units."""
        return self.shape.metric is Metric.UNITS

    @property
    def names(self) -> Mapping[str, str]:
        """What the frame calls the columns."""
        return names_of(self.shape.columns)

    @property
    def unit(self) -> list[str]:
        """The column of the unit, or nothing."""
        return [UNIT] if self.has_owners else []

    @property
    def selected(self) -> list[str]:
        """What the frame calls all columns, the unit first."""
        return [*self.unit, *self.names.values()]

    @property
    def encodings(self) -> list[pl.Expr]:
        """The columns as the salted hash reads them."""
        pairs = zip(self.names.values(), self.shape.columns.values(), strict=True)
        return [encoded(pl.col(name), facts.kind) for name, facts in pairs]

    @property
    def unit_encoding(self) -> list[pl.Expr]:
        """The unit as the salted hash reads it, or nothing."""
        kind = self.shape.unit_kind
        return [] if kind is None else [encoded(pl.col(UNIT), kind, nullable=False)]

    def kind(self, name: str) -> Kind:
        """The kind of a column."""
        return self.shape.columns[name].kind

    def term(self, expression: Expression) -> Term:
        """An expression over the columns."""
        return lower_expression(expression, self.shape.columns, self.names)

    def value(self, expression: Expression) -> pl.Expr:
        """An expression over the columns, NULL where it has no value."""
        return self.term(expression).settled


def names_of(columns: Mapping[str, object] | Sequence[str]) -> dict[str, str]:
    """What frames call columns: by their places."""
    return {name: f"c{place}" for place, name in enumerate(columns)}


def grouped(frame: pl.LazyFrame, by: Sequence[str], aggregates: Sequence[pl.Expr]) -> pl.LazyFrame:
    """One row for each combination of some columns that occurs; of no columns one row, also of nothing."""
    return frame.group_by(by).agg(aggregates) if by else frame.select(aggregates)
