from math import exp, fsum

import pytest
from scipy.stats import chisquare
from tests.laws import ALPHA

from examples import d08_common_disease as example

COUNTS = {"influenza": 40, "bronchitis": 35, "measles": 25}


def law(epsilon):
    weights = [exp(epsilon * count / 2) for count in COUNTS.values()]
    return [weight / fsum(weights) for weight in weights]


def test_influenza_is_the_most_common():
    assert list(example.exact_counts().items()) == list(COUNTS.items())


@pytest.mark.parametrize("epsilon", example.EPSILONS)
def test_the_law_is_that_of_the_exponential_mechanism(epsilon):
    assert example.probabilities(epsilon) == pytest.approx(law(float(epsilon)), rel=1e-12)


def test_a_larger_epsilon_picks_the_true_one_more_often():
    chances = [example.probabilities(epsilon)[0] for epsilon in example.EPSILONS]
    assert chances == sorted(chances)
    assert chances[0] == pytest.approx(0.344, abs=0.001)
    assert chances[-1] > 0.99


@pytest.mark.statistical
@pytest.mark.parametrize("epsilon", ["0.01", "0.1", "0.5"])
def test_draws_follow_the_law(epsilon):
    expected = [example.DRAWS * chance for chance in law(float(epsilon))]
    p = chisquare(example.simulated(epsilon, example.DRAWS), expected).pvalue
    assert p >= ALPHA, f"refused, p = {p:.2e} < {ALPHA} (type-I error)"
