import math
from fractions import Fraction

import pytest

from sfumato.accounting.gaussian.gaussian import gaussian_delta_up, gaussian_epsilon_up
from sfumato.accounting.gaussian.gaussian_bound import (
    GaussianBound,
    certifiable_down,
    epsilon_down,
    least_delta_up,
    least_epsilon_up,
)

DELTA = Fraction(1, 10**6)
NOTHING, ONE = GaussianBound(Fraction(0)), GaussianBound(Fraction(1))
LOOSE = GaussianBound(Fraction(1), Fraction(1, 4))
VAST = GaussianBound(Fraction(2) ** 1200)


def test_without_a_factor_it_is_the_curve_itself():
    assert ONE.delta_up(Fraction(2)) == pytest.approx(gaussian_delta_up(noise_multiplier=1, epsilon=2), rel=1e-15)
    assert least_epsilon_up([ONE], DELTA) == pytest.approx(gaussian_epsilon_up(noise_multiplier=1, delta=DELTA))


def test_a_factor_moves_and_raises_the_curve():
    moved = gaussian_delta_up(noise_multiplier=1, epsilon="1.75")
    assert LOOSE.delta_up(Fraction(2)) == pytest.approx(math.exp(1 / 8) * moved, rel=1e-9)
    moved = gaussian_delta_up(noise_multiplier=1, epsilon="2.25")
    assert LOOSE.delta_down(Fraction(2)) == pytest.approx(math.exp(-1 / 4) * moved, rel=1e-9)


def test_below_zero_the_curve_grows_by_what_the_weight_lacks():
    at_zero = gaussian_delta_up(noise_multiplier=1, epsilon=0)
    assert LOOSE.delta_up(Fraction(0)) == pytest.approx(math.exp(1 / 8) * (at_zero + 1 - math.exp(-1 / 4)), rel=1e-9)


def test_the_best_bound_counts():
    assert least_delta_up([VAST, LOOSE, ONE], Fraction(1)) == ONE.delta_up(Fraction(1))
    assert least_epsilon_up([VAST, LOOSE, ONE], DELTA) == least_epsilon_up([ONE], DELTA)
    assert epsilon_down([LOOSE, ONE], DELTA) == epsilon_down([ONE], DELTA)


@pytest.mark.parametrize("squared_mu", ["1e-9", "0.01", "1", "900", "1e8"])
def test_the_ends_of_the_interval_are_near_and_in_order(squared_mu):
    bounds = [GaussianBound(Fraction(squared_mu))]
    low, high = epsilon_down(bounds, DELTA), least_epsilon_up(bounds, DELTA)
    assert low <= high <= low * (1 + Fraction(1, 10**5))


def test_extreme_curves():
    assert (NOTHING.delta_up(Fraction(0)), least_epsilon_up([NOTHING], Fraction(0))) == (0, 0)
    assert (epsilon_down([NOTHING], Fraction(0)), epsilon_down([NOTHING], DELTA)) == (0, 0)
    assert (VAST.delta_up(Fraction(10)), VAST.delta_down(Fraction(10))) == (1, 0)
    assert least_epsilon_up([ONE], Fraction(0)) == epsilon_down([ONE], Fraction(0)) == math.inf
    assert GaussianBound(Fraction(1, 2**1200)).delta_up(Fraction(0)) < 1e-100
    assert GaussianBound(Fraction(1), Fraction(5000)).delta_up(Fraction(0)) == 1
    assert ONE.delta_up(Fraction(2) ** 900) < 1e-300
    assert epsilon_down([ONE], Fraction(1, 2)) == 0


def test_an_epsilon_beyond_floats_is_lowered():
    assert certifiable_down(Fraction(3)) == 3
    assert certifiable_down(Fraction(1, 10**200)) == 0
    assert certifiable_down(Fraction(10**200)) == 2**499
