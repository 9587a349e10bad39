"""Those of many discrete Laplace integers that reach a threshold: as if all were drawn."""

from fractions import Fraction
from math import exp, log

import numpy as np
import pytest
from scipy.stats import binom
from tests.laws import assert_law, assert_not_law

from sfumato.errors import ParameterError
from sfumato.noise.laws import laplace_tail as module
from sfumato.noise.laws.discrete_laplace import discrete_laplace
from sfumato.noise.laws.laplace_tail import laplace_above, laplace_tail_bounds


def tail(scale, threshold):
    ratio = exp(-1 / float(scale))
    return ratio**threshold / (1 + ratio)


@pytest.mark.parametrize("bits", [16, 64, 300])
@pytest.mark.parametrize(("scale", "threshold"), [("1/5", 1), ("1", 7), ("31/7", 2), ("1000", 3000)])
def test_the_probability_is_enclosed(scale, threshold, bits):
    lower, upper = laplace_tail_bounds(Fraction(scale), threshold, bits)
    exact = tail(Fraction(scale), threshold)
    assert lower / 2**bits <= exact * (1 + 1e-12)
    assert upper / 2**bits >= exact * (1 - 1e-12)
    assert upper - lower <= 8


def many(scale, threshold, trials, runs):
    found = [laplace_above(scale, threshold, trials) for _ in range(runs)]
    return np.array([len(one) for one in found]), np.concatenate(found)


@pytest.mark.statistical
@pytest.mark.parametrize(("scale", "threshold", "trials"), [("1/2", 1, 7), ("3", 5, 20), ("20", 100, 3_000)])
def test_how_many_there_are_is_binomial_and_by_how_much_geometric(scale, threshold, trials):
    scale = Fraction(scale)
    counts, values = many(scale, threshold, trials, 500)
    chance = tail(scale, threshold)
    assert_law(counts, lambda k: binom.cdf(k, trials, chance))
    assert_not_law(counts, lambda k: binom.cdf(k, trials, 2 * chance))
    assert_law(values - threshold, lambda k: 1 - exp(-(k + 1) / scale))


@pytest.mark.statistical
def test_it_has_the_law_of_drawing_all_and_keeping_those_above():
    """How many of five reach 2, and the largest of them, as one number, against all five drawn."""
    scale, trials = Fraction(2), 5
    every = discrete_laplace(scale, 10_000 * trials).reshape(-1, trials)

    def cell(values):
        return min(len(values), 2) * 8 + (min(int(values.max()), 7) if len(values) else 0)

    whole = np.bincount([cell(row[row >= 2]) for row in every], minlength=24) / 10_000
    found = np.array([cell(laplace_above(scale, 2, trials)) for _ in range(2_000)])
    cells = np.flatnonzero(whole)
    assert set(found) <= set(cells)
    for one in cells:
        share = (found == one).mean()
        assert abs(share - whole[one]) <= 6 * np.sqrt(whole[one] * (1 - whole[one]) * (1 / 2_000 + 1 / 10_000)) + 1e-3


@pytest.mark.parametrize(("scale", "threshold"), [("1/5", 1), ("1", 7), ("31/7", 2), ("1000", 300_000)])
def test_the_power_of_two_is_the_least_above(scale, threshold):
    digits = module._digits(Fraction(scale), threshold)
    lower, upper = laplace_tail_bounds(Fraction(scale), threshold, digits + 64)
    assert 2**63 <= lower <= upper <= 2**64


def test_none_and_impossible_ones():
    assert len(laplace_above(Fraction(1), 5, 0)) == 0
    assert len(laplace_above(Fraction(1), 400, 2**62)) == 0
    huge = laplace_above(Fraction(2**50), 1, 3)
    assert (huge >= 1).all()
    for scale, threshold, trials in ((1, 0, 3), (1, 5_000, 3), (0, 1, 3), (1, 1, -1), (1, 1, 2**63)):
        with pytest.raises(ParameterError):
            laplace_above(Fraction(scale), threshold, trials)


def test_one_in_many_is_found_as_often_as_it_should():
    """Of 2^40 integers at a threshold that half of one reaches: the law of rare events, five standard deviations."""
    scale, trials = Fraction(10), 2**18
    threshold = round(10 * log(trials))
    counts, _ = many(scale, threshold, trials, 25)
    mean = trials * tail(scale, threshold)
    assert abs(counts.mean() - mean) <= 5 * np.sqrt(mean / 25)
