"""Half-widths of sums of many noises, beside the exact laws of these sums."""

import tracemalloc
from fractions import Fraction
from math import floor

import numpy as np
import pytest
from tests.sizes import FULL_SIZE

from sfumato.numeric import many_noises
from sfumato.numeric.many_noises import LEAST_FAILURE, half_width_of_equals, half_widths_of_sums
from sfumato.numeric.noise_sums import IntegerNoise


def laplace(scale):
    return IntegerNoise("laplace", Fraction(scale))


def gaussian(stddev):
    return IntegerNoise("gaussian", Fraction(stddev))


def tails(noises, weights):
    """P(|Σ wᵢ·Zᵢ| > t) for whole weights and t = 0, 1, …, by convolution."""
    law = np.ones(1)
    for noise, weight in zip(noises, weights, strict=True):
        scale = float(noise.scale)
        reach = int(60 * scale) + 5 if noise.law == "laplace" else int(12 * scale) + 5
        places = np.arange(-reach, reach + 1)
        masses = np.exp(-np.abs(places) / scale if noise.law == "laplace" else -(places**2) / (2 * scale**2))
        spread = np.zeros(2 * reach * weight + 1)
        spread[::weight] = masses / masses.sum()
        law = np.convolve(law, spread)
    middle = len(law) // 2
    beyond = law[middle + 1 :] + law[:middle][::-1]
    return np.append(np.cumsum(beyond[::-1])[::-1], 0.0)


SUMS = {
    "equal": ([laplace(1)] * 30, [1] * 30),
    "two": ([laplace(2)] * 2, [1, 1]),
    "narrow": ([laplace(Fraction(1, 4))] * 9, [1] * 9),
    "other weights": ([laplace(3)] * 8, list(range(1, 9))),
    "one is wide": ([laplace(20)] + [laplace(1)] * 9, [1] * 10),
    "one weighs more": ([laplace(1)] * 9, [40] + [1] * 8),
    "gaussian": ([gaussian(2)] * 12, [1, 2, 3] * 4),
    "narrow gaussian": ([gaussian(Fraction(2, 5))] * 12, [1, 2, 3] * 4),
    "both laws": ([gaussian(2)] * 5 + [laplace(Fraction(1, 2))] * 5, [3, 1, 1, 2, 7] * 2),
    "even weights": ([laplace(2)] * 7, [6] * 7),
    "many sizes": ([laplace(1)] * 60, list(range(1, 61))),
}


@pytest.mark.parametrize(
    "failure", [Fraction(9, 10), Fraction(1, 3), Fraction(1, 20), Fraction(1, 1000), Fraction(1, 10**5)]
)
@pytest.mark.parametrize(("noises", "weights"), SUMS.values(), ids=SUMS)
def test_sums_pass_it_no_oftener_than_is_said_and_a_bit_less_would_not_do(noises, weights, failure):
    (reach,) = half_widths_of_sums(noises, np.array([weights], dtype=float), failure)
    beyond = tails(noises, weights)
    assert beyond[floor(reach)] <= float(failure)
    assert beyond[max(0, floor(0.975 * reach - max(weights)))] > float(failure) or reach < 1


def test_fractions_of_a_step_weigh_what_they_are():
    noises = [laplace(2)] * 12
    weights = np.array([[1, 2, 3] * 4], dtype=float)
    whole, parts = (half_widths_of_sums(noises, weights * unit, Fraction(1, 20))[0] for unit in (1, 1 / 7))
    assert parts == pytest.approx(whole / 7, rel=1e-6)


def test_signs_and_the_order_of_noises_do_not_matter_and_noise_of_no_scale_adds_nothing():
    noises = [laplace(1), gaussian(3), laplace(0), laplace(2), gaussian(0)]
    weights = np.array([[1.0, -2.0, 50.0, 0.5, 9.0], [1.0, 2.0, -50.0, -0.5, 0.0]])
    (one, other) = half_widths_of_sums(noises, weights, Fraction(1, 20))
    (turned,) = half_widths_of_sums([noises[3], noises[1], noises[0]], np.array([[0.5, 2.0, 1.0]]), Fraction(1, 20))
    assert one == other
    assert turned == pytest.approx(one, rel=1e-9)


