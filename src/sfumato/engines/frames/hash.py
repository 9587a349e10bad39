"""`sampling.rank_hash` in Polars: MD5 of the salt and of encoded values, and its order as two 64-bit integers."""

from collections.abc import Sequence
from typing import Final

import polars as pl
import polars_hash as plh

from sfumato.engines.frames.terms import named
from sfumato.query.kinds import Kind

_HALF: Final = 16
"""Hexadecimal digits."""


def rank_hash(message: pl.Expr) -> pl.Expr:
    """The hash as hexadecimal text."""
    return plh.concat_str(message).nchash.md5()


def message(salt: str, encodings: Sequence[pl.Expr]) -> pl.Expr:
    """What is hashed.

    Args:
        salt: By which it differs from question to question.
        encodings: Values as `encoded` gives them.
    """
    return pl.concat_str(pl.lit(salt), *encodings)


def encoded(value: pl.Expr, kind: Kind, *, nullable: bool = True) -> pl.Expr:
    """`sampling.encoded` in Polars."""

    def tagged(shown: pl.Expr) -> pl.Expr:
        text = pl.concat_str(pl.lit("V"), shown.str.len_bytes().cast(pl.String), pl.lit(":"), shown)
        return text.fill_null("N") if nullable else text

    return named(_shown(value, kind), tagged)


def halves(digits: pl.Expr) -> tuple[pl.Expr, pl.Expr]:
    """The two halves of a hash as numbers, the more significant one first: in the order of its text."""
    first, second = (
        half.str.to_integer(base=16, dtype=pl.UInt64) for half in (digits.str.head(_HALF), digits.str.tail(_HALF))
    )
    return first, second


def native_hash(salt: str, values: Sequence[pl.Expr]) -> pl.Expr:
    """Polars's own hash of the salt and of values, in 64 bits.

    The hashes of single values are combined in a way that nothing says, so what comes of it is hashed once more.
    """
    together = pl.struct(value.alias(f"x{place}") for place, value in enumerate(values))
    first, second = int(salt[:_HALF] or "0", 16), int(salt[_HALF:] or "0", 16)
    return together.hash(seed=first).hash(seed=second)


def _shown(value: pl.Expr, kind: Kind) -> pl.Expr:
    match kind:
        case Kind.FLOAT:
            return named(value, _bits).cast(pl.String)
        case Kind.TIMESTAMP:
            return value.dt.to_string("%Y-%m-%d %H:%M:%S%.6f")
        case _:
            return value.cast(pl.String)


def _bits(number: pl.Expr) -> pl.Expr:
    """The 64-bit integer that has the bits of a double; of −0.0 those of 0.0."""
    plain = pl.when(number == 0.0).then(0.0).otherwise(number)
    return plain.reinterpret(dtype=pl.Int64)
