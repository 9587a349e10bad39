"""Numbers against exact rationals; the edges of each function are in test_scalars."""

import math
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from sfumato.query.values.numbers import (
    LARGEST,
    divided,
    exponential,
    logarithm,
    modulo,
    power,
    rounded,
    sign,
    square_root,
    whole,
)

INTEGERS = st.integers(-(2**63), 2**63 - 1) | st.integers(-9, 9)
DOUBLES = st.floats(-LARGEST, LARGEST)


@given(INTEGERS, INTEGERS.filter(bool))
def test_division_of_whole_numbers_is_cut_off_toward_zero_and_leaves_the_rest(x, y):
    assert divided(x, y) == math.trunc(Fraction(x, y))
    assert modulo(x, y) == x - y * divided(x, y)


@given(INTEGERS | DOUBLES)
def test_nothing_is_divided_by_zero(x):
    assert [divided(x, zero) for zero in (0, 0.0, -0.0)] == [None] * 3
    assert modulo(1, 0) is None


@given(DOUBLES)
def test_whole_doubles_are_those_next_to_a_double(x):
    exact = Fraction(x)
    assert whole(math.floor, x) == math.floor(exact)
    assert whole(math.ceil, x) == math.ceil(exact)
    assert whole(math.trunc, x) == math.trunc(exact)
    assert isinstance(whole(math.floor, x), float)


@given(st.integers(-(10**6), 10**6), st.integers(0, 3))
def test_rounding_goes_half_up(eighths, digits):
    x = Fraction(eighths, 8)
    assert rounded(float(x), digits) == float(Fraction(math.floor(x * 10**digits + Fraction(1, 2)), 10**digits))


@given(INTEGERS | DOUBLES)
def test_a_sign_is_that_of_the_number(x):
    assert sign(x) * abs(x) == x


@given(INTEGERS | DOUBLES)
def test_roots_and_logarithms_are_of_numbers_that_have_them(x):
    assert (square_root(x) is None) == (x < 0)
    assert (logarithm(math.log, x) is None) == (x <= 0)


@given(DOUBLES, DOUBLES)
def test_powers_raise_nothing(x, y):
    assert exponential(x) is None or 0 <= exponential(x) < 2**1000
    assert power(x, y) is None or abs(power(x, y)) <= 2**1000
