from fractions import Fraction
from math import sqrt

import numpy as np
import pytest
from tests.laws import assert_law

import sfumato as sf
from examples import d09_sequential_composition as example
from sfumato.numeric.distributions import discrete_laplace_cdf, discrete_laplace_log_pmf

REACH = np.arange(-500, 501)


def test_the_average_of_f1_and_f2_costs_three_tenths_in_all_as_f3_does():
    with example.curator() as survey:
        for name in ("F1", "F2"):
            survey.sql(example.QUESTION, epsilon=example.EPSILONS[name])
        assert survey.spent == sf.PureDP("0.3")
        survey.sql(example.QUESTION, epsilon=example.EPSILONS["F3"])
        assert survey.spent == sf.PureDP("0.6")
        assert survey.remaining == sf.PureDP(0)


def test_standard_deviations_are_7_9_and_4_7():
    assert example.stddevs() == pytest.approx((7.9, 4.7), abs=0.05)
    assert sqrt(2 * (10**2 + 5**2)) / 2 == pytest.approx(example.stddevs()[0], rel=0.002)


@pytest.mark.statistical
def test_simulated_outputs_have_these_standard_deviations():
    average, third = example.simulated(example.DRAWS).values()
    measured = (np.std(average), np.std(third))
    # the standard error of a standard deviation is below 0.36% here, so 1.8% is five of them: type-I error 6e-7
    assert measured == pytest.approx(example.stddevs(), rel=0.018)


@pytest.mark.statistical
def test_simulated_outputs_follow_their_laws():
    average, third = example.simulated(example.DRAWS).values()
    assert_law(third.astype(np.int64) - 40, lambda k: discrete_laplace_cdf(Fraction(10, 3), k))
    masses = [np.exp(discrete_laplace_log_pmf(Fraction(scale), REACH)) for scale in (10, 5)]
    cumulative = np.cumsum(np.convolve(*masses))
    sums = (2 * average).astype(np.int64) - 80
    assert_law(sums, lambda k: float(cumulative[min(max(k + 1_000, 0), 2_000)]) if k >= -1_000 else 0.0)


def test_forty_of_a_hundred_said_yes():
    assert example.exact_count() == 40
