"""SQL as DuckDB reads it."""

from collections.abc import Callable
from typing import Final

from sqlglot import exp
from sqlglot.generators.duckdb import DuckDBGenerator

from sfumato.engines.sql.dialect import Idioms, SqlDialect, writing
from sfumato.engines.sql.expressions.kinds import BELOW, BEYOND, scaled_by
from sfumato.engines.sql.expressions.terms import (
    TYPES,
    Sql,
    all_of,
    any_of,
    between,
    case,
    cast,
    column,
    figure,
    function,
    named,
    negated,
    operation,
    text,
    try_cast,
)
from sfumato.engines.sql.expressions.texts import in_re2, liked
from sfumato.query.model.functions import MAX_TEXT
from sfumato.query.model.kinds import Kind
from sfumato.query.model.texts import (
    ALPHABETS,
    OTHERWISE_LOWERED,
    OTHERWISE_RAISED,
    UPPER_LETTERS,
    Piece,
    WordPlace,
)

_MICROSECONDS: Final = 1_000_000
_SPECIAL: Final = "%_\\"  # what a pattern of the engine may read otherwise
_LOWERED: Final = ("LOWER", OTHERWISE_LOWERED)
_RAISED: Final = ("UPPER", OTHERWISE_RAISED)
_FINDERS: Final = {WordPlace.BEGINNING: "STARTS_WITH", WordPlace.END: "ENDS_WITH", WordPlace.ANYWHERE: "CONTAINS"}


def _call(name: str) -> Callable[..., Sql]:
    return lambda *arguments: function(name, *arguments)


def _of_two(operator: type[exp.Binary]) -> Callable[[Sql, Sql], Sql]:
    return lambda first, second: operation(operator, first, second)


def _cast_to(name: str) -> Callable[[Sql], Sql]:
    return lambda value: cast(value, name)


def _try_cast_to(name: str) -> Callable[[Sql], Sql]:
    return lambda value: try_cast(value, name)


def _joined_within(*texts: Sql) -> Sql:
    """A list, because that can be named; none of it is copied that cannot matter."""
    piece = exp.to_identifier("piece", quoted=True)
    length_of_each = exp.Lambda(this=function("LENGTH", column("piece")), expressions=[piece])
    count, enough, most = figure(len(texts)), figure(MAX_TEXT + 1), figure(MAX_TEXT)

    def joined(pieces: Sql) -> Sql:
        present = operation(exp.EQ, function("LIST_COUNT", pieces), count)
        length = function("LIST_SUM", function("LIST_TRANSFORM", pieces, length_of_each))
        short = operation(exp.LTE, length, most)
        return case([(all_of([present, short]), function("ARRAY_TO_STRING", pieces, text("")))])

    beginnings = [function("SUBSTRING", one, figure(1), enough) for one in texts]
    return named(exp.Array(expressions=beginnings), joined)


def _has_pieces(value: Sql, pieces: list[Piece]) -> Sql:
    """By the engine's own LIKE if the pieces are words, which it looks for one after the other and never goes back."""
    if all(character is not None and character not in _SPECIAL for piece in pieces for character in piece):
        return exp.Like(this=value, expression=text("%".join("".join(map(str, piece)) for piece in pieces)))
    return function("REGEXP_FULL_MATCH", value, text(in_re2(pieces)))


def _letters_replaced(value: Sql, letters: Sql, _others: Sql) -> Sql:
    """One letter after the other, by the engine's own function where it does the same.

    256 letters take 16 µs; TRANSLATE takes 25 for any text, as it makes a table for each. A query in which any text has
    letters beyond ASCII takes some 0.2 ms more than one without: see the sharp edges, "Time and memory".
    """
    native, otherwise = _LOWERED if letters.name == UPPER_LETTERS else _RAISED
    letter = column("letter")
    code = function("UNICODE", letter)
    has_case = any_of(between(code, figure(block.start), figure(block.stop - 1)) for block in ALPHABETS)
    is_alike = all_of([has_case, negated(function("CONTAINS", text(otherwise), letter))])
    changed = case([(is_alike, function(native, letter))], letter)
    each = exp.Lambda(this=changed, expressions=[exp.to_identifier("letter", quoted=True)])
    one_by_one = function("LIST_TRANSFORM", function("STRING_SPLIT", value, text("")), each)
    return function("ARRAY_TO_STRING", one_by_one, text(""))


def _ascii_lowered(value: Sql) -> Sql:
    """By the engine's own function, which makes letters of ASCII of no others than these two."""
    for letter in ("\u0130", "\u212a"):  # I with a dot, and the sign of Kelvin
        value = function("REPLACE", value, text(letter), text("\u0131"))
    return function("LOWER", value)


def _nearest_double(total: Sql) -> Sql:
    """The engine rounds a 128-bit integer twice, unless it fits 64 bits or goes through text."""
    return function(
        "COALESCE", cast(try_cast(total, "BIGINT"), "DOUBLE"), cast(cast(total, "VARCHAR"), "DOUBLE")
    )  # fmt: skip


def _low_bits(total: Sql, low_bits: Sql) -> Sql:
    mask = operation(exp.Sub, operation(exp.BitwiseLeftShift, cast(figure(1), "HUGEINT"), low_bits), figure(1))
    return cast(operation(exp.BitwiseAnd, cast(total, "HUGEINT"), mask), "BIGINT")


def _later_by(unit: str) -> Callable[[Sql, Sql], Sql]:
    return lambda moment, count: operation(exp.Add, moment, function(unit, count))


