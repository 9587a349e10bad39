"""Limits invert the binomial tails, and cover the truth as often as they say."""

import pytest
from scipy.stats import binom

from sfumato.numeric.proportions import lower_limit, upper_limit

RUNS = 30


@pytest.mark.parametrize(("events", "runs"), [(0, 10), (3, 10), (10, 10)])
def test_limits_invert_the_binomial_tails(events, runs):
    low, high = lower_limit(events, runs, significance=0.05), upper_limit(events, runs, significance=0.05)
    assert low <= events / runs <= high
    assert low == 0 or binom.sf(events - 1, runs, low) == pytest.approx(0.05)
    assert high == 1 or binom.cdf(events, runs, high) == pytest.approx(0.05)


@pytest.mark.parametrize("chance", [0, 0.01, 0.3, 0.5, 0.99, 1])
def test_each_limit_misses_the_truth_no_more_often_than_stated(chance):
    outcomes = range(RUNS + 1)
    missed_low = sum(binom.pmf(k, RUNS, chance) for k in outcomes if lower_limit(k, RUNS, significance=0.05) > chance)
    missed_high = sum(binom.pmf(k, RUNS, chance) for k in outcomes if upper_limit(k, RUNS, significance=0.05) < chance)
    assert missed_low <= 0.05 + 1e-12
    assert missed_high <= 0.05 + 1e-12
