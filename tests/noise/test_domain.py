"""The scales for which noise is drawn, both ends included."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import ParameterError
from sfumato.noise.domain import LARGEST_SCALE, SMALLEST_SCALE, drawable, drawable_variance, short_scale

TINY = Fraction(1, 10**30)


@pytest.mark.parametrize("scale", [SMALLEST_SCALE, Fraction(1), LARGEST_SCALE])
def test_scales_inside_are_returned(scale):
    assert drawable(scale, "scale") == scale


@pytest.mark.parametrize("scale", [Fraction(0), Fraction(-1), SMALLEST_SCALE - TINY, LARGEST_SCALE + TINY])
def test_scales_outside_are_refused_by_name(scale):
    with pytest.raises(ParameterError, match="stddev"):
        drawable(scale, "stddev")


@pytest.mark.parametrize("variance", [SMALLEST_SCALE**2, Fraction(2), LARGEST_SCALE**2])
def test_variances_inside_are_returned(variance):
    assert drawable_variance(variance) == variance


@pytest.mark.parametrize("variance", [Fraction(0), SMALLEST_SCALE**2 - TINY, LARGEST_SCALE**2 + TINY])
def test_variances_outside_are_refused_by_name(variance):
    with pytest.raises(ParameterError, match="variance"):
        drawable_variance(variance)


@given(st.fractions(SMALLEST_SCALE, LARGEST_SCALE))
def test_a_short_scale_is_never_smaller_and_hardly_larger(scale):
    short = short_scale(scale)
    assert scale <= short < scale * (1 + Fraction(1, 2**22))
    assert short <= LARGEST_SCALE
    assert max(short.as_integer_ratio()) <= 2**50


@pytest.mark.parametrize("scale", [Fraction(10, 3), Fraction(2**50, 2**50 - 1), Fraction(2**50), SMALLEST_SCALE])
def test_a_scale_of_short_terms_stays(scale):
    assert short_scale(scale) == scale


@pytest.mark.parametrize("scale", [Fraction(2**50 + 1, 2**50), Fraction(2**50, 2**50 + 1), LARGEST_SCALE - TINY])
def test_a_scale_of_long_terms_goes_up_to_few_digits(scale):
    short = short_scale(scale)
    digits = short.numerator // (short.numerator & -short.numerator)
    assert short > scale
    assert digits <= 2**24
    assert short.denominator.bit_count() == 1
