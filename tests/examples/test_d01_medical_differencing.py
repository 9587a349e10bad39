from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binomtest
from tests.laws import ALPHA

import sfumato as sf
from examples import d01_medical_differencing as example
from sfumato.errors import BudgetExceededError
from sfumato.numeric.distributions import discrete_laplace_log_pmf

RUNS = 50_000


def exact_success_rate(epsilon):
    """P(L₁ − L₂ ≥ 0) for the noise of two answers: (1 + P(L₁ = L₂)) / 2."""
    masses = np.exp(discrete_laplace_log_pmf(1 / Fraction(epsilon), np.arange(-4_000, 4_001)))
    return (1 + float((masses**2).sum())) / 2


@pytest.mark.parametrize(
    ("language", "sums"), [("en", [0, 1, 2, 2, 2, 3]), ("ru", [0, 1, 1, 2, 3, 3])], ids=["en", "ru"]
)
def test_prefix_sums_are_those_of_the_articles(language, sums):
    table = sf.datasets.medical_table(language)
    assert [example.prefix_sum(table, i) for i in range(6)] == sums


def test_exact_answers_give_away_chandler_and_mikhail():
    english, russian = sf.datasets.medical_table("en"), sf.datasets.medical_table("ru")
    assert (english["name"][4].as_py(), example.differencing(english, 5)) == ("Chandler", 1)
    assert (russian["name"][3].as_py(), example.differencing(russian, 4)) == ("Михаил", 1)


@pytest.mark.parametrize("language", ["en", "ru"])
def test_exact_answers_give_away_everybody(language):
    table = sf.datasets.medical_table(language)
    assert [example.differencing(table, person) for person in range(1, 6)] == table.column(1).to_pylist()


def test_two_answers_cost_two_tenths_and_a_third_is_refused():
    table = sf.datasets.medical_table()
    with example.curator(table, budget="0.2") as patients:
        for i in (5, 4):
            patients.sql(example.question("diabetes", i), epsilon=example.EPSILON)
        assert patients.spent == sf.PureDP("0.2")
        with pytest.raises(BudgetExceededError):
            patients.sql(example.question("diabetes", 3), epsilon=example.EPSILON)


def test_the_curator_sums_the_rows_that_the_attack_means():
    table = sf.datasets.medical_table("ru")
    with example.curator(table, budget="1000") as patients:
        answers = [patients.sql(example.question("gastritis", i), epsilon=50)["ill"][0].value for i in (3, 4, 5)]
    assert answers == [2, 3, 3]  # at ε = 50 noise other than 0 has probability below 1e-21


@pytest.mark.parametrize("epsilon", ["0.01", "0.1", "1", "5"])
def test_no_attack_passes_the_bound(epsilon):
    assert exact_success_rate(epsilon) <= example.largest_success_rate(float(epsilon))


def test_the_attack_on_small_epsilon_is_close_to_a_coin_flip():
    assert 0.5 < exact_success_rate("0.1") < 0.513
    assert example.largest_success_rate(0.1) == pytest.approx(0.5498, abs=1e-4)


@pytest.mark.statistical
@pytest.mark.parametrize("epsilon", ["0.1", "1", "5"])
def test_simulated_attacks_succeed_as_often_as_the_law_says(epsilon):
    right = round(example.success_rate(epsilon, RUNS) * RUNS)
    p = binomtest(right, RUNS, exact_success_rate(epsilon)).pvalue
    assert p >= ALPHA, f"refused, p = {p:.2e} < {ALPHA} (type-I error)"
