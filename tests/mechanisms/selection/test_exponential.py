"""The exponential mechanism: exhaustive privacy, the published choices, edge cases."""

from decimal import Decimal, localcontext
from fractions import Fraction
from math import exp, inf, log, nan

import numpy as np
import pytest
from scipy.stats import binomtest
from tests.laws import ALPHA, SAMPLES, assert_law, cdf_of
from tests.mechanisms.exhaustive import neighbours
from tests.mechanisms.utilities import QUESTIONS, votes

from sfumato.errors import ParameterError
from sfumato.mechanisms.selection import exponential as module
from sfumato.mechanisms.selection.exponential import Exponential
from sfumato.privacy.events import ExponentialEvent
from sfumato.privacy.neighbors import REPLACE_ONE
from sfumato.privacy.secret import Secret

MARITAL_STATUS = [22_379, 16_117, 6_633, 1_530, 1_518, 628, 37]
VOTES = [49, 25, 6, 2]
EPSILONS = [Fraction(1, 10), Fraction(1), Fraction(10)]


def law(mechanism, scores):
    """Probabilities from the exponents that the real code gives to the sampler, to 50 digits."""
    asked = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "exponential_choice_of", lambda *exponents: asked.append(exponents) or np.array([0]))
        mechanism.release(scores)
    numerators, denominator, _ = asked[0]
    with localcontext(prec=50):
        weights = [(-Decimal(numerator) / denominator).exp() for numerator in numerators.tolist()]
        return [weight / sum(weights) for weight in weights]


def worst_ratio(mechanism, query, pairs):
    laws = {database: law(mechanism, query(database)) for pair in pairs for database in pair}
    return max((p / q).ln() for first, second in pairs for p, q in zip(laws[first], laws[second], strict=True))


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize(("query", "rows", "relation", "monotonic"), QUESTIONS)
def test_no_pair_of_neighbours_is_told_apart_by_more_than_epsilon(query, rows, relation, monotonic, epsilon):
    mechanism = Exponential(utility_sensitivity=1, epsilon=epsilon, monotonic=monotonic)
    worst = worst_ratio(mechanism, query, neighbours(rows, relation))
    assert Decimal("0.2") * epsilon.numerator / epsilon.denominator < worst <= Decimal(str(float(epsilon)))


def test_a_false_claim_of_monotonic_utilities_would_be_caught():
    mechanism = Exponential(utility_sensitivity=1, epsilon=1, monotonic=True)
    assert worst_ratio(mechanism, votes, neighbours([0, 1, 2], REPLACE_ONE)) > 1


def test_a_sensitivity_half_as_large_as_the_true_one_would_be_caught():
    mechanism = Exponential(utility_sensitivity="0.5", epsilon=1)
    assert worst_ratio(mechanism, votes, neighbours([0, 1, 2], REPLACE_ONE)) > 1


@pytest.mark.parametrize("monotonic", [False, True])
def test_probabilities_are_the_formula(monotonic):
    mechanism = Exponential(utility_sensitivity=3, epsilon=2, monotonic=monotonic)
    weights = np.exp(2 * np.array([1.5, 0, -4]) / (3 if monotonic else 6))
    assert mechanism.probabilities([1.5, 0, -4]) == pytest.approx(weights / weights.sum(), rel=1e-12)


@pytest.mark.statistical
def test_marital_status_is_chosen_as_often_as_published():
    mechanism = Exponential(utility_sensitivity=1, epsilon=1)
    scores = [Fraction(count, 1000) for count in MARITAL_STATUS]
    expected = mechanism.probabilities(scores) * 10_000
    assert expected == pytest.approx([9577.2, 418.3, 3.65, 0.28, 0.28, 0.18, 0.13], abs=0.05, rel=0)
    assert expected[2:] == pytest.approx([3.65, 0.28, 0.28, 0.18, 0.13], abs=0.005, rel=0)
    draws = mechanism.release_many(scores, 10_000)
    assert_law(draws, cdf_of(expected / 10_000))
    rare = binomtest(int((draws > 1).sum()), 10_000, float(expected[2:].sum()) / 10_000)
    assert rare.pvalue >= ALPHA


