from fractions import Fraction
from math import exp, inf, log

import numpy as np
import pytest
from scipy.stats import norm

from sfumato.audit.canaries.error_rates import LEVELS, ErrorRates, independent_canaries, mu_of_error_rates
from sfumato.audit.canaries.guesses import Scored
from sfumato.audit.search.bounds import Count

RNG = np.random.default_rng(2101)
RUNS, LEVEL = 400, 0.2
MOST = 120  # of 400 at a level of 0.2; more happen once in 10^6 (80 expected if the limits were exact)


def gaussian_canaries(mu, size=400):
    included = RNG.random(size) < 0.5
    return Scored(scores=RNG.normal(size=size) + mu * included, included=included)


def test_the_bound_is_that_of_both_limits():
    rates = ErrorRates(event="x", likelier=Count(90, 100), rarer=Count(10, 100), significance=0.1)
    low, high = rates.limits
    assert 0.82 < low < 0.9
    assert 0.1 < high < 0.18
    assert rates.epsilon_lower_bound(delta=Fraction(1, 100)) == pytest.approx(log((low - 0.01) / high))
    assert rates.mu == pytest.approx(norm.ppf(low) - norm.ppf(high))


def test_what_is_within_delta_says_nothing():
    rates = ErrorRates(event="x", likelier=Count(0, 100), rarer=Count(0, 100), significance=0.1)
    assert rates.epsilon_lower_bound(delta=Fraction(0)) == rates.mu == -inf


@pytest.mark.parametrize("way", [1, -1])
def test_it_is_found_whether_high_scores_tell_more_or_low_ones(way):
    """A third of one side is seen for certain: of those included by high scores, of those left out by low ones."""
    told = np.concatenate([np.full(300, 10.0), RNG.normal(size=600)])
    other = RNG.normal(size=900)
    seen = Scored(scores=way * np.concatenate([told, other]), included=np.repeat([way > 0, way < 0], 900))
    rates = independent_canaries(seen, delta=Fraction(0), significance=0.05)
    assert rates.event.startswith("score >" if way > 0 else "score <")
    assert 300 <= rates.likelier.events <= 330
    assert rates.likelier.runs == 900
    assert rates.epsilon_lower_bound(delta=Fraction(0)) > 3.5


def test_a_canary_on_the_threshold_is_not_beyond_it():
    seen = Scored(scores=[1.0] * 50, included=[True, False] * 25)
    rates = independent_canaries(seen, delta=Fraction(0), significance=0.05)
    assert rates.likelier.events == 0


@pytest.mark.parametrize("included", [[True] * 10, [False] * 10])
def test_one_side_alone_says_nothing(included):
    rates = independent_canaries(
        Scored(scores=np.arange(10.0), included=included), delta=Fraction(0), significance=0.05
    )
    assert rates.epsilon_lower_bound(delta=Fraction(0)) <= 0


@pytest.mark.statistical
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_a_true_epsilon_of_independent_canaries_is_seldom_refuted(epsilon):
    """Scores of Laplace noise of scale 1/ε, whose ratio is e^ε in both tails: the worst case of the event search."""
    wrong = 0
    for _ in range(RUNS):
        included = RNG.random(300) < 0.5
        seen = Scored(scores=RNG.laplace(scale=1 / epsilon, size=300) + included, included=included)
        rates = independent_canaries(seen, delta=Fraction(0), significance=LEVEL)
        wrong += rates.epsilon_lower_bound(delta=Fraction(0)) > epsilon
    assert wrong <= MOST, "type-I error 1e-6"


@pytest.mark.statistical
@pytest.mark.parametrize("level", LEVELS)
def test_the_rate_beyond_a_rank_lies_within_its_limit(level):
    """The threshold comes from the very canaries whose rate is limited: 400 runs at 0.1 each, at most 71 miss."""
    missed = 0
    for _ in range(RUNS):
        scores = np.sort(RNG.random(200))
        allowed = int(level * 200)
        truth = 1 - scores[199 - allowed]
        rates = ErrorRates(event="x", likelier=Count(0, 200), rarer=Count(allowed, 200), significance=0.2)
        missed += truth > rates.limits[1]
    assert missed <= 71, "type-I error 1e-6"


@pytest.mark.statistical
def test_a_true_mu_is_seldom_refuted_and_a_small_one_often():
    bounds = np.array([mu_of_error_rates(gaussian_canaries(1.0), significance=LEVEL) for _ in range(RUNS)])
    assert np.count_nonzero(bounds > 1.0) <= MOST, "type-I error 1e-6"
    assert np.count_nonzero(bounds > 0.5) > RUNS / 2
    assert exp(bounds.max()) < inf
