"""Binomial integers of any rational probability; heads among fair coins, counted and drawn."""

from fractions import Fraction
from math import comb, exp

import numpy as np
import pytest
from scipy.stats import binom, binomtest
from tests.laws import ALPHA, SAMPLES, assert_law, assert_not_law
from tests.noise.exact_tables import DRAWS

from sfumato.errors import ParameterError
from sfumato.noise.laws import binomial as module
from sfumato.noise.laws.binomial import binomial, fair_binomial


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("n", "probability"),
    [
        (1, "1/3"),
        (10, "1/2"),
        (10, "3/4"),
        (100, "1/7"),
        (1000, "999/1000"),
        (3000, "2/3"),
        (20, "123456789123456789123/1000000000000000000000"),
    ],
)
def test_it_follows_its_law(n, probability):
    assert_law(
        binomial(n, Fraction(probability), DRAWS if n == 100 else SAMPLES),
        lambda k: binom.cdf(k, n, float(Fraction(probability))),
    )


@pytest.mark.statistical
def test_a_probability_ten_percent_off_is_noticed():
    samples = binomial(100, Fraction(1, 5), SAMPLES)
    assert_not_law(samples, lambda k: binom.cdf(k, 100, 0.22))
    assert_not_law(samples, lambda k: binom.cdf(k, 100, 0.2 / 1.1))


@pytest.mark.statistical
def test_huge_numbers_of_trials_have_their_law():
    n = 2**62 - 1
    assert_law(binomial(n, Fraction(1, 3), 2000), lambda k: binom.cdf(k, n, 1 / 3))


@pytest.mark.parametrize("n", [0, 1, 5000])
def test_certain_trials(n):
    assert binomial(n, Fraction(1), 4).tolist() == [n] * 4
    assert binomial(n, Fraction(0), 4).tolist() == [0] * 4


def test_the_digits_of_the_probability_decide(monkeypatch):
    """Of 8 trials each digit of U splits those that tie in halves: 1/2 + 1/8 of them are below 5/8 = 0.101."""
    monkeypatch.setattr(module, "fair_binomial", lambda counts: counts // 2)
    assert binomial(8, Fraction(5, 8), 1).tolist() == [5]
    assert binomial(8, Fraction(1, 4), 1).tolist() == [2]


@pytest.mark.parametrize(
    ("n", "probability", "size"), [(-1, 0, 1), (2**62 + 1, 0, 1), (1, -1, 1), (1, 2, 1), (1, 0, -1)]
)
def test_parameters_outside_are_refused(n, probability, size):
    with pytest.raises(ParameterError):
        binomial(n, Fraction(probability), size)


def test_the_result_is_int64():
    assert binomial(5, Fraction(1, 2), 0).dtype == np.int64


def fair_cdf(n):
    return lambda k: binom.cdf(k, n, 0.5)


@pytest.mark.statistical
@pytest.mark.parametrize("n", [1, 2, 63, 64, 65, 128, 1000, 1023, 1024, 1025, 4096, 10**6 + 7, 2**40 + 1, 2**62])
def test_heads_follow_their_law(n):
    assert_law(fair_binomial(np.full(SAMPLES, n)), fair_cdf(n))


@pytest.mark.statistical
@pytest.mark.parametrize("n", [100, 2048])
def test_a_coin_more_in_ten_is_noticed(n):
    assert_not_law(fair_binomial(np.full(SAMPLES, n)), fair_cdf(n * 11 // 10))


@pytest.mark.statistical
@pytest.mark.parametrize("half", [1, 2, 5, 20])
def test_many_coins_may_be_drawn_even_where_they_are_few(half):
    """The rejection step is right far from where it is used, so its correction, there large, is tested."""
    assert_law(module._drawn(half, SAMPLES // 4), fair_cdf(2 * half))


@pytest.mark.statistical
@pytest.mark.parametrize(("half", "distance"), [(1, 1), (2, 2), (5, 3), (5, 5), (30, 20), (300, 100)])
def test_the_coin_of_a_distance_has_its_probability(half, distance):
    probability = comb(2 * half, half + distance) / comb(2 * half, half) * exp(distance**2 / (half + 0.5))
    heads = module._kept(np.repeat([distance, distance - 1], 10_000), half)[:10_000]  # a batch has one rate for all
    assert binomtest(int(heads.sum()), len(heads), probability).pvalue >= ALPHA


@pytest.mark.parametrize("half", [1, 3, 50])
def test_the_gaussian_lies_above_the_binomial(half):
    for distance in range(half + 1):
        ratio = comb(2 * half, half + distance) / comb(2 * half, half) * exp(distance**2 / (half + 0.5))
        assert ratio <= 1 + 1e-12
        assert ratio >= exp(-float(module._rate(distance, half))) - 1e-12


def test_the_middle_is_always_kept():
    assert module._kept(np.zeros(100, dtype=np.int64), 512).all()
    assert module._rate(0, 7) <= 0


def test_each_has_coins_of_its_own():
    heads = fair_binomial(np.array([0, 1, 100, 5000] * 50)).reshape(50, 4)
    assert (heads[:, 0] == 0).all()
    assert set(heads[:, 1]) == {0, 1}
    assert (abs(heads[:, 2] - 50) <= 50).all()
    assert (abs(heads[:, 3] - 2500) < 500).all()


@pytest.mark.parametrize("counts", [[-1], [2**62 + 1]])
def test_counts_outside_are_refused(counts):
    with pytest.raises(ParameterError, match="counts"):
        fair_binomial(np.array(counts))


def test_every_bit_is_counted_once(monkeypatch):
    monkeypatch.setattr(module.entropy, "random_words", lambda count: np.full(count, 2**64 - 1, dtype=np.uint64))
    counts = np.array([0, 1, 7, 64, 65, 1023])
    assert module._counted(counts).tolist() == counts.tolist()


def test_coins_of_a_rational_are_tossed_in_order():
    assert module._toss(Fraction(1))
    assert not module._toss(Fraction(0))
