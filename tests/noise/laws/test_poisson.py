"""Poisson integers, against their law and by exact enumeration of the rejection step."""

from fractions import Fraction
from math import ceil, comb, factorial

import numpy as np
import pytest
from scipy.stats import nbinom
from scipy.stats import poisson as poisson_law
from tests.laws import SAMPLES, assert_law, assert_not_law
from tests.noise.exact_tables import DRAWS

from sfumato.errors import ParameterError
from sfumato.noise.laws import poisson as module
from sfumato.noise.laws.poisson import poisson


@pytest.mark.statistical
@pytest.mark.parametrize(
    "mean", ["1/20", "1/3", "1/2", "3/4", "1", "5/2", "10", "1000/7", "1/3000000000000000000001", 10**5]
)
def test_it_follows_its_law(mean):
    draws = DRAWS if mean == "5/2" else SAMPLES if Fraction(mean) < 1000 else SAMPLES // 4
    samples = poisson(Fraction(mean), draws)
    if Fraction(mean) < Fraction(1, 1000):
        assert samples.max() <= 1
    else:
        assert_law(samples, lambda k: poisson_law.cdf(k, float(Fraction(mean))))


@pytest.mark.statistical
@pytest.mark.parametrize("factor", [1.1, 1 / 1.1])
def test_a_mean_ten_percent_off_is_noticed(factor):
    assert_not_law(poisson(Fraction(5), SAMPLES), lambda k: poisson_law.cdf(k, 5 * factor))


@pytest.mark.statistical
@pytest.mark.parametrize("heads", [1, 3, 200])
def test_tails_before_so_many_heads_are_negative_binomial(heads):
    assert_law(module._tails_before(heads, SAMPLES), lambda k: nbinom.cdf(k, heads, 0.5))


@pytest.mark.parametrize(
    "mean", [Fraction(1, 3), Fraction(1, 2), Fraction(2, 3), Fraction(1), Fraction(4), Fraction(15, 2)]
)
def test_the_coins_make_exactly_the_law(mean, monkeypatch):
    """Proposal times the product of the coins that the code tosses is mean^k/k!, but for one constant."""
    asked = []

    def toss(between, _, *, above):
        asked.extend(zip(between.tolist(), above.tolist(), strict=True))
        return np.ones(len(between), dtype=np.bool_)

    monkeypatch.setattr(module, "_coins", toss)
    heads, constants = ceil(mean), set()
    for k in range(20):
        asked.clear()
        assert module._kept(np.array([k]), mean).all()
        coins = [2 * mean / j if above else j / (2 * mean) for j, above in asked]
        assert all(coin <= 1 for coin in coins)
        kept = Fraction(1)
        for coin in coins:
            kept *= coin
        proposal = Fraction(comb(k + heads - 1, k), 2 ** (k + heads))
        constants.add(proposal * kept * factorial(k) / mean**k)
    assert len(constants) == 1


@pytest.mark.parametrize("mean", [Fraction(4), Fraction(1, 3), Fraction(1, 10**30), Fraction(10**30 - 1, 10**30)])
def test_coins_compare_with_what_they_are_asked_for(mean, monkeypatch):
    bounds = []
    monkeypatch.setattr(
        module, "uniform_below_each", lambda given: bounds.append(given) or np.zeros(len(given), dtype=np.int64)
    )
    heads = module._coins(np.array([10**3, 1]), mean, above=np.array([True, False]))
    assert heads.all()
    assert bounds[0].tolist() == [10**3 * mean.denominator, 2 * mean.numerator]


def test_large_means_are_drawn():
    draws = poisson(Fraction(2**40), 2)
    assert (abs(draws - 2**40) < 20 * 2**20).all()


def test_a_mean_of_zero_draws_zeros():
    assert poisson(Fraction(0), 3).tolist() == [0, 0, 0]
    assert poisson(Fraction(7, 2), 0).tolist() == []


@pytest.mark.parametrize("mean", [Fraction(-1), Fraction(2**40 + 1)])
def test_a_mean_outside_is_refused(mean):
    with pytest.raises(ParameterError, match="mean"):
        poisson(mean, 1)
