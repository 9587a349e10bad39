"""Binary doubles as Spark computes them: where it would give something narrower, or raise, in other words."""

from collections.abc import Callable
from typing import Final

from sqlglot import exp

from sfumato.engines.sql.dialect import Idioms, native
from sfumato.engines.sql.expressions.kinds import BELOW, BEYOND, scaled_by
from sfumato.engines.sql.expressions.terms import (
    Sql,
    all_of,
    case,
    cast,
    double,
    figure,
    function,
    named,
    operation,
    text,
    try_cast,
    whole,
)
from sfumato.engines.values import MAX_INT64

_EXPONENT_BIAS, _MANTISSA_BITS, _MANTISSA_DIGITS = 1023, 52, 13
_PLAIN_DIGITS: Final = (1e-4, 1e16)
"""Between these Python writes a double without an exponent."""

_DIGITS: Final = exp.DataType.build("DECIMAL(38, 21)")
"""What holds every digit of those."""


def _below(x: Sql) -> Sql:
    """The floor, by RINT: the engine's FLOOR is a whole number of 64 bits."""
    near = function("RINT", x)
    return case([(operation(exp.GT, near, x), operation(exp.Sub, near, double(1.0)))], near)


def _above(x: Sql) -> Sql:
    near = function("RINT", x)
    return case([(operation(exp.LT, near, x), operation(exp.Add, near, double(1.0)))], near)


def _toward_zero(x: Sql) -> Sql:
    return case([(operation(exp.LT, x, double(0.0)), _above(x))], _below(x))


def _whole_of_double(value: Sql) -> Sql:
    """The engine makes 2^63 − 1 of 2^63, and of no other double."""
    return function("NULLIF", try_cast(value, "BIGINT"), whole(MAX_INT64))


def _bits(value: Sql) -> Sql:
    """Of a finite double: sign, exponent and mantissa, from its hexadecimal text, which is exact."""
    return named(value, lambda x: _always_named(function("FORMAT_STRING", text("%a"), x), lambda h: _bits_of(x, h)))


def _bits_of(x: Sql, hexadecimal: Sql) -> Sql:
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


def _shown(value: Sql) -> Sql:
    """As Python writes it: without an exponent in the middle, with one of two digits or three elsewhere."""
    return named(value, lambda x: _always_named(cast(x, "VARCHAR"), lambda digits: _written(x, digits)))


def _written(x: Sql, digits: Sql) -> Sql:
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
    "truncated_double": lambda value: named(value, _toward_zero),
    "whole_floor": lambda value: native("FLOOR", value),
    "bits_of_double": _bits,
    "whole_of_double": _whole_of_double,
    "text_of_double": _shown,
}
"""Idioms of doubles, of which those that are infinite or NaN are values; a quotient by 0 is NULL, as what is NaN is."""
