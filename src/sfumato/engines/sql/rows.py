"""A relation in SQL, whose columns are called by their places: so no name of a user can collide; and its hashes.

Rows and groups above a limit are sampled by `sampling.rank_hash`: MD5 of the salt and of encoded values. The engine has
the 128 bits of an MD5 as a number whose first byte is the lowest. Its halves, with their bytes turned round, are in the
order of the hexadecimal text, and are sorted in a third of the time.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Final

from sqlglot import exp

from sfumato.engines.sql.expressions.kinds import Term
from sfumato.engines.sql.expressions.scalars import lower_expression
from sfumato.engines.sql.expressions.terms import (
    Sql,
    aliased,
    any_of,
    case,
    cast,
    column,
    double,
    figure,
    function,
    is_null,
    joined,
    operation,
    select,
    text,
    window,
)
from sfumato.query.analysis.shape import Metric, Shape
from sfumato.query.model.expressions import Expression
from sfumato.query.model.kinds import Kind

UNIT: Final = "u"
"""The column of the unit, in relations whose rows have owners."""

OWNER, NUMBER, ENCODING = "owner", "number", "encoding"
"""The columns of the table of units: the unit, its number, and how the salted hash reads it."""

_UNITS: Final = "units"
_COUNT, _HASH, _PLACE = "n", "h", "p"
_HALF: Final = 64
_MASK: Final = 2**_HALF - 1
_SWAPS: Final = ((8, 0x00FF00FF00FF00FF), (16, 0x0000FFFF0000FFFF), (32, 0x00000000FFFFFFFF))
"""How far neighboring bytes, pairs and fours are moved to change places, and which bits are the lower ones of each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlRelation:
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
        return lower_expression(expression, self.shape.columns, self.names).settled


def names_of(columns: Mapping[str, object] | Sequence[str]) -> dict[str, str]:
    """What SQL calls columns: by their places."""
    return dict(zip(columns, map("c{}".format, count()), strict=False))


def least_ranked(
    rows: SqlRelation, most: int, *, within: Sequence[Sql], salt: str, encodings: Sequence[Sequence[Sql]],
    kept: Sequence[Sql] = (),
) -> exp.Select:  # fmt: skip
    """The `most` rows of least hash of each group, for `BoundRows` and declared matches; rows of one hash are equal.

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
    size = window(function("COUNT", exp.Star()), within)
    counted = select([*own, aliased(size, _COUNT)], rows.query)
    hashed = case([(operation(exp.GT, column(_COUNT), limit), rank_text(salt, encodings))])
    ordered = rows.with_units(select([*own, aliased(hashed, _HASH)], counted))
    place = window(function("ROW_NUMBER"), within, [column(_HASH)])
    placed = select([*own, aliased(place, _PLACE)], ordered)
    return select(own, placed, where=[any_of([*kept, operation(exp.LTE, column(_PLACE), limit)])])


def rank_hash(salt: str, encodings: Sequence[Sequence[Sql]]) -> Sql:
    """The hash as the number that the engine makes of it.

    Args:
        salt: By which it differs from query to query.
        encodings: The pieces of text of each value, as `encoded` gives them.
    """
    return function("md5_number", _message(salt, encodings))


def rank_text(salt: str, encodings: Sequence[Sequence[Sql]]) -> Sql:
    """The hash as hexadecimal text, for where few rows are ranked."""
    return function("md5_text", _message(salt, encodings))


def encoded(value: Sql, kind: Kind, *, nullable: bool = True) -> tuple[Sql, ...]:
    """`sampling.encoded` in SQL: pieces of text to be `joined`, which passes over NULL."""
    shown = _shown(value, kind)
    tagged = (text("V"), function("byte_count", shown), text(":"), shown)
    if not nullable:
        return tagged
    return (case([(is_null(value), text("N"))], function("joined", *tagged)),)


def halved(hashed: exp.Query, names: Sequence[str], hashes: Sequence[str]) -> exp.Select:
    """The rows of a query with the `halves` of hashes in it, which are in the order of the text of the hash.

    Args:
        hashed: The rows.
        names: The other columns of it that are wanted.
        hashes: Its columns of the type of `rank_hash`.
    """
    kept = [column(name) for name in names]
    ranked = select([*kept, *(half for name in hashes for half in _split(name))], hashed)
    for bits, mask in _SWAPS:  # one step a query, so that no term is written twice
        swapped = [aliased(_swapped(half, bits, mask), half) for name in hashes for half in halves(name)]
        ranked = select([*kept, *swapped], ranked)
    return ranked


def halves(name: str) -> tuple[str, str]:
    """What SQL calls the two halves of a hash, the more significant one first."""
    return f"{name}0", f"{name}1"


def _split(name: str) -> tuple[Sql, Sql]:
    """The half with the first bytes, then the other; the bytes of each still in the order of the engine."""
    number, (first, second) = column(name), halves(name)
    upper = operation(exp.BitwiseRightShift, number, figure(_HALF))
    return aliased(_in_64_bits(number), first), aliased(_in_64_bits(upper), second)


def _message(salt: str, encodings: Sequence[Sequence[Sql]]) -> Sql:
    """What is hashed; neighboring constants as one, which is faster."""
    pieces: list[Sql] = [text(salt)]
    for piece in (piece for encoding in encodings for piece in encoding):
        if isinstance(piece, exp.Literal) and isinstance(pieces[-1], exp.Literal):
            pieces[-1] = text(pieces[-1].name + piece.name)
        else:
            pieces.append(piece)
    return function("joined", *pieces)


def _shown(value: Sql, kind: Kind) -> Sql:
    match kind:
        case Kind.TEXT:
            return value
        case Kind.FLOAT:
            positive_zero = operation(exp.Add, value, double(0.0))  # which turns −0.0 into 0.0
            return function("text_of_whole", function("bits_of_double", positive_zero))
        case Kind.TIMESTAMP:
            return function("time_in_full", value)
        case Kind.BOOLEAN:
            return function("text_of_boolean", value)
        case Kind.DATE:
            return function("text_of_date", value)
        case _:
            return function("text_of_whole", value)


def _in_64_bits(number: Sql) -> Sql:
    return cast(operation(exp.BitwiseAnd, number, figure(_MASK)), "UBIGINT")


def _swapped(half: str, bits: int, mask: int) -> exp.Binary:
    """The lower bits of each block where its upper ones were, and the other way round."""
    shift, low = figure(bits), figure(mask)
    lower = operation(exp.BitwiseLeftShift, operation(exp.BitwiseAnd, column(half), low), shift)
    upper = operation(exp.BitwiseAnd, operation(exp.BitwiseRightShift, column(half), shift), low)
    return operation(exp.BitwiseOr, lower, upper)
