"""SQL as Spark reads it, with ANSI on: what it could raise for a value is written so that it cannot.

Whole numbers of 128 bits are decimals of 38 digits: nothing here is beyond 2^126, see proofs/engines/spark/engine.md.
Where Spark would compute a double in something narrower, or raise, it is written in other words.
"""

import re
from collections.abc import Callable
from string import ascii_lowercase, ascii_uppercase
from typing import Final

from sqlglot import exp
from sqlglot.generators.spark import SparkGenerator

from sfumato.engines.sql.dialect import Idioms, SqlDialect, native, writing
from sfumato.engines.sql.expressions.kinds import BELOW, BEYOND, scaled_by
from sfumato.engines.sql.expressions.terms import (
    TYPES,
    Sql,
    all_of,
    case,
    cast,
    double,
    figure,
    function,
    guarded,
    named,
    operation,
    text,
    try_cast,
    whole,
)
from sfumato.engines.sql.expressions.texts import in_java, liked
from sfumato.query.model.functions import MAX_TEXT
from sfumato.query.model.kinds import Kind
from sfumato.query.model.texts import WordPlace
from sfumato.query.values.cells import MAX_INT64

_UNSAFE: Final = re.compile(r"[^ !#%&()*+,./0-9:;<=>?@A-Z\[\]^_a-z{|}~\ud800-\udfff-]")
"""What the engine might read as anything but itself between quotes: quotes, backslashes, dollars, all but ASCII.

Half a surrogate pair is left, which cannot be sent: escaped, it would become a question mark.
"""

_FINDERS: Final = {WordPlace.BEGINNING: "STARTSWITH", WordPlace.END: "ENDSWITH", WordPlace.ANYWHERE: "CONTAINS"}
_EXPONENT_BIAS, _MANTISSA_BITS, _MANTISSA_DIGITS = 1023, 52, 13
_PLAIN_DIGITS: Final = (1e-4, 1e16)
"""Between these Python writes a double without an exponent."""

_DIGITS: Final = exp.DataType.build("DECIMAL(38, 21)")
"""What holds every digit of those."""


def _call(name: str) -> Callable[..., Sql]:
    return lambda *arguments: function(name, *arguments)


def _whole(name: str) -> Callable[..., Sql]:
    """A function of 32 bits, in 64."""
    return lambda *arguments: cast(function(name, *arguments), "BIGINT")


def _cast_to(name: str) -> Callable[[Sql], Sql]:
    return lambda value: cast(value, name)


def _try_cast_to(name: str) -> Callable[[Sql], Sql]:
    return lambda value: try_cast(value, name)


def _of_several(name: str) -> Callable[..., Sql]:
    """A function that the engine refuses to call on one value."""
    return lambda *values: values[0] if len(values) == 1 else native(name, *values)


def _joined_within(*texts: Sql) -> Sql:
    """Of each no more is copied than can matter; NULL if one is."""
    beginnings = (function("SUBSTRING", one, figure(1), figure(MAX_TEXT + 1)) for one in texts)
    return guarded(
        function("CONCAT", *beginnings), lambda x: operation(exp.LTE, function("LENGTH", x), figure(MAX_TEXT))
    )


def _wide_quotient(first: Sql, second: Sql) -> Sql:
    """Cut off toward zero: what is divided leaves no rest, because the engine would round it half up."""

    def divided(x: Sql, y: Sql) -> Sql:
        multiple = operation(exp.Sub, x, operation(exp.Mod, x, y))
        return cast(operation(exp.Div, multiple, y), "HUGEINT")

    return named(first, lambda x: named(second, lambda y: divided(x, y)))


def _rest(total: Sql, low_bits: Sql) -> tuple[Sql, Sql, Sql]:
    """A total, a power of two, and what the total is above a multiple of it."""
    wide, power = cast(total, "HUGEINT"), cast(figure(2 ** int(low_bits.name)), "HUGEINT")
    return wide, power, function("PMOD", wide, power)


def _high_bits(total: Sql, low_bits: Sql) -> Sql:
    wide, power, rest = _rest(total, low_bits)
    return operation(exp.IntDiv, operation(exp.Sub, wide, rest), power)


def _is_like(value: Sql, pattern: Sql) -> Sql:
    return liked(
        value, pattern.name, finders=_FINDERS,
        otherwise=lambda x, pieces: exp.RegexpLike(this=x, expression=text(in_java(pieces))),
    )  # fmt: skip


def _later_by(unit: str) -> Callable[[Sql, Sql], Sql]:
    return lambda moment, count: function("TIMESTAMPADD", exp.Var(this=unit), count, moment)


def with_zone(moment: Sql) -> Sql:
    """As the engine's functions of times want it; the zone of its session is UTC."""
    return exp.Cast(this=moment, to=exp.DataType.build("TIMESTAMPTZ"))