def _seconds_later(moment: Sql, count: Sql) -> Sql:
    microseconds = operation(exp.Mul, count, figure(_MICROSECONDS))
    return operation(exp.Add, moment, function("TO_MICROSECONDS", microseconds))


def _numbered(hashed: Sql, number: Sql, bits: Sql) -> Sql:
    """The hash without its last bits, in their place a number of so many bits: all of it fits 63 bits."""
    shortened = operation(exp.BitwiseRightShift, hashed, figure(int(bits.name) + 1))
    return cast(operation(exp.BitwiseOr, operation(exp.BitwiseLeftShift, shortened, bits), number), "BIGINT")


IDIOMS: Final[Idioms] = {
    # as the only element of a list
    "named_in": lambda value, body: function(
        "LIST_EXTRACT", function("LIST_TRANSFORM", exp.Array(expressions=[value]), body), figure(1)
    ),
    # doubles, of which those that are infinite or NaN are values
    "operand": lambda value: scaled_by(value, BEYOND),
    "factor": lambda value: scaled_by(value, BELOW),
    "double_quotient": _of_two(exp.Div),
    "truncated_double": _call("TRUNC"),
    "whole_floor": lambda value: cast(function("FLOOR", value), "BIGINT"),
    "bits_of_double": lambda value: cast(cast(value, "BIT"), "BIGINT"),
    # whole numbers, of 64 and of 128 bits
    "whole_quotient": _of_two(exp.IntDiv),
    "wide_quotient": _of_two(exp.IntDiv),
    "wide_rest": _of_two(exp.Mod),
    "narrow_sum": _call("SUM"),
    "wide_sum": _call("SUM"),
    "whole_of_wide": _try_cast_to("BIGINT"),
    "nearest_double": _nearest_double,
    "high_bits": lambda total, low_bits: cast(
        operation(exp.BitwiseRightShift, cast(total, "HUGEINT"), low_bits), "BIGINT"
    ),
    "low_bits": _low_bits,
    # casts
    "whole_of_double": _try_cast_to("BIGINT"),
    "whole_of_text": _try_cast_to("BIGINT"),
    "double_of_text": _try_cast_to("DOUBLE"),
    "time_of_text": _try_cast_to("TIMESTAMP"),
    "text_of_whole": _cast_to("VARCHAR"),
    "text_of_boolean": _cast_to("VARCHAR"),
    "text_of_double": _cast_to("VARCHAR"),
    # the engine leaves a 0 out where no other digit could stand before the point
    "text_of_decimal": lambda value: function(
        "REGEXP_REPLACE", cast(value, "VARCHAR"), text("^(-?)[.]"), text(r"\10.")
    ),
    "text_of_date": _cast_to("VARCHAR"),
    # text
    "is_match": _call("REGEXP_FULL_MATCH"),
    "is_like": lambda value, pattern: liked(value, pattern.name, finders=_FINDERS, otherwise=_has_pieces),
    "place_of": _call("STRPOS"),
    "letters_replaced": _letters_replaced,
    "ascii_lowered": _ascii_lowered,
    "lower_ascii": _call("LOWER"),
    "upper_ascii": _call("UPPER"),
    "byte_count": _call("STRLEN"),
    "joined": _call("CONCAT"),
    "joined_within": _joined_within,
    # days and times
    "days_after_date": _of_two(exp.Add),
    "days_after_time": _later_by("TO_DAYS"),
    "months_after_date": lambda day, count: cast(_later_by("TO_MONTHS")(day, count), "DATE"),
    "months_after_time": _later_by("TO_MONTHS"),
    "seconds_after_time": _seconds_later,
    "days_between": lambda first, second: function("DATE_DIFF", text("day"), first, second),
    "start_of": _call("DATE_TRUNC"),
    "year_of": _call("YEAR"),
    "quarter_of": _call("QUARTER"),
    "month_of": _call("MONTH"),
    "week_of": _call("WEEKOFYEAR"),
    "day_of": _call("DAY"),
    "day_of_week_of": _call("DAYOFWEEK"),
    "iso_day_of_week_of": _call("ISODOW"),
    "day_of_year_of": _call("DAYOFYEAR"),
    "hour_of": _call("HOUR"),
    "minute_of": _call("MINUTE"),
    "second_of": _call("SECOND"),
    "time_in_full": lambda moment: function("STRFTIME", moment, text("%Y-%m-%d %H:%M:%S.%f")),
    # hashes
    "md5_number": _call("MD5_NUMBER"),
    "md5_text": _call("MD5"),
    "sha256_text": _call("SHA256"),
    # equal numbers of two types have two hashes
    **{f"hashed_{kind}": _cast_to(TYPES[kind]) for kind in Kind},
    "hashed_place": _cast_to("BIGINT"),
    # that of several values is XORed together of theirs, which once more hashed is in no order of theirs
    "native_hash": lambda salt, *values: function("HASH", function("HASH", salt, *values)),
    "numbered_hash": _numbered,
    "nth_least": lambda value, place: function("LIST_LAST", function("MIN", value, place)),
}


class _Writer(DuckDBGenerator):
    TRANSFORMS = {**DuckDBGenerator.TRANSFORMS, **writing(IDIOMS)}  # noqa: RUF012 # as the library declares it


DUCKDB: Final = SqlDialect(writer=_Writer, base="duckdb", halves_hashes=True, orders_few=True, finds_ranks=True)
sql: Final = DUCKDB.sql
