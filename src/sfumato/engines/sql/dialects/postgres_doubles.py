"""Binary doubles in PostgreSQL, which raises where IEEE 754 has infinity, or 0 for what is too small.

Where the magnitudes of what is computed with tell that neither can happen, the engine's own operator computes it; at
the ends of the doubles `postgres_extremes` tells what it would give.
"""

from typing import Final

from sqlglot import exp

from sfumato.engines.sql.dialects.dialect import Idioms, native
from sfumato.engines.sql.dialects.postgres_extremes import (
    HALF_OF_ALL,
    INFINITY,
    is_finite,
    not_finite,
    size_of,
    slow_product,
    slow_quotient,
    slow_sum,
    times,
)
from sfumato.engines.sql.dialects.postgres_names import once, under_names
from sfumato.engines.sql.dialects.postgres_ranges import Range, magnitude, range_of
from sfumato.engines.sql.terms import (
    Sql,
    all_of,
    any_of,
    between,
    case,
    cast,
    column,
    double,
    operation,
    text,
)

_NEVER_ADDS: Final = 1e290
"""Less than half of the last bit of the largest double: what is added to it is lost."""

_LEAST_NORMAL, _MOST_NORMAL = 1e-300, 1e300
_LEAST_FACTOR, _MOST_FACTOR = 1e-150, 1e150
_HIGHEST: Final = 709.782712893384
"""The largest double of which the power of e is one."""

_LOWEST: Final = -745.1332191019411
"""The least double of which the power of e is not rounded to 0."""

_SAFE_POWER: Final = 700.0
_WITHOUT_EXPONENT: Final = (1e15, 1e16)
"""Between these Python writes no exponent and the engine does."""


def _sum(first: Sql, second: Sql) -> Sql:
    return _combined(exp.Add, first, second)


def _difference(first: Sql, second: Sql) -> Sql:
    return _combined(exp.Sub, first, second)


def _combined(operator: type[exp.Binary], first: Sql, second: Sql) -> Sql:
    """A sum or a difference; which of the two matters only for its sign."""
    if any(magnitude(side) <= _NEVER_ADDS for side in (first, second)):
        return operation(operator, first, second)

    def combined(x: Sql, y: Sql) -> Sql:
        near = (between(side, double(-HALF_OF_ALL / 2), double(HALF_OF_ALL / 2)) for side in (x, y))
        return case([(all_of(near), operation(operator, x, y))], slow_sum(operator, x, y))

    return once(first, lambda x: once(second, lambda y: combined(x, y)))


def _product(first: Sql, second: Sql) -> Sql:
    return once(first, lambda x: once(second, lambda y: _product_of(x, y)))


def _product_of(x: Sql, y: Sql) -> Sql:
    own, constant = operation(exp.Mul, x, y), _constant(x) or _constant(y)
    if constant is not None:
        other = y if _constant(x) is not None else x
        ends = _LEAST_NORMAL / min(constant, 1.0), _MOST_NORMAL / max(constant, 1.0)
        near = _lies_within(other, ends, may_be_small=constant >= 1)
    else:
        near = [term for side in (x, y) for term in _lies_within(side, (_LEAST_FACTOR, _MOST_FACTOR))]
    return case([(all_of(near), own), (_is_plain(x, y), own)], slow_product(x, y)) if near else own


def _quotient(first: Sql, second: Sql) -> Sql:
    return once(first, lambda x: once(second, lambda y: _quotient_of(x, y)))


def _quotient_of(x: Sql, y: Sql) -> Sql:
    """By 0 it is NULL, which is what becomes of infinity and NaN too."""
    own, constant = operation(exp.Div, x, y), _constant(y)
    if constant is not None:
        ends = _LEAST_NORMAL * max(constant, 1.0), _MOST_NORMAL * min(constant, 1.0)
        near = _lies_within(x, ends, may_be_small=constant <= 1)
        return case([(all_of(near), own), (_is_plain(x, y), own)], slow_quotient(x, y)) if near else own
    near = [term for side in (x, y) for term in _lies_within(side, (_LEAST_FACTOR, _MOST_FACTOR))]
    by_zero = operation(exp.EQ, y, double(0.0))
    return case(
        [(by_zero, cast(exp.Null(), "DOUBLE")), (all_of(near), own), (_is_plain(x, y), own)], slow_quotient(x, y)
    )


def _constant(term: Sql) -> float | None:
    """The size of a constant that is neither 0 nor extreme."""
    known = range_of(term)
    is_constant = known is not None and known.least == known.most and _LEAST_FACTOR <= abs(known.most) <= _MOST_FACTOR
    return abs(known.most) if known is not None and is_constant else None


