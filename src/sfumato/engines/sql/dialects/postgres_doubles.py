"""Binary doubles in PostgreSQL, which raises where IEEE 754 has infinity, or 0 for what is too small.

Where the magnitudes of what is computed with tell that neither can happen, the engine's own operator computes it. Else
powers of two bring both to the middle of the doubles, where quotient or product tell exactly whether it would, and
then it is not computed. See proofs/engines/postgres.md.
"""

from collections.abc import Mapping
from typing import Final

from sqlglot import exp

from sfumato.engines.sql.dialects.dialect import Idioms, native
from sfumato.engines.sql.dialects.postgres_ranges import Range, magnitude, range_of
from sfumato.engines.sql.terms import (
    Sql,
    aliased,
    all_of,
    any_of,
    between,
    case,
    cast,
    column,
    double,
    figure,
    named,
    negated,
    operation,
    text,
)

_INFINITY: Final = float("inf")
_LARGEST: Final = 1.7976931348623157e308
_NEVER_ADDS: Final = 1e290
"""Less than half of the last bit of the largest double: what is added to it is lost."""

_HALF_OF_ALL: Final = 2.0**1023
_NOT_LOST: Final = 2.0**960
_LEAST_NORMAL, _MOST_NORMAL = 1e-300, 1e300
_LEAST_FACTOR, _MOST_FACTOR = 1e-150, 1e150
_FAR, _SHIFT = 2.0**500, 2.0**600
_SPLIT: Final = 2.0**27 + 1
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
        near = (between(side, double(-_HALF_OF_ALL / 2), double(_HALF_OF_ALL / 2)) for side in (x, y))
        return case([(all_of(near), operation(operator, x, y))], _slow_sum(operator, x, y))

    return named(first, lambda x: named(second, lambda y: combined(x, y)))


def _slow_sum(operator: type[exp.Binary], first: Sql, second: Sql) -> Sql:
    """Halves tell whether the whole overflows; one that is too small to matter is not halved, as it might vanish."""
    x, y = column("x"), column("y")
    own = operation(operator, x, y)
    halves = operation(operator, _times(x, 0.5), _times(y, 0.5))
    infinite = case([(_is_positive(x), double(_INFINITY))], double(-_INFINITY))
    branches = [
        (_not_finite(x, y), own),
        (operation(exp.LT, _size(x), double(_NOT_LOST)), _signed(operator, y)),
        (operation(exp.LT, _size(y), double(_NOT_LOST)), x),
        (_at_least(_size(halves), _HALF_OF_ALL), infinite),
    ]
    return under_names({"x": first, "y": second}, case(branches, own))


def _signed(operator: type[exp.Binary], y: Sql) -> Sql:
    return y if operator is exp.Add else operation(exp.Sub, double(0.0), y)


def _product(first: Sql, second: Sql) -> Sql:
    return named(first, lambda x: named(second, lambda y: _product_of(x, y)))


def _product_of(x: Sql, y: Sql) -> Sql:
    own, constant = operation(exp.Mul, x, y), _constant(x) or _constant(y)
    if constant is not None:
        other = y if _constant(x) is not None else x
        ends = _LEAST_NORMAL / min(constant, 1.0), _MOST_NORMAL / max(constant, 1.0)
        near = _lies_within(other, ends, may_be_small=constant >= 1)
    else:
        near = [term for side in (x, y) for term in _lies_within(side, (_LEAST_FACTOR, _MOST_FACTOR))]
    return case([(all_of(near), own), (_is_plain(x, y), own)], _slow_product(x, y)) if near else own


def _quotient(first: Sql, second: Sql) -> Sql:
    return named(first, lambda x: named(second, lambda y: _quotient_of(x, y)))


