"""Exact confidence sets of ratios: summed up over the discrete laws, and against Fieller's quadratic."""

import math
from fractions import Fraction
from functools import cache
from itertools import product
from statistics import NormalDist

import numpy as np
import pytest

from sfumato.numeric.distributions import (
    discrete_gaussian_log_pmf,
    discrete_laplace_half_width,
    discrete_laplace_log_pmf,
)
from sfumato.numeric.noise_sums import IntegerNoise
from sfumato.numeric.ratios import held, ratio_errors

CONFIDENCE = Fraction(95, 100)
LAWS = ("laplace", "gaussian")
ROUNDING = 1e-9


def noises(law, total, count):
    """The noise of a total and of a count; two laws or one."""
    first, second = law if isinstance(law, tuple) else (law, law)
    return IntegerNoise(first, Fraction(total)), IntegerNoise(second, Fraction(count))


@cache
def masses(noise):
    """All whole numbers that noise can be but for 10^-13, and the chance of each."""
    furthest = math.ceil(float(noise.scale) * (31 if noise.law == "laplace" else 8)) + 2
    steps = np.arange(-furthest, furthest + 1)
    log_pmf = discrete_laplace_log_pmf if noise.law == "laplace" else discrete_gaussian_log_pmf
    return steps, np.exp(log_pmf(noise.scale, steps))


@cache
def at_most(noise):
    """The chances of no step, of the first, of the first two, …"""
    return np.concatenate([[0.0], np.cumsum(masses(noise)[1])])


def coverage(total, count, ratio, width):
    """P(|Z − r·W| ≤ width), over all W."""
    steps, chances = masses(count)
    furthest = len(masses(total)[0]) // 2
    last = np.floor(ratio * steps + width + ROUNDING)
    first = np.ceil(ratio * steps - width - ROUNDING)
    below = [np.clip(k + furthest, 0, 2 * furthest + 1).astype(int) for k in (first, last + 1)]
    return float((chances * (at_most(total)[below[1]] - at_most(total)[below[0]])).sum())


def width(total, count, ratio, *, largest=None, confidence=CONFIDENCE):
    """The largest deviation that is held: q(r)."""
    test = held(total, count, largest=Fraction(largest or abs(ratio)), confidence=confidence)
    near, far = 0.0, 60 * (float(total.scale) + abs(ratio) * float(count.scale)) + abs(ratio) + 1
    for _ in range(80):
        middle = (near + far) / 2
        near, far = (middle, far) if test(np.array([ratio]), np.array([middle]))[0] else (near, middle)
    return near


SCALES = [(a, b) for a in ("0.3", 1, 5, 60, 10_000) for b in ("0.3", "0.7", 1, 2, 9, 100)] + [(10_000, 10_000)]
PARTS = (0, 0.01, 0.2, 0.5, 1)
"""Of the ratio at which both noises are as wide."""


def ratios(total, count, parts):
    """Ratios that are whole, are no fractions, and make the multiples of whole steps meet."""
    for part in parts:
        ratio = part * float(total.scale) / float(count.scale)
        yield from {ratio, math.floor(ratio), math.floor(3 * ratio) / 3, ratio / math.sqrt(2)}


@pytest.mark.parametrize("confidence", [Fraction(1, 2), Fraction(9, 10), CONFIDENCE, Fraction(999, 1000)])
@pytest.mark.parametrize("law", [*LAWS, LAWS, LAWS[::-1]], ids=str)
def test_every_ratio_is_held_at_least_as_often_as_is_said_and_a_step_less_would_not_do(law, confidence):
    """By the exact laws; a step less of the total and one of the count."""
    for scales in SCALES:
        total, count = noises(law, *scales)
        largest = total.scale / count.scale
        for ratio in ratios(total, count, PARTS):
            found = width(total, count, ratio, largest=largest, confidence=confidence)
            assert coverage(total, count, ratio, found) >= confidence - 1e-11
            less = coverage(total, count, ratio, found - (1 + ratio))
            assert isinstance(law, tuple) or less < confidence


@pytest.mark.parametrize("law", [*LAWS, LAWS, LAWS[::-1]], ids=str)
def test_so_are_ratios_that_make_the_noise_of_the_count_the_wider(law):
    """As large as a million steps of the total for one of the count."""
    for scales, confidence in product(SCALES, (Fraction(1, 2), CONFIDENCE)):
        total, count = noises(law, *scales)
        for ratio in [*ratios(total, count, (2, 10)), 10.0**6]:
            found = width(total, count, ratio, confidence=confidence)
            assert coverage(total, count, ratio, found) >= confidence - 1e-11
            less = coverage(total, count, ratio, found - (1 + ratio))
            assert isinstance(law, tuple) or less < confidence


def test_wide_noise_is_covered_hardly_more_often_than_is_said():
    """A union of two intervals would cover 98%."""
    for law, part in product(LAWS, (0, 0.3, 1)):
        total, count = noises(law, 2_000, 40)
        ratio = part * 50
        assert coverage(total, count, ratio, width(total, count, ratio, largest=50)) == pytest.approx(0.95, abs=1e-3)


