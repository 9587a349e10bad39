"""Bounds of exponentials and logarithms: certain, close, and equal to those of independent ball arithmetic."""

from fractions import Fraction

import pytest
from flint import arb, ctx, fmpq
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import ParameterError
from sfumato.numeric.enclosures import exp_bounds, log_bounds

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
