from math import exp, fsum

import numpy as np
import pytest
from scipy.stats import binom
from tests.laws import ALPHA, assert_law, cdf_of

from examples import d06_city_vote as example

VOTES = {"Football": 49, "Volleyball": 25, "Basketball": 6, "Swimming": 2}


def law(epsilon):
    weights = [exp(epsilon * votes / 2) for votes in VOTES.values()]
    return [weight / fsum(weights) for weight in weights]


def test_the_city_votes_49_25_6_2():
    assert example.exact_votes() == VOTES


@pytest.mark.parametrize("epsilon", ["1", "0.1"])
def test_choice_probabilities_are_proportional_to_exp_of_half_epsilon_times_votes(epsilon):
    assert example.probabilities(epsilon) == pytest.approx(law(float(epsilon)), rel=1e-12)


def test_one_choice_at_epsilon_1_costs_1_and_is_football_but_for_six_in_a_million():
    assert example.chooser("1").event.epsilon == 1
    assert 1 - example.probabilities("1")[0] == pytest.approx(6.14e-6, abs=0.01e-6)


@pytest.mark.statistical
def test_draws_at_epsilon_one_tenth_follow_the_law():
    draws = np.asarray(example.chooser("0.1").release_many(list(VOTES.values()), example.DRAWS))
    assert_law(draws, cdf_of(np.array(law(0.1))))


@pytest.mark.statistical
def test_draws_at_epsilon_1_are_football_almost_always():
    draws = np.asarray(example.chooser("1").release_many(list(VOTES.values()), example.DRAWS))
    others = int((draws != 0).sum())
    assert others <= binom.ppf(1 - ALPHA, example.DRAWS, 1 - law(1)[0]), f"type-I error {ALPHA}"
