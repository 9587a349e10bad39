"""What a comparison with constants leaves of the facts of a value."""

from datetime import date, datetime
from fractions import Fraction

import pytest

from sfumato.query.model.expressions import Comparison
from sfumato.query.model.facts import Facts
from sfumato.query.model.intervals import Interval, place_of
from sfumato.query.model.kinds import Kind
from sfumato.query.values.comparing import EXACT, either, restricted

EQUAL, NOT_EQUAL, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL = Comparison
LAST_DAY, LAST_MOMENT = date.max, datetime.max  # noqa: DTZ901 # the last there are


def ends(kind, comparison, *values, lower=None, upper=None, resolution=Fraction(1)):
    """The ends that are left of an interval."""
    known = Facts(kind=kind, interval=Interval(*(None if end is None else Fraction(end) for end in (lower, upper))),
                  resolution=resolution)  # fmt: skip
    found = restricted(known, comparison, [Fraction(one) if isinstance(one, int | float) else one for one in values])
    return found.interval.lower, found.interval.upper


@pytest.mark.parametrize(
    ("comparison", "value", "expected"),
    [
        (LESS, 5, (None, 4)),
        (LESS_EQUAL, 5, (None, 5)),
        (GREATER, 5, (6, None)),
        (GREATER_EQUAL, 5, (5, None)),
        (EQUAL, 5, (5, 5)),
        (NOT_EQUAL, 5, (None, None)),
        (LESS, 4.5, (None, 4)),
        (GREATER, -4.5, (-4, None)),
        (EQUAL, 4.5, (None, None)),  # nothing whole equals it
        (LESS, 2**62, (None, 2**62 - 1)),
        (GREATER_EQUAL, EXACT + 0.5, (EXACT, None)),  # the double is a whole number
        (GREATER_EQUAL, 2**63, (None, None)),  # compared as doubles, of which 2^63 - 1 is one with it
    ],
)
def test_of_whole_numbers_the_next_one_that_passes_is_the_end(comparison, value, expected):
    assert ends(Kind.INTEGER, comparison, value) == expected


def test_a_fraction_so_large_that_doubles_do_not_tell_it_from_others_says_nothing_of_whole_numbers():
    assert ends(Kind.INTEGER, GREATER, Fraction(2**54 + 1, 2)) == (None, None)


@pytest.mark.parametrize(
    ("value", "expected"),
    [("5", 5), ("4.99", "4.99"), ("4.992", 5), ("4.985", "4.99"), ("4.981", "4.98"), ("-0.004", 0), ("1/3", "0.34")],
)
def test_of_floats_the_next_point_of_the_lattice_outward_is_the_end_unless_one_is_near(value, expected):
    for comparison in (LESS, LESS_EQUAL):
        assert ends(Kind.FLOAT, comparison, Fraction(value), resolution=Fraction(1, 100)) == (None, Fraction(expected))
    for comparison in (GREATER, GREATER_EQUAL):
        found = ends(Kind.FLOAT, comparison, -Fraction(value), resolution=Fraction(1, 100))
        assert found == (-Fraction(expected), None)


def test_of_floats_without_a_lattice_the_constant_is_the_end():
    assert ends(Kind.FLOAT, LESS, Fraction(1, 3), resolution=None) == (None, Fraction(1, 3))


def test_days_and_moments_have_ends_that_exist():
    assert ends(Kind.DATE, LESS, date(2026, 1, 31)) == (None, place_of(date(2026, 1, 30)))
    assert ends(Kind.DATE, GREATER, LAST_DAY) == (place_of(LAST_DAY), None)
    assert ends(Kind.DATE, LESS, date.min) == (None, place_of(date.min))
    assert ends(Kind.TIMESTAMP, GREATER, LAST_MOMENT) == (place_of(LAST_MOMENT), None)


def test_what_lies_outside_of_an_interval_leaves_its_nearest_end():
    assert ends(Kind.INTEGER, GREATER, 95, lower=17, upper=90) == (90, 90)
    assert ends(Kind.INTEGER, LESS, 5, lower=17, upper=90) == (17, 17)
    assert ends(Kind.INTEGER, EQUAL, 20, 99, lower=17, upper=90) == (20, 90)
    assert ends(Kind.TEXT, LESS, "m") == (None, None)


@pytest.mark.parametrize(
    ("kind", "values", "comparison", "constants", "expected"),
    [
        (Kind.TEXT, ("b", "a", "c"), EQUAL, ["c", "b", "x"], ("b", "c")),
        (Kind.TEXT, ("b", "a", "c"), NOT_EQUAL, ["c", "b"], ("a",)),
        (Kind.TEXT, ("b", "a", "c"), LESS, ["b"], ("a",)),
        (Kind.TEXT, ("b", "a"), EQUAL, ["x"], ()),
        (Kind.TEXT, None, EQUAL, ["x", "a"], ("a", "x")),
        (Kind.TEXT, None, LESS, ["x"], None),
        (Kind.INTEGER, (3, 1, 2), GREATER_EQUAL, [Fraction(3, 2)], (3, 2)),
        (Kind.INTEGER, (2**53 + 1, 1), EQUAL, [Fraction(2**54 + 1, 2)], (2**53 + 1,)),  # as doubles
        (Kind.INTEGER, None, EQUAL, [Fraction(7), Fraction(5, 2), Fraction(3), Fraction(2**70)], (3, 7)),
        (Kind.BOOLEAN, (False, True), NOT_EQUAL, [True], (False,)),
        (Kind.DATE, None, EQUAL, [date(2026, 1, 31), date(2025, 1, 31)], (date(2025, 1, 31), date(2026, 1, 31))),
        (Kind.FLOAT, None, EQUAL, [Fraction(1)], None),
    ],
)
def test_values_that_pass_are_left_of_a_list_and_constants_make_one(kind, values, comparison, constants, expected):
    assert restricted(Facts(kind=kind, values=values), comparison, constants).values == expected


def test_constants_outside_of_the_interval_are_not_listed():
    ages = Facts(kind=Kind.INTEGER, interval=Interval(Fraction(17), Fraction(90)))
    assert restricted(ages, EQUAL, [Fraction(95), Fraction(20)]).values == (20,)


def test_what_is_certain_is_narrowed_beside_what_is_presumed():
    counts = Facts(
        kind=Kind.INTEGER,
        interval=Interval(Fraction(1), Fraction(10)),
        certain=Interval(Fraction(1), None),
        nullable=False,
    )
    found = restricted(counts, LESS, [Fraction(50)])
    assert (found.interval.upper, found.certain_interval.upper) == (10, 49)
    both = either([found, restricted(counts, LESS, [Fraction(4)])], counts)
    assert (both.interval.upper, both.certain_interval.upper) == (10, 49)


def test_of_several_facts_all_hold_together():
    text = Facts(kind=Kind.TEXT, values=("b", "a", "c"))
    sides = [restricted(text, EQUAL, ["c"]), restricted(text, EQUAL, ["b"], nullable=True)]
    found = either(sides, text)
    assert (found.values, found.nullable) == (("b", "c"), True)
    free = Facts(kind=Kind.TEXT)
    assert either([restricted(free, EQUAL, ["x"]), restricted(free, EQUAL, ["a"])], free).values == ("a", "x")
    assert either([restricted(free, EQUAL, ["x"]), restricted(free, LESS, ["a"])], free).values is None
