import math
from decimal import Decimal

import numpy as np
import pytest
from scipy.stats import binom
from tests.laws import ALPHA

import sfumato as sf
from sfumato.attacks.questions.differences import (
    MeanOf,
    difference,
    difference_of_means,
    differencing,
    value_inference,
)
from sfumato.errors import BudgetExceededError, ParameterError

RNG = np.random.default_rng(2003)


def patients(table):
    """Q(i): how many of the first i people are ill, exactly."""
    ill = table.column(1).to_pylist()
    return lambda first: sum(ill[:first])


def payrolls(question):
    """The company of January and of February; a question is a statistic and a month."""
    statistic, month = question
    salaries = sf.datasets.company(month)["salary"].to_pylist()
    return {"count": len(salaries), "mean": sum(salaries) / len(salaries)}[statistic]


def month(name):
    return MeanOf(count=("count", name), mean=("mean", name))


def others_and_one(coins):
    """Exact counts of forty people and one whom the coin decides about."""
    return [lambda question, coin=coin: 40 + (coin and question == "all") for coin in coins]


def noisy(scale):
    """The same with textbook noise of this scale, fresh for each answer."""
    return lambda coins: [
        lambda question, coin=coin: 40 + (coin and question == "all") + RNG.laplace(0, scale) for coin in coins
    ]


def test_two_sums_give_away_chandler_and_mikhail():
    assert difference(patients(sf.datasets.medical_table("en")), larger=5, smaller=4) == 1
    assert difference(patients(sf.datasets.medical_table("ru")), larger=4, smaller=3) == 1


def test_two_means_give_mallorys_salary_away():
    assert payrolls(("mean", "february")) == 56_000
    assert difference_of_means(payrolls, larger=month("february"), smaller=month("january")) == 156_000


@pytest.mark.parametrize("known", [None, 40])
def test_exact_answers_always_give_the_person_away(known):
    game = differencing(others_and_one, larger="all", smaller="all but one", known=known, trials=1_000)
    assert game.outcome.success == game.rates.advantage == 1
    assert game.outcome.attack == "differencing"


def test_who_knows_the_smaller_answer_does_not_ask_for_it():
    questions = []

    def worlds(coins):
        return [lambda question: questions.append(question) or 40 for _ in coins]

    differencing(worlds, larger="all", smaller="all but one", known=40, trials=1)
    assert questions == ["all"]


@pytest.mark.statistical
def test_noise_of_scale_1_leaves_what_its_law_says():
    trials = 20_000
    game = differencing(noisy(1), larger="all", known=40, trials=trials, epsilon=1)
    chance = 1 - math.exp(-0.5) / 2  # Pr[1 + Lap(1) ≥ ½] = Pr[Lap(1) < ½]
    low, high = binom.ppf([ALPHA / 2, 1 - ALPHA / 2], trials, chance)
    assert low <= game.outcome.successes <= high, f"type-I error {ALPHA}"
    assert chance < game.outcome.allowed


@pytest.mark.statistical
def test_a_second_noisy_answer_makes_the_attack_weaker():
    one, two = (
        differencing(noisy(1), larger="all", smaller="rest", known=known, trials=30_000).outcome for known in (40, None)
    )
    # 0.697 against 0.644: their limits at 1e-6 lie apart
    assert two.interval(confidence=1 - 1e-6)[1] < one.interval(confidence=1 - 1e-6)[0]


def test_refusal_of_the_second_question_leaves_a_blind_guess():
    def worlds(coins):
        def answer(question):
            if question == "rest":
                raise BudgetExceededError(requested=1, remaining=0)
            return 41

        return [answer for _ in coins]

    outcome = differencing(worlds, larger="all", smaller="rest", trials=10, epsilon=1).outcome
    assert outcome.notes == ("refused 10 of 10 times; those guesses were blind",)


