"""Lattice steps in SQL, as `entries` has them: floor(x / resolution + 1/2) in doubles, clamped, less an offset."""

from math import floor, isfinite
from typing import Final

from sqlglot import exp

from sfumato.engines.sql.expressions.kinds import Term, within_range
from sfumato.engines.sql.expressions.terms import (
    Sql,
    case,
    cast,
    clamped,
    double,
    function,
    named,
    operation,
    present,
    whole,
)
from sfumato.query.model.kinds import Kind
from sfumato.query.model.measures import Steps

_HALVES: Final = 2**52
"""Up to here doubles tell a whole number from itself and a half: rounding moves nothing that lies on a bound."""


def clamped_steps(value: Term, steps: Steps) -> Sql:
    """`entries.clamped_steps` in SQL: a 64-bit integer; NULL of NULL."""
    is_number = within_range if value.pending else present
    return named(value.sql, lambda x: case([(is_number(x), _of_number(x, value.kind, steps))]))


def moved_steps(value: Term, steps: Steps) -> Sql:
    """The clamped steps less the offset; of NULL NULL, or where there can be none what that adds."""
    point = clamped_steps(value, steps)
    moved = operation(exp.Sub, point, whole(steps.offset)) if steps.offset else point
    return moved if steps.nullable else function("COALESCE", moved, whole(steps.null_amount))


def _of_number(x: Sql, kind: Kind, steps: Steps) -> Sql:
    is_near = max(abs(steps.lower), abs(steps.upper)) <= _HALVES
    if kind is Kind.INTEGER and steps.resolution == 1 and is_near:
        return clamped(x, whole(steps.lower), whole(steps.upper))
    number = x if kind is Kind.FLOAT else cast(x, "DOUBLE")
    ends = _ends(steps) if is_near else None
    if ends is not None:  # twice as fast: of what lies between two constants no sum needs 128 bits
        scaled = _scaled(clamped(number, *map(double, ends)), steps)
        return function("whole_floor", operation(exp.Add, scaled, double(0.5)))
    scaled = _scaled(number, steps)
    return _rounded(scaled, steps) if is_near else named(scaled, lambda s: _of_far_bounds(s, steps))


def _ends(steps: Steps) -> tuple[float, float] | None:
    """Two numbers whose steps are the bounds: clamping to them is clamping the steps, because rounding is monotone.

    That is so where doubles are divided and added as IEEE 754 says, as the engine does and Python does here.
    """
    resolution = float(steps.resolution)
    lower, upper = resolution * steps.lower, resolution * steps.upper
    if not (isfinite(lower) and isfinite(upper)):
        return None
    found = [floor(end / resolution + 0.5) for end in (lower, upper)]
    return (lower, upper) if found == [steps.lower, steps.upper] else None


def _scaled(number: Sql, steps: Steps) -> Sql:
    """The quotient; a number may be so much smaller than a step that it would vanish if it were no `factor`."""
    number = function("factor", number) if steps.resolution > 1 else number
    return function("double_quotient", number, double(float(steps.resolution)))


def _half_up(scaled: Sql) -> Sql:
    return function("FLOOR", operation(exp.Add, scaled, double(0.5)))


def _rounded(scaled: Sql, steps: Steps) -> Sql:
    """Half up, and clamped before it is cast."""
    lower, upper = double(float(steps.lower)), double(float(steps.upper))
    return cast(clamped(_half_up(scaled), lower, upper), "BIGINT")


def _of_far_bounds(scaled: Sql, steps: Steps) -> Sql:
    """At or beyond a bound it is the bound, which half a step more might round away from."""
    beyond = operation(exp.GTE, scaled, double(float(steps.upper)))
    below = operation(exp.LTE, scaled, double(float(steps.lower)))
    return case([(beyond, whole(steps.upper)), (below, whole(steps.lower))], _rounded(scaled, steps))
