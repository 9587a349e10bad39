"""The salted hashes by which rows and groups above a limit are sampled, in SQL: the engine's own, and MD5.

The engine's own reads values as they are. It is the default: privacy asks of a hash only that it is a function of the
salt and of the unit's own rows. MD5 is `sampling.rank_hash`, of encoded values, and is the same on every engine. DuckDB
has its 128 bits as a number whose first byte is the lowest. Its halves, with their bytes turned round, are in the order
of the hexadecimal text, and are sorted in a third of the time.
"""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Final

from sqlglot import exp

from sfumato.engines.sql.expressions.terms import (
    Sql,
    aliased,
    case,
    cast,
    column,
    constant,
    double,
    figure,
    function,
    is_null,
    operation,
    select,
    text,
)
from sfumato.query.model.kinds import Kind

_HALF: Final = 64
_MASK: Final = 2**_HALF - 1
_SWAPS: Final = ((8, 0x00FF00FF00FF00FF), (16, 0x0000FFFF0000FFFF), (32, 0x00000000FFFFFFFF))
"""How far neighboring bytes, pairs and fours are moved to change places, and which bits are the lower ones of each."""

_FOR_NULL: Final[Mapping[Kind, float | str | date]] = {
    Kind.INTEGER: 0, Kind.FLOAT: 0.0, Kind.TEXT: "", Kind.BOOLEAN: False, Kind.DATE: date(1970, 1, 1),
    Kind.TIMESTAMP: datetime(1970, 1, 1),  # noqa: DTZ001 # as those of a column, which have no zone
}  # fmt: skip
"""What is hashed in the place of NULL, behind a truth that says so."""


def native_hash(salt: str, values: Sequence[Sequence[Sql]]) -> Sql:
    """The engine's own hash of a salt and some values, which orders them as the engine orders it.

    Args:
        salt: By which it differs from query to query.
        values: The pieces of each value, as `hashed` gives them.
    """
    return function("native_hash", text(salt), *(piece for pieces in values for piece in pieces))


def hashed(value: Sql, kind: Kind, *, nullable: bool = True) -> tuple[Sql, ...]:
    """What `native_hash` reads of a value.

    Engines pass over NULL, or make NULL of all that is hashed with it: so whether a value is NULL is a piece of its
    own.
    """
    if not nullable:
        return (function(f"hashed_{kind}", value),)
    known = function("COALESCE", value, constant(_FOR_NULL[kind]))
    return (function("hashed_boolean", is_null(value)), function(f"hashed_{kind}", known))


def place_hashed(place: Sql) -> tuple[Sql, ...]:
    """What `native_hash` reads of a place in a list."""
    return (function("hashed_place", place),)


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
