from fractions import Fraction
from math import sqrt

import numpy as np
import pytest
from scipy.stats import binom
from tests.laws import ALPHA

import sfumato as sf
from examples import d02_company_salary as example
from sfumato.numeric.distributions import discrete_laplace_variance

ATTACKS = 2_000


def test_exact_means_are_those_of_the_texts_and_give_away_156000_dollars():
    assert example.exact_mean("january") == 55_000
    assert example.exact_mean("february") == 56_000
    assert example.differencing(55_000, 56_000) == 156_000
    assert sf.datasets.company("february").to_pylist()[-1]["name"] == "Mallory"


def test_the_public_bound_is_the_top_salary():
    assert max(sf.datasets.company("january")["salary"].to_pylist()) == example.TOP_SALARY == 290_000


def test_the_noisy_sum_alone_gives_a_mean_an_error_of_3400_dollars_and_of_430_at_epsilon_8():
    assert example.noise_of_mean(1)[0] == pytest.approx(3_417.7, abs=0.1)
    assert example.noise_of_mean(8)[0] == pytest.approx(427.2, abs=0.1)


def test_the_noisy_count_adds_to_it():
    assert example.noise_of_mean(1)[1] == pytest.approx(3_182.0, abs=0.1)


def test_the_formula_is_that_of_the_plan_that_the_session_runs():
    columns = {"salary": sf.integer(0, example.TOP_SALARY)}
    table = sf.datasets.company("january")
    with sf.open(table, name="company", columns=columns, budget=sf.PureDP(1)) as company:
        answer = company.sql("SELECT AVG(salary) AS mean FROM company", epsilon=1)
    count, total = answer.receipt.event.events
    assert (count.scale, total.scale) == (Fraction(5, 2), Fraction(5, 3) * example.CENTER)
    assert sqrt(discrete_laplace_variance(total.scale)) / 100 == pytest.approx(example.noise_of_mean(1)[0])


def test_both_months_are_charged_to_one_account(tmp_path):
    for month, epsilon in (("january", "1"), ("february", "1")):
        example.private_mean(month, epsilon, tmp_path / "ledger.db")
    with pytest.raises(sf.errors.BudgetExceededError):
        example.private_mean("january", "0.5", tmp_path / "ledger.db")


@pytest.mark.statistical
def test_too_little_noise_lets_the_attack_get_within_dollars():
    attacks = np.array([example.differencing(*means) for means in example.texts_means(Fraction(1, 10), ATTACKS)])
    # of two Laplace noises times 100 and 101 one is off by $126 or more with a chance of at most 2·exp(−12.4)
    assert (np.abs(attacks - 156_000) < 252).sum() > binom.ppf(ALPHA, ATTACKS, 1 - 2 * np.exp(-12.4)) - 1
    assert np.std(attacks) == pytest.approx(sqrt(2 * (101**2 + 100**2)) / 10, rel=0.2)  # 9 standard errors


@pytest.mark.statistical
def test_too_much_noise_makes_a_mean_useless():
    means = np.array([january for january, _ in example.texts_means(Fraction(example.TOP_SALARY), ATTACKS)])
    below_nothing = (means < 0).sum()
    chance = np.exp(-55_000 / 290_000) / 2  # of a mean salary below $0
    low, high = binom.ppf([ALPHA / 2, 1 - ALPHA / 2], ATTACKS, chance)
    assert low <= below_nothing <= high, f"type-I error {ALPHA}"


@pytest.mark.statistical
def test_the_attack_through_the_curator_seldom_comes_within_ten_thousand_dollars():
    noise = sf.mechanisms.Laplace(l1_sensitivity=example.CENTER, epsilon="3/5")
    counts = sf.mechanisms.Laplace(l1_sensitivity=1, epsilon="2/5")
    guesses = []
    for people, total in ((100, 5_500_000), (101, 5_656_000)):
        centered = noise.release(np.full(ATTACKS * 5, total - people * example.CENTER))
        mean = example.CENTER + centered / np.maximum(1, counts.release(np.full(ATTACKS * 5, people)))
        guesses.append(np.clip(mean, 0, example.TOP_SALARY))
    close = np.abs(example.differencing(*guesses) - 156_000) < 10_000
    # the density of a sum of two such noises is at most 1/(4 · 241,667): about 2.1%; twice that leaves room for counts
    assert close.sum() <= binom.ppf(1 - ALPHA, ATTACKS * 5, 2 * 20_000 / (4 * 241_667))
