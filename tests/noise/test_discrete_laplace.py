"""Discrete Laplace noise against its exact law: right scales accepted, wrong ones refused."""

from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from tests.laws import SAMPLES, assert_law, assert_not_law

from sfumato.errors import ParameterError
from sfumato.noise import discrete_laplace as module
from sfumato.noise.discrete_laplace import discrete_laplace
from sfumato.numeric.distributions import discrete_laplace_cdf

SCALES = [
    Fraction(1, 2),
    Fraction(1),
    Fraction(10, 3),
    Fraction(1000),
    Fraction(10**30 + 7, 10**29),
    Fraction(3**40, 2**60),
    Fraction(2**50),
]


@pytest.mark.statistical
@pytest.mark.parametrize("scale", SCALES, ids=lambda scale: f"{float(scale):.4g}")
def test_it_follows_its_law_and_none_ten_percent_off(scale):
    samples = discrete_laplace(scale, SAMPLES)
    assert samples.dtype == np.int64
    assert_law(samples, partial(discrete_laplace_cdf, scale))
    assert_not_law(samples, partial(discrete_laplace_cdf, scale * Fraction(11, 10)))
    assert_not_law(samples, partial(discrete_laplace_cdf, scale * Fraction(10, 11)))


@pytest.mark.statistical
@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(7)])
def test_signs_are_symmetric(scale):
    samples = discrete_laplace(scale, SAMPLES)
    signs = np.sign(samples)
    assert abs(signs.sum()) < 4.9 * np.abs(signs).sum() ** 0.5  # two-sided, below 1e-6


@pytest.mark.statistical
def test_zero_is_counted_once():
    samples = discrete_laplace(Fraction(1), SAMPLES)
    zeros, expected = int((samples == 0).sum()), 0.46211715726 * SAMPLES  # tanh(1/2)
    assert abs(zeros - expected) < 4.9 * (expected * 0.538) ** 0.5


def test_the_smallest_scale_gives_zero_but_for_a_chance_of_e_to_the_minus_1000():
    assert not discrete_laplace(Fraction(1, 1000), 10_000).any()


@pytest.mark.parametrize("scale", [Fraction(0), Fraction(-1), Fraction(1, 1001), Fraction(2**50 + 1)])
def test_a_scale_outside_is_refused(scale):
    with pytest.raises(ParameterError, match="scale"):
        discrete_laplace(scale, 1)


@pytest.mark.parametrize("scale", [Fraction(1, 1000), Fraction(10), Fraction(2**50)])
def test_no_noise_is_drawn_if_none_is_asked(scale):
    assert discrete_laplace(scale, 0).tolist() == []


@pytest.mark.parametrize("blocks", [2**11, 2**13, 2**40])
def test_noise_beyond_int64_comes_as_python_integers(blocks, monkeypatch):
    monkeypatch.setattr(module, "geometric", lambda count: np.full(count, blocks))
    magnitudes = [abs(value) for value in discrete_laplace(Fraction(2**50), 100).tolist()]
    assert all(blocks * 2**50 <= value < (blocks + 1) * 2**50 for value in magnitudes)


def test_a_big_denominator_does_not_wrap():
    samples = discrete_laplace(Fraction(2**80 + 1, 2**80), 1000)
    assert int(np.abs(samples).max()) < 100
