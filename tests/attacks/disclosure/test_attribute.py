from decimal import Decimal
from itertools import product
from math import exp, log

import numpy as np
import pyarrow as pa
import pytest
from scipy.optimize import linprog

from sfumato.attacks.core.outcome import largest_success
from sfumato.attacks.disclosure.attribute import attribute_from_model, attribute_from_sums, largest_inference
from sfumato.errors import BudgetExceededError, ParameterError
from sfumato.privacy.guarantees import PureDP

RNG = np.random.default_rng(2014)
FAIR = {0: 0.5, 1: 0.5}
SKEWED = {0: 0.7, 1: 0.2, 2: 0.1}


def curators(values, noise):
    return [
        ((lambda _, said=rest + value + error: said), rest, value)
        for value, rest, error in zip(values, RNG.integers(50, size=len(values)).tolist(), noise, strict=True)
    ]


@pytest.mark.parametrize("prior", [FAIR, SKEWED])
def test_exact_sums_leave_the_value(prior):
    values = RNG.choice(list(prior), p=list(prior.values()), size=200).tolist()
    outcome = attribute_from_sums(curators(values, [0] * 200), question="sum", prior=prior)
    assert outcome.success == 1
    assert outcome.baseline == max(prior.values())


@pytest.mark.statistical
@pytest.mark.parametrize("prior", [FAIR, SKEWED])
def test_noise_leaves_as_little_as_its_epsilon_allows(prior):
    """Laplace noise of scale 2 for values that are up to 2 apart: ε = 1 for one that changes."""
    values = RNG.choice(list(prior), p=list(prior.values()), size=4000).tolist()
    noisy = curators(values, RNG.laplace(scale=2, size=4000))
    outcome = attribute_from_sums(noisy, question="sum", prior=prior, scale=2.0, epsilon=1)
    assert outcome.interval(confidence=1 - 2e-6)[0] <= outcome.allowed
    assert outcome.interval(confidence=1 - 2e-6)[1] >= outcome.baseline


@pytest.mark.parametrize(("left", "scale", "guess"), [(0.4, 0.0, 0), (1.6, 0.0, 2), (0.9, 10.0, 0), (1.4, 0.1, 1)])
def test_a_wide_noise_leaves_the_prior_and_a_narrow_one_the_nearest_value(left, scale, guess):
    outcome = attribute_from_sums([(lambda _: 7 + left, 7, guess)], question="sum", prior=SKEWED, scale=scale)
    assert outcome.successes == 1


def test_impossible_values_are_never_guessed():
    for scale in (0.0, 1.0):
        found = [(lambda _: 3.0, 0, 1)]
        assert attribute_from_sums(found, question="sum", prior={1: 1.0, 3: 0.0}, scale=scale).successes == 1


def test_who_is_refused_guesses_by_the_prior():
    def refuses(_):
        raise BudgetExceededError(requested=PureDP(1), remaining=PureDP(0))

    outcome = attribute_from_sums([(refuses, 3, 0), (refuses, 3, 1)], question="sum", prior=SKEWED)
    assert outcome.successes == 1
    assert outcome.notes == ("refused 2 of 2 times; those guesses were blind",)


def test_a_model_is_asked_for_each_value_and_weighed_by_the_prior():
    seen = {("ann", 0): 0.3, ("ann", 1): 0.9, ("bob", 0): 0.3, ("bob", 1): 0.9, ("bob", 2): 0.9, ("ann", 2): 0.0}
    outcome = attribute_from_model(
        lambda row, value: seen[row, value], rows=["ann", "bob"], truths=[0, 1], prior=SKEWED
    )
    assert outcome.successes == 1, "0.7·0.3 is more than 0.2·0.9"


def best_success(prior, mechanism):
    """The chance of the best guess from one answer of a finite mechanism: the sum of its largest joint chances."""
    answers = range(len(next(iter(mechanism.values()))))
    return sum(max(prior[value] * mechanism[value][answer] for value in prior) for answer in answers)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("prior", [FAIR, SKEWED, {0: 0.2, 1: 0.8}])
def test_no_randomized_response_lets_more_be_inferred(prior, epsilon):
    others = len(prior) - 1
    response = {
        value: [
            exp(epsilon) / (exp(epsilon) + others) if answer == value else 1 / (exp(epsilon) + others)
            for answer in prior
        ]
        for value in prior
    }
    assert best_success(prior, response) <= largest_inference(prior, epsilon=epsilon) + 1e-12


