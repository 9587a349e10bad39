"""Roots, logarithms, exponentials and powers: which values they have, by those of what they are of.

They rise or fall, or do so on either side of 0, so that their ends are values at ends.
"""

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Final

from sfumato.query.model.expressions import Expression, Literal
from sfumato.query.model.functions import Function
from sfumato.query.model.intervals import ANYTHING, Interval

REALS: Final = frozenset({Function.SQRT, Function.LN, Function.LOG10, Function.EXP, Function.POWER})
"""The functions of numbers that are not computed of whole numbers alone."""

_POSITIVE: Final = frozenset({Function.SQRT, Function.EXP})
_LAST_BITS: Final = Fraction(1, 2**50)
_BITS: Final = 24
"""How many bits an end keeps."""


def first_interval(function: Function) -> Interval:
    """What was known of values of one of `REALS` by the first rules, whatever it is of.

    Example:
        >>> first_interval(Function.SQRT).lower, first_interval(Function.LN).lower
        (Fraction(0, 1), None)
    """
    return Interval(Fraction(0), None) if function in _POSITIVE else ANYTHING


def real_interval(function: Function, interval: Interval, exponent: Expression | None = None) -> Interval:
    """Where the values of one of `REALS` lie, as near as doubles say.

    Args:
        function: Which.
        interval: Where what it is of lies.
        exponent: Of a power.
    """
    found = _at_ends(function, interval, exponent)
    lower = None if found.lower is None else found.lower - abs(found.lower) * _LAST_BITS
    upper = None if found.upper is None else found.upper + abs(found.upper) * _LAST_BITS
    return Interval(lower, upper)


def rough_interval(function: Function, interval: Interval, exponent: Expression | None = None) -> Interval:
    """The same, rounded outward to few bits: no library, whose last bit may be another, makes another interval.

    Args:
        function: Which.
        interval: Where what it is of lies.
        exponent: Of a power.

    Example:
        >>> rough_interval(Function.SQRT, Interval(Fraction(4), Fraction(25)))
        Interval(lower=Fraction(2, 1), upper=Fraction(5, 1))
    """
    found = _at_ends(function, interval, exponent)
    lower = None if found.lower is None else _outward(found.lower, math.floor)
    upper = None if found.upper is None else _outward(found.upper, math.ceil)
    return Interval(lower, upper)


def _at_ends(function: Function, interval: Interval, exponent: Expression | None) -> Interval:
    return _power(interval, exponent) if function is Function.POWER else _OF_ONE[function](interval)


def _outward(end: Fraction, whole: Callable[[Fraction], int]) -> Fraction:
    """To a multiple of a power of two, and first by what the last bits of doubles may be off, unless it is exact."""
    if end == 0 or (end.denominator == 1 and abs(end) < 2**_BITS):
        return end
    step = Fraction(2) ** (math.frexp(float(end))[1] - _BITS)
    slack = step / 2**8
    return whole((end - slack if whole is math.floor else end + slack) / step) * step


def _rising(
    function: Callable[[float], float], interval: Interval, *, at_least: float, included: bool
) -> Interval:  # fmt: skip
    """The values of a function that rises from a place on; below it there are none."""
    inside = interval.within_doubles()
    lower, upper = (None if end is None else float(end) for end in (inside.lower, inside.upper))
    if upper is not None and (upper < at_least or (upper == at_least and not included)):
        return ANYTHING
    first: float | None = at_least if lower is None or lower < at_least else lower
    if first == at_least and not included:
        first = None
    return Interval(_value(function, first), _value(function, upper))


def _value(function: Callable[[float], float], place: float | None) -> Fraction | None:
    """None where it has none within doubles."""
    try:
        value = math.inf if place is None else function(place)
    except (OverflowError, ValueError, ZeroDivisionError):
        return None
    return Fraction(value) if math.isfinite(value) else None


_OF_ONE: Final[Mapping[Function, Callable[[Interval], Interval]]] = {
    Function.SQRT: lambda x: _rising(math.sqrt, x, at_least=0, included=True),
    Function.LN: lambda x: _rising(math.log, x, at_least=0, included=False),
    Function.LOG10: lambda x: _rising(math.log10, x, at_least=0, included=False),
    Function.EXP: lambda x: Interval(
        Fraction(0) if x.lower is None else _value(math.exp, float(x.within_doubles().lower or 0)),
        None if x.upper is None else _value(math.exp, float(x.within_doubles().upper or 0)),
    ),
}


def _power(interval: Interval, exponent: Expression | None) -> Interval:
    """Of a constant exponent: it rises or falls above 0, and is even or odd below if it is whole."""
    if not isinstance(exponent, Literal) or not isinstance(exponent.value, Fraction):
        return ANYTHING
    power, is_whole = float(exponent.value), exponent.value.denominator == 1
    if is_whole and exponent.value % 2 == 0:
        return _positive_power(interval.absolute(), power)
    if is_whole and (interval.lower is None or interval.lower < 0):
        if interval.upper is not None and interval.upper <= 0:
            return -_positive_power(-interval, power)
        if power < 0:
            return ANYTHING  # on both sides of a pole
        below = Interval(Fraction(0), None if interval.lower is None else -interval.lower)
        above = Interval(Fraction(0), interval.upper)
        return -_positive_power(below, power) | _positive_power(above, power)
    return _positive_power(interval, power)


def _positive_power(interval: Interval, power: float) -> Interval:
    """x^p of x ≥ 0."""
    if power >= 0:
        return _rising(lambda x: x**power, interval, at_least=0, included=True)
    inverse = _rising(lambda x: x**-power, interval, at_least=0, included=False)
    if inverse == ANYTHING:
        return Interval(Fraction(0), None)
    lower, upper = (None if end is None or end == 0 else 1 / end for end in (inverse.upper, inverse.lower))
    return Interval(lower or Fraction(0), upper).within_doubles()  # an inverse may lie beyond all of them
