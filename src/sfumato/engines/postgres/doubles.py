"""Binary doubles in PostgreSQL, whose operators never raise within the range of `engines.doubles`."""

from typing import Final

from sqlglot import exp

from sfumato.engines.doubles import FINEST, LARGEST
from sfumato.engines.postgres.names import once
from sfumato.engines.sql.dialect import Idioms, native
from sfumato.engines.sql.expressions.kinds import within_range
from sfumato.engines.sql.expressions.terms import Sql, all_of, between, case, cast, double, operation, text

_ROUNDED: Final = 2.0 ** (FINEST + 52)
"""Doubles from here on are multiples of 2^-500; from here up to twice this the multiples are all doubles."""

_WITHOUT_EXPONENT: Final = (1e15, 1e16)
"""Between these Python writes no exponent and the engine does."""


def _operand(value: Sql) -> Sql:
    return once(value, lambda x: case([(within_range(x), x)]))


def _factor(value: Sql) -> Sql:
    """Also of an operand, so that both are one CASE: what is added and taken off again leaves multiples alone."""
    if isinstance(value, exp.Anonymous) and value.name == "operand":
        (value,) = value.expressions

    def rounded(x: Sql) -> Sql:
        size = native("ABS", x)
        multiple = operation(exp.Sub, operation(exp.Add, size, double(_ROUNDED)), double(_ROUNDED))
        small = operation(exp.LT, size, double(_ROUNDED))
        branches = [(between(size, double(_ROUNDED), double(LARGEST)), x)]
        return case([*branches, (small, operation(exp.Mul, multiple, native("SIGN", x)))])

    return once(value, rounded)


def _quotient(first: Sql, second: Sql) -> Sql:
    """NULL by 0."""
    is_constant = isinstance(second, exp.Cast) and isinstance(second.this, exp.Literal) and float(second.name) != 0
    return operation(exp.Div, first, second if is_constant else native("NULLIF", second, double(0.0)))


def _shown(value: Sql) -> Sql:
    """As Python writes it."""

    def written(x: Sql) -> Sql:
        least, most = map(double, _WITHOUT_EXPONENT)
        shown, size = cast(x, "VARCHAR"), native("ABS", x)
        in_the_middle = all_of([operation(exp.GTE, size, least), operation(exp.LT, size, most)])
        plain = cast(cast(shown, "HUGEINT"), "VARCHAR")
        point = case([(operation(exp.EQ, native("FLOOR", x), x), text(".0"))], text(""))
        return case([(in_the_middle, exp.DPipe(this=plain, expression=exp.Paren(this=point)))], shown)

    return once(value, written)


def _bits(value: Sql) -> Sql:
    digits = exp.DPipe(this=text("x"), expression=native("ENCODE", native("FLOAT8SEND", value), text("hex")))
    bits = exp.Cast(this=exp.Paren(this=digits), to=exp.DataType.build("BIT(64)", dialect="postgres"))
    return cast(bits, "BIGINT")


DOUBLES: Final[Idioms] = {
    "operand": _operand,
    "factor": _factor,
    "double_quotient": _quotient,
    "truncated_double": lambda value: native("TRUNC", value),
    "whole_floor": lambda value: cast(native("FLOOR", value), "BIGINT"),
    "bits_of_double": _bits,
    "text_of_double": _shown,
}
"""Idioms of doubles."""