@pytest.mark.parametrize("law", [*LAWS, LAWS], ids=str)
@pytest.mark.parametrize("scales", [("0.3", "0.3"), (5, 1), (100, 30)])
@pytest.mark.parametrize(("ratio", "size"), [(0, 40), (3, 40), (-3, 40), (3, 4), (90, 1)])
def test_the_distances_reach_to_the_last_ratio_that_is_held(law, scales, ratio, size):
    """Also where others before it are not: 90 of one value may be −30 of few, but not 10 of any number."""
    noise = noises(law, *scales)
    steps = np.linspace(0, ratio + 100, 50_001)
    is_held = held(*noise, largest=Fraction(100), confidence=CONFIDENCE)(ratio - steps, steps * size)
    below, _ = distances(ratio, size, *noise, ends=(-100, 100))
    assert is_held[0]
    assert below >= steps[is_held][-1]
    assert isinstance(law, tuple) or below <= steps[is_held][-1] + 2 * steps[1]


@pytest.mark.parametrize("law", [*LAWS, LAWS], ids=str)
@pytest.mark.parametrize(("ratio", "size"), [(0, 4), (10, 4), (-7, 30), (4, 300)])
def test_the_distances_hold_the_true_ratio_as_often_as_deviations_are_held(law, ratio, size):
    """Over all that noise can do to a group, with counts below 1 and ratios beyond the ends."""
    total, count = noises(law, 20, 2)
    (z, z_chances), (w, w_chances) = masses(total), masses(count)
    measured, counts = (grid.ravel() for grid in np.meshgrid(size * ratio + z, size + w, indexing="ij"))
    chances = np.outer(z_chances, w_chances).ravel()
    found = measured / np.maximum(counts, 1)
    below, above = ratio_errors(found, counts * 1.0, total=total, count=count, ends=(-10, 10), confidence=CONFIDENCE)
    middle = np.clip(found, -10, 10)
    is_in = (middle - below <= ratio + ROUNDING) & (ratio - ROUNDING <= middle + above)
    covered = float((chances * is_in).sum())
    assert covered >= 0.95
    assert isinstance(law, tuple) or size < 300 or covered < 0.96


@pytest.mark.parametrize(("measured", "size"), [(0, 900), (4_000, 200), (-30_000, 1_000), (1_000, 40)])
def test_between_wide_gaussian_noise_it_is_fiellers_quadratic(measured, size):
    """(Ŝ ∓ ½ − r·N̂)² = z²·(A² + r²·B²) is of degree 2 in r."""
    total, count, z = *noises("gaussian", 1_000, 10), NormalDist().inv_cdf(0.975)
    below, above = ratio_errors(
        np.array([measured / size]), np.array([float(size)]), total=total, count=count, ends=(-100, 100),
        confidence=CONFIDENCE,
    )  # fmt: skip
    for side, end in ((-0.5, measured / size - below[0]), (0.5, measured / size + above[0])):
        roots = np.roots(
            [size**2 - (z * 10) ** 2, -2 * (measured + side) * size, (measured + side) ** 2 - (z * 1_000) ** 2]
        )
        assert min(abs(roots - end)) < 1e-6


def distances(ratio, size, total, count, ends=(-50, 50)):
    below, above = ratio_errors(
        np.array([float(ratio)]), np.array([float(size)]), total=total, count=count, ends=ends, confidence=CONFIDENCE
    )
    return float(below[0]), float(above[0])


def test_without_noise_there_is_no_distance():
    assert distances(3.7, 12, *noises("laplace", 0, 0)) == (0, 0)


@pytest.mark.parametrize("law", ["laplace", LAWS[::-1]], ids=str)
def test_over_an_exact_count_it_is_the_error_of_the_total(law):
    total, count = noises(law, 30, 0)
    error = total.half_width(1 - CONFIDENCE) / 100
    assert distances(3.7, 100, total, count) == pytest.approx((error, error), rel=1e-8)


def test_around_zero_it_is_hardly_more_than_the_error_of_the_total():
    error = discrete_laplace_half_width(Fraction(5), Fraction(9, 10))
    test = held(*noises("laplace", 5, 1), largest=Fraction(5), confidence=Fraction(9, 10))
    assert test(np.zeros(2), np.array([error, error + 1.0])).tolist() == [True, False]


def test_of_small_counts_nothing_is_known():
    for size in (0, -3):
        assert distances(0, size, *noises("laplace", 100, 2)) == (math.inf, math.inf)
    below, above = distances(0, 4, *noises("laplace", 100, 2))
    assert (below, above) == (50, 50)


def test_of_an_exact_count_of_zero_it_is_the_error_of_the_total():
    total, count = noises("laplace", 3, 0)
    assert distances(0, 0, total, count) == pytest.approx((total.half_width(1 - CONFIDENCE),) * 2)


@pytest.mark.parametrize("law", [*LAWS, LAWS], ids=str)
def test_confidence_may_be_beyond_doubles(law):
    sure = 1 - Fraction(1, 10**400)
    total, count = noises(law, 5, 2)
    (below,), (above,) = ratio_errors(
        np.zeros(1), np.array([10.0**6]), total=total, count=count, ends=(-50, 50), confidence=sure
    )
    assert 0 < below == above < 1


def test_beyond_an_end_the_distance_is_from_the_end():
    noise = noises("laplace", 100, 20)
    (below, _), (inside, _) = distances(51, 1_000, *noise), distances(51, 1_000, *noise, ends=(-51, 51))
    assert below == pytest.approx(inside - 1)
    assert below > 1
    assert distances(80, 1_000, *noise)[0] == 0


def test_it_is_the_same_below_as_above_of_the_opposite():
    for law in (*LAWS, LAWS):
        assert distances(30, 70, *noises(law, 100, 2)) == distances(-30, 70, *noises(law, 100, 2))[::-1]
