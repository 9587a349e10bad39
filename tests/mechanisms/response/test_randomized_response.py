"""Randomized response: the exact probabilities of every answer, the estimate, edge cases."""

from fractions import Fraction
from itertools import product
from math import inf, log, nan, sqrt

import numpy as np
import pytest
from scipy.stats import binomtest
from tests.laws import ALPHA, SAMPLES

from sfumato.errors import ParameterError
from sfumato.mechanisms.response import randomized_response as module
from sfumato.mechanisms.response.randomized_response import RandomizedResponse
from sfumato.privacy.events import PureEvent, RandomizedResponseEvent
from sfumato.privacy.secret import Secret

COINS = [Fraction(1, 100), Fraction(1, 3), Fraction(1, 2), Fraction(61, 100), Fraction(4, 5), Fraction(99, 100)]


def law(mechanism, truth):
    """Exact probabilities of "no" and "yes" from the real code, over all tosses of as many coins as it asks for."""
    probabilities = {False: Fraction(0), True: Fraction(0)}
    for tosses in product([True, False], repeat=2):
        coins, weight = iter(tosses), Fraction(1)
        asked = []

        def toss(probability, size, coins=coins, asked=asked):
            asked.append(probability)
            return np.full(size, next(coins))

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "bernoulli", toss)
            answer = bool(mechanism.release([truth])[0])
        unused = [Fraction(1, 2)] * (2 - len(asked))  # coins that are not asked for show either side
        for probability, heads in zip(asked + unused, tosses, strict=True):
            weight *= probability if heads else 1 - probability
        probabilities[answer] += weight
    return probabilities


@pytest.mark.parametrize("heads", COINS)
def test_answers_have_the_probabilities_of_the_definition(heads):
    mechanism = RandomizedResponse(heads_probability=heads)
    assert law(mechanism, truth=True)[True] == heads + (1 - heads) * heads
    assert law(mechanism, truth=False)[True] == (1 - heads) * heads


@pytest.mark.parametrize("heads", COINS)
def test_the_largest_ratio_over_both_answers_and_both_directions_is_exp_epsilon(heads):
    mechanism = RandomizedResponse(heads_probability=heads)
    yes, no = law(mechanism, truth=True), law(mechanism, truth=False)
    ratios = [yes[answer] / no[answer] for answer in (True, False)]
    assert max(*ratios, *(1 / ratio for ratio in ratios)) == mechanism.exp_epsilon


def test_the_published_values():
    fair, biased = RandomizedResponse(), RandomizedResponse(heads_probability=0.8)
    assert (fair.exp_epsilon, biased.exp_epsilon) == (3, 21)
    assert float(fair.epsilon) == pytest.approx(1.0986, abs=1e-4)
    assert float(biased.epsilon) == pytest.approx(3.04, abs=5e-3)
    assert law(fair, truth=True)[True] == Fraction(3, 4)


@pytest.mark.parametrize("heads", COINS)
def test_epsilon_is_rounded_up(heads):
    mechanism = RandomizedResponse(heads_probability=heads)
    assert isinstance(mechanism.epsilon, Fraction)
    assert 0 <= float(mechanism.epsilon) - log(mechanism.exp_epsilon) < 1e-12


def test_the_event_of_a_fair_coin_says_more_than_its_epsilon():
    assert RandomizedResponse().event == RandomizedResponseEvent(Fraction(1, 2), 2)
    other = RandomizedResponse(heads_probability="0.8")
    assert other.event == PureEvent(other.epsilon)


def test_a_coin_that_never_shows_heads_tells_nothing():
    mechanism = RandomizedResponse(heads_probability=0)
    assert not mechanism.release([True, False, True]).any()
    assert (mechanism.exp_epsilon, mechanism.epsilon, mechanism.event) == (1, 0, PureEvent(Fraction(0)))
    assert mechanism.accuracy(respondents=10) == inf
    with pytest.raises(ParameterError, match="reveals nothing"):
        mechanism.estimate([False])


@pytest.mark.parametrize("heads", [1, "1.0", -0.1, 1.1, nan])
def test_a_coin_that_always_tells_the_truth_or_is_none_is_refused(heads):
    with pytest.raises(ParameterError, match="heads_probability"):
        RandomizedResponse(heads_probability=heads)


