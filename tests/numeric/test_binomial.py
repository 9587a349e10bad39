"""Binomial masses and tails, and limits of a share that cover the truth as often as they say."""

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx
from scipy.stats import binom

from sfumato.numeric.binomial import BLOCK, Binomial, any_success, lower_limit, upper_limit

ctx.prec = 250


def exact_mass(trials: int, successes: int, log_odds: Fraction) -> arb:
    odds = (arb(log_odds.numerator) / log_odds.denominator).exp()
    ways = (arb(trials + 1).lgamma() - arb(successes + 1).lgamma() - arb(trials - successes + 1).lgamma()).exp()
    return ways * (odds.log() * successes - (1 + odds).log() * trials).exp()


def relative_error(value: float, truth: arb) -> float:
    return abs(float(arb(value) / truth - 1))


@pytest.mark.parametrize("trials", [1, 7, 1000, 10**6, 10**12])
@pytest.mark.parametrize("log_odds", [Fraction(0), Fraction(1, 10**6), Fraction(1, 10), Fraction(3)])
@pytest.mark.parametrize("deviations", [-20, -3, 0, 5, 20])
def test_masses_are_right_to_a_relative_1e_12(trials, log_odds, deviations):
    law = Binomial(trials, log_odds)
    stddev = math.sqrt(trials) / (2 * math.cosh(log_odds / 2))
    at = min(max(law.mode + int(deviations * stddev), 0), trials)
    truth = exact_mass(trials, at, log_odds)
    assert relative_error(law.masses(at, at)[0], truth) < 1e-12
    assert abs(float(arb(str(law.log_mass(at))) - truth.log())) < 1e-30


@pytest.mark.parametrize("trials", [30, 1022, 1023, 1024, 1025, 5000])
def test_stirling_meets_the_exact_factorial(trials):
    half = trials // 2
    assert (
        relative_error(Binomial(trials, Fraction(0)).masses(half, half)[0], exact_mass(trials, half, Fraction(0)))
        < 1e-12
    )


def test_a_whole_block_keeps_its_error():
    law = Binomial(10**12, Fraction(1, 10))
    first = law.mode + 10**6
    masses = law.masses(first, first + BLOCK - 1)
    for at in (0, 1, 1000, BLOCK - 1):
        assert relative_error(masses[at], exact_mass(law.trials, first + at, law.log_odds)) < 3e-12


@pytest.mark.parametrize("log_odds", [Fraction(0), Fraction(1, 3), Fraction(5), Fraction(800)])
@pytest.mark.parametrize("trials", [1, 2, 50, 10_000])
def test_masses_sum_to_one(trials, log_odds):
    masses = Binomial(trials, log_odds).masses(0, trials)
    assert masses.shape == (trials + 1,)
    assert float(masses.sum()) == pytest.approx(1, abs=1e-11)


def test_blocks_join_without_a_seam():
    law = Binomial(10**6, Fraction(1, 5))
    masses = law.masses(law.mode - BLOCK - 7, law.mode + BLOCK + 7)
    ratios = masses[1:] / masses[:-1]
    wanted = [law.ratio(law.mode - BLOCK - 7 + i) for i in range(len(ratios))]
    assert np.allclose(ratios, wanted, rtol=1e-11, atol=0)


@pytest.mark.parametrize(("trials", "log_odds"), [(100, Fraction(0)), (10_000, Fraction(1)), (5, Fraction(50))])
def test_next_to_nothing_lies_below_the_lowest(trials, log_odds):
    law = Binomial(trials, log_odds)
    assert law.lowest == 0 or float(law.masses(0, law.lowest - 1).sum()) < 1e-20
    assert 0 <= law.lowest <= law.mode <= trials


@pytest.mark.parametrize("probability", [Fraction(1, 10**30), Fraction(1, 7), 1 - Fraction(1, 10**12), Fraction(1)])
@pytest.mark.parametrize("count", [1, 3, 40])
def test_the_probability_of_any_success_is_right_to_a_relative_1e_14(probability, count):
    other = Fraction(1, 10**6)
    truth = 1 - (1 - probability) ** count * (1 - other)
    assert any_success([(probability, count), (other, 1)]) == pytest.approx(float(truth), rel=1e-14)


def test_counts_beyond_floats_succeed_or_fail_like_any_other():
    assert any_success([(Fraction(1, 2), 10**400)]) == 1
    assert any_success([(Fraction(1, 10**400), 10**400)]) == pytest.approx(-math.expm1(-1), rel=1e-14)
    assert any_success([(Fraction(0), 10**400)]) == 0


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