def _below(x: Sql) -> Sql:
    """The floor, by RINT: the engine's FLOOR is a whole number of 64 bits."""
    near = function("RINT", x)
    return case([(operation(exp.GT, near, x), operation(exp.Sub, near, double(1.0)))], near)


def _above(x: Sql) -> Sql:
    near = function("RINT", x)
    return case([(operation(exp.LT, near, x), operation(exp.Add, near, double(1.0)))], near)


def _bits_of(x: Sql, hexadecimal: Sql) -> Sql:
    """Sign, exponent and mantissa."""
    digits = function("RPAD", _found(hexadecimal, "[.]([0-9a-f]+)"), figure(_MANTISSA_DIGITS), text("0"))
    mantissa = try_cast(function("CONV", digits, figure(16), figure(10)), "BIGINT")
    exponent = try_cast(_found(hexadecimal, "p(-?[0-9]+)"), "BIGINT")
    biased = operation(exp.Add, exponent, figure(_EXPONENT_BIAS))
    is_normal = operation(exp.EQ, _found(hexadecimal, "0x(1)"), text("1"))
    upper = operation(exp.Mul, case([(is_normal, biased)], whole(0)), figure(2**_MANTISSA_BITS))
    magnitude = operation(exp.Add, upper, mantissa)
    sign = case([(operation(exp.LT, x, double(0.0)), whole(-MAX_INT64 - 1))], whole(0))
    return operation(exp.Add, magnitude, sign)


def _found(value: Sql, pattern: str) -> Sql:
    return function("REGEXP_EXTRACT", value, text(pattern), figure(1))


def _always_named(value: Sql, body: Callable[[Sql], Sql]) -> Sql:
    """`named`, also of a small value that takes long to compute."""
    name = exp.to_identifier("shown", quoted=True)
    return function("named_in", value, exp.Lambda(this=body(exp.Column(this=name)), expressions=[name]))


def _written(x: Sql, digits: Sql) -> Sql:
    """As Python writes it: without an exponent in the middle, with one of two digits or three elsewhere."""
    size = function("ABS", x)
    first, last = map(double, _PLAIN_DIGITS)
    in_the_middle = all_of([operation(exp.GTE, size, first), operation(exp.LT, size, last)])
    plain = function("REGEXP_REPLACE", exp.TryCast(this=x, to=_DIGITS), text("0+$"), text(""))
    point = function("REGEXP_REPLACE", plain, text("[.]$"), text(".0"))
    mantissa = function("REGEXP_REPLACE", _found(digits, "^([^E]*)E"), text("[.]0$"), text(""))
    exponent = _found(digits, "E(.*)$")
    sign = case([(operation(exp.LT, size, double(1.0)), text("e-"))], text("e+"))
    two = function(
        "REGEXP_REPLACE", function("REGEXP_REPLACE", exponent, text("-"), text("")), text("^(.)$"), text("0$1")
    )
    return case([(in_the_middle, point)], function("CONCAT", mantissa, sign, two))


DOUBLES: Final[Idioms] = {
    "operand": lambda value: scaled_by(value, BEYOND),
    "factor": lambda value: scaled_by(value, BELOW),
    "double_quotient": lambda first, second: function("TRY_DIVIDE", first, second),
    "FLOOR": lambda value: named(value, _below),
    "CEIL": lambda value: named(value, _above),
    "truncated_double": lambda value: named(
        value, lambda x: case([(operation(exp.LT, x, double(0.0)), _above(x))], _below(x))
    ),
    "whole_floor": lambda value: native("FLOOR", value),
    # of a finite double, from its hexadecimal text, which is exact
    "bits_of_double": lambda value: named(
        value, lambda x: _always_named(function("FORMAT_STRING", text("%a"), x), lambda digits: _bits_of(x, digits))
    ),
    # the engine makes 2^63 − 1 of 2^63, and of no other double
    "whole_of_double": lambda value: function("NULLIF", try_cast(value, "BIGINT"), whole(MAX_INT64)),
    "text_of_double": lambda value: named(
        value, lambda x: _always_named(cast(x, "VARCHAR"), lambda digits: _written(x, digits))
    ),
}
"""Idioms of doubles, of which those that are infinite or NaN are values; a quotient by 0 is NULL, as what is NaN is."""

