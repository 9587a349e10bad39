import numpy as np
import pytest
from scipy.stats import chisquare
from tests.laws import ALPHA, assert_law, assert_not_law, cdf_of

from examples import d05_marital_status as example

STATUS = {
    "Married-civ-spouse": 22_379,
    "Never-married": 16_117,
    "Divorced": 6_633,
    "Separated": 1_530,
    "Widowed": 1_518,
    "Married-spouse-absent": 628,
    "Married-AF-spouse": 37,
}
UTILITIES = example.utilities(STATUS)
EXPECTED = [9_577.2, 418.3, 3.65, 0.28, 0.28, 0.18, 0.13]
MANY = 300_000  # enough for three cells


def test_the_counts_are_those_of_both_files_in_this_order():
    assert list(example.exact_counts().items()) == list(STATUS.items())


def test_ten_thousand_draws_are_expected_as_the_texts_say():
    expected = 10_000 * example.CLAIMED.probabilities(UTILITIES)
    assert expected[:2] == pytest.approx(EXPECTED[:2], abs=0.05)
    assert expected[2:] == pytest.approx(EXPECTED[2:], abs=0.005)


@pytest.mark.statistical
def test_ten_thousand_draws_follow_the_law():
    drawn = np.bincount(example.TRUE.release_many(UTILITIES, 10_000), minlength=7)
    pooled = [drawn[0], drawn[1:].sum()]  # the five rarest together expect 4.5 draws, too few for a cell of their own
    p = chisquare(pooled, [sum(EXPECTED) - sum(EXPECTED[1:]), sum(EXPECTED[1:])], sum_check=False).pvalue
    assert p >= ALPHA, f"refused, p = {p:.2e} < {ALPHA} (type-I error)"


@pytest.mark.statistical
def test_many_draws_follow_the_law_and_no_sharper_one():
    draws = np.asarray(example.TRUE.release_many(UTILITIES, MANY))
    assert_law(draws, cdf_of(example.CLAIMED.probabilities(UTILITIES)))
    assert_not_law(draws, cdf_of(example.CLAIMED.probabilities([1.1 * float(u) for u in UTILITIES])))


def test_the_claimed_and_the_true_sensitivity_give_the_same_mechanism():
    assert example.TRUE.probabilities(UTILITIES).tolist() == example.CLAIMED.probabilities(UTILITIES).tolist()


def test_a_draw_costs_a_thousandth_and_ten_thousand_cost_ten():
    assert example.TRUE.epsilon == example.SCALE
    assert example.total_cost(1) * 1_000 == 1
    assert example.total_cost(10_000) == 10