def _lies_within(term: Sql, ends: tuple[float, float], *, may_be_small: bool = False) -> list[Sql]:
    """What tells that the size of a term lies between two ends; nothing where its range tells already.

    Args:
        term: A double.
        ends: The least size and the most.
        may_be_small: Whether it may be smaller too.
    """
    least, most = ends
    known = range_of(term) or Range(-INFINITY, INFINITY)
    fits = known.size <= most
    if may_be_small:
        return [] if fits else [between(term, double(-most), double(most))]
    return [] if fits and known.least >= least else [between(size_of(term), double(least), double(most))]


def _is_plain(x: Sql, y: Sql) -> Sql:
    """Whether the operator cannot raise, because one of two doubles is infinite, NaN or 0."""
    return any_of([not_finite(x, y), *(operation(exp.EQ, side, double(0.0)) for side in (x, y))])


def _power(base: Sql, exponent: Sql) -> Sql:
    return once(base, lambda x: once(exponent, lambda y: _power_of(x, y)))


def _power_of(x: Sql, y: Sql) -> Sql:
    """NULL where it is no real number."""
    zero = double(0.0)
    of_zero = case([(operation(exp.GT, y, zero), zero), (operation(exp.EQ, y, zero), double(1.0))])
    is_real = any_of([operation(exp.GTE, x, zero), operation(exp.EQ, native("FLOOR", y), y)])
    is_infinite = operation(exp.EQ, x, double(-INFINITY))
    plain = case([(is_real, native("POWER", x, y)), (is_infinite, native("POWER", size_of(x), y))])
    return case(
        [(operation(exp.EQ, x, zero), of_zero), (not_finite(x, y), plain), (is_real, _finite_power(x, y))]
    )  # fmt: skip


def _finite_power(base: Sql, exponent: Sql) -> Sql:
    """By y·ln|x|; as the square of a root where that is near the ends of the doubles."""
    x, y, logarithm = column("base"), column("exponent"), column("logarithm")
    root = native("POWER", size_of(x), times(y, 0.5))
    is_odd = operation(exp.NEQ, times(native("FLOOR", times(y, 0.5)), 2.0), y)
    sign = case([(all_of([operation(exp.LT, x, double(0.0)), is_odd]), double(-1.0))], double(1.0))
    branches = [
        (between(logarithm, double(-_SAFE_POWER), double(_SAFE_POWER)), native("POWER", x, y)),
        (operation(exp.GT, logarithm, double(_HIGHEST + 1)), operation(exp.Mul, sign, double(INFINITY))),
        (operation(exp.LT, logarithm, double(_LOWEST - 1)), double(0.0)),
    ]
    values = {"base": base, "exponent": exponent, "logarithm": _product(exponent, native("LN", size_of(base)))}
    return under_names(values, case(branches, operation(exp.Mul, sign, _product(root, root))))


def _exponential(value: Sql) -> Sql:
    def raised(x: Sql) -> Sql:
        infinite, vanishes = (
            operation(exp.GT, x, double(_HIGHEST)), operation(exp.LT, x, double(_LOWEST)),
        )  # fmt: skip
        return case([(infinite, double(INFINITY)), (vanishes, double(0.0))], native("EXP", x))

    return once(value, raised)


def _shown(value: Sql) -> Sql:
    """As Python writes it."""

    def written(x: Sql) -> Sql:
        least, most = map(double, _WITHOUT_EXPONENT)
        own = cast(x, "VARCHAR")
        in_the_middle = all_of([operation(exp.GTE, size_of(x), least), operation(exp.LT, size_of(x), most)])
        plain = cast(cast(own, "HUGEINT"), "VARCHAR")
        point = case([(operation(exp.EQ, native("FLOOR", x), x), text(".0"))], text(""))
        infinities = [
            (operation(exp.EQ, x, double(end)), text(shown)) for end, shown in ((INFINITY, "inf"), (-INFINITY, "-inf"))
        ]
        return case([*infinities, (in_the_middle, exp.DPipe(this=plain, expression=exp.Paren(this=point)))], own)

    return once(value, written)


def _bits(value: Sql) -> Sql:
    digits = exp.DPipe(this=text("x"), expression=native("ENCODE", native("FLOAT8SEND", value), text("hex")))
    bits = exp.Cast(this=exp.Paren(this=digits), to=exp.DataType.build("BIT(64)", dialect="postgres"))
    return cast(bits, "BIGINT")


DOUBLES: Final[Idioms] = {
    "double_sum": _sum,
    "double_difference": _difference,
    "double_product": _product,
    "double_quotient": _quotient,
    "double_power": _power,
    "exponential": _exponential,
    "square_root": lambda value: native("SQRT", value),
    "natural_log": lambda value: native("LN", value),
    "decimal_log": lambda value: native("LOG10", value),
    "truncated_double": lambda value: native("TRUNC", value),
    "whole_floor": lambda value: cast(native("FLOOR", value), "BIGINT"),
    "is_finite": is_finite,
    "is_nan": lambda value: operation(exp.EQ, value, double(float("nan"))),
    "bits_of_double": _bits,
    "text_of_double": _shown,
}
"""Idioms of doubles, of which those that are infinite or NaN are values; a quotient by 0 is NULL."""
