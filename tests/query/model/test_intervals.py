"""An interval of a result holds the result, whatever numbers lie in the intervals of what it is made of."""

from datetime import datetime
from fractions import Fraction
from math import ceil, floor
from operator import add, mul, neg, sub, truediv

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sfumato.query.model.intervals import ANYTHING, LARGEST, YEARS, Interval, date_at, hull, place_of, point
from sfumato.query.model.kinds import Kind

NUMBERS = st.fractions(-20, 20, max_denominator=4) | st.sampled_from([Fraction(0), Fraction(10**30)])


@st.composite
def numbers_in_intervals(draw):
    """A number and an interval that holds it, perhaps open, perhaps a point."""
    low, value, high = sorted(draw(st.tuples(NUMBERS, NUMBERS, NUMBERS)))
    return value, Interval(draw(st.sampled_from([None, low, value])), draw(st.sampled_from([None, high, value])))


def holds(interval, value):
    above = interval.lower is None or interval.lower <= value
    return above and (interval.upper is None or value <= interval.upper)


@given(numbers_in_intervals(), numbers_in_intervals())
@pytest.mark.parametrize("operation", [add, sub, mul, truediv])
def test_arithmetic_stays_inside(operation, first, second):
    (x, of_x), (y, of_y) = first, second
    assume(operation is not truediv or y != 0)
    assert holds(operation(of_x, of_y), operation(x, y))


@given(numbers_in_intervals(), numbers_in_intervals())
def test_the_lesser_and_the_greater_of_two_stay_inside(first, second):
    (x, of_x), (y, of_y) = first, second
    assert holds(of_x.least(of_y), min(x, y))
    assert holds(of_x.greatest(of_y), max(x, y))
    assert holds(of_x | of_y, x)
    assert holds(of_x | of_y, y)
    assert holds(hull([of_x, of_y]), y)


@given(numbers_in_intervals())
def test_what_is_made_of_one_number_stays_inside(drawn):
    x, of_x = drawn
    assert holds(neg(of_x), -x)
    assert holds(of_x.absolute(), abs(x))
    assert all(holds(of_x.rounded(), whole) for whole in (floor(x), ceil(x), floor(x + Fraction(1, 2))))


BOUNDED = st.tuples(NUMBERS, NUMBERS).map(lambda ends: Interval(min(ends), max(ends)))


@given(BOUNDED, BOUNDED)
@pytest.mark.parametrize("operation", [add, sub, mul])
def test_arithmetic_on_bounded_intervals_is_tight(operation, of_x, of_y):
    found = operation(of_x, of_y)
    ends = [operation(a, b) for a in (of_x.lower, of_x.upper) for b in (of_y.lower, of_y.upper)]
    assert found == Interval(min(ends), max(ends))


def between(lower, upper):
    return Interval(*(None if end is None else Fraction(end) for end in (lower, upper)))


@pytest.mark.parametrize(
    ("found", "interval"),
    [
        (between(6, 8) / between(2, 4), between("3/2", 4)),
        (between(6, 8) / between(-4, -2), between(-4, "-3/2")),
        (between(6, 8) / between(2, None), between(0, 4)),
        (between(6, 8) / between(0, 4), ANYTHING),
        (between(6, 8) / between(-1, 4), ANYTHING),
        (between(2, None) * between(3, None), between(6, None)),
        (between(-2, None) * between(3, None), ANYTHING),
        (between(0, 0) * ANYTHING, between(0, 0)),
        (between(-3, 2).absolute(), between(0, 3)),
        (between(-3, None).absolute(), between(0, None)),
        (between(-3, -2).absolute(), between(2, 3)),
        (between("1/2", "3/2").rounded(), between(0, 2)),
        (between(1, 5).least(between(None, 3)), between(None, 3)),
        (between(1, 5).greatest(between(None, 3)), between(1, 5)),
    ],
)
def test_worked_intervals(found, interval):
    assert found == interval


MOMENTS = st.dates() | st.datetimes()


@given(MOMENTS)
def test_days_and_times_have_places_and_are_found_at_them_again(moment):
    kind = Kind.TIMESTAMP if isinstance(moment, datetime) else Kind.DATE
    assert date_at(place_of(moment), kind) == moment
    assert YEARS[kind].holds(place_of(moment))


@given(st.lists(st.dates(), min_size=2, max_size=2) | st.lists(st.datetimes(), min_size=2, max_size=2))
def test_later_days_and_times_have_later_places(moments):
    first, second = moments
    assert (place_of(first) < place_of(second)) is (first < second)


def test_nothing_lies_beside_the_years_that_there_are():
    for kind, years in YEARS.items():
        for end, step in ((years.lower, -1), (years.upper, 1)):
            assert years.holds(end)
            assert not years.holds(end + step)
            with pytest.raises((ValueError, OverflowError)):
                date_at(end + step, kind)
    assert [place_of(value) for value in (None, True, "x", 3)] == [None, None, None, 3]


def test_an_interval_is_bounded_if_both_ends_are_known():
    assert point(Fraction(3)).is_bounded
    assert not between(0, None).is_bounded
    assert not ANYTHING.is_bounded


def test_ends_beyond_the_doubles_are_open_and_others_do_not_grow_for_ever():
    assert between(0, 10**400).within_doubles() == between(0, None)
    assert point(LARGEST).within_doubles() == point(LARGEST)
    assert Interval(Fraction(1, 3**3000), LARGEST - Fraction(1, 3**3000)).within_doubles() == between(0, LARGEST)
    assert point(Fraction(1, 3)).within_doubles() == point(Fraction(1, 3))
