"""Binomial integers of any rational probability."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom
from tests.laws import SAMPLES, assert_law, assert_not_law
from tests.noise.exact_tables import DRAWS

from sfumato.errors import ParameterError
from sfumato.noise.laws import binomial as module
from sfumato.noise.laws.binomial import binomial


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("n", "probability"),
    [
        (1, "1/3"),
        (10, "1/2"),
        (10, "3/4"),
        (100, "1/7"),
        (1000, "999/1000"),
        (3000, "2/3"),
        (20, "123456789123456789123/1000000000000000000000"),
    ],
)
def test_it_follows_its_law(n, probability):
    assert_law(
        binomial(n, Fraction(probability), DRAWS if n == 100 else SAMPLES),
        lambda k: binom.cdf(k, n, float(Fraction(probability))),
    )


@pytest.mark.statistical
def test_a_probability_ten_percent_off_is_noticed():
    samples = binomial(100, Fraction(1, 5), SAMPLES)
    assert_not_law(samples, lambda k: binom.cdf(k, 100, 0.22))
    assert_not_law(samples, lambda k: binom.cdf(k, 100, 0.2 / 1.1))


@pytest.mark.statistical
def test_huge_numbers_of_trials_have_their_law():
    n = 2**62 - 1
    assert_law(binomial(n, Fraction(1, 3), 2000), lambda k: binom.cdf(k, n, 1 / 3))


@pytest.mark.parametrize("n", [0, 1, 5000])
def test_certain_trials(n):
    assert binomial(n, Fraction(1), 4).tolist() == [n] * 4
    assert binomial(n, Fraction(0), 4).tolist() == [0] * 4


def test_the_digits_of_the_probability_decide(monkeypatch):
    """Of 8 trials each digit of U splits those that tie in halves: 1/2 + 1/8 of them are below 5/8 = 0.101."""
    monkeypatch.setattr(module, "fair_binomial", lambda counts: counts // 2)
    assert binomial(8, Fraction(5, 8), 1).tolist() == [5]
    assert binomial(8, Fraction(1, 4), 1).tolist() == [2]


@pytest.mark.parametrize(
    ("n", "probability", "size"), [(-1, 0, 1), (2**62 + 1, 0, 1), (1, -1, 1), (1, 2, 1), (1, 0, -1)]
)
def test_parameters_outside_are_refused(n, probability, size):
    with pytest.raises(ParameterError):
        binomial(n, Fraction(probability), size)


def test_the_result_is_int64():
    assert binomial(5, Fraction(1, 2), 0).dtype == np.int64
