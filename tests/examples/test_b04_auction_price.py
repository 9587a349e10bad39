from math import exp

import numpy as np
import pytest
from scipy.stats import binom
from tests.laws import ALPHA

import sfumato as sf
from examples import b04_auction_price as example

DRAWS = 10_000
REVENUES = [example.revenue(price) for price in example.PRICES]


def test_the_best_price_is_five_dollars_and_a_cent_more_ruins_it():
    assert max(example.PRICES, key=example.revenue) == example.BEST == 500
    assert (example.revenue(500), example.revenue(501)) == (250_000, 50_100)


def test_one_bidder_more_moves_no_revenue_by_more_than_the_largest_price(monkeypatch):
    monkeypatch.setattr(example, "BIDS", (*example.BIDS, 1_000))
    moved = [example.revenue(price) - before for price, before in zip(example.PRICES, REVENUES, strict=True)]
    assert moved == list(example.PRICES)
    assert max(moved) == example.CHOICE.utility_sensitivity == 1_000


def test_the_law_is_proportional_to_exp_of_revenue_over_twice_the_sensitivity():
    chances = example.CHOICE.probabilities(REVENUES)
    best, below = example.PRICES.index(500), example.PRICES.index(475)
    assert chances[best] / chances[below] == pytest.approx(exp((250_000 - 237_500) / 2_000))


def test_a_choice_keeps_the_revenue_and_noise_loses_a_fifth_at_a_cent_and_a_third_at_five():
    assert example.expected_revenue_of_choice() > 0.999 * 250_000
    assert example.expected_revenue_with_noise(1) < 0.8 * 250_000
    assert example.expected_revenue_with_noise(5) < 0.65 * 250_000


def test_noise_of_the_same_price_in_privacy_leaves_a_seventh():
    assert example.expected_revenue_with_noise(1_000) < 0.15 * 250_000


@pytest.mark.statistical
def test_simulated_choices_take_the_best_price_as_often_as_the_law_says():
    best = example.PRICES.index(500)
    drawn = int((example.CHOICE.release_many(REVENUES, DRAWS) == best).sum())
    low, high = binom.ppf([ALPHA / 2, 1 - ALPHA / 2], DRAWS, example.CHOICE.probabilities(REVENUES)[best])
    assert low <= drawn <= high, f"type-I error {ALPHA}"


@pytest.mark.statistical
def test_simulated_noise_of_five_cents_sells_above_the_price_almost_every_second_time():
    noise = sf.mechanisms.Laplace(l1_sensitivity=5, epsilon=1)
    above = int((noise.release(np.full(DRAWS, 500)) > 500).sum())
    chance = exp(-1 / 5) / (1 + exp(-1 / 5))
    low, high = binom.ppf([ALPHA / 2, 1 - ALPHA / 2], DRAWS, chance)
    assert low <= above <= high, f"type-I error {ALPHA}"
