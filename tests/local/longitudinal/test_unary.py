"""Longitudinal unary encodings: their probabilities, variances, and bits; the contract of oracles does the rest."""

import numpy as np
import pytest
from scipy.stats import binomtest
from tests.laws import ALPHA

from sfumato.local import BasicRappor, LongitudinalSymmetricUnary, LongitudinalUnary, OptimizedUnaryEncoding

KINDS = pytest.mark.parametrize("kind", [LongitudinalUnary, LongitudinalSymmetricUnary])


@KINDS
@pytest.mark.parametrize(("epsilon", "permanent"), [("0.5", 1), (1, 4), (2, "2.01")])
def test_two_steps_make_the_probabilities_of_one(kind, epsilon, permanent):
    oracle = kind(9, epsilon=epsilon, permanent_epsilon=permanent)
    kept, changed = 1 - oracle.flipped, oracle.flipped
    for step, total in zip(oracle.permanent_probabilities, oracle.support_probabilities, strict=True):
        assert step * kept + (1 - step) * changed == total
    assert 0 < changed < 0.5


@KINDS
def test_the_variance_is_the_published_one(kind):
    """σ(1 − σ)/(n(p₁ − q₁)²(p₂ − q₂)²)."""
    oracle = kind(9, epsilon=1, permanent_epsilon=2)
    (p1, q1), p2 = map(float, oracle.permanent_probabilities), 1 - float(oracle.flipped)
    for fraction in (0.0, 0.3):
        high, low = map(float, oracle.support_probabilities)
        share = fraction * high + (1 - fraction) * low
        total = share * (1 - share) / ((p1 - q1) ** 2 * (2 * p2 - 1) ** 2)
        sampled = fraction * (1 - fraction)  # who holds the value is no noise of the reports
        assert oracle.variance(reports=1, fraction=str(fraction)) == pytest.approx(total - sampled)


def test_it_errs_as_the_optimized_encoding_does():
    found = LongitudinalUnary(1024, epsilon=1, permanent_epsilon=3).variance(reports=1)
    assert found == pytest.approx(OptimizedUnaryEncoding(1024, epsilon=1).variance(reports=1))


def test_the_symmetric_one_is_basic_rappor():
    oracle = LongitudinalSymmetricUnary(4, epsilon=1, permanent_epsilon=2)
    basic = BasicRappor(4, f=2 * oracle.permanent_probabilities[1], p=oracle.flipped, q=1 - oracle.flipped)
    for mine, theirs in zip(oracle.support_probabilities, basic.support_probabilities, strict=True):
        assert float(mine) == pytest.approx(float(theirs))
    assert float(oracle.lifetime_epsilon) == pytest.approx(float(basic.lifetime_epsilon))


@pytest.mark.statistical
@KINDS
def test_bits_of_first_reports_are_coins(kind):
    oracle, count = kind(20, epsilon=1, permanent_epsilon=2), 20_000
    bits = np.unpackbits(oracle.client().report_many(np.full(count, 7)).payloads, axis=1)[:, :20]
    high, low = map(float, oracle.support_probabilities)
    for place, share in ((7, high), (0, low), (19, low)):
        assert binomtest(int(bits[:, place].sum()), count, share).pvalue >= ALPHA
    assert binomtest(int((bits[:, 7] & bits[:, 8]).sum()), count, high * low).pvalue >= ALPHA
