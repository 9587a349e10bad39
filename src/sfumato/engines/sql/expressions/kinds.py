"""A piece of SQL with its kind, the range of its doubles as `values.numbers` has it, and its lattice steps.

Steps are those of `evaluation.clamped_steps`: floor(x / resolution + 1/2) in doubles, clamped, less an offset.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import floor, isfinite
from typing import Final

from sqlglot import exp

from sfumato.engines.sql.expressions.terms import (
    TYPES,
    Sql,
    case,
    cast,
    clamped,
    double,
    function,
    guarded,
    named,
    operation,
    present,
    whole,
)
from sfumato.query.model.functions import RANGE
from sfumato.query.model.kinds import Kind
from sfumato.query.model.statement import LatticeValue
from sfumato.query.values.numbers import FINEST, LARGEST, LAST_BIT, MOST_BITS

BEYOND: Final = (MOST_BITS - RANGE, RANGE - MOST_BITS)
"""By these powers of two one after the other doubles beyond the range become infinite, and all others stay."""

BELOW: Final = (LAST_BIT - FINEST, FINEST - LAST_BIT)
"""By these they become multiples of 2^-500."""

_HALVES: Final = 2**52
"""Up to here doubles tell a whole number from itself and a half: rounding moves nothing that lies on a bound."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """The SQL of an expression.

    Attributes:
        sql: The SQL expression.
        kind: The kind of its values.
        pending: Whether a double that is beyond the range, infinite or NaN stands for NULL, so that a chain of
            operations has one CASE, where something else reads it.
        rounded: Whether doubles are known to be multiples of 2^-500, as factors have to be.
    """

    sql: Sql
    kind: Kind
    pending: bool = False
    rounded: bool = False

    @property
    def settled(self) -> Sql:
        """The SQL with NULL for what stands for it."""
        return limited(self.sql) if self.pending else self.sql

    @property
    def as_double(self) -> Sql:
        """A number as a double, of which those that stand for NULL still do."""
        return self.sql if self.kind is Kind.FLOAT else cast(self.sql, "DOUBLE")

    @property
    def settled_double(self) -> Sql:
        """A number as a double, with NULL for what stands for it."""
        return limited(self.sql) if self.pending else self.as_double

    @property
    def operand(self) -> Sql:
        """A number as a double that an operation may read; what stands for NULL is NULL, infinite or NaN."""
        return function("operand", self.sql) if self.pending else self.as_double

    @property
    def factor(self) -> Sql:
        """The operand of a product, or what is divided."""
        return self.operand if self.is_rounded else function("factor", self.operand)

    @property
    def divisor(self) -> Sql:
        """What is divided by or raised to a power: there nothing may stand for NULL."""
        return self.settled_double if self.is_rounded else function("factor", self.settled_double)

    @property
    def is_rounded(self) -> bool:
        """Whether it is a multiple of 2^-500, as all whole numbers are."""
        return self.rounded or self.kind is Kind.INTEGER


def within_range(value: Sql) -> Sql:
    """Whether a double is within the range; NaN, which engines take for the greatest double, is not."""
    return operation(exp.LTE, function("ABS", value), double(LARGEST))


def limited(value: Sql) -> Sql:
    """`numbers.limited` in SQL."""
    return guarded(value, within_range)


def scaled_by(value: Sql, exponents: Iterable[int]) -> Sql:
    """A double times powers of two, one after the other, as dialects write operands and factors that never raise."""
    for exponent in exponents:
        value = operation(exp.Mul, value, double(2.0**exponent))
    return value


def computed(sql: Sql) -> Term:
    """A double just computed, which may be beyond the range."""
    return Term(sql=sql, kind=Kind.FLOAT, pending=True)


def storage(term: Term) -> str:
    """The engine's name for what holds the values of a term."""
    return TYPES[term.kind]


