"""The scales for which noise is drawn, both ends included."""

from fractions import Fraction

import pytest

from sfumato.errors import ParameterError
from sfumato.noise.domain import LARGEST_SCALE, SMALLEST_SCALE, drawable, drawable_variance

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
