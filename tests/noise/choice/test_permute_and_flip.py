"""Exact choice by permute-and-flip."""

from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.stats import binomtest
from tests.laws import ALPHA, SAMPLES, assert_law, assert_not_law, cdf_of
from tests.noise.exact_tables import DRAWS

from sfumato.errors import ParameterError
from sfumato.noise.choice import permute_and_flip as module
from sfumato.noise.choice.permute_and_flip import permute_and_flip_choice

CASES = {
    "one": [5],
    "fair": [3, 3, 3, 3],
    "two": [10, 0],
    "spread": [0, 2, 5, 9, 14, 20],
    "two best": [7, 0, 30, 0],
    "hopeless": [10**40, 0, 4, 10**6],
}
DENOMINATOR = 7


def law(numerators, denominator=DENOMINATOR):
    """The definition: over all sets of true coins, the winner is a uniform one of the set."""
    with localcontext(prec=50):
        chances = [(-Decimal(number - min(numerators)) / denominator).exp() for number in numerators]
        probabilities = [Decimal(0)] * len(chances)
        for coins in product([False, True], repeat=len(chances)):
            mass = Decimal(1)
            for chance, coin in zip(chances, coins, strict=True):
                mass *= chance if coin else 1 - chance
            for i in np.flatnonzero(coins).tolist():
                probabilities[i] += mass / sum(coins)
        return [float(probability) for probability in probabilities]


@pytest.mark.statistical
@pytest.mark.parametrize("numerators", [case for case in CASES.values() if len(case) > 1], ids=str)
def test_candidates_have_their_probability(numerators):
    assert_law(permute_and_flip_choice(numerators, DENOMINATOR, DRAWS), cdf_of(np.array(law(numerators))))


@pytest.mark.statistical
@pytest.mark.parametrize("numerators", [case for case in CASES.values() if len(case) > 1], ids=str)
def test_single_draws_have_the_same_law(numerators):
    draws = np.concatenate([permute_and_flip_choice(numerators, DENOMINATOR, 1) for _ in range(5000)])
    assert_law(draws, cdf_of(np.array(law(numerators))))


@pytest.mark.statistical
def test_coins_that_sixteen_bits_never_settle_have_the_same_law(monkeypatch):
    monkeypatch.setattr(module, "_ERROR", 1e9)
    assert_law(permute_and_flip_choice(CASES["spread"], DENOMINATOR, SAMPLES), cdf_of(np.array(law(CASES["spread"]))))


@pytest.mark.statistical
def test_the_law_of_the_exponential_mechanism_is_refused():
    weights = np.exp(-np.array(CASES["spread"]) / DENOMINATOR)
    assert_not_law(permute_and_flip_choice(CASES["spread"], DENOMINATOR, SAMPLES), cdf_of(weights / weights.sum()))


@pytest.mark.statistical
def test_draws_are_independent():
    pairs = permute_and_flip_choice([3, 0], DENOMINATOR, 2 * SAMPLES).reshape(SAMPLES, 2)
    both = law([3, 0])[0] ** 2
    assert binomtest(int((pairs == 0).all(axis=1).sum()), SAMPLES, both).pvalue >= ALPHA


@pytest.mark.parametrize("exponent", [Fraction(0), Fraction(1, 10**9), Fraction(1, 3), Fraction(3), Fraction(11)])
def test_of_all_first_bits_only_those_that_contain_the_probability_are_undecided(monkeypatch, exponent):
    every, extended = np.arange(1 << 16, dtype=np.uint16), []

    def settle(numerators, denominator, *, leading):
        extended.extend((Fraction(int(n), denominator), int(u)) for n, u in zip(numerators, leading, strict=True))
        return np.zeros(len(leading), dtype=np.bool_)

    monkeypatch.setattr(module.entropy, "random_halfwords", lambda count: every[:count])
    monkeypatch.setattr(module, "rational_coins", settle)
    coins = module._coins(np.array([exponent.numerator]), exponent.denominator, len(every))[:, 0]
    with localcontext(prec=50):
        scaled = (-Decimal(exponent.numerator) / exponent.denominator).exp() * (1 << 16)
    assert {exact for exact, _ in extended} <= {exponent}
    doubtful = {first for _, first in extended}
    assert len(doubtful) <= 2
    assert all(first in doubtful or coins[first] == (first + 1 <= scaled) for first in range(1 << 16))
    assert int(scaled) in doubtful | {1 << 16}


def test_the_best_is_always_among_those_that_win():
    assert permute_and_flip_choice([10**4] * 5000 + [0], 1, 20).tolist() == [5000] * 20


@pytest.mark.parametrize("size", [0, 1, 7, 1000])
def test_a_single_candidate_is_always_chosen(size):
    assert permute_and_flip_choice([5], 3, size).tolist() == [0] * size


def test_batches_hide_nothing(monkeypatch):
    monkeypatch.setattr(module, "_LARGEST_BATCH", 10)
    draws = permute_and_flip_choice([0, 10**6, 0], 1, 50)
    assert set(draws.tolist()) == {0, 2}
    assert len(draws) == 50


def test_no_candidate_is_an_error():
    with pytest.raises(ParameterError, match="at least one candidate"):
        permute_and_flip_choice([], 1, 1)


@pytest.mark.parametrize(("denominator", "size", "name"), [(0, 1, "denominator"), (1, -1, "size")])
def test_parameters_outside_are_refused_by_name(denominator, size, name):
    with pytest.raises(ParameterError, match=name):
        permute_and_flip_choice([0, 1], denominator, size)
