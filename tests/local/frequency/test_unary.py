"""Unary encodings: the published variances and probabilities, and that each bit is a coin of its own."""

from math import exp

import numpy as np
import pytest
from scipy.stats import binomtest
from tests.laws import ALPHA, SAMPLES

from sfumato.local import OptimizedUnaryEncoding, SymmetricUnaryEncoding

OPTIMIZED = [("0.5", 15.67), (1, 3.683), (2, 0.7241), (4, 0.07602)]
SYMMETRIC = [("0.5", 15.92), (1, 3.918), (2, 0.9207), (4, 0.1810)]


@pytest.mark.parametrize(("epsilon", "expected"), OPTIMIZED)
def test_the_published_variances_of_the_optimized_one(epsilon, expected):
    assert OptimizedUnaryEncoding(1024, epsilon=epsilon).variance(reports=1) == pytest.approx(expected, rel=3e-4)


@pytest.mark.parametrize(("epsilon", "expected"), SYMMETRIC)
def test_the_published_variances_of_the_symmetric_one(epsilon, expected):
    assert SymmetricUnaryEncoding(1024, epsilon=epsilon).variance(reports=1) == pytest.approx(expected, rel=3e-4)


def test_the_probabilities_are_those_of_the_formulas():
    p, q = map(float, OptimizedUnaryEncoding(9, epsilon=2).support_probabilities)
    assert (p, q) == (0.5, pytest.approx(1 / (exp(2) + 1)))
    p, q = map(float, SymmetricUnaryEncoding(9, epsilon=2).support_probabilities)
    assert (p, q) == (pytest.approx(exp(1) / (exp(1) + 1)), pytest.approx(1 / (exp(1) + 1)))


@pytest.mark.statistical
@pytest.mark.parametrize("kind", [OptimizedUnaryEncoding, SymmetricUnaryEncoding])
def test_bits_are_independent_coins_of_their_probabilities(kind):
    oracle = kind(20, epsilon=1)
    p, q = map(float, oracle.support_probabilities)
    reports = oracle.client().report_many(np.full(SAMPLES, 7))
    bits = np.unpackbits(reports.payloads, axis=1)[:, :20]
    for place in (0, 7, 19):
        expected = p if place == 7 else q
        assert binomtest(int(bits[:, place].sum()), SAMPLES, expected).pvalue >= ALPHA
    for first, second, expected in ((7, 8, p * q), (3, 4, q * q), (0, 19, q * q)):
        assert binomtest(int((bits[:, first] & bits[:, second]).sum()), SAMPLES, expected).pvalue >= ALPHA
    after = bits[:-1, 19] & bits[1:, 0]
    assert binomtest(int(after.sum()), len(after), q * q).pvalue >= ALPHA


@pytest.mark.parametrize(("size", "width"), [(2, 1), (8, 1), (9, 2), (1024, 128)])
def test_a_payload_has_a_bit_for_each_value(size, width):
    assert OptimizedUnaryEncoding(size, epsilon=1).payload_bytes == width
