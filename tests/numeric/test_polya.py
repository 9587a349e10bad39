"""The half-width of differences of Pólya integers."""

from fractions import Fraction
from math import expm1

import numpy as np
import pytest
from scipy.stats import nbinom

from sfumato.errors import ParameterError
from sfumato.numeric.distributions import discrete_laplace_half_width
from sfumato.numeric.polya import polya_difference_half_width


def smallest(shape, scale, confidence):
    """By convolution of the masses."""
    masses = nbinom.pmf(np.arange(3000), float(shape), -expm1(-1 / float(scale)))
    difference = np.convolve(masses, masses[::-1])
    center = len(masses) - 1
    inside = np.cumsum(np.concatenate([difference[center : center + 1], 2 * difference[center + 1 :]]))
    return int(np.searchsorted(inside, confidence))


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.9999])
@pytest.mark.parametrize("scale", [Fraction(1, 10), Fraction(1), Fraction(17, 2), Fraction(50)])
@pytest.mark.parametrize("shape", [Fraction(1), Fraction(10, 9), Fraction(2), Fraction(10)])
def test_it_is_never_too_small_and_not_much_too_large(shape, scale, confidence):
    bound, truth = polya_difference_half_width(shape, scale, confidence), smallest(shape, scale, confidence)
    assert truth <= bound <= 4 * truth + 4
    if confidence > 0.9:
        assert bound <= 2 * truth + 4


@pytest.mark.parametrize("scale", [Fraction(1, 1000), Fraction(2**50)])
def test_the_ends_of_the_scale_are_worked_out(scale):
    bound = polya_difference_half_width(Fraction(3, 2), scale, "0.95")
    assert bound >= discrete_laplace_half_width(scale, "0.95")


def test_shape_one_is_discrete_laplace():
    assert polya_difference_half_width(Fraction(1), Fraction(7), "0.9") == discrete_laplace_half_width(
        Fraction(7), "0.9"
    )


@pytest.mark.parametrize("shape", [1, 2])
def test_a_confidence_outside_is_refused(shape):
    with pytest.raises(ParameterError, match="confidence"):
        polya_difference_half_width(Fraction(shape), Fraction(1), 1)
