"""Skellam integers."""

from fractions import Fraction

import pytest
from scipy.stats import skellam as skellam_law
from tests.laws import SAMPLES, assert_law, assert_not_law
from tests.noise.tables import DRAWS

from sfumato.errors import ParameterError
from sfumato.noise.skellam import skellam


@pytest.mark.statistical
@pytest.mark.parametrize("mean", [Fraction(1, 4), Fraction(3), Fraction(301, 3)])
def test_it_follows_its_law(mean):
    assert_law(skellam(mean, DRAWS if mean == 3 else SAMPLES), lambda k: skellam_law.cdf(k, float(mean), float(mean)))


@pytest.mark.statistical
@pytest.mark.parametrize("factor", [1.2, 1 / 1.2])
def test_a_standard_deviation_ten_percent_off_is_noticed(factor):
    samples = skellam(Fraction(30), SAMPLES)
    assert_not_law(samples, lambda k: skellam_law.cdf(k, 30 * factor, 30 * factor))


def test_a_mean_of_zero_is_no_noise():
    assert skellam(Fraction(0), 2).tolist() == [0, 0]


def test_a_mean_outside_is_refused():
    with pytest.raises(ParameterError, match="mean"):
        skellam(Fraction(-1), 1)