IDIOMS: Final[Idioms] = {
    **DOUBLES,
    # as the only element of an array
    "named_in": lambda value, body: function("GET", function("TRANSFORM", function("ARRAY", value), body), figure(0)),
    "LEAST": _of_several("LEAST"),
    "GREATEST": _of_several("GREATEST"),
    # whole numbers, of 64 and of 128 bits
    "whole_quotient": lambda first, second: operation(exp.IntDiv, first, second),
    "wide_quotient": _wide_quotient,
    "wide_rest": lambda first, second: operation(exp.Mod, first, second),
    "narrow_sum": lambda value: function("SUM", value),
    "wide_sum": lambda value: function("SUM", cast(value, "HUGEINT")),
    "whole_of_wide": _try_cast_to("BIGINT"),
    "nearest_double": _cast_to("DOUBLE"),
    "high_bits": _high_bits,
    "low_bits": lambda total, low_bits: cast(_rest(total, low_bits)[2], "BIGINT"),
    # casts
    "whole_of_text": _try_cast_to("BIGINT"),
    "double_of_text": _try_cast_to("DOUBLE"),
    "time_of_text": _try_cast_to("TIMESTAMP"),
    "text_of_whole": _cast_to("VARCHAR"),
    "text_of_boolean": _cast_to("VARCHAR"),
    "text_of_decimal": _cast_to("VARCHAR"),
    "text_of_date": _cast_to("VARCHAR"),
    # text
    # the whole text: a $ would also stand before a line break at the end
    "is_match": lambda value, pattern: exp.RegexpLike(this=value, expression=text(rf"^(?:{pattern.name})\z")),
    "is_like": _is_like,
    "place_of": _whole("INSTR"),
    "letters_replaced": _call("TRANSLATE"),
    "ascii_lowered": lambda value: function("TRANSLATE", value, text(ascii_uppercase), text(ascii_lowercase)),
    "lower_ascii": _call("LOWER"),
    "upper_ascii": _call("UPPER"),
    "byte_count": _call("OCTET_LENGTH"),
    "joined": lambda *pieces: function("CONCAT_WS", text(""), *pieces),
    "joined_within": _joined_within,
    # days and times
    "days_after_date": _call("DATE_ADD"),
    "days_after_time": _later_by("DAY"),
    "months_after_date": _call("ADD_MONTHS"),
    "months_after_time": _later_by("MONTH"),
    "seconds_after_time": _later_by("SECOND"),
    "days_between": lambda first, second: _whole("DATEDIFF")(cast(second, "DATE"), cast(first, "DATE")),
    "start_of": lambda unit, moment: cast(function("DATE_TRUNC", unit, with_zone(moment)), "TIMESTAMP"),
    "year_of": _whole("YEAR"),
    "quarter_of": _whole("QUARTER"),
    "month_of": _whole("MONTH"),
    "week_of": _whole("WEEKOFYEAR"),
    "day_of": _whole("DAY"),
    "day_of_week_of": lambda moment: operation(exp.Sub, _whole("DAYOFWEEK")(moment), figure(1)),
    "iso_day_of_week_of": lambda moment: operation(exp.Add, _whole("WEEKDAY")(moment), figure(1)),
    "day_of_year_of": _whole("DAYOFYEAR"),
    "hour_of": _whole("HOUR"),
    "minute_of": _whole("MINUTE"),
    "second_of": _whole("SECOND"),
    "time_in_full": lambda moment: function("DATE_FORMAT", with_zone(moment), text("yyyy-MM-dd HH:mm:ss.SSSSSS")),
    # hashes
    "md5_text": _call("MD5"),
    "sha256_text": lambda value: function("SHA2", value, figure(256)),
    **{f"hashed_{kind}": _cast_to(TYPES[kind]) for kind in Kind},  # equal numbers of two types have two hashes
    "hashed_place": _cast_to("BIGINT"),
    "native_hash": _call("XXHASH64"),
}


class _Writer(SparkGenerator):
    TRANSFORMS = {  # noqa: RUF012 # as the library declares it
        **SparkGenerator.TRANSFORMS,
        **writing(IDIOMS),
        exp.TryCast: lambda writer, node: writer.cast_sql(node, safe_prefix="TRY_"),
    }
    TYPE_MAPPING = {  # noqa: RUF012 # the same
        **SparkGenerator.TYPE_MAPPING,
        exp.DType.INT128: "DECIMAL(38, 0)",
        exp.DType.TIMESTAMP: "TIMESTAMP_NTZ",
        exp.DType.TIMESTAMPNTZ: "TIMESTAMP_NTZ",
        exp.DType.TIMESTAMPTZ: "TIMESTAMP_LTZ",
    }

    def literal_sql(self, expression: exp.Literal) -> str:
        """Text with what is not safe in it by the number of the character."""
        if not expression.is_string:
            return super().literal_sql(expression)
        escaped = _UNSAFE.sub(lambda found: f"\\U{ord(found[0]):08X}", expression.name)
        return f"'{escaped}'"

    def cte_sql(self, expression: exp.CTE) -> str:
        """The engine decides itself what it computes once."""
        expression.set("materialized", None)
        return super().cte_sql(expression)


SPARK: Final = SqlDialect(writer=_Writer, base="spark", gathers_units=True)

sql: Final = SPARK.sql
