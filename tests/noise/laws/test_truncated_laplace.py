"""Discrete Laplace noise between two ends."""

from fractions import Fraction
from math import exp

import numpy as np
import pytest
from tests.laws import SAMPLES, assert_law, assert_not_law
from tests.noise.exact_tables import LONG

from sfumato.errors import ParameterError
from sfumato.noise.laws import truncated_laplace as module
from sfumato.noise.laws.truncated_laplace import truncated_laplace


def cdf(scale, bound):
    masses = [exp(-abs(k) / float(scale)) for k in range(-bound, bound + 1)]
    sums = np.cumsum(masses) / sum(masses)
    return lambda k: 0.0 if k < -bound else float(sums[min(k + bound, 2 * bound)])


@pytest.mark.statistical
@pytest.mark.parametrize(("scale", "bound"), [(Fraction(10), 3), (Fraction(10), 25), (LONG, 8), (LONG * 9, 20)])
def test_it_follows_its_law(scale, bound):
    samples = truncated_laplace(scale, bound, SAMPLES)
    assert_law(samples, cdf(scale, bound))
    assert_not_law(samples, cdf(scale / 2, bound))


@pytest.mark.statistical
@pytest.mark.parametrize("attempt", [module._from_laplace, module._from_uniform])
@pytest.mark.parametrize("scale", [Fraction(5), LONG])
def test_both_proposals_have_one_law(attempt, scale):
    assert_law(attempt(scale, 7, SAMPLES), cdf(scale, 7))


@pytest.mark.parametrize("bound", [0, 1, 2, 2**60])
@pytest.mark.parametrize("scale", [Fraction(1, 1000), Fraction(2), Fraction(2**50), LONG])
def test_nothing_lies_beyond_the_bound(scale, bound):
    draws = truncated_laplace(scale, bound, 200)
    assert (len(draws), draws.dtype) == (200, np.int64)
    assert (abs(draws) <= bound).all()


@pytest.mark.parametrize(
    ("scale", "bound", "size"),
    [(Fraction(0), 1, 1), (Fraction(1), -1, 1), (Fraction(1), 2**60 + 1, 1), (Fraction(1), 1, -1)],
)
def test_parameters_outside_are_refused(scale, bound, size):
    with pytest.raises(ParameterError, match=r"scale|bound|size"):
        truncated_laplace(scale, bound, size)