@pytest.mark.parametrize("delta", [0.0, 0.05, 0.4])
def test_nor_does_one_that_tells_the_truth_with_the_chance_delta(delta):
    for prior, epsilon in product((FAIR, SKEWED), (0.0, 1.0)):
        others = len(prior) - 1
        fair = [exp(epsilon) / (exp(epsilon) + others), 1 / (exp(epsilon) + others)]
        leaks = {
            value: [(1 - delta) * fair[answer != value] for answer in prior]
            + [delta * (answer == value) for answer in prior]
            for value in prior
        }
        assert best_success(prior, leaks) <= largest_inference(prior, epsilon=epsilon, delta=delta) + 1e-12


def test_of_two_fair_values_it_is_what_membership_allows():
    assert largest_inference(FAIR, epsilon=1) == pytest.approx(largest_success(epsilon=1))
    assert largest_inference(FAIR, epsilon=10_000) == 1
    assert largest_inference({0: 0.8, 1: 0.2}, epsilon=log(2)) == pytest.approx(0.8)


def best_channel(prior, epsilon):
    """The largest chance of a right guess over all channels from values to guesses that ε allows, as a linear program.

    Any mechanism with any rule of guessing is such a channel, and any such channel is a mechanism.
    """
    chances = np.array(list(prior.values()))
    values = range(len(chances))
    at = np.arange(len(chances) ** 2).reshape(len(chances), -1)  # of each value, in rows, the guesses
    near = []
    for one, other, guess in product(values, values, values):
        row = np.zeros(at.size)
        row[at[one, guess]] += 1
        row[at[other, guess]] -= exp(epsilon)
        near.append(row)
    sums = np.array([np.isin(at, at[value]).ravel() for value in values], dtype=float)
    found = linprog(
        -np.diag(chances).ravel(), A_ub=np.array(near), b_ub=np.zeros(len(near)), A_eq=sums, b_eq=chances > -1
    )
    return -found.fun


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0, 3.0])
@pytest.mark.parametrize(
    "prior", [FAIR, SKEWED, {0: 0.8, 1: 0.2}, {0: 0.4, 1: 0.35, 2: 0.2, 3: 0.05}, {0: 0.6, 1: 0.0, 2: 0.4}], ids=str
)
def test_the_best_mechanism_lets_just_as_much_be_inferred(prior, epsilon):
    assert largest_inference(prior, epsilon=epsilon) == pytest.approx(best_channel(prior, epsilon), abs=1e-7)


@pytest.mark.parametrize("prior", [{}, {0: 0.5}, {0: 1.5, 1: -0.5}])
def test_a_prior_is_chances_that_add_up(prior):
    with pytest.raises(ParameterError, match="prior"):
        attribute_from_model(lambda *_: 1.0, rows=["ann"], truths=[0], prior=prior)


@pytest.mark.parametrize("scale", [-1.0, float("nan")])
def test_noise_has_a_scale_of_zero_or_more(scale):
    with pytest.raises(ParameterError, match="scale"):
        attribute_from_sums(curators([0], [0]), question="sum", prior=FAIR, scale=scale)


def test_answers_may_be_decimals():
    exact = [((lambda _: Decimal(8)), 7.0, 1)]
    assert attribute_from_sums(exact, question="sum", prior=FAIR).success == 1


def test_there_is_a_truth_for_each_row():
    with pytest.raises(ParameterError, match="truths"):
        attribute_from_model(lambda *_: 1.0, rows=["ann"], truths=[], prior=FAIR)


@pytest.mark.parametrize("prior", [None, 1, "abc", [0.5, 0.5], {}, {0: None}, {0: "much"}, {0: 0.5}, {0: 2, 1: -1}])
def test_a_prior_is_chances_by_value(prior):
    with pytest.raises(ParameterError, match=r"^prior = "):
        largest_inference(prior, epsilon=1)


def test_a_likelihood_is_a_number():
    asked = {"rows": ["ann"], "truths": ["ill"], "prior": {"ill": 0.5, "well": 0.5}}
    for likelihood in (3, lambda *_: None, lambda *_: "much"):
        with pytest.raises(ParameterError, match=r"^likelihood = "):
            attribute_from_model(likelihood, **asked)


def test_a_truth_of_arrow_is_compared_as_pythons_own():
    asked = {"rows": ["ann"], "prior": {"ill": 0.9, "well": 0.1}}
    assert attribute_from_model(lambda *_: 1, truths=pa.array(["ill"]), **asked).successes == 1
