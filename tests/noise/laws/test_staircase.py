"""Discrete staircase noise."""

from fractions import Fraction
from math import ceil, exp

import numpy as np
import pytest
from tests.laws import SAMPLES, assert_law, assert_not_law
from tests.noise.exact_tables import DRAWS

from sfumato.errors import ParameterError
from sfumato.noise.laws import staircase as module
from sfumato.noise.laws.staircase import staircase
from sfumato.numeric.distributions import discrete_laplace_cdf
from sfumato.numeric.staircase import StaircaseLaw


def law(sensitivity, width, epsilon):
    tail = StaircaseLaw(sensitivity, width, Fraction(epsilon)).tail
    return lambda k: 1 - float(tail(k)) / 2 if k >= 0 else float(tail(-k - 1)) / 2


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("sensitivity", "width", "epsilon"),
    [
        (1, 1, "1"),
        (2, 1, "1/2"),
        (5, 2, "1"),
        (10, 10, "3"),
        (100, 1, "5"),
        (1000, 76, "5"),
        (7, 3, "1/1000"),
        (2**40, 2**38, "2"),
        (2**70, 2**69, "2"),
    ],
)
def test_it_follows_its_law(sensitivity, width, epsilon):
    samples = staircase(sensitivity, width, Fraction(epsilon), DRAWS // (1 if sensitivity < 2**50 else 4))
    assert_law(samples, law(sensitivity, width, epsilon))


@pytest.mark.statistical
def test_without_stairs_to_speak_of_it_is_discrete_laplace():
    samples = staircase(1, 1, Fraction(1, 3), SAMPLES)
    assert_law(samples, lambda k: discrete_laplace_cdf(Fraction(3), k))


@pytest.mark.statistical
def test_laws_that_are_off_are_refused():
    samples = staircase(10, 3, Fraction(1), SAMPLES)
    for wrong in ((11, 3, "1"), (10, 4, "1"), (10, 3, "11/10")):
        assert_not_law(samples, law(*wrong))


@pytest.mark.parametrize(("sensitivity", "width", "epsilon"), [(1, 1, 1), (10, 3, 2), (100, 1, 10), (5, 5, 1000)])
def test_the_probability_of_the_top_is_enclosed(sensitivity, width, epsilon):
    weights = [exp(-epsilon * max(0, ceil((abs(k) + 1 - width) / sensitivity))) for k in range(-5000, 5001)]
    truth = (2 * width - 1) / sum(weights)
    for bits in (16, 48, 300):
        lower, upper = module._on_top(sensitivity, width, Fraction(epsilon))(bits)
        assert 0 <= lower <= upper <= 2**bits
        assert lower / 2**bits <= truth * (1 + 1e-12)
        assert upper / 2**bits >= truth * (1 - 1e-12)
        assert upper - lower <= 100 * sensitivity


@pytest.mark.parametrize("epsilon", [Fraction(1, 2**50), Fraction(1000)])
def test_the_ends_of_epsilon_are_drawn(epsilon):
    assert len(staircase(3, 2, epsilon, 10)) == 10


def test_none_are_drawn_if_none_are_asked():
    assert staircase(3, 2, Fraction(1), 0).dtype == np.int64


@pytest.mark.parametrize("width", [0, 4])
def test_a_width_outside_is_refused(width):
    with pytest.raises(ParameterError, match="width"):
        staircase(3, width, Fraction(1), 1)
