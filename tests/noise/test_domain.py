"""The scales for which noise is drawn, both ends included."""

from fractions import Fraction

import pytest

from sfumato.errors import ParameterError
from sfumato.noise.domain import LARGEST_SCALE, SMALLEST_SCALE, drawable

TINY = Fraction(1, 10**30)


@pytest.mark.parametrize("scale", [SMALLEST_SCALE, Fraction(1), LARGEST_SCALE])
def test_scales_inside_are_returned(scale):
    assert drawable(scale, "scale") == scale


@pytest.mark.parametrize("scale", [Fraction(0), Fraction(-1), SMALLEST_SCALE - TINY, LARGEST_SCALE + TINY])
def test_scales_outside_are_refused_by_name(scale):
    with pytest.raises(ParameterError, match="stddev"):
        drawable(scale, "stddev")
