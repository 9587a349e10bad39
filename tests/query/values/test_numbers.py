"""The range of doubles, and that no operation within it leaves the doubles."""

import math
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.query.values.numbers import LARGEST, LIMIT, bases, factor, limited

TINY, SMALL = 2.0**-1074, 2.0**-500
SPECIAL = (
    0.0, TINY, 2.0**-1022, 1e-200, SMALL / 2, math.nextafter(SMALL, 0.0), SMALL, 1.5 * SMALL, 2.5 * SMALL, 2.0**-448,
    2.0**-447 / 3, 1e-100, 0.1, 1.0, 3.0, 1e100, LIMIT / 3, math.nextafter(LARGEST, 0.0), LARGEST,
)  # fmt: skip
"""Doubles within the range at which something changes."""

DOUBLES = st.sampled_from(SPECIAL) | st.floats(0, LARGEST)
NORMAL = 2.0**-1022


@pytest.mark.parametrize("value", [LIMIT, 1e151, 1e308, math.inf, math.nan])
def test_what_is_beyond_the_range_is_none(value):
    assert limited(value) is limited(-value) is None


@given(DOUBLES)
def test_what_is_within_the_range_stays_and_a_zero_has_no_sign(value):
    assert limited(value) == value == -limited(-value)
    assert math.copysign(1, limited(-0.0)) == 1


@given(DOUBLES)
def test_a_factor_is_the_nearest_multiple_half_to_even(value):
    assert Fraction(factor(value)) == round(Fraction(value) * 2**500) / Fraction(2**500) or value >= 2.0**-447
    assert factor(-value) == -factor(value)
    assert factor(value) == value or value < 2.0**-448


@given(DOUBLES, DOUBLES)
def test_no_operation_leaves_the_doubles(x, y):
    a, b = factor(x), factor(y)
    assert x + y <= 2.0**501
    for made in (a * b, a / b if b else 0.0):
        assert made == 0 or NORMAL <= made <= 2.0**1000
    assert (a * b == 0) == (a == 0 or b == 0)


@pytest.mark.parametrize(
    ("base", "exponent"),
    list(product([f for f in map(factor, SPECIAL) if f], [2, -2, 2.5, -3, 17, 1e3, -1e9, 4e18, -4e18, 1e19, 1e150])),
)
def test_a_power_is_computed_only_where_doubles_hold_it(base, exponent):
    least, most = bases(float(exponent))
    if least <= base <= most:
        assert 2.0**-1001 < math.pow(base, exponent) < 2.0**1001
    else:
        power = exponent * math.log2(base)
        assert abs(power) > 999 or abs(exponent) > 1e15  # where doubles near 1 are few
        assert (base < least) == ((power < 0) == (exponent > 0))