def companies(count, scale=0.0):
    """What answers about each of some companies of two, and the salary that is sought."""
    for salary in RNG.uniform(0, 290_000, count):
        yield lambda question, salary=salary: 55_000 + salary * (question == "both") + RNG.laplace(0, scale), salary


def salary_of(answer):
    return difference(answer, larger="both", smaller="one")


RANGE = {"low": 0, "high": 290_000, "within": 10_000}


def test_values_are_inferred_from_exact_answers_to_the_last_dollar():
    outcome = value_inference(companies(50), salary_of, **(RANGE | {"within": 0.01}), epsilon=1)
    assert outcome.success == 1
    assert outcome.baseline == pytest.approx(0.02 / 290_000)
    assert outcome.allowed == pytest.approx(math.e * 0.02 / 290_000)


@pytest.mark.statistical
def test_noise_of_the_size_of_the_range_leaves_little_more_than_blind_guessing():
    outcome = value_inference(companies(5_000, 290_000), salary_of, **RANGE)
    # less than 2·10,000 times the density of two such noises, 1/(4·290,000), and what is cut off lands on the bounds
    assert outcome.interval(confidence=1 - 1e-6)[0] < 2 * outcome.baseline


@pytest.mark.statistical
def test_a_refused_value_is_guessed_evenly_between_the_bounds():
    def refuse(_):
        raise BudgetExceededError(requested=1, remaining=0)

    outcome = value_inference(companies(5_000), refuse, **RANGE)
    low, high = outcome.interval(confidence=1 - 1e-6)
    assert low < outcome.baseline < high  # guesses near the bounds reach a little less
    assert "refused 5,000 of 5,000" in outcome.notes[0]


@pytest.mark.parametrize(("epsilon", "allowed"), [(1, 1 - math.exp(-1) / 2), ("0.1", 1 - math.exp(-0.1) / 2), (0, 0.5)])
def test_what_is_allowed_bounds_wrong_guesses_too(epsilon, allowed):
    """Half of all blind guesses err; at ε = 1 then at least 18.4% do, so that 81.6% are right and not all."""
    outcome = value_inference(companies(1), salary_of, low=0, high=100, within=25, epsilon=epsilon)
    assert outcome.baseline == 0.5
    assert outcome.allowed == pytest.approx(allowed)


def test_randomized_response_infers_a_value_as_well_as_is_allowed():
    """A bit beside a fair coin for whoever is not there: right with e^ε/(1 + e^ε), and never more than the bound."""
    for epsilon in (0.1, 1.0, 3.0):
        right = math.exp(epsilon) / (1 + math.exp(epsilon))
        allowed = value_inference(companies(1), salary_of, low=0, high=100, within=25, epsilon=epsilon).allowed
        assert 0.5 < right <= allowed < 1


def test_what_is_allowed_is_never_above_certainty():
    assert value_inference(companies(1), salary_of, **RANGE, epsilon=1_000).allowed == 1
    assert value_inference(companies(1), salary_of, low=0, high=1, within=1, epsilon=0).allowed == 1
    assert value_inference(companies(1), salary_of, **RANGE).allowed is None
    assert value_inference(companies(1), salary_of, low=0, high=1, within=5).baseline == 1


@pytest.mark.parametrize(
    ("facts", "name"),
    [({"high": 0}, "high"), ({"high": math.inf}, "high"), ({"within": -1}, "within"), ({"within": math.nan}, "within")],
)
def test_impossible_ranges_are_refused(facts, name):
    with pytest.raises(ParameterError, match=name):
        value_inference(companies(1), salary_of, **(RANGE | facts))


def test_answers_may_be_decimals():
    def worlds(coins):
        return [lambda _, coin=coin: Decimal(40 + coin) for coin in coins]

    assert differencing(worlds, larger="all", known=40.0, trials=20).outcome.success == 1
    curators = [(lambda _: Decimal(5), 5.0)]
    assert value_inference(curators, lambda answer: answer("pay"), low=0, high=10, within=0.5).successes == 1