def clamped_steps(value: Term, steps: LatticeValue) -> Sql:
    """`evaluation.clamped_steps` in SQL: a 64-bit integer; NULL of NULL."""
    is_number = within_range if value.pending else present
    return named(value.sql, lambda x: case([(is_number(x), _of_number(x, value.kind, steps))]))


def moved_steps(value: Term, steps: LatticeValue) -> Sql:
    """The clamped steps less the offset; of NULL NULL, or where there can be none what that adds."""
    return _moved(clamped_steps(value, steps), steps, whole)


def double_steps(value: Term, steps: LatticeValue) -> Sql | None:
    """The same numbers as doubles, of which they are made; None of a value of which they are made otherwise."""
    ends = _ends(steps)
    if value.kind is not Kind.FLOAT or ends is None:
        return None
    is_number = within_range if value.pending else present
    point = named(value.sql, lambda x: case([(is_number(x), function("FLOOR", _above_half(x, steps, ends)))]))
    return _moved(point, steps, double)


def _moved(point: Sql, steps: LatticeValue, constant: Callable[[int], Sql]) -> Sql:
    moved = operation(exp.Sub, point, constant(steps.offset)) if steps.offset else point
    return moved if steps.nullable else function("COALESCE", moved, constant(steps.null_amount))


def _of_number(x: Sql, kind: Kind, steps: LatticeValue) -> Sql:
    if kind is Kind.INTEGER and steps.resolution == 1 and _is_near(steps):
        return clamped(x, whole(steps.lower), whole(steps.upper))
    number = x if kind is Kind.FLOAT else cast(x, "DOUBLE")
    ends = _ends(steps)
    if ends is not None:  # twice as fast: of what lies between two constants no sum needs 128 bits
        return function("whole_floor", _above_half(number, steps, ends))
    scaled = _scaled(number, steps)
    return _rounded(scaled, steps) if _is_near(steps) else named(scaled, lambda s: _of_far_bounds(s, steps))


def _is_near(steps: LatticeValue) -> bool:
    return max(abs(steps.lower), abs(steps.upper)) <= _HALVES


def _above_half(number: Sql, steps: LatticeValue, ends: tuple[float, float]) -> Sql:
    """A number clamped to `_ends`, in steps, and half a step more: what is rounded down to the clamped steps."""
    return operation(exp.Add, _scaled(clamped(number, *map(double, ends)), steps), double(0.5))


def _ends(steps: LatticeValue) -> tuple[float, float] | None:
    """Two numbers whose steps are the bounds: clamping to them is clamping the steps, because rounding is monotone.

    That is so where doubles are divided and added as IEEE 754 says, as the engine does and Python does here.
    """
    resolution = float(steps.resolution)
    lower, upper = resolution * steps.lower, resolution * steps.upper
    if not (_is_near(steps) and isfinite(lower) and isfinite(upper)):
        return None
    found = [floor(end / resolution + 0.5) for end in (lower, upper)]
    return (lower, upper) if found == [steps.lower, steps.upper] else None


def _scaled(number: Sql, steps: LatticeValue) -> Sql:
    """The quotient; a number may be so much smaller than a step that it would vanish if it were no `factor`."""
    number = function("factor", number) if steps.resolution > 1 else number
    return function("double_quotient", number, double(float(steps.resolution)))


def _rounded(scaled: Sql, steps: LatticeValue) -> Sql:
    """Half up, and clamped before it is cast."""
    lower, upper = double(float(steps.lower)), double(float(steps.upper))
    nearest = function("FLOOR", operation(exp.Add, scaled, double(0.5)))
    return cast(clamped(nearest, lower, upper), "BIGINT")


def _of_far_bounds(scaled: Sql, steps: LatticeValue) -> Sql:
    """At or beyond a bound it is the bound, which half a step more might round away from."""
    beyond = operation(exp.GTE, scaled, double(float(steps.upper)))
    below = operation(exp.LTE, scaled, double(float(steps.lower)))
    return case([(beyond, whole(steps.upper)), (below, whole(steps.lower))], _rounded(scaled, steps))
