"""Exact choice among candidates."""

from fractions import Fraction

import numpy as np
import pytest
from tests.laws import SAMPLES, assert_law, assert_not_law, cdf_of

from sfumato.errors import ParameterError
from sfumato.noise.selection import exponential_choice


def law(exponents):
    weights = np.exp(-np.array([float(exponent - min(exponents)) for exponent in exponents]))
    return cdf_of(weights / weights.sum())


CASES = {
    "fair": [Fraction(0)] * 5,
    "two": [Fraction(1, 3), Fraction(0)],
    "shifted": [Fraction(1000), Fraction(1001), Fraction(2001, 2)],
    "spread": [Fraction(k, 7) for k in range(30)],
    "long fractions": [Fraction(k**9, 3**40) + Fraction(1, 7**30) for k in range(90)],
    "hopeless ones": [Fraction(10**30), Fraction(0), Fraction(1), Fraction(10**6)],
}


@pytest.mark.statistical
@pytest.mark.parametrize("exponents", CASES.values(), ids=CASES)
def test_candidates_have_their_probability(exponents):
    assert_law(exponential_choice(exponents, SAMPLES), law(exponents))


@pytest.mark.statistical
@pytest.mark.parametrize("factor", [Fraction(11, 10), Fraction(10, 11)])
def test_exponents_off_by_ten_percent_are_refused(factor):
    exponents = CASES["spread"]
    assert_not_law(exponential_choice(exponents, SAMPLES), law([exponent * factor for exponent in exponents]))


@pytest.mark.parametrize("size", [0, 1, 7])
def test_a_single_candidate_is_always_chosen(size):
    assert exponential_choice([Fraction(5)], size).tolist() == [0] * size


def test_one_good_candidate_among_many_is_found():
    exponents = [Fraction(10**4)] * 5000
    exponents[1234] = Fraction(0)
    assert exponential_choice(exponents, 20).tolist() == [1234] * 20


def test_no_candidate_is_an_error():
    with pytest.raises(ParameterError, match="at least one candidate"):
        exponential_choice([], 1)
