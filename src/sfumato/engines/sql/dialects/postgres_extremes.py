"""What PostgreSQL's operators on doubles would give or raise for, told without raising: proofs/engines/postgres.md.

A size is brought to the middle of the doubles by a power of two, which is exact; there a product or a quotient can be
computed, and tells whether that of the doubles themselves is infinite, or rounds to 0.
"""

from collections.abc import Mapping
from typing import Final

from sqlglot import exp

from sfumato.engines.sql.dialects.dialect import native
from sfumato.engines.sql.dialects.postgres_names import under_names
from sfumato.engines.sql.terms import Sql, all_of, between, case, column, double, figure, negated, operation

INFINITY: Final = float("inf")
LARGEST: Final = 1.7976931348623157e308
HALF_OF_ALL: Final = 2.0**1023
_NOT_LOST: Final = 2.0**960
_FAR, _SHIFT = 2.0**500, 2.0**600
_SPLIT: Final = 2.0**27 + 1
_PRODUCTS: Final = (("a0", "b0"), ("a0", "b1"), ("a1", "b0"), ("a1", "b1"))


def slow_sum(operator: type[exp.Binary], first: Sql, second: Sql) -> Sql:
    """Halves tell whether the whole overflows; one that is too small to matter is not halved, as it might vanish."""
    x, y = column("x"), column("y")
    own = operation(operator, x, y)
    halves = operation(operator, times(x, 0.5), times(y, 0.5))
    infinite = case([(_is_positive(x), double(INFINITY))], double(-INFINITY))
    branches = [
        (not_finite(x, y), own),
        (operation(exp.LT, size_of(x), double(_NOT_LOST)), _signed(operator, y)),
        (operation(exp.LT, size_of(y), double(_NOT_LOST)), x),
        (_at_least(size_of(halves), HALF_OF_ALL), infinite),
    ]
    return under_names({"x": first, "y": second}, case(branches, own))


def _signed(operator: type[exp.Binary], y: Sql) -> Sql:
    return y if operator is exp.Add else operation(exp.Sub, double(0.0), y)


def slow_product(x: Sql, y: Sql) -> Sql:
    """Of two finite doubles other than 0."""
    p, n = operation(exp.Mul, column("a"), column("b")), operation(exp.Add, column("m"), column("n"))
    overflows = _with_shift(n, {1: _at_least(p, 2.0**424), 2: _at_least(p, 2.0**-176)})
    tie = case([(operation(exp.EQ, n, figure(-1)), double(2.0**-475))], double(2.0**125))
    vanishes = all_of([operation(exp.LT, n, figure(0)), _rounds_to_0(tie)])
    return _slow(x, y, overflows, vanishes, operation(exp.Mul, column("x"), column("y")))


def slow_quotient(x: Sql, y: Sql) -> Sql:
    """Of two finite doubles other than 0; at half of the least double it is 0, and that comparison is exact."""
    a, b, n = column("a"), column("b"), operation(exp.Sub, column("m"), column("n"))
    q = operation(exp.Div, a, b)
    overflows = _with_shift(n, {1: _at_least(q, 2.0**424), 2: _at_least(q, 2.0**-176)})
    vanishes = _with_shift(
        n, {-1: operation(exp.LTE, times(a, 2.0**475), b), -2: operation(exp.LTE, a, times(b, 2.0**125))}
    )
    return _slow(x, y, overflows, vanishes, operation(exp.Div, column("x"), column("y")))


def _slow(x: Sql, y: Sql, overflows: Sql, vanishes: Sql, own: Sql) -> Sql:
    """What the operator gives, or what it raises for; a and b are sizes divided by 2^600 m times, or n times."""
    is_positive = operation(exp.EQ, _is_positive(column("x")), _is_positive(column("y")))
    infinite = case([(is_positive, double(INFINITY))], double(-INFINITY))
    body = case([(overflows, infinite), (vanishes, double(0.0))], own)
    return under_names({"x": x, "y": y, "a": _middle(x), "b": _middle(y), "m": _shifts(x), "n": _shifts(y)}, body)


def _middle(x: Sql) -> Sql:
    """The size, by a power of two nearer to 1, which is exact."""
    size = size_of(x)
    far, near = (operation(exp.GTE, size, double(_FAR)), operation(exp.LT, size, double(1 / _FAR)))
    return case([(far, times(size, 1 / _SHIFT)), (near, times(size, _SHIFT))], size)


def _shifts(x: Sql) -> Sql:
    size = size_of(x)
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


def _halves(name: str, a: Sql) -> Mapping[str, Sql]:
    """The first 26 bits of a double, and the others."""
    multiple = times(a, _SPLIT)
    high = operation(exp.Sub, multiple, operation(exp.Sub, multiple, a))
    return {f"{name}0": high, f"{name}1": operation(exp.Sub, a, high)}


def is_finite(value: Sql) -> Sql:
    """NaN is greater than all others."""
    return between(value, double(-LARGEST), double(LARGEST))


def not_finite(x: Sql, y: Sql) -> Sql:
    """Whether one of two doubles is infinite or NaN."""
    return negated(all_of([is_finite(x), is_finite(y)]))


def _is_positive(x: Sql) -> Sql:
    return operation(exp.GT, x, double(0.0))


def _at_least(value: Sql, least: float) -> Sql:
    return operation(exp.GTE, value, double(least))


def size_of(x: Sql) -> Sql:
    """A number without its sign."""
    return native("ABS", x)


def times(x: Sql, factor: float) -> Sql:
    """A double times a constant."""
    return operation(exp.Mul, x, double(factor))