def test_of_one_noise_it_is_the_quantile_and_of_none_nothing():
    assert half_widths_of_sums([laplace(7)], np.array([[3.0], [0.0]]), Fraction(1, 20)).tolist() == [63.0, 0.0]
    assert half_widths_of_sums([], np.zeros((2, 0)), Fraction(1, 20)).tolist() == [0.0, 0.0]
    assert half_width_of_equals(laplace(7), 1, Fraction(1, 20)) == 21
    assert half_width_of_equals(laplace(0), 9, Fraction(1, 20)) == 0


def test_weights_that_differ_by_rounding_alone_are_one_and_nothing_is_lost_by_it():
    noises = [laplace(1)] * 40
    even = np.ones((1, 40))
    nearly = even * (1 + np.linspace(-1e-13, 1e-13, 40))
    one, other = (half_widths_of_sums(noises, weights, Fraction(1, 20))[0] for weights in (even, nearly))
    assert other == pytest.approx(one, rel=1e-9)


@pytest.mark.parametrize("failure", [LEAST_FAILURE, LEAST_FAILURE / 2, Fraction(1, 10**30)])
def test_failures_beyond_a_series_are_bounded_all_the_same(failure):
    (reach,) = half_widths_of_sums([laplace(1)] * 9 + [gaussian(1)], np.ones((1, 10)), failure)
    beyond = tails([laplace(1)] * 9 + [gaussian(1)], [1] * 10)
    assert beyond[floor(reach)] <= float(failure)


def test_thousands_of_small_parts_beside_a_large_one_need_little_memory():
    weights = np.append(1e5, np.linspace(1, 2, 1500))[np.newaxis]
    tracemalloc.start()
    try:
        half_widths_of_sums([laplace(1)] * 1501, weights, Fraction(1, 20))
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 60e6


def test_equal_noises_are_a_sum_with_equal_weights():
    (reach,) = half_widths_of_sums([gaussian(3)] * 50, np.ones((1, 50)), Fraction(1, 20))
    assert half_width_of_equals(gaussian(3), 50, Fraction(1, 20)) == pytest.approx(reach, rel=1e-4)


def test_of_very_many_sums_it_is_a_bound(monkeypatch):
    noises, weights = [laplace(2)] * 20, np.arange(1.0, 61).reshape(3, 20)
    sharp = half_widths_of_sums(noises, weights, Fraction(1, 20))
    monkeypatch.setattr(many_noises, "MOST_WORK", 1)
    bounds = half_widths_of_sums(noises, weights, Fraction(1, 20))
    assert (sharp * 1.2 < bounds).all()
    assert (bounds < sharp * 1.6).all()


def test_rare_noise_under_a_large_weight_needs_few_terms():
    """The stddev is small beside the reach, so V is as wide as a series that is not too long allows."""
    noises, weights = [laplace(Fraction(1, 14)), *[laplace(1)] * 8], np.array([[3000.0, *[0.5] * 8]])
    for failure in (Fraction(1, 20), Fraction(1, 10**6)):
        (reach,) = half_widths_of_sums(noises, weights, failure)
        beyond = tails(noises, [6000, *[1] * 8])
        assert beyond[floor(2 * reach)] <= float(failure)


@pytest.mark.statistical
def test_sums_with_any_weights_pass_it_as_often_as_is_said():
    """Draws of a sum of a hundred noises; so many more than a twentieth pass it once in 10^6 tests."""
    count, least, most = (10**6, 47_000, 51_100) if FULL_SIZE else (10**5, 4_650, 5_350)
    draw = np.random.default_rng(11)
    weights, p = draw.normal(size=100), np.exp(-1 / 2)
    total = sum(
        weight * (draw.geometric(1 - p, count) - draw.geometric(1 - p, count)).astype(float) for weight in weights
    )
    (reach,) = half_widths_of_sums([laplace(2)] * 100, weights[np.newaxis], Fraction(1, 20))
    assert least < np.count_nonzero(np.abs(total) > reach) < most
