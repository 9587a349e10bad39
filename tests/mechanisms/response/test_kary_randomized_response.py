"""Randomized response with many categories: the exact probabilities of every answer, the estimate, edge cases."""

from decimal import Decimal, localcontext
from fractions import Fraction
from math import exp, inf, nan

import numpy as np
import pytest
from scipy.stats import binomtest
from tests.laws import ALPHA, SAMPLES, assert_law, cdf_of

from sfumato.errors import ParameterError
from sfumato.mechanisms.response import kary_randomized_response as module
from sfumato.mechanisms.response.kary_randomized_response import KaryRandomizedResponse
from sfumato.mechanisms.response.randomized_response import RandomizedResponse
from sfumato.privacy.events import PureEvent, RandomizedResponseEvent
from sfumato.privacy.secret import Secret

EPSILONS = [Fraction(1, 10**6), Fraction(1, 2), Fraction(1), Fraction(5), Fraction(40)]
PROBABILITIES = [Fraction(0), Fraction(1, 3), Fraction(9, 10)]


def decimal(value):
    return Decimal(value.numerator) / value.denominator


def law(mechanism, truth):
    """Probabilities of all answers from the real code: both outcomes of its coin, all of its uniform integers."""
    chances, lie_chance = {}, []

    def enclosed(bounds, _size):
        low, high = bounds(150)
        lie_chance.append(Fraction(low + high, 2 << 150))
        return np.array([lies])

    def rational(probability, _size):
        lie_chance.append(probability)
        return np.array([lies])

    for lies in (False, True):
        for other in range(mechanism.categories - 1) if lies else [0]:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(module, "bernoulli_within", enclosed)
                patch.setattr(module, "bernoulli", rational)
                patch.setattr(module, "uniform_below", lambda n, size, other=other: np.full(size, other % n))
                answer = int(mechanism.release([truth])[0])
            mass = lie_chance[-1] / (mechanism.categories - 1) if lies else 1 - lie_chance[-1]
            chances[answer] = chances.get(answer, 0) + mass
    return [chances[answer] for answer in range(mechanism.categories)]


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("categories", [2, 3, 7])
def test_the_largest_ratio_over_all_answers_and_truths_is_exp_epsilon(categories, epsilon):
    mechanism = KaryRandomizedResponse(categories=categories, epsilon=epsilon)
    laws = [law(mechanism, truth) for truth in range(categories)]
    with localcontext(prec=40):
        ratios = [decimal(p / q).ln() for first in laws for second in laws for p, q in zip(first, second, strict=True)]
        assert abs(max(ratios) - decimal(epsilon)) < Decimal("1e-20")
    assert mechanism.event == PureEvent(epsilon)


@pytest.mark.parametrize("probability", PROBABILITIES)
@pytest.mark.parametrize("categories", [2, 3, 7])
def test_by_its_probability_it_is_what_the_event_says(categories, probability):
    mechanism = KaryRandomizedResponse(categories=categories, probability=probability)
    uniform = (1 - probability) / categories
    for truth in range(categories):
        expected = [uniform + probability * (answer == truth) for answer in range(categories)]
        assert law(mechanism, truth) == expected
    assert mechanism.event == RandomizedResponseEvent(probability, categories)
    ratio = 1 + categories * probability / (1 - probability)
    assert 0 <= float(mechanism.epsilon) - np.log(float(ratio)) < 1e-12


def test_without_epsilon_answers_are_uniform():
    assert law(KaryRandomizedResponse(categories=5, epsilon=0), 2) == [Fraction(1, 5)] * 5


@pytest.mark.parametrize("epsilon", [*EPSILONS, Fraction(1, 10**30), Fraction(1000)])
@pytest.mark.parametrize("categories", [2, 3, 2**31])
def test_the_bounds_of_a_lie_are_right_and_close(categories, epsilon):
    low, high = KaryRandomizedResponse(categories=categories, epsilon=epsilon)._lie_bounds(64)
    with localcontext(prec=60):
        exact = (categories - 1) / (decimal(epsilon).exp() + categories - 1) * 2**64
    assert low <= exact <= high
    assert high - low <= 8


@pytest.mark.statistical
@pytest.mark.parametrize("parameters", [{"epsilon": 1}, {"probability": 0.25}, {"epsilon": 0}], ids=str)
@pytest.mark.parametrize("truth", [0, 3, 5])
def test_answers_follow_their_law(parameters, truth):
    mechanism = KaryRandomizedResponse(categories=6, **parameters)
    answers = mechanism.release(np.full(SAMPLES, truth))
    assert answers.dtype == np.int64
    assert_law(answers, cdf_of(np.array([float(chance) for chance in law(mechanism, truth)])))


@pytest.mark.statistical
def test_respondents_answer_independently():
    mechanism = KaryRandomizedResponse(categories=4, epsilon=2)
    pairs = mechanism.release([1] * 2 * SAMPLES).reshape(2, SAMPLES)
    both = mechanism.truth_probability**2
    assert binomtest(int((pairs == 1).all(axis=0).sum()), SAMPLES, both).pvalue >= ALPHA


