"""Thresholded histograms: their tails by summing the noise, and what the comparison hides."""

from fractions import Fraction
from math import exp, fsum

import pytest

from sfumato.errors import ParameterError
from sfumato.local import OptimizedUnaryEncoding, ThresholdedHistogram
from sfumato.local.frequency.thresholded import STEPS, tails


@pytest.mark.parametrize("epsilon", ["0.5", "1", "4", "30"])
@pytest.mark.parametrize("threshold", [33, 48, 64])
def test_the_tails_are_sums_of_the_noise(epsilon, threshold):
    rate = float(Fraction(epsilon)) / (2 * STEPS)
    total = fsum(exp(-abs(k) * rate) for k in range(-60_000, 60_001))
    held = fsum(exp(-abs(k) * rate) for k in range(threshold - STEPS, 60_001)) / total
    other = fsum(exp(-abs(k) * rate) for k in range(threshold, 60_001)) / total
    p, q = tails(Fraction(epsilon), threshold)
    assert (float(p), float(q)) == (pytest.approx(held, rel=1e-8), pytest.approx(other, rel=1e-8))


@pytest.mark.parametrize("epsilon", ["0.01", "0.5", "1", "4", "10"])
def test_the_continuous_formula_is_near(epsilon):
    oracle = ThresholdedHistogram(10, epsilon=epsilon)
    rate, theta = float(Fraction(epsilon)) / 2, float(oracle.threshold)
    p, q = map(float, oracle.support_probabilities)
    assert p == pytest.approx(1 - exp((theta - 1) * rate) / 2, abs=0.015)
    assert q == pytest.approx(exp(-theta * rate) / 2, abs=0.01)


@pytest.mark.parametrize("epsilon", ["0.5", "1", "2", "4"])
def test_the_threshold_is_the_best_one_and_less_is_revealed_than_was_allowed(epsilon):
    chosen = ThresholdedHistogram(10, epsilon=epsilon)
    for steps in range(33, 65):
        other = ThresholdedHistogram(10, epsilon=epsilon, threshold=Fraction(steps, 64))
        assert chosen.variance(reports=1) <= other.variance(reports=1)
        assert other.realized_epsilon < other.epsilon
    optimized = OptimizedUnaryEncoding(10, epsilon=chosen.realized_epsilon)
    assert optimized.variance(reports=1) < chosen.variance(reports=1)


@pytest.mark.parametrize("threshold", ["0.5", "0.51", 2, 0, "x"])
def test_another_threshold_is_refused(threshold):
    with pytest.raises(ParameterError, match="threshold"):
        ThresholdedHistogram(10, epsilon=1, threshold=threshold)
