"""Skellam masses, against the definition as a difference of Poisson variables."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import skellam
from tests.accounting.skellam_sums import masses

from sfumato.errors import ParameterError
from sfumato.numeric.skellam import skellam_half_width, skellam_masses


@pytest.mark.parametrize("mean", [Fraction(1, 10**6), Fraction(1, 3), Fraction(1), Fraction(7), Fraction(60)])
def test_the_definition_lies_between_the_bounds_and_they_are_close(mean):
    found = skellam_masses(mean, 8)
    truth = masses(mean, 40)
    total = found.total()
    assert total[0] <= 1 / truth[0] <= total[1] <= total[0] * (1 + 1e-9)
    for k in range(41):
        ratio = float(truth[k] / truth[0])
        if ratio > 1e-290:
            assert found.low[k] <= ratio * (1 + 1e-15)
            assert ratio * (1 - 1e-15) <= found.high[k] <= found.low[k] * (1 + 1e-9)


def test_what_is_too_small_for_floats_is_bounded():
    found = skellam_masses(Fraction(1, 10**100), 16)
    assert found.low[5] == 0
    assert 0 < found.high[5] < 1e-100
    assert found.high[-1] == 1e-300


def test_the_remainder_covers_what_follows():
    shorter, longer = skellam_masses(Fraction(50), 1), skellam_masses(Fraction(50), 20)
    beyond = longer.low[len(shorter.low) :].sum()
    assert beyond <= shorter.remainder <= 2 * beyond


def test_many_masses_agree_with_an_independent_computation():
    found = skellam_masses(Fraction(10**5), 6)
    k = np.arange(0, 2000, 100)
    assert found.low[k] / found.total()[0] == pytest.approx(skellam.pmf(k, 1e5, 1e5), rel=1e-8)


@pytest.mark.parametrize("mean", [Fraction(1, 10), Fraction(3), Fraction(500)])
@pytest.mark.parametrize("confidence", ["0.3", "0.95", "0.999999", "1e-9"])
def test_the_half_width_is_the_smallest(mean, confidence):
    t = skellam_half_width(mean, confidence)

    def inside(t):
        return skellam.cdf(t, float(mean), float(mean)) - skellam.cdf(-t - 1, float(mean), float(mean))

    assert inside(t) >= float(confidence) - 1e-12
    assert t == 0 or inside(t - 1) < float(confidence)


def test_a_confidence_near_one_looks_further_out():
    assert skellam_half_width(Fraction(8), 1 - Fraction(1, 10**60)) > 60


@pytest.mark.parametrize("mean", [Fraction(0), Fraction(2**28 + 1)])
def test_a_mean_outside_is_refused(mean):
    with pytest.raises(ParameterError, match="mean"):
        skellam_masses(mean, 8)
