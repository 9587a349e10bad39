"""Lattice steps in Polars, as `amounts` has them: floor(x / resolution + 1/2) in doubles, clamped, less an offset."""

from typing import Final

import polars as pl

from sfumato.engines.frames.arithmetic import quotient
from sfumato.engines.frames.terms import Term, named
from sfumato.query.kinds import Kind
from sfumato.query.measures import Steps

_HALVES: Final = 2**52
"""Up to here doubles tell a whole number from itself and a half: rounding moves nothing that lies on a bound."""


def clamped_steps(value: Term, steps: Steps) -> pl.Expr:
    """`amounts.clamped_steps` in Polars: a 64-bit integer; NULL of NULL."""
    is_near = max(abs(steps.lower), abs(steps.upper)) <= _HALVES
    if value.kind is Kind.INTEGER and steps.resolution == 1 and is_near:
        return value.value.clip(pl.lit(steps.lower, pl.Int64), pl.lit(steps.upper, pl.Int64))
    number = value.settled if value.kind is Kind.FLOAT else value.as_double
    scaled = quotient(number, pl.lit(float(steps.resolution)))
    return _rounded(scaled, steps) if is_near else named(scaled, lambda s: _of_far_bounds(s, steps))


def moved_steps(value: Term, steps: Steps) -> pl.Expr:
    """The clamped steps less the offset; of NULL NULL, or where there can be none what that adds."""
    point = clamped_steps(value, steps)
    moved = point - steps.offset if steps.offset else point
    return moved if steps.nullable else moved.fill_null(steps.null_amount)


def _rounded(scaled: pl.Expr, steps: Steps) -> pl.Expr:
    """Half up, and clamped before it is cast."""
    return (scaled + 0.5).floor().clip(float(steps.lower), float(steps.upper)).cast(pl.Int64)


def _of_far_bounds(scaled: pl.Expr, steps: Steps) -> pl.Expr:
    """At or beyond a bound it is the bound, which half a step more might round away from."""
    chosen = pl.when(scaled >= float(steps.upper)).then(pl.lit(steps.upper, pl.Int64))
    below = chosen.when(scaled <= float(steps.lower)).then(pl.lit(steps.lower, pl.Int64))
    return below.otherwise(_rounded(scaled, steps))
