"""Exact coins: their frequency, and that the float never decides what it cannot see, while integers decide right."""

from fractions import Fraction
from math import exp

import numpy as np
import pytest
from flint import arb, fmpq
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest
from tests.laws import ALPHA, SAMPLES
from tests.noise.exact_tables import DRAWS

from sfumato.errors import ParameterError
from sfumato.noise import entropy
from sfumato.noise.uniform import bernoulli as module
from sfumato.noise.uniform.bernoulli import (
    MARGIN,
    below,
    bernoulli,
    bernoulli_within,
    exact_coin,
    exp_coin,
    exp_coins,
    extended,
    rational_coins,
)
from sfumato.numeric.rounding import exp_bounds


def assert_frequency(heads, probability):
    p = binomtest(int(np.sum(heads)), len(heads), probability).pvalue
    assert p >= ALPHA, f"P(true) = {probability}: refused, p = {p:.2e} < {ALPHA} (type-I error)"


@pytest.mark.statistical
@pytest.mark.parametrize("probability", [Fraction(1, 2), Fraction(1, 3), Fraction(1, 1000), Fraction(3**50, 4**50)])
def test_a_rational_coin_has_its_probability(probability):
    heads = bernoulli(probability, DRAWS)
    assert heads.dtype == np.bool_
    assert_frequency(heads, float(probability))


@pytest.mark.statistical
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


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("numerator", "denominator"),
    [(1, 10**6), (1, 10), (1, 2), (99, 100), (1, 1), (101, 100), (7, 2), (5, 1), (10**40 + 1, 10**40), (1, 3**90)],
)
def test_exponential_coins_have_their_probability(numerator, denominator):
    heads = rational_coins(np.full(SAMPLES, numerator, dtype=object), denominator)
    assert_frequency(heads, exp(-numerator / denominator))


@pytest.mark.statistical
def test_each_element_has_its_own_probability():
    numerators = np.repeat(np.array([0, 1, 5, 10, 25, 1000]), SAMPLES)
    heads = rational_coins(numerators, 10).reshape(6, SAMPLES)
    for numerator, part in zip([0, 1, 5, 10, 25, 1000], heads, strict=True):
        assert_frequency(part, exp(-numerator / 10))


@pytest.mark.statistical
def test_neighbouring_elements_are_independent():
    heads = rational_coins(np.full(2 * SAMPLES, 7), 10).reshape(2, SAMPLES)
    assert_frequency(heads[0] & heads[1], exp(-1.4))


def test_the_exponential_of_zero_is_certain():
    assert rational_coins(np.zeros(1000, dtype=np.int64), 7).all()


@pytest.mark.parametrize("huge", [10**18, 10**60])
def test_a_huge_exponent_is_never_true_and_ends_soon(huge):
    assert not rational_coins(np.array([huge] * 1000), 1).any()


@pytest.mark.statistical
def test_both_types_of_numerators_are_equal_in_law():
    numerators = np.arange(SAMPLES) % 30
    probability = float(np.exp(-numerators / 10).mean())
    spread = float((np.exp(-numerators / 10) * (1 - np.exp(-numerators / 10))).sum()) ** 0.5
    for heads in (rational_coins(numerators, 10), rational_coins(numerators.astype(object) * 10**30, 10**31)):
        assert abs(np.sum(heads) - probability * SAMPLES) < 4.9 * spread


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


@pytest.mark.statistical
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


EXPONENTS = [Fraction(1, 10**6), Fraction(1, 32), Fraction(1, 3), Fraction(1), Fraction(7, 2), Fraction(20)]


def first_bits(probability, bits):
    """The first bits of the number e^(−x) itself: the uniform number on which the coin turns."""
    return exp_bounds(probability, bits + 64)[0] >> 64


