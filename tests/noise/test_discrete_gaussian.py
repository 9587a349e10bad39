"""Discrete Gaussian noise against its exact law: right parameters accepted, wrong ones refused."""

from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from tests.laws import SAMPLES, assert_law, assert_not_law

from sfumato.errors import ParameterError
from sfumato.noise import discrete_gaussian as module
from sfumato.noise.discrete_gaussian import discrete_gaussian
from sfumato.numeric.distributions import discrete_gaussian_cdf

STDDEVS = [
    Fraction(1, 2),
    Fraction(1),
    Fraction(10, 3),
    Fraction(1000),
    Fraction(10**30 + 7, 10**29),
    Fraction(3**40, 2**60),
    Fraction(2**50),
]


@pytest.mark.statistical
@pytest.mark.parametrize("stddev", STDDEVS, ids=lambda stddev: f"{float(stddev):.4g}")
def test_it_follows_its_law_and_none_ten_percent_off(stddev):
    samples = discrete_gaussian(stddev**2, SAMPLES)
    assert samples.dtype == np.int64
    assert_law(samples, partial(discrete_gaussian_cdf, stddev))
    assert_not_law(samples, partial(discrete_gaussian_cdf, stddev * Fraction(11, 10)))
    assert_not_law(samples, partial(discrete_gaussian_cdf, stddev * Fraction(10, 11)))


@pytest.mark.statistical
@pytest.mark.parametrize("variance", [Fraction(2), Fraction(1, 3)])
def test_the_variance_need_not_be_a_square(variance):
    samples = discrete_gaussian(variance, SAMPLES)
    weights = {k: np.exp(-k * k / (2 * float(variance))) for k in range(-20, 21)}
    total = sum(weights.values())
    assert_law(samples, lambda k: sum(w for j, w in weights.items() if j <= k) / total)


@pytest.mark.statistical
def test_signs_are_symmetric():
    signs = np.sign(discrete_gaussian(Fraction(4), SAMPLES))
    assert abs(signs.sum()) < 4.9 * np.abs(signs).sum() ** 0.5  # two-sided, below 1e-6


def test_the_smallest_variance_gives_zero_but_for_a_chance_of_e_to_the_minus_500000():
    assert not discrete_gaussian(Fraction(1, 10**6), 10_000).any()


@pytest.mark.parametrize("variance", [Fraction(0), Fraction(-1), Fraction(1, 10**6 + 1), Fraction(2**100 + 1)])
def test_a_variance_outside_is_refused(variance):
    with pytest.raises(ParameterError, match="variance"):
        discrete_gaussian(variance, 1)


@pytest.mark.parametrize("variance", [Fraction(1, 10**6), Fraction(10), Fraction(2**100)])
def test_no_noise_is_drawn_if_none_is_asked(variance):
    assert discrete_gaussian(variance, 0).tolist() == []


@pytest.mark.parametrize("values", [[0, 1, 5], [2**31, 2**33], [2**62, 2**70]])
@pytest.mark.parametrize(("factor", "center"), [(1, 0), (3, 10), (2**40, 2**41), (2**70, 2**90)])
def test_distances_never_wrap(values, factor, center):
    array = np.array(values, dtype=object if max(values) >= 2**63 else np.int64)
    expected = [(value * factor - center) ** 2 for value in values]
    assert module._squared_distances(array, factor, center).tolist() == expected
