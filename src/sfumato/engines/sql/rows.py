"""A relation in SQL: a query whose columns are called by their places, so that no name of a user can collide."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sqlglot import exp

from sfumato.engines.sql.expressions.kinds import Term
from sfumato.engines.sql.expressions.scalars import lower_expression
from sfumato.engines.sql.expressions.terms import Sql, aliased, any_of, case, column, figure, function, operation
from sfumato.engines.sql.hash import encoded, rank_text
from sfumato.engines.sql.queries import joined, select, window
from sfumato.query.analysis.shape import Metric, Shape
from sfumato.query.model.expressions import Expression
from sfumato.query.model.kinds import Kind

UNIT: Final = "u"
"""The column of the unit, in relations whose rows have owners."""

OWNER, NUMBER, ENCODING = "owner", "number", "encoding"
"""The columns of the table of units: the unit, its number, and how the salted hash reads it."""

_UNITS: Final = "units"

_COUNT, _HASH, _PLACE = "n", "h", "p"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """A query with the columns `c0`, `c1`, … in the order of a shape; before them the unit, where rows have owners.

    Attributes:
        query: The query.
        shape: What is known of it.
        units: The table of units, if the column of the unit has their numbers in it.
    """

    query: exp.Query
    shape: Shape
    units: exp.Table | None = None

    @property
    def has_owners(self) -> bool:
        """Whether there is a column of units."""
        return self.shape.metric is Metric.UNITS

    @property
    def names(self) -> Mapping[str, str]:
        """What SQL calls the columns."""
        return names_of(self.shape.columns)

    @property
    def selected(self) -> list[str]:
        """What SQL calls all columns, the unit first."""
        return [*([UNIT] if self.has_owners else []), *self.names.values()]

    @property
    def unit(self) -> list[Sql]:
        """The unit, or nothing."""
        return [column(UNIT)] if self.has_owners else []

    @property
    def encodings(self) -> list[tuple[Sql, ...]]:
        """The columns as the salted hash reads them."""
        pairs = zip(self.names.values(), self.shape.columns.values(), strict=True)
        return [encoded(column(name), facts.kind) for name, facts in pairs]

    @property
    def owner(self) -> Sql:
        """The unit itself, not its number, in a query `with_units`."""
        return column(OWNER, _UNITS) if self.units else column(UNIT)

    @property
    def unit_encoding(self) -> list[tuple[Sql, ...]]:
        """The unit as the salted hash reads it, or nothing."""
        kind = self.shape.unit_kind
        if kind is None:
            return []
        return [(column(ENCODING, _UNITS),) if self.units else encoded(column(UNIT), kind, nullable=False)]

    def with_units(self, query: exp.Select, *, source: str = "r") -> exp.Select:
        """A query with what `owner` and `unit_encoding` read joined to it.

        Args:
            query: The query.
            source: The name of what it selects units from.
        """
        if self.units is None:
            return query
        meeting = operation(exp.EQ, column(NUMBER, _UNITS), column(UNIT, source))
        return joined(query, self.units, _UNITS, on=meeting)

    def kind(self, name: str) -> Kind:
        """The kind of a column."""
        return self.shape.columns[name].kind

    def term(self, expression: Expression) -> Term:
        """An expression over the columns."""
        return lower_expression(expression, self.shape.columns, self.names)

    def value(self, expression: Expression) -> Sql:
        """An expression over the columns, NULL where it has no value."""
        return self.term(expression).settled


def names_of(columns: Mapping[str, object] | Sequence[str]) -> dict[str, str]:
    """What SQL calls columns: by their places."""
    return {name: f"c{place}" for place, name in enumerate(columns)}


def least_ranked(
    rows: Rows, most: int, *, within: Sequence[Sql], salt: str, encodings: Sequence[Sequence[Sql]],
    kept: Sequence[Sql] = (),
) -> exp.Select:  # fmt: skip
    """The `most` rows of least hash of each group, for `Bound` and declared matches; rows of one hash are equal.

    No hash is made of the rows of a group that has no more than that.

    Args:
        rows: All rows.
        most: How many of each group are kept.
        within: What groups are told apart by.
        salt: The salt of the hash.
        encodings: What is hashed, as `encoded` gives it.
        kept: What rows are kept in any case.
    """
    own, limit = [column(name) for name in rows.selected], figure(most)
    count = window(function("COUNT", exp.Star()), within)
    counted = select([*own, aliased(count, _COUNT)], rows.query)
    hashed = case([(operation(exp.GT, column(_COUNT), limit), rank_text(salt, encodings))])
    ordered = rows.with_units(select([*own, aliased(hashed, _HASH)], counted))
    place = window(function("ROW_NUMBER"), within, [column(_HASH)])
    placed = select([*own, aliased(place, _PLACE)], ordered)
    return select(own, placed, where=[any_of([*kept, operation(exp.LTE, column(_PLACE), limit)])])
