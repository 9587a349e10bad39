"""SQL as PostgreSQL reads it: what it could raise for a value is written so that it cannot.

Whole numbers of 128 bits are its numerics, which have as many digits as they need. Operators of binary doubles never
raise within the range of `values.numbers`. Text is compared by code points, whatever locale a column or the database
has: each constant and each cast to text says COLLATE "C".
"""

from collections.abc import Callable, Mapping
from datetime import date
from typing import Final

from sqlglot import exp
from sqlglot.generators.postgres import PostgresGenerator

from sfumato.engines.postgres.names import NamedValues, kept_apart, once, under_names, write_under
from sfumato.engines.postgres.texts import TEXTS
from sfumato.engines.postgres.times import TIMES
from sfumato.engines.sql.dialect import Idioms, SqlDialect, native, writing
from sfumato.engines.sql.expressions.kinds import within_range
from sfumato.engines.sql.expressions.terms import (
    Sql,
    all_of,
    between,
    case,
    cast,
    constant,
    double,
    figure,
    operation,
    text,
)
from sfumato.query.values.cells import MAX_INT64, MIN_INT64
from sfumato.query.values.numbers import FINEST, LARGEST

_HALF: Final = 32
_BYTES: Final = 16
_ROUNDED: Final = 2.0 ** (FINEST + 52)
"""Doubles from here on are multiples of 2^-500; from here up to twice this the multiples are all doubles."""

_WITHOUT_EXPONENT: Final = (1e15, 1e16)
"""Between these Python writes no exponent and the engine does."""


def _named_in(value: Sql, body: Sql) -> Sql:
    """As the only column of a query."""
    (name,) = body.expressions
    return under_names({name.name: value}, body.this)


def _power_of_two(bits: Sql) -> Sql:
    return cast(figure(2 ** int(bits.name)), "HUGEINT")


def _high_bits(total: Sql, low_bits: Sql) -> Sql:
    wide, power = cast(total, "HUGEINT"), _power_of_two(low_bits)
    return cast(native("DIV", operation(exp.Sub, wide, _rest(wide, power)), power), "BIGINT")


def _rest(wide: Sql, power: Sql) -> Sql:
    """What is above a multiple of a power of two, also below 0."""
    return native("MOD", operation(exp.Add, native("MOD", wide, power), power), power)


def _native_hash(salt: Sql, *values: Sql) -> Sql:
    """A chain: each value is hashed with the 64 bits of the hash before it as seed, and so the last mixes them all."""
    found: Sql = native("HASHTEXTEXTENDED", salt, figure(0))
    for value in values:
        found = _HASHED[value.name](value.expressions[0], found)
    return found


def _hash_of_whole(value: Sql, before: Sql) -> Sql:
    """Of the upper half and then of the lower one: the engine folds both into 32 bits, so that numbers would tie."""
    number = cast(value, "BIGINT")
    upper = operation(exp.BitwiseRightShift, number, figure(_HALF))
    lower = operation(exp.BitwiseAnd, number.copy(), figure(2**_HALF - 1))
    return native("HASHINT8EXTENDED", lower, native("HASHINT8EXTENDED", upper, before))


def _hash_of_small(value: Sql, before: Sql) -> Sql:
    """Of 32 bits."""
    return native("HASHINT4EXTENDED", cast(value, "INTEGER"), before)


_HASHED: Final[Mapping[str, Callable[[Sql, Sql], Sql]]] = {
    "hashed_integer": _hash_of_whole,
    "hashed_float": lambda value, before: native("HASHFLOAT8EXTENDED", value, before),
    "hashed_text": lambda value, before: native("HASHTEXTEXTENDED", value, before),
    "hashed_boolean": _hash_of_small,
    "hashed_date": lambda value, before: _hash_of_small(operation(exp.Sub, value, constant(date.min)), before),
    # of its text: the engine hashes it as a whole number
    "hashed_timestamp": lambda value, before: native("HASHTEXTEXTENDED", TIMES["time_in_full"](value), before),
    "hashed_place": _hash_of_small,
}
"""For each kind of value the hash of one, with the hash before it as seed."""