def test_the_truth_is_told_as_often_as_the_formula_says():
    assert KaryRandomizedResponse(categories=4, epsilon=1).truth_probability == pytest.approx(exp(1) / (exp(1) + 3))


def test_two_fair_coins_are_two_categories_at_one_half():
    kary = KaryRandomizedResponse(categories=2, probability="1/2")
    assert kary.event == RandomizedResponse().event
    assert kary.epsilon == RandomizedResponse().epsilon


@pytest.mark.parametrize(
    "values",
    [
        [0, 2, 2],
        np.array([0, 2, 9], dtype=np.uint8),
        np.array([0, 2, 2**64 - 1], dtype=np.uint64),
        [-7, 2, 3],
        [None, 2, inf],
        [nan, 1.5, 10**30],
        Secret((-inf, 2, 2.4)),
        np.array([nan, 2.0, inf]),
        np.array([None, 2, 5], dtype=object),
    ],
    ids=str,
)
def test_no_value_is_an_error(values):
    certain = KaryRandomizedResponse(categories=3, epsilon=10**6)
    assert certain.release(values).tolist() == [0, 2, 2]


def test_the_caller_keeps_its_values():
    values = np.zeros(100, dtype=np.int64)
    KaryRandomizedResponse(categories=3, epsilon=0).release(values)
    assert not values.any()


def test_nobody_may_be_asked():
    assert KaryRandomizedResponse(categories=3, epsilon=1).release([]).tolist() == []


@pytest.mark.parametrize("values", [np.zeros((2, 2)), np.array(1)])
def test_values_in_other_shapes_are_refused(values):
    with pytest.raises(ParameterError, match="one dimension"):
        KaryRandomizedResponse(categories=3, epsilon=1).release(values)


@pytest.mark.parametrize("parameters", [{"epsilon": 1}, {"probability": 0.25}], ids=str)
def test_the_estimate_inverts_the_expected_fractions(parameters):
    mechanism = KaryRandomizedResponse(categories=3, **parameters)
    truths = [Fraction(1, 2), Fraction(3, 10), Fraction(1, 5)]
    laws = [law(mechanism, truth) for truth in range(3)]
    count = 10**6
    said = [round(count * sum(t * laws[v][a] for v, t in enumerate(truths))) for a in range(3)]
    estimates = mechanism.estimate(np.repeat(np.arange(3), said))
    assert [estimate.fraction for estimate in estimates] == pytest.approx([0.5, 0.3, 0.2], abs=1e-5)
    assert sum(estimate.fraction for estimate in estimates) == pytest.approx(1)


@pytest.mark.statistical
def test_intervals_cover_the_truth_as_often_as_they_say():
    mechanism, truths = KaryRandomizedResponse(categories=3, epsilon=2), np.repeat([0, 1, 2], [50, 30, 20])
    estimates = [mechanism.estimate(mechanism.release(truths)) for _ in range(1000)]
    for category, fraction in enumerate([0.5, 0.3, 0.2]):
        covered = sum(estimate[category].low <= fraction <= estimate[category].high for estimate in estimates)
        assert covered >= 1000 * 0.95 - 4.9 * (1000 * 0.95 * 0.05) ** 0.5
    worst = [max(abs(e.fraction - f) for e, f in zip(each, [0.5, 0.3, 0.2], strict=True)) for each in estimates]
    assert sum(error <= mechanism.accuracy(0.95, respondents=100) for error in worst) >= 950


@pytest.mark.parametrize("parameters", [{"epsilon": 0}, {"probability": 0}, {"epsilon": "1e-400"}], ids=str)
def test_answers_without_truth_allow_no_estimate(parameters):
    mechanism = KaryRandomizedResponse(categories=3, **parameters)
    assert mechanism.accuracy(respondents=10) == inf
    with pytest.raises(ParameterError, match="reveals nothing"):
        mechanism.estimate([0, 1])


@pytest.mark.parametrize("answers", [[], [3], [-1, 0]])
def test_what_is_no_answer_is_refused(answers):
    with pytest.raises(ParameterError, match="answers"):
        KaryRandomizedResponse(categories=3, epsilon=1).estimate(answers)


@pytest.mark.parametrize(
    "wrong",
    [
        {"categories": 1, "epsilon": 1},
        {"categories": 2**31 + 1, "epsilon": 1},
        {"epsilon": -1, "categories": 3},
        {"epsilon": None, "categories": 3},
        {"epsilon": 1, "probability": 0.5, "categories": 3},
        {"probability": 1, "categories": 3},
        {"probability": -0.1, "categories": 3},
    ],
    ids=str,
)
def test_parameters_outside_are_refused_by_name(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        KaryRandomizedResponse(**wrong)