@pytest.mark.statistical
@pytest.mark.parametrize("exponent", EXPONENTS)
@pytest.mark.parametrize("margin", [MARGIN, 0.25, 2.0], ids=["float", "mixed", "integers only"])
def test_both_ways_to_decide_have_the_same_law(exponent, margin, monkeypatch):
    monkeypatch.setattr(module, "MARGIN", margin)
    count = SAMPLES if margin == MARGIN else 20_000
    assert_frequency(exp_coins(np.full(count, float(exponent)), lambda _: exponent), exp(-exponent))
    assert_frequency([exp_coin(float(exponent), lambda: exponent) for _ in range(20_000)], exp(-exponent))


@pytest.mark.parametrize("exponent", EXPONENTS)
@pytest.mark.parametrize("offset", [-(2**30), -(2**20), -1, 0, 1, 2**20, 2**30])
def test_uniforms_next_to_the_edge_are_decided_as_the_integers_decide(exponent, offset, monkeypatch):
    edge = first_bits(exponent, 64)
    word = np.array([edge + offset], dtype=np.uint64)
    decided = exp_coins(np.array([float(exponent)]), lambda _: exponent, uniforms=word)[0]
    assert decided == (offset < 0) or offset == 0
    monkeypatch.setattr(entropy, "random_bytes", lambda _: int(word[0]).to_bytes(8))
    assert exp_coin(float(exponent), lambda: exponent) == (offset < 0) or offset == 0


@given(st.fractions(0, 40))
def test_the_float_is_far_nearer_than_the_margin(exponent):
    exact = (-arb(fmpq(exponent.numerator, exponent.denominator))).exp()
    for distortion in (1 - 2.0**-41, 1, 1 + 2.0**-41):
        ours = float(np.exp(-np.array([float(exponent) * distortion]))[0])
        assert abs(arb(ours) - exact) < arb(MARGIN * 0.5)


@pytest.mark.parametrize("bits", [1, 16, 64])
def test_a_tie_is_broken_by_fresh_bits(bits, monkeypatch):
    exponent = Fraction(1, 3)
    edge = first_bits(exponent, bits + 64)
    for offset, answer in ((-1, True), (1, False)):
        monkeypatch.setattr(entropy, "random_bytes", lambda _, o=offset: ((edge + o) & (1 << 64) - 1).to_bytes(8))
        assert exact_coin(exponent, edge >> 64, bits) is answer


def test_ties_upon_ties_end_with_the_first_bits_that_differ(monkeypatch):
    edge, answers = first_bits(Fraction(1, 3), 64 * 4), []
    words = [edge >> 64 * i & (1 << 64) - 1 for i in (2, 1)] + [(edge & (1 << 64) - 1) + 5]
    monkeypatch.setattr(entropy, "random_bytes", lambda _: answers.append(1) or words[len(answers) - 1].to_bytes(8))
    assert exact_coin(Fraction(1, 3), edge >> 64 * 3, 64) is False
    assert len(answers) == 3


@pytest.mark.parametrize(("prefix", "answer"), [(0, True), (3, True), (4, False), (15, False)])
def test_a_known_probability_is_compared_with_whole_words(prefix, answer):
    assert below(prefix, 4, lambda precision: (1 << precision - 2, 1 << precision - 2)) is answer


@pytest.mark.statistical
@pytest.mark.parametrize("denominator", [3, 10**400], ids=["floats", "beyond floats"])
def test_numerators_of_any_size_share_a_denominator(denominator):
    numerators = np.array([denominator * k // 3 for k in (1, 3, 6, 10**6)] * (SAMPLES // 4), dtype=object)
    heads = rational_coins(numerators, denominator).reshape(-1, 4)
    for column, exponent in enumerate((1 / 3, 1, 2)):
        assert_frequency(heads[:, column], exp(-exponent))
    assert not heads[:, 3].any()


def test_extended_words_begin_as_given():
    leading = np.array([0, 1, 65535], dtype=np.uint16)
    words = extended(leading)
    assert (words >> np.uint64(48)).tolist() == leading.tolist()
    assert len(set((words & np.uint64(2**48 - 1)).tolist())) == 3


def test_leading_bits_that_decide_are_obeyed():
    leading = np.array([0, 65535], dtype=np.uint16)
    for _ in range(100):
        assert rational_coins(np.array([1, 1]), 2, leading=leading).tolist() == [True, False]
