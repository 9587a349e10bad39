"""Intervals of exact rationals, with ends that may be open to infinity: what a value is known to lie in.

They only *propose* the bounds to which values are clamped before they are summed; no guarantee rests on them. Days and
times lie in them in the numbers that `place_of` gives them.
"""

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from fractions import Fraction
from math import ceil, floor
from typing import Final, overload

from sfumato.query.model.kinds import Kind


@dataclass(frozen=True, slots=True)
class Interval:
    """All numbers from `lower` to `upper`; None is −∞ or ∞."""

    lower: Fraction | None = None
    upper: Fraction | None = None

    @property
    def is_bounded(self) -> bool:
        """Whether both ends are known."""
        return self.lower is not None and self.upper is not None

    def holds(self, number: Fraction) -> bool:
        """Whether a number lies in it."""
        return (self.lower is None or self.lower <= number) and (self.upper is None or number <= self.upper)

    def __neg__(self) -> "Interval":
        return Interval(
            None if self.upper is None else -self.upper,
            None if self.lower is None else -self.lower,
        )

    def __add__(self, other: "Interval") -> "Interval":
        lower = None if self.lower is None or other.lower is None else self.lower + other.lower
        upper = None if self.upper is None or other.upper is None else self.upper + other.upper
        return Interval(lower, upper)

    def __sub__(self, other: "Interval") -> "Interval":
        return self + -other

    def __mul__(self, other: "Interval") -> "Interval":
        zero = Interval(Fraction(0), Fraction(0))
        if zero in (self, other):
            return zero
        if not (self.is_bounded and other.is_bounded):
            return _half_open_product(self, other)
        ends = [a * b for a in _ends(self) for b in _ends(other)]
        return Interval(min(ends), max(ends))

    def __truediv__(self, other: "Interval") -> "Interval":
        """Quotients by numbers that are not 0; open where a divisor can come near 0."""
        if other.lower is not None and other.lower > 0:
            inverse = Interval(Fraction(0) if other.upper is None else 1 / other.upper, 1 / other.lower)
            return self * inverse
        if other.upper is not None and other.upper < 0:
            return -self / -other
        return ANYTHING

    def __or__(self, other: "Interval") -> "Interval":
        """The smallest interval that holds both."""
        lower = None if self.lower is None or other.lower is None else min(self.lower, other.lower)
        upper = None if self.upper is None or other.upper is None else max(self.upper, other.upper)
        return Interval(lower, upper)

    def absolute(self) -> "Interval":
        """Of absolute values."""
        if self.lower is not None and self.lower >= 0:
            return self
        if self.upper is not None and self.upper <= 0:
            return -self
        upper = None if self.lower is None or self.upper is None else max(-self.lower, self.upper)
        return Interval(Fraction(0), upper)

    def rounded(self) -> "Interval":
        """Of whole numbers on either side of a value."""
        return Interval(
            None if self.lower is None else Fraction(floor(self.lower)),
            None if self.upper is None else Fraction(ceil(self.upper)),
        )

    def least(self, other: "Interval") -> "Interval":
        """Of the lesser of two values."""
        uppers = [end for end in (self.upper, other.upper) if end is not None]
        return Interval((self | other).lower, min(uppers) if uppers else None)

    def greatest(self, other: "Interval") -> "Interval":
        """Of the greater of two values."""
        return -(-self).least(-other)

    def within_doubles(self) -> "Interval":
        """Without ends beyond all doubles: numbers there are NULL, and ends that grow for ever cost time."""
        kept = (None if end is None or abs(end) > LARGEST else end for end in (self.lower, self.upper))
        # Ends with thousands of digits, such as of a power of a power, become the nearest doubles.
        lower, upper = (
            end if end is None or end.denominator.bit_length() <= _MOST_BITS else Fraction(float(end)) for end in kept
        )
        return Interval(lower, upper)


_FIRST: Final = datetime.combine(date.min, time.min)
_MICROSECOND: Final = timedelta(microseconds=1)

ANYTHING: Final = Interval()
LARGEST: Final = Fraction(sys.float_info.max)
_MOST_BITS: Final = 4096


def point(value: Fraction) -> Interval:
    """One number."""
    return Interval(value, value)


def hull(intervals: Iterable[Interval]) -> Interval:
    """The smallest interval that holds several, at least one.

    Example:
        >>> hull([point(Fraction(1)), point(Fraction(3))])
        Interval(lower=Fraction(1, 1), upper=Fraction(3, 1))
    """
    first, *others = intervals
    for other in others:
        first |= other
    return first


def _ends(interval: Interval) -> tuple[Fraction, ...]:
    return tuple(end for end in (interval.lower, interval.upper) if end is not None)


def _half_open_product(first: Interval, second: Interval) -> Interval:
    """Only the sign survives, and the lower end of two intervals above 0."""
    if first.lower is not None and second.lower is not None and first.lower >= 0 and second.lower >= 0:
        return Interval(first.lower * second.lower, None)
    return ANYTHING


@overload
def place_of(value: Fraction | date) -> Fraction: ...


@overload
def place_of(value: Fraction | int | str | date | None) -> Fraction | None: ...


def place_of(value: Fraction | int | str | date | None) -> Fraction | None:
    """Where a value lies in an interval of its kind: a number, a DATE by its day, a TIMESTAMP by its microsecond.

    Days are counted as `date.toordinal` does, microseconds from the start of the year 1. Other values have no place.

    Example:
        >>> place_of(date(1, 1, 2)), place_of(datetime(1, 1, 1, 0, 0, 1)), place_of("x")
        (Fraction(2, 1), Fraction(1000000, 1), None)
    """
    match value:
        case None | bool() | str():
            return None
        case datetime():
            return Fraction((value - _FIRST) // _MICROSECOND)
        case date():
            return Fraction(value.toordinal())
        case _:
            return Fraction(value)


def date_at(place: Fraction, kind: Kind) -> date:
    """The DATE or TIMESTAMP at a whole place.

    Example:
        >>> date_at(Fraction(2), Kind.DATE), date_at(Fraction(1000000), Kind.TIMESTAMP)
        (datetime.date(1, 1, 2), datetime.datetime(1, 1, 1, 0, 0, 1))
    """
    return _FIRST + int(place) * _MICROSECOND if kind is Kind.TIMESTAMP else date.fromordinal(int(place))


YEARS: Final = {
    Kind.DATE: Interval(place_of(date.min), place_of(date.max)),
    Kind.TIMESTAMP: Interval(place_of(_FIRST), place_of(datetime.combine(date.max, time.max))),
}
"""All days and all times that there are."""
