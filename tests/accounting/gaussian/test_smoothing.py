"""Discrete against continuous noise: every integer move in one to three dimensions, and long compositions."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.accounting.lattice_sums import composed_delta, moved_delta, moves

from sfumato.accounting.gaussian.discrete_gaussian import discrete_gaussian_delta_up
from sfumato.accounting.gaussian.gaussian_bound import GaussianBound, least_delta_up
from sfumato.accounting.gaussian.smoothing import LEAKS, _attained_move, bound_above, bound_below, longest_move
from sfumato.errors import ParameterError
from sfumato.numeric.rationals import sqrt_up

SUMS = 1e-11  # the rounding of the sums in floats
EPSILONS = ["0", "0.05", "0.4", "1.5"]


def above(stddev, l2_sensitivity, l0_sensitivity):
    return [bound_above(Fraction(stddev), l2_sensitivity, l0_sensitivity, leak) for leak in LEAKS]


def below(stddev, l2_sensitivity, l0_sensitivity):
    return [bound_below(Fraction(stddev), l2_sensitivity, l0_sensitivity, leak) for leak in LEAKS]


@pytest.mark.parametrize("stddev", [2, "2.75", 4])
@pytest.mark.parametrize("coordinates", [1, 2, 3])
@pytest.mark.parametrize("square", [1, 3, 9])
def test_no_move_of_the_lattice_passes_the_bounds(stddev, coordinates, square):
    reach = Fraction(math.isqrt(square * 10**12) + 1, 10**6)
    for epsilon in EPSILONS:
        truths = [
            moved_delta(float(Fraction(stddev)), move, float(epsilon))
            for move in moves(*longest_move(reach, coordinates))
        ]
        bounds = [bound.delta_up(Fraction(epsilon)) for bound in above(stddev, reach, coordinates)]
        assert max(truths) <= min(bounds) * (1 + SUMS) + SUMS
        lower = [bound.delta_down(Fraction(epsilon)) for bound in below(stddev, reach, coordinates)]
        assert max(lower) <= max(truths) * (1 + SUMS) + SUMS
        if coordinates > 1:
            priced = discrete_gaussian_delta_up(
                stddev=stddev, l2_sensitivity=reach, epsilon=epsilon, l0_sensitivity=coordinates
            )
            assert max(truths) <= priced * (1 + SUMS) + SUMS


@pytest.mark.parametrize("shifts", [(1,) * 30, (1, 2, 3), (4, 1, 1, 2)])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_compositions_lie_between_the_sums_of_bounds(shifts, epsilon):
    truth = composed_delta(3.0, shifts, float(epsilon))
    for leak in LEAKS:
        parts = [bound_above(Fraction(3), Fraction(shift), 1, leak / len(shifts)) for shift in shifts]
        total = GaussianBound(sum(part.squared_mu for part in parts), sum(part.log_factor for part in parts))
        assert truth <= total.delta_up(Fraction(epsilon)) * (1 + SUMS) + SUMS
        parts = [bound_below(Fraction(3), Fraction(shift), 1, leak / len(shifts)) for shift in shifts]
        total = GaussianBound(sum(part.squared_mu for part in parts), sum(part.log_factor for part in parts))
        assert total.delta_down(Fraction(epsilon)) <= truth * (1 + SUMS) + SUMS


@given(st.fractions(2, 6, max_denominator=50), st.integers(1, 6), st.fractions(0, 4, max_denominator=100))
def test_a_move_of_one_coordinate_lies_between_the_bounds(stddev, shift, epsilon):
    exact = discrete_gaussian_delta_up(stddev=stddev, l2_sensitivity=shift, epsilon=epsilon, l0_sensitivity=1)
    assert exact <= least_delta_up(above(stddev, Fraction(shift), 1), epsilon) * (1 + 1e-6)
    assert max(bound.delta_down(epsilon) for bound in below(stddev, Fraction(shift), 1)) <= exact


@pytest.mark.parametrize("variance", [0.1, 0.2, 0.5])
@pytest.mark.parametrize("noise", [4.0, 9.0, 100.0])
def test_the_rounded_continuous_law_is_as_near_as_proved(variance, noise):
    """P / K for all centers, K by numerical integration: its swing is at most κ = η e^(-2π²v)/(1 - η)."""
    kept = noise - variance
    x = np.arange(-400, 400) / 128 * math.sqrt(noise)
    step = x[1] - x[0]
    k = np.arange(-60, 61)[:, None]
    normalizer = np.exp(-((np.arange(-120, 121)[:, None] - x) ** 2) / (2 * variance)).sum(axis=0)
    rounding = np.exp(-((k - x) ** 2) / (2 * variance)) / normalizer
    near = np.abs(k[:, 0]) <= math.sqrt(noise)
    smoothed = (rounding * np.exp(-(x**2) / (2 * kept))).sum(axis=1)[near] * step
    ratio = np.exp(-(k[near, 0] ** 2) / (2 * noise)) / smoothed
    ripple = 2 * sum(math.exp(-2 * math.pi**2 * variance * n * n) for n in range(1, 9))
    apart = ripple / (1 - ripple) * math.exp(-2 * math.pi**2 * variance * kept / noise)
    assert ratio.max() / ratio.min() <= (1 + apart) / (1 - apart) * (1 + 1e-7)


@pytest.mark.parametrize("leak", [Fraction(1, 16), Fraction(1, 10**6), Fraction(1, 10**60)])
def test_the_nearer_the_laws_the_more_variance_it_takes(leak):
    near, far = (bound_above(Fraction(50), Fraction(3), 1, each) for each in (leak / 100, leak))
    assert near.squared_mu > far.squared_mu > Fraction(9, 2500)
    assert near.log_factor < far.log_factor
    assert far.log_factor < 5 * leak


def test_the_longest_moves():
    assert longest_move(Fraction("0.9"), 3) == (0, 0)
    assert longest_move(Fraction("1.9"), 1) == (1, 1)
    assert longest_move(Fraction("1.3"), 5) == (1, 1)
    assert longest_move(Fraction("1.9"), 5) == (3, 3)
    assert longest_move(Fraction(10), 3) == (100, 3)
    assert bound_above(Fraction(4), Fraction(1, 2), 2, LEAKS[0]) == GaussianBound(Fraction(0))


@pytest.mark.parametrize("square", [10**6 + 3, 10**6 + 1999, 123_456_789])
def test_a_long_move_of_two_coordinates_exists_and_is_nearly_the_longest(square):
    attained, coordinates = _attained_move(sqrt_up(Fraction(square)), 2)
    side = math.isqrt(attained)
    assert attained == side**2 + math.isqrt(attained - side**2) ** 2
    assert attained <= square < side**2 + (math.isqrt(attained - side**2) + 1) ** 2
    assert coordinates == 2


def test_a_large_leak_is_a_small_one():
    assert bound_above(Fraction(2), Fraction(1), 1, Fraction(9, 10)) == bound_above(
        Fraction(2), Fraction(1), 1, LEAKS[0]
    )


@pytest.mark.parametrize("bound", [bound_above, bound_below])
def test_little_noise_is_refused(bound):
    with pytest.raises(ParameterError, match="stddev"):
        bound(Fraction("1.99"), Fraction(1), 1, LEAKS[0])


@pytest.mark.parametrize("stddev", [Fraction(2), Fraction(10) ** 100, Fraction(10) ** 300])
def test_extreme_noise_and_leaks_give_bounds(stddev):
    high, low = (bound(stddev, Fraction(1), 1, Fraction(1, 10**400)) for bound in (bound_above, bound_below))
    assert 0 <= low.squared_mu <= 1 / stddev**2 <= high.squared_mu < 2
    assert low.squared_mu > 0 or stddev > 10**200  # smaller than floats go
    assert 0 < low.log_factor < 1
    assert 0 < high.log_factor < 1


@pytest.mark.parametrize("coordinates", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("square", [*range(40), 60, 63])
def test_the_longest_move_is_the_largest_sum_of_squares(square, coordinates):
    sums = {sum(step**2 for step in move) for move in moves(square, min(coordinates, 4))}
    assert longest_move(sqrt_up(Fraction(square)), coordinates)[0] == max(sums, default=0)


@pytest.mark.parametrize("coordinates", [2, 3])
@pytest.mark.parametrize("square", [3, 7, 15])
def test_the_bound_below_holds_for_a_move_that_exists(square, coordinates):
    longest = max(sum(step**2 for step in move) for move in moves(square, coordinates))
    for bound in below(5, sqrt_up(Fraction(square)), coordinates):
        assert bound.squared_mu <= Fraction(longest, 25)


def test_long_moves_of_two_coordinates_have_bounds_near_each_other():
    reach = Fraction(10**6) + Fraction(1, 3)
    high, low = (bound(reach, reach, 2, LEAKS[3]) for bound in (bound_above, bound_below))
    assert low.squared_mu <= 1
    assert high.squared_mu >= Fraction(math.floor(reach**2)) / reach**2
    assert high.squared_mu - low.squared_mu < Fraction(1, 10**6)
