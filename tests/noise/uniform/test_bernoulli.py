"""Exact coins: their frequency at fixed points, and the identities that exp must satisfy."""

from fractions import Fraction
from math import exp

import numpy as np
import pytest
from scipy.stats import binomtest
from tests.laws import ALPHA, SAMPLES
from tests.noise.exact_tables import DRAWS

from sfumato.errors import ParameterError
from sfumato.noise import entropy
from sfumato.noise.uniform.acceptance import rational_coins
from sfumato.noise.uniform.bernoulli import bernoulli, bernoulli_within
from sfumato.numeric.enclosures import exp_bounds

pytestmark = pytest.mark.statistical


def assert_frequency(heads, probability):
    p = binomtest(int(heads.sum()), len(heads), probability).pvalue
    assert p >= ALPHA, f"P(true) = {probability}: refused, p = {p:.2e} < {ALPHA} (type-I error)"


@pytest.mark.parametrize("probability", [Fraction(1, 2), Fraction(1, 3), Fraction(1, 1000), Fraction(3**50, 4**50)])
def test_a_rational_coin_has_its_probability(probability):
    heads = bernoulli(probability, DRAWS)
    assert heads.dtype == np.bool_
    assert_frequency(heads, float(probability))


@pytest.mark.parametrize("factor", [Fraction(11, 10), Fraction(10, 11)])
def test_a_coin_off_by_ten_percent_is_refused(factor):
    with pytest.raises(AssertionError, match="refused"):
        assert_frequency(bernoulli(Fraction(1, 4), SAMPLES), float(factor / 4))


def test_certain_coins():
    assert bernoulli(Fraction(1), 1000).all()
    assert not bernoulli(Fraction(0), 1000).any()


@pytest.mark.parametrize("probability", [Fraction(-1, 2), Fraction(3, 2)])
def test_a_probability_outside_is_refused(probability):
    with pytest.raises(ParameterError, match="between 0 and 1"):
        bernoulli(probability, 1)


@pytest.mark.parametrize(
    ("numerator", "denominator"),
    [(1, 10**6), (1, 10), (1, 2), (99, 100), (1, 1), (101, 100), (7, 2), (5, 1), (10**40 + 1, 10**40), (1, 3**90)],
)
def test_exponential_coins_have_their_probability(numerator, denominator):
    heads = rational_coins(np.full(SAMPLES, numerator, dtype=object), denominator)
    assert_frequency(heads, exp(-numerator / denominator))


def test_each_element_has_its_own_probability():
    numerators = np.repeat(np.array([0, 1, 5, 10, 25, 1000]), SAMPLES)
    heads = rational_coins(numerators, 10).reshape(6, SAMPLES)
    for numerator, part in zip([0, 1, 5, 10, 25, 1000], heads, strict=True):
        assert_frequency(part, exp(-numerator / 10))


def test_neighbouring_elements_are_independent():
    heads = rational_coins(np.full(2 * SAMPLES, 7), 10).reshape(2, SAMPLES)
    assert_frequency(heads[0] & heads[1], exp(-1.4))


def test_the_exponential_of_zero_is_certain():
    assert rational_coins(np.zeros(1000, dtype=np.int64), 7).all()


@pytest.mark.parametrize("huge", [10**18, 10**60])
def test_a_huge_exponent_is_never_true_and_ends_soon(huge):
    assert not rational_coins(np.array([huge] * 1000), 1).any()


def test_both_types_of_numerators_are_equal_in_law():
    numerators = np.arange(SAMPLES) % 30
    probability = float(np.exp(-numerators / 10).mean())
    spread = float((np.exp(-numerators / 10) * (1 - np.exp(-numerators / 10))).sum()) ** 0.5
    for heads in (rational_coins(numerators, 10), rational_coins(numerators.astype(object) * 10**30, 10**31)):
        assert abs(heads.sum() - probability * SAMPLES) < 4.9 * spread


def test_no_coins_are_tossed_if_none_are_asked():
    assert bernoulli(Fraction(1, 2), 0).tolist() == []
    assert rational_coins(np.array([], dtype=np.int64), 3).tolist() == []


def test_the_caller_keeps_its_numerators():
    numerators = np.array([3, 4, 5])
    rational_coins(numerators, 2)
    assert numerators.tolist() == [3, 4, 5]


def test_every_leading_part_is_decided_as_the_probability_says(monkeypatch):
    every = np.arange(1 << 16, dtype="<u2")
    monkeypatch.setattr(entropy, "random_halfwords", lambda count: every[:count])
    assert bernoulli(Fraction(3, 16), 1 << 16).sum() == 3 << 12
    third = bernoulli(Fraction(1, 3), 1 << 16)
    assert third.sum() in {21845, 21846}  # the one tie is decided by the next bits


@pytest.mark.parametrize("exponent", [Fraction(1, 7), Fraction(1), Fraction(9), Fraction(20)])
def test_a_coin_known_by_bounds_has_its_probability(exponent):
    assert_frequency(bernoulli_within(lambda bits: exp_bounds(exponent, bits), DRAWS), exp(-exponent))


def test_a_coin_known_by_bounds_asks_for_more_precision_where_it_must():
    asked = []

    def bounds(bits):
        asked.append(bits)
        return exp_bounds(Fraction(1, 2**70), bits)  # 1 but for 2^−70

    assert len(bernoulli_within(bounds, 0)) == 0  # coins that tie, one in 2^16, ask once more
    assert asked == [32, 48, 64, 80]
    assert bernoulli_within(bounds, 1000).all()


@pytest.mark.parametrize(
    "toss", [lambda: bernoulli(Fraction(1, 2), -1), lambda: bernoulli_within(lambda _: (1, 2), -1)]
)
def test_a_negative_size_is_refused(toss):
    with pytest.raises(ParameterError, match="size = -1"):
        toss()
