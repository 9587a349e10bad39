"""Every bound lies on its side, against ball arithmetic and exact rationals, and not far from the truth."""

import math
from fractions import Fraction

import mpmath
import pytest
from flint import arb, ctx, fmpq
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import ParameterError
from sfumato.numeric.rounding import (
    deflated,
    dyadic_up,
    exp_bounds,
    exp_down,
    exp_up,
    float_up,
    inflated,
    log_bounds,
    log_near,
    log_up,
)

EXPONENTS = st.fractions(min_value=-690, max_value=709, max_denominator=10**12)
VALUES = st.builds(Fraction, *[st.integers(1, 10**30)] * 2)


def precise(value: Fraction) -> mpmath.mpf:
    return mpmath.mpf(value.numerator) / value.denominator


@pytest.fixture(autouse=True)
def fifty_digits():
    with mpmath.workdps(50):
        yield


@given(st.fractions())
def test_floats_enclose_a_rational(value):
    low, high = -float_up(-value), float_up(value)
    assert Fraction(low) <= value <= Fraction(high)
    assert high in {low, math.nextafter(low, math.inf)}


def test_a_rational_beyond_all_floats_is_enclosed_too():
    huge = Fraction(10**400)
    assert float_up(huge) == math.inf
    assert float_up(-huge) == -math.nextafter(math.inf, 0)


@given(EXPONENTS)
def test_the_exponential_is_enclosed_within_1e_12(exponent):
    with mpmath.workdps(50):
        truth = mpmath.exp(precise(exponent))
        assert truth * (1 - mpmath.mpf("1e-12")) <= exp_down(exponent) <= truth <= exp_up(exponent)
        assert exp_up(exponent) <= truth * (1 + mpmath.mpf("1e-12"))


def test_the_exponential_of_zero_is_exactly_one():
    assert exp_down(Fraction(0)) == exp_up(Fraction(0)) == 1


@pytest.mark.parametrize("exponent", [-(10**9), -746, -701, 710, 10**9])
def test_the_exponential_is_enclosed_beyond_the_range_of_floats(exponent):
    low, high = exp_down(Fraction(exponent)), exp_up(Fraction(exponent))
    truth = mpmath.exp(exponent)
    assert low <= truth
    assert truth <= high
    assert low < high


@given(VALUES)
def test_the_logarithm_is_rounded_up_within_1e_13(value):
    with mpmath.workdps(50):
        truth = mpmath.log(precise(value))
        assert truth <= precise(log_up(value)) <= truth + abs(truth) * mpmath.mpf("1e-13")


@given(st.integers(10, 10**40), st.sampled_from([-1, 1]))
def test_the_logarithm_is_tight_near_one(parts, sign):
    value = 1 + Fraction(sign, parts)
    with mpmath.workdps(100):
        truth = mpmath.log(precise(value))
        assert truth <= precise(log_up(value)) <= truth + abs(truth) * mpmath.mpf("1e-13")
        assert abs(log_near(value) - truth) <= abs(truth) * 1e-15


@pytest.mark.parametrize("value", [Fraction(10**400), Fraction(1, 10**400)])
def test_the_logarithm_of_what_no_float_holds(value):
    truth = mpmath.log(precise(value))
    assert truth <= precise(log_up(value)) <= truth + abs(truth) * 1e-13


def test_the_logarithm_of_one_is_exactly_zero():
    assert log_up(Fraction(1)) == 0


def test_zero_has_no_logarithm():
    with pytest.raises(ParameterError, match="above 0"):
        log_up(Fraction(0))


@given(VALUES, st.integers(3, 60))
def test_a_short_dyadic_is_above_and_near(value, bits):
    rounded = dyadic_up(value, bits)
    assert value <= rounded <= value * (1 + Fraction(8, 2**bits))
    assert rounded.denominator & (rounded.denominator - 1) == 0
    assert dyadic_up(rounded, bits) == rounded


def test_margins_go_outward():
    assert deflated(1.0) < 1 < inflated(1.0)


BITS = st.sampled_from([1, 8, 16, 64, 128, 300])
POSITIVE = st.builds(Fraction, st.integers(1, 2**90), st.integers(1, 2**90))


@pytest.fixture(autouse=True)
def _precision():
    old, ctx.prec = ctx.prec, 600
    yield
    ctx.prec = old


def ball(value):
    return arb(fmpq(value.numerator, value.denominator))


def assert_encloses(bounds, exact):
    lower, upper = bounds
    assert arb(lower) <= exact <= arb(upper)
    assert upper - lower <= 3


@given(POSITIVE, BITS)
def test_exponentials_are_enclosed(exponent, bits):
    if exponent < 2**20:
        assert_encloses(exp_bounds(exponent, bits), (-ball(exponent)).exp() * arb(2) ** bits)


@given(POSITIVE, BITS)
def test_logarithms_are_enclosed(value, bits):
    assert_encloses(log_bounds(value, bits), ball(value).log() * arb(2) ** bits)


@pytest.mark.parametrize("bits", [1, 64, 1000])
def test_what_is_known_exactly_is_given_exactly(bits):
    assert exp_bounds(Fraction(0), bits) == (1 << bits, 1 << bits)
    assert log_bounds(Fraction(1), bits)[0] <= 0 <= log_bounds(Fraction(1), bits)[1]


@pytest.mark.parametrize("exponent", [Fraction(10**6), Fraction(10**40), Fraction(65)])
def test_a_vanishing_exponential_lies_between_nothing_and_one_unit(exponent):
    assert exp_bounds(exponent, 64) == (0, 1)


def test_an_exponential_never_exceeds_one():
    assert exp_bounds(Fraction(1, 10**50), 64) == ((1 << 64) - 1, 1 << 64)


@pytest.mark.parametrize(("function", "value"), [(exp_bounds, -1), (log_bounds, 0), (log_bounds, -1)])
def test_what_has_none_is_refused(function, value):
    with pytest.raises(ParameterError):
        function(Fraction(value), 64)
