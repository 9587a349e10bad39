"""Coins of exp(−x): the float never decides what it cannot see, and the integers decide right."""

from fractions import Fraction
from math import exp

import numpy as np
import pytest
from flint import arb, fmpq
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest
from tests.laws import ALPHA, SAMPLES

from sfumato.noise import entropy
from sfumato.noise.uniform import acceptance as module
from sfumato.noise.uniform.acceptance import MARGIN, below, exact_coin, exp_coin, exp_coins, extended, rational_coins
from sfumato.numeric.enclosures import exp_bounds

EXPONENTS = [Fraction(1, 10**6), Fraction(1, 32), Fraction(1, 3), Fraction(1), Fraction(7, 2), Fraction(20)]


def assert_frequency(heads, probability):
    p = binomtest(int(np.sum(heads)), len(heads), probability).pvalue
    assert p >= ALPHA, f"P(true) = {probability}: refused, p = {p:.2e} < {ALPHA} (type-I error)"


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
