"""Geometric integers with ratio 1/e."""

from math import exp

import pytest
from tests.laws import SAMPLES, assert_law, assert_not_law

from sfumato.noise.geometric import geometric


def geometric_cdf(ratio):
    return lambda k: 1 - ratio ** (k + 1) if k >= 0 else 0.0


@pytest.mark.statistical
def test_it_follows_the_geometric_law():
    samples = geometric(SAMPLES)
    assert_law(samples, geometric_cdf(exp(-1)))
    assert_not_law(samples, geometric_cdf(exp(-1.1)))
    assert_not_law(samples, geometric_cdf(exp(-1 / 1.1)))


def test_none_are_drawn_if_none_are_asked():
    assert geometric(0).tolist() == []