@pytest.mark.statistical
@pytest.mark.parametrize("truth", [True, False])
def test_answers_follow_their_law(truth):
    mechanism = RandomizedResponse(heads_probability="0.8")
    answers = mechanism.release(np.full(SAMPLES, truth))
    assert answers.dtype == np.bool_
    assert binomtest(int(answers.sum()), SAMPLES, float(law(mechanism, truth)[True])).pvalue >= ALPHA


@pytest.mark.statistical
def test_each_respondent_tosses_coins_of_its_own():
    pairs = RandomizedResponse().release([True] * 2 * SAMPLES).reshape(2, SAMPLES)
    assert binomtest(int((pairs[0] & pairs[1]).sum()), SAMPLES, 9 / 16).pvalue >= ALPHA


@pytest.mark.parametrize("bits", [[1, 0, 1], np.array([1, 0, 1]), Secret([True, False, True]), [1.0, None, 1.0], ()])
def test_bits_come_in_many_forms(bits):
    assert RandomizedResponse().release(bits).dtype == np.bool_


@pytest.mark.parametrize("bits", [np.ones((2, 2)), np.array(True)])
def test_bits_in_other_shapes_would_share_coins_and_are_refused(bits):
    with pytest.raises(ParameterError, match="one dimension"):
        RandomizedResponse().release(bits)


def test_a_missing_bit_is_a_no():
    mechanism = RandomizedResponse(heads_probability="0.999999999999999999999999999999")
    assert mechanism.release([None, True]).tolist() == [False, True]


@pytest.mark.parametrize("heads", [Fraction(1, 2), Fraction(4, 5)])
@pytest.mark.parametrize("truth", [Fraction(0), Fraction(3, 10), Fraction(1)])
def test_the_estimate_inverts_the_expected_fraction_of_yes(heads, truth):
    mechanism = RandomizedResponse(heads_probability=heads)
    said = 100 * (truth * heads + (1 - heads) * heads)
    answers = np.arange(100) < said
    assert answers.sum() == said
    assert mechanism.estimate(answers).fraction == pytest.approx(float(truth))


def test_the_standard_error_is_that_of_a_fraction_over_the_heads():
    estimate = RandomizedResponse().estimate([True] * 40 + [False] * 60)
    assert estimate.fraction == pytest.approx(0.3)
    assert estimate.standard_error == pytest.approx(2 * sqrt(0.4 * 0.6 / 100))
    assert estimate.low < 0.3 < estimate.high
    assert estimate.confidence == 0.95


@pytest.mark.parametrize("said", [0, 1, 99, 100])
def test_the_interval_stays_within_the_possible(said):
    estimate = RandomizedResponse().estimate([True] * said + [False] * (100 - said))
    assert 0 <= estimate.low <= estimate.high <= 1


@pytest.mark.parametrize("said", [3, 50, 97])
def test_the_interval_is_that_of_clopper_and_pearson(said):
    estimate = RandomizedResponse(heads_probability="0.9").estimate([True] * said + [False] * (100 - said), 0.9)
    interval = binomtest(said, 100).proportion_ci(0.9, method="exact")
    ends = [min(1, max(0, (end - 0.09) / 0.9)) for end in (interval.low, interval.high)]
    assert [estimate.low, estimate.high] == pytest.approx(ends)


@pytest.mark.statistical
def test_intervals_cover_the_truth_as_often_as_they_say():
    mechanism, truth = RandomizedResponse(), np.arange(100) < 30
    estimates = [mechanism.estimate(mechanism.release(truth)) for _ in range(2000)]
    covered = sum(estimate.low <= 0.3 <= estimate.high for estimate in estimates)
    assert covered >= 2000 * 0.95 - 4.9 * sqrt(2000 * 0.95 * 0.05)
    close = sum(abs(estimate.fraction - 0.3) <= mechanism.accuracy(0.95, respondents=100) for estimate in estimates)
    assert close >= 2000 * 0.95


def test_an_estimate_needs_an_answer():
    with pytest.raises(ParameterError, match="answers"):
        RandomizedResponse().estimate([])


@pytest.mark.parametrize("confidence", [0, 1, -1])
def test_a_confidence_outside_is_refused(confidence):
    with pytest.raises(ParameterError, match="confidence"):
        RandomizedResponse().estimate([True], confidence)