@pytest.mark.statistical
@pytest.mark.parametrize("epsilon", ["0.1", "1"])
def test_the_sport_of_a_city_is_chosen_with_its_probability(epsilon):
    mechanism = Exponential(utility_sensitivity=1, epsilon=epsilon)
    draws = mechanism.release_many(VOTES, 50_000)
    football = float(mechanism.probabilities(VOTES)[0])
    assert football == pytest.approx(1 / sum(exp(-float(epsilon) * (49 - vote) / 2) for vote in VOTES))
    assert binomtest(int((draws == 0).sum()), 50_000, football).pvalue >= ALPHA


@pytest.mark.statistical
@pytest.mark.parametrize("scores", [np.arange(0, 40, 2) % 7, np.arange(20) / 4.0, [2**80 + k for k in range(20)]])
def test_choices_among_many_forms_of_scores_have_their_probability(scores):
    mechanism = Exponential(utility_sensitivity=1, epsilon=1)
    assert_law(mechanism.release_many(scores, SAMPLES), cdf_of(mechanism.probabilities(scores)))


def test_a_larger_epsilon_picks_the_best_more_often():
    chances = [Exponential(utility_sensitivity=1, epsilon=e).probabilities([30, 28, 20])[0] for e in (0, 0.1, 1, 10)]
    assert chances == sorted(chances)
    assert chances[0] == pytest.approx(1 / 3)


def test_releases_are_indexes():
    mechanism = Exponential(utility_sensitivity=1, epsilon=1)
    assert mechanism.release(Secret([0, 10**6])) == 1
    assert type(mechanism.release([0, 10**6])) is int
    assert mechanism.release_many([0, 10**6], 5).tolist() == [1] * 5
    assert mechanism.event == ExponentialEvent(Fraction(1))


@pytest.mark.parametrize(("scores", "best"), [([nan, -(10**9)], 0), ([-inf, None, 10**9], 2), ([1e300, inf], 1)])
def test_no_utility_is_an_error(scores, best):
    assert Exponential(utility_sensitivity=1, epsilon=1).release(scores) == best


@pytest.mark.parametrize("scores", [[], np.array([])])
def test_no_candidate_is_an_error(scores):
    with pytest.raises(ParameterError, match="at least one candidate"):
        Exponential(utility_sensitivity=1, epsilon=1).release(scores)


@pytest.mark.parametrize(
    "wrong", [{"utility_sensitivity": 0}, {"utility_sensitivity": -1}, {"epsilon": -1}, {"epsilon": inf}], ids=str
)
def test_parameters_outside_are_refused_by_name(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        Exponential(**({"utility_sensitivity": 1, "epsilon": 1} | wrong))


@pytest.mark.parametrize("count", [0, -1])
def test_fewer_than_one_choice_is_refused(count):
    with pytest.raises(ParameterError, match="count"):
        Exponential(utility_sensitivity=1, epsilon=1).release_many([1], count)


@pytest.mark.parametrize("scores", [[0] * 20, [5, *[0] * 19], list(range(20))], ids=["level", "one good", "rising"])
@pytest.mark.parametrize("monotonic", [False, True])
def test_the_accuracy_holds_with_its_confidence(scores, monotonic):
    mechanism = Exponential(utility_sensitivity=1, epsilon=1, monotonic=monotonic)
    shortfall = mechanism.accuracy(0.95, candidates=20)
    assert shortfall == pytest.approx((1 if monotonic else 2) * log(400))
    within = np.array(scores) >= max(scores) - shortfall
    assert mechanism.probabilities(scores)[within].sum() >= 0.95


def test_the_accuracy_without_epsilon_is_none():
    assert Exponential(utility_sensitivity=1, epsilon=0).accuracy(candidates=3) == inf
