from math import log, sqrt

import numpy as np
import pytest
from scipy.stats import binom
from tests.laws import ALPHA

import sfumato as sf
from examples import d12_survey as example

SURVEYS = 2_000
FAIR = sf.mechanisms.RandomizedResponse()


def test_forty_of_a_hundred_have():
    assert (len(example.truths()), example.fraction_of_truths()) == (100, 0.4)


def test_a_quarter_and_half_the_fraction_say_yes_to_fair_coins():
    assert [example.expected_yes(0.5, fraction) for fraction in (0, 0.4, 1)] == pytest.approx([0.25, 0.45, 0.75])


def test_fair_coins_cost_ln_3_and_coins_of_four_fifths_ln_21():
    assert float(FAIR.epsilon) == pytest.approx(log(3))
    assert float(sf.mechanisms.RandomizedResponse(heads_probability="0.8").epsilon) == pytest.approx(log(21))


def test_the_standard_error_is_that_of_the_binomial_law():
    assert example.standard_error(0.5, 0.4, 100) == pytest.approx(2 * sqrt(0.45 * 0.55 / 100))
    assert example.standard_error(1, 0.4, 100) == pytest.approx(sqrt(0.4 * 0.6 / 100))


def test_a_larger_epsilon_errs_less_and_never_less_than_the_truth_would():
    _, epsilons, errors = zip(*example.tradeoff(), strict=True)
    assert list(epsilons) == sorted(epsilons)
    assert list(errors) == sorted(errors, reverse=True)
    assert errors[-1] > example.standard_error(1, 0.4, 100)
    assert epsilons[0] > log(2)


@pytest.mark.statistical
def test_one_survey_has_as_many_yes_as_the_law_allows():
    said = int(FAIR.release(example.truths()).sum())
    masses = np.convolve(binom.pmf(range(41), 40, 0.75), binom.pmf(range(61), 60, 0.25))
    assert min(masses[: said + 1].sum(), masses[said:].sum()) >= ALPHA / 2, f"type-I error {ALPHA}"


@pytest.mark.statistical
def test_estimates_are_right_on_average_and_err_as_the_coins_say():
    answers = np.asarray(FAIR.release(np.tile(example.truths(), SURVEYS))).reshape(SURVEYS, 100)
    estimates = np.array([FAIR.estimate(survey).fraction for survey in answers])
    stddev = 2 * sqrt(3 / 16 / 100)  # of the coins alone: the same hundred people are asked each time
    assert abs(estimates.mean() - 0.4) < 4.9 * stddev / sqrt(SURVEYS), "type-I error 1e-6"
    assert estimates.std() == pytest.approx(stddev, rel=4.9 / sqrt(2 * SURVEYS)), "type-I error 1e-6"