def _sha256_text(value: Sql) -> Sql:
    """Of its bytes in UTF-8."""
    hashed = native("SHA256", native("CONVERT_TO", value, text("UTF8")))
    return cast(native("ENCODE", hashed, text("hex")), "VARCHAR")


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
    "operand": lambda value: once(value, lambda x: case([(within_range(x), x)])),
    "factor": _factor,
    "double_quotient": _quotient,
    "truncated_double": lambda value: native("TRUNC", value),
    "whole_floor": lambda value: cast(native("FLOOR", value), "BIGINT"),
    "bits_of_double": _bits,
    "text_of_double": _shown,
}
"""Idioms of doubles."""

IDIOMS: Final[Idioms] = {
    **DOUBLES,
    **TEXTS,
    **TIMES,
    "named_in": _named_in,
    # whole numbers, of 64 and of 128 bits
    "whole_quotient": lambda first, second: operation(exp.Div, first, second),
    "wide_quotient": lambda first, second: native("DIV", first, second),
    "wide_rest": lambda first, second: native("MOD", first, second),
    # of 32 bits, of which the sum has 64: that of more is a numeric, which takes longer
    "narrow_sum": lambda value: native("SUM", cast(value, "INTEGER")),
    "wide_sum": lambda value: native("SUM", value),
    "whole_of_wide": lambda value: once(
        value, lambda x: case([(between(x, figure(MIN_INT64), figure(MAX_INT64)), cast(x, "BIGINT"))])
    ),
    "nearest_double": lambda total: cast(total, "DOUBLE"),
    "high_bits": _high_bits,
    "low_bits": lambda total, low_bits: cast(_rest(cast(total, "HUGEINT"), _power_of_two(low_bits)), "BIGINT"),
    # hashes
    "md5_text": lambda message: cast(native("MD5", message), "VARCHAR"),  # which says in which order texts are
    "sha256_text": _sha256_text,
    "native_hash": _native_hash,
}


class _Writer(PostgresGenerator):
    TRANSFORMS = {  # noqa: RUF012 # as the library declares it
        **PostgresGenerator.TRANSFORMS, **writing(IDIOMS), NamedValues: write_under,
    }  # fmt: skip
    TYPE_MAPPING = {**PostgresGenerator.TYPE_MAPPING, exp.DType.INT128: "NUMERIC"}  # noqa: RUF012 # the same

    def generate(self, expression: exp.Expr, copy: bool = True) -> str:  # noqa: FBT001, FBT002 # as the library declares it
        """Of levels that the planner must not merge."""
        return super().generate(kept_apart(expression.copy() if copy else expression), copy=False)

    def literal_sql(self, expression: exp.Literal) -> str:
        """Text by code points."""
        if not expression.is_string:
            return super().literal_sql(expression)
        return f'{self._quoted(expression)} COLLATE "C"'

    def cast_sql(self, expression: exp.Cast, safe_prefix: str | None = None) -> str:
        """A constant of its type is read once, which one that was text before is not."""
        if isinstance(expression.this, exp.Literal) and expression.this.is_string:
            return f"CAST({self._quoted(expression.this)} AS {self.sql(expression, 'to')})"
        made = super().cast_sql(expression, safe_prefix)
        return f'({made} COLLATE "C")' if expression.to.is_type(*exp.DataType.TEXT_TYPES) else made

    def div_sql(self, expression: exp.Div) -> str:
        """Of whole numbers it is whole, and doubles are doubles already."""
        return self.binary(expression, "/")

    def _quoted(self, expression: exp.Literal) -> str:
        return "'" + expression.name.replace("'", "''") + "'"


def _half_of_sha256(message: Sql) -> Sql:
    """The first half of SHA-256, in hexadecimal digits."""
    hashed = native("SHA256", native("CONVERT_TO", message, text("UTF8")))
    digits = native("ENCODE", native("SUBSTR", hashed, figure(1), figure(_BYTES)), text("hex"))
    return cast(digits, "VARCHAR")


class _WriterWithoutMD5(_Writer):
    TRANSFORMS = {**_Writer.TRANSFORMS, **writing({**IDIOMS, "md5_text": _half_of_sha256})}  # noqa: RUF012 # as above


POSTGRES: Final = SqlDialect(writer=_Writer, base="postgres")

POSTGRES_WITHOUT_MD5: Final = SqlDialect(writer=_WriterWithoutMD5, base="postgres")
"""For servers whose policy of cryptography (FIPS) forbids MD5: as good a hash, which draws other samples."""

sql: Final = POSTGRES.sql
