"""A relation in SQL, whose columns are called by their places, so that no name of a user can collide; and its order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Final

from sqlglot import exp

from sfumato.engines.sampling import Sampling
from sfumato.engines.sql.expressions.kinds import Term
from sfumato.engines.sql.expressions.scalars import lower_expression
from sfumato.engines.sql.expressions.terms import (
    Sql,
    aliased,
    any_of,
    case,
    column,
    figure,
    function,
    joined,
    operation,
    select,
    window,
)
from sfumato.engines.sql.hashes import encoded, hashed, native_hash, rank_text
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
class SqlRelation:
    """A query with the columns `c0`, `c1`, … in the order of a shape; before them the unit, where rows have owners.

    Attributes:
        query: The query.
        shape: What is known of it.
        units: The table of units, if the column of the unit has their numbers in it.
        pending: What SQL calls columns of doubles as they are stored: beyond the range, infinite or NaN they stand for
            NULL, which whoever reads them has to say.
        has_few_rows: Whether there are at most `FEW_ROWS` rows.
        is_reread: Whether a query may read them several times, at little cost and the same ones each time.
    """

    query: exp.Query
    shape: Shape
    units: exp.Table | None = None
    pending: frozenset[str] = frozenset()
    has_few_rows: bool = False
    is_reread: bool = False

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
        """The columns as MD5 reads them."""
        return [encoded(value, kind) for value, kind in self._columns]

    @property
    def unit_encoding(self) -> list[tuple[Sql, ...]]:
        """The unit as MD5 reads it, or nothing."""
        kind = self.shape.unit_kind
        if kind is None:
            return []
        return [(column(ENCODING, _UNITS),) if self.units else encoded(column(UNIT), kind, nullable=False)]

    @property
    def unit_hashed(self) -> list[tuple[Sql, ...]]:
        """The unit itself, not its number, as the engine's own hash reads it, or nothing; in a query `with_units`."""
        kind = self.shape.unit_kind
        owner = column(OWNER, _UNITS) if self.units else column(UNIT)
        return [] if kind is None else [hashed(owner, kind, nullable=False)]

    def order(self, salt: str, sampling: Sampling) -> list[Sql]:
        """The order in which rows above a limit are kept: by a hash of all they have; rows in one place are equal."""
        match sampling:
            case Sampling.MD5:
                return [rank_text(salt, [*self.unit_encoding, *self.encodings])]
            case Sampling.NATIVE:
                values = [hashed(value, kind) for value, kind in self._columns]
                rank = native_hash(salt, [*self.unit_hashed, *values])
                return [rank, *(value for value, _ in self._columns)]

    @property
    def _columns(self) -> list[tuple[Sql, Kind]]:
        pairs = zip(self.names.values(), self.shape.columns.values(), strict=True)
        return [(column(name), facts.kind) for name, facts in pairs]

    def with_units(self, query: exp.Select, *, source: str = "r") -> exp.Select:
        """A query with what `unit_hashed` and `unit_encoding` read joined to it.

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
        columns = {
            name: Term(sql=column(self.names[name]), kind=facts.kind, pending=self.names[name] in self.pending)
            for name, facts in self.shape.columns.items()
        }
        return lower_expression(expression, columns)

    def value(self, expression: Expression) -> Sql:
        """An expression over the columns, NULL where it has no value."""
        return self.term(expression).settled


def names_of(columns: Mapping[str, object] | Sequence[str]) -> dict[str, str]:
    """What SQL calls columns: by their places."""
    return dict(zip(columns, map("c{}".format, count()), strict=False))


def least_ranked(
    rows: SqlRelation, most: int, *, within: Sequence[Sql], order: Sequence[Sql], kept: Sequence[Sql] = ()
) -> exp.Select:
    """The `most` first rows of each group, for `BoundRows` and declared matches; rows in one place are equal.

    No hash is made of the rows of a group that has no more than that.

    Args:
        rows: All rows.
        most: How many of each group are kept.
        within: What groups are told apart by.
        order: What they are ordered by: a hash, which may read what `with_units` joins, then columns.
        kept: What rows are kept in any case.
    """
    own, limit = [column(name) for name in rows.selected], figure(most)
    rank, *ties = order
    size = window(function("COUNT", exp.Star()), within)
    counted = select([*own, aliased(size, _COUNT)], rows.query)
    ranked = case([(operation(exp.GT, column(_COUNT), limit), rank)])
    ordered = rows.with_units(select([*own, aliased(ranked, _HASH)], counted))
    place = window(function("ROW_NUMBER"), within, [column(_HASH), *ties])
    placed = select([*own, aliased(place, _PLACE)], ordered)
    return select(own, placed, where=[any_of([*kept, operation(exp.LTE, column(_PLACE), limit)])])