def _quotient_of(x: Sql, y: Sql) -> Sql:
    """By 0 it is NULL, which is what becomes of infinity and NaN too."""
    own, constant = operation(exp.Div, x, y), _constant(y)
    if constant is not None:
        ends = _LEAST_NORMAL * max(constant, 1.0), _MOST_NORMAL * min(constant, 1.0)
        near = _lies_within(x, ends, may_be_small=constant <= 1)
        return case([(all_of(near), own), (_is_plain(x, y), own)], _slow_quotient(x, y)) if near else own
    near = [term for side in (x, y) for term in _lies_within(side, (_LEAST_FACTOR, _MOST_FACTOR))]
    by_zero = operation(exp.EQ, y, double(0.0))
    return case(
        [(by_zero, cast(exp.Null(), "DOUBLE")), (all_of(near), own), (_is_plain(x, y), own)], _slow_quotient(x, y)
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
    known = range_of(term) or Range(-_INFINITY, _INFINITY)
    fits = known.size <= most
    if may_be_small:
        return [] if fits else [between(term, double(-most), double(most))]
    return [] if fits and known.least >= least else [between(_size(term), double(least), double(most))]


def _is_plain(x: Sql, y: Sql) -> Sql:
    """Whether the operator cannot raise, because one of two doubles is infinite, NaN or 0."""
    return any_of([_not_finite(x, y), *(operation(exp.EQ, side, double(0.0)) for side in (x, y))])


def _slow_product(x: Sql, y: Sql) -> Sql:
    """Of two finite doubles other than 0."""
    p, n = operation(exp.Mul, column("a"), column("b")), operation(exp.Add, column("m"), column("n"))
    overflows = _with_shift(n, {1: _at_least(p, 2.0**424), 2: _at_least(p, 2.0**-176)})
    tie = case([(operation(exp.EQ, n, figure(-1)), double(2.0**-475))], double(2.0**125))
    vanishes = all_of([operation(exp.LT, n, figure(0)), _rounds_to_0(tie)])
    return _slow(x, y, overflows, vanishes, operation(exp.Mul, column("x"), column("y")))


def _slow_quotient(x: Sql, y: Sql) -> Sql:
    """Of two finite doubles other than 0; at half of the least double it is 0, and that comparison is exact."""
    a, b, n = column("a"), column("b"), operation(exp.Sub, column("m"), column("n"))
    q = operation(exp.Div, a, b)
    overflows = _with_shift(n, {1: _at_least(q, 2.0**424), 2: _at_least(q, 2.0**-176)})
    vanishes = _with_shift(
        n, {-1: operation(exp.LTE, _times(a, 2.0**475), b), -2: operation(exp.LTE, a, _times(b, 2.0**125))}
    )
    return _slow(x, y, overflows, vanishes, operation(exp.Div, column("x"), column("y")))


def _slow(x: Sql, y: Sql, overflows: Sql, vanishes: Sql, own: Sql) -> Sql:
    """What the operator gives, or what it raises for; a and b are sizes divided by 2^600 m times, or n times."""
    is_positive = operation(exp.EQ, _is_positive(column("x")), _is_positive(column("y")))
    infinite = case([(is_positive, double(_INFINITY))], double(-_INFINITY))
    body = case([(overflows, infinite), (vanishes, double(0.0))], own)
    return under_names({"x": x, "y": y, "a": _middle(x), "b": _middle(y), "m": _shifts(x), "n": _shifts(y)}, body)


def under_names(values: Mapping[str, Sql], body: Sql) -> Sql:
    """A term over names of values, which are computed once: OFFSET keeps the planner from putting them in."""
    inner = exp.Select(expressions=[aliased(value, name) for name, value in values.items()]).offset(0, copy=False)
    source = exp.Subquery(this=inner, alias=exp.TableAlias(this=exp.to_identifier("n", quoted=True)))
    return exp.Subquery(this=exp.Select(expressions=[body]).from_(source, copy=False))


def _middle(x: Sql) -> Sql:
    """The size, by a power of two nearer to 1, which is exact."""
    size = _size(x)
    far, near = (operation(exp.GTE, size, double(_FAR)), operation(exp.LT, size, double(1 / _FAR)))
    return case([(far, _times(size, 1 / _SHIFT)), (near, _times(size, _SHIFT))], size)


def _shifts(x: Sql) -> Sql:
    size = _size(x)
    far, near = (operation(exp.GTE, size, double(_FAR)), operation(exp.LT, size, double(1 / _FAR)))
    return case([(far, figure(1)), (near, figure(-1))], figure(0))


def _with_shift(n: Sql, conditions: Mapping[int, Sql]) -> Sql:
    """The condition of a shift; one at a time, because those of others may raise."""
    return case(
        [(operation(exp.EQ, n, figure(shift)), condition) for shift, condition in conditions.items()], exp.false()
    )


def _rounds_to_0(tie: Sql) -> Sql:
    """Whether the exact product a·b is at most a power of two.

    Where its rounded product is that, the sign of what was rounded away decides, which Dekker's algorithm gives
    exactly [Dek71]: of the halves of a and b, 26 bits each, no product is rounded.
    """
    p, products = column("p"), [operation(exp.Mul, column(left), column(right)) for left, right in _PRODUCTS]
    rest = operation(exp.Sub, products[0], p)
    for product in products[1:]:
        rest = operation(exp.Add, rest, product)
    is_tie, is_less = (operation(kind, p, column("t")) for kind in (exp.EQ, exp.LT))
    a, b = column("a"), column("b")
    values = {"p": operation(exp.Mul, a, b), "t": tie, **_halves("a", a), **_halves("b", b)}
    return under_names(values, case([(is_tie, operation(exp.LTE, rest, double(0.0)))], is_less))


_PRODUCTS: Final = (("a0", "b0"), ("a0", "b1"), ("a1", "b0"), ("a1", "b1"))


def _halves(name: str, a: Sql) -> Mapping[str, Sql]:
    """The first 26 bits of a double, and the others."""
    multiple = _times(a, _SPLIT)
    high = operation(exp.Sub, multiple, operation(exp.Sub, multiple, a))
    return {f"{name}0": high, f"{name}1": operation(exp.Sub, a, high)}


def _power(base: Sql, exponent: Sql) -> Sql:
    return named(base, lambda x: named(exponent, lambda y: _power_of(x, y)))


def _power_of(x: Sql, y: Sql) -> Sql:
    """NULL where it is no real number."""
    zero = double(0.0)
    of_zero = case([(operation(exp.GT, y, zero), zero), (operation(exp.EQ, y, zero), double(1.0))])
    is_real = any_of([operation(exp.GTE, x, zero), operation(exp.EQ, native("FLOOR", y), y)])
    is_infinite = operation(exp.EQ, x, double(-_INFINITY))
    plain = case([(is_real, native("POWER", x, y)), (is_infinite, native("POWER", _size(x), y))])
    return case(
        [(operation(exp.EQ, x, zero), of_zero), (_not_finite(x, y), plain), (is_real, _finite_power(x, y))]
    )  # fmt: skip


def _finite_power(base: Sql, exponent: Sql) -> Sql:
    """By y·ln|x|; as the square of a root where that is near the ends of the doubles."""
    x, y, logarithm = column("base"), column("exponent"), column("logarithm")
    root = native("POWER", _size(x), _times(y, 0.5))
    is_odd = operation(exp.NEQ, _times(native("FLOOR", _times(y, 0.5)), 2.0), y)
    sign = case([(all_of([operation(exp.LT, x, double(0.0)), is_odd]), double(-1.0))], double(1.0))
    branches = [
        (between(logarithm, double(-_SAFE_POWER), double(_SAFE_POWER)), native("POWER", x, y)),
        (operation(exp.GT, logarithm, double(_HIGHEST + 1)), operation(exp.Mul, sign, double(_INFINITY))),
        (operation(exp.LT, logarithm, double(_LOWEST - 1)), double(0.0)),
    ]
    values = {"base": base, "exponent": exponent, "logarithm": _product(exponent, native("LN", _size(base)))}
    return under_names(values, case(branches, operation(exp.Mul, sign, _product(root, root))))


def _exponential(value: Sql) -> Sql:
    def raised(x: Sql) -> Sql:
        infinite, vanishes = (
            operation(exp.GT, x, double(_HIGHEST)), operation(exp.LT, x, double(_LOWEST)),
        )  # fmt: skip
        return case([(infinite, double(_INFINITY)), (vanishes, double(0.0))], native("EXP", x))

    return named(value, raised)


def _shown(value: Sql) -> Sql:
    """As Python writes it."""

    def written(x: Sql) -> Sql:
        least, most = map(double, _WITHOUT_EXPONENT)
        own = cast(x, "VARCHAR")
        in_the_middle = all_of([operation(exp.GTE, _size(x), least), operation(exp.LT, _size(x), most)])
        plain = cast(cast(own, "HUGEINT"), "VARCHAR")
        point = case([(operation(exp.EQ, native("FLOOR", x), x), text(".0"))], text(""))
        infinities = [
            (operation(exp.EQ, x, double(end)), text(shown))
            for end, shown in ((_INFINITY, "inf"), (-_INFINITY, "-inf"))
        ]
        return case([*infinities, (in_the_middle, exp.DPipe(this=plain, expression=exp.Paren(this=point)))], own)

    return named(value, written)


def _bits(value: Sql) -> Sql:
    digits = exp.DPipe(this=text("x"), expression=native("ENCODE", native("FLOAT8SEND", value), text("hex")))
    bits = exp.Cast(this=exp.Paren(this=digits), to=exp.DataType.build("BIT(64)", dialect="postgres"))
    return cast(bits, "BIGINT")


def _is_finite(value: Sql) -> Sql:
    """NaN is greater than all others."""
    return between(value, double(-_LARGEST), double(_LARGEST))


def _not_finite(x: Sql, y: Sql) -> Sql:
    return negated(all_of([_is_finite(x), _is_finite(y)]))


def _is_positive(x: Sql) -> Sql:
    return operation(exp.GT, x, double(0.0))


def _at_least(value: Sql, least: float) -> Sql:
    return operation(exp.GTE, value, double(least))


def _size(x: Sql) -> Sql:
    return native("ABS", x)


def _times(x: Sql, factor: float) -> Sql:
    return operation(exp.Mul, x, double(factor))


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
    "is_finite": _is_finite,
    "is_nan": lambda value: operation(exp.EQ, value, double(float("nan"))),
    "bits_of_double": _bits,
    "text_of_double": _shown,
}
"""Idioms of doubles, of which those that are infinite or NaN are values; a quotient by 0 is NULL."""
