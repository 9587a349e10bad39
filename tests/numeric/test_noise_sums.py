"""Quantiles of weighted sums of noises, against sums over the exact laws on the lattice."""

import math
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest

from sfumato.numeric.distributions import discrete_gaussian_log_pmf, discrete_laplace_log_pmf
from sfumato.numeric.noise_sums import IntegerNoise, NoiseSums, held_ends, public_points

FAILURE = Fraction(1, 20)
ROUNDING = 1e-9


def noise(law, scale):
    return IntegerNoise(law, Fraction(scale))


@cache
def masses(one):
    """All whole numbers that noise can be but for 10^-12, and the chance of each."""
    furthest = math.ceil(float(one.scale) * (29 if one.law == "laplace" else 8)) + 2
    steps = np.arange(-furthest, furthest + 1)
    log_pmf = discrete_laplace_log_pmf if one.law == "laplace" else discrete_gaussian_log_pmf
    return steps, np.exp(log_pmf(one.scale, steps))


def beyond(noises, weights, width):
    """P(|Σ wᵢ·Zᵢ| > width), over all that noises can be; the last one through its distribution function."""
    sums, chances = np.zeros(1), np.ones(1)
    for one, weight in zip(noises[:-1], weights[:-1], strict=True):
        steps, own = masses(one)
        sums = np.add.outer(sums, weight * steps).ravel()
        chances = np.outer(chances, own).ravel()
    steps, own = masses(noises[-1])
    furthest, at_most = len(steps) // 2, np.concatenate([[0.0], np.cumsum(own)])
    last = np.floor((width - sums) / weights[-1] + ROUNDING)
    first = np.ceil((-width - sums) / weights[-1] - ROUNDING)
    inside = [np.clip(k + furthest, 0, 2 * furthest + 1).astype(int) for k in (first, last + 1)]
    return 1 - float((chances * (at_most[inside[1]] - at_most[inside[0]])).sum())


def half_width(noises, weights, failure=FAILURE):
    return float(NoiseSums(noises, failure).half_widths(np.array([weights], dtype=float))[0])


WEIGHTS = (1, 0.02, 1 / 3, math.sqrt(2), 40)


@pytest.mark.parametrize("failure", [Fraction(1, 2), FAILURE, Fraction(1, 1000)])
@pytest.mark.parametrize("laws", [("laplace", "laplace"), ("gaussian", "gaussian"), ("laplace", "gaussian")], ids=str)
def test_two_noises_pass_it_no_oftener_than_is_said_and_a_step_less_would_not_do(laws, failure):
    """A step of each, of which half is there because of the lattice."""
    for scales, weight in product(product(("0.3", "0.6", 1, 4, 30), repeat=2), WEIGHTS):
        noises, weights = tuple(map(noise, laws, scales)), (1.0, weight)
        found = half_width(noises, weights, failure)
        assert beyond(noises, weights, found) <= failure + 1e-11
        if all(one.scale >= 1 for one in noises):
            covered = sum(w * (one.covering_scale - float(one.scale)) for w, one in zip(weights, noises, strict=True))
            less = found * 0.994 - sum(weights) - 6 * covered
            assert less < 0 or beyond(noises, weights, less) > failure


@pytest.mark.parametrize("laws", [("laplace",) * 3, ("laplace", "gaussian", "laplace")], ids=str)
@pytest.mark.parametrize("scales", [(1, 1, 1), (3, 3, 3), (1, 4, 2), ("0.4", 5, 1)], ids=str)
def test_so_do_three(laws, scales):
    for weights in ((1.0, 1.0, 1.0), (1.0, 0.3, 2.0), (5.0, math.pi, 0.01)):
        noises = tuple(map(noise, laws, scales))
        assert beyond(noises, weights, half_width(noises, weights)) <= FAILURE + 1e-11


def test_wide_noises_pass_it_hardly_less_often_than_is_said():
    """Two separate intervals would be passed in 1% instead of 5%."""
    for laws in (("laplace", "laplace"), ("gaussian", "gaussian"), ("laplace", "gaussian")):
        noises = tuple(map(noise, laws, (200, 300)))
        assert beyond(noises, (1.0, 1.0), half_width(noises, (1.0, 1.0))) == pytest.approx(0.05, abs=6e-4)


def test_six_laplace_noises_are_convolved_as_a_million_draws_say():
    generator = np.random.default_rng(8)
    for weights in ((1.0,) * 6, (1, 2, 3, 4, 5, 6), (1, 0.5, 0.2, 0, 3, 3)):
        noises = (noise("laplace", 1_000),) * 6
        sums = np.abs(generator.laplace(scale=1_000, size=(10**6, 6)) @ np.array(weights))
        assert half_width(noises, weights) == pytest.approx(np.quantile(sums, 0.95), rel=0.025)


def test_many_noises_are_bounded_and_by_less_than_a_union_would():
    noises, generator = (noise("laplace", 100),) * 24, np.random.default_rng(9)
    sums = np.abs(generator.laplace(scale=100, size=(10**5, 24)).sum(axis=1))
    right, found = np.quantile(sums, 0.95), half_width(noises, (1.0,) * 24)
    assert right < found < 1.5 * right


def test_it_grows_with_each_weight_and_in_proportion_with_all():
    noises = tuple(noise("laplace", scale) for scale in (5, 50, 400))
    grid = np.array(list(product((0.0, 0.5, 1.0), repeat=3)))
    widths = NoiseSums(noises, FAILURE).half_widths(grid).tolist()
    found = dict(zip(map(tuple, grid.tolist()), widths, strict=True))
    for (weights, width), (others, wider) in product(found.items(), repeat=2):
        if all(a <= b for a, b in zip(weights, others, strict=True)):
            assert width <= wider * (1 + 0.006) + 1e-9
    assert half_width(noises, (4, 8, 2)) == pytest.approx(4 * half_width(noises, (1, 2, 0.5)), rel=1e-6)


def test_signs_do_not_matter_and_noise_of_no_scale_adds_nothing():
    noises = (noise("laplace", 9), noise("laplace", 0), noise("gaussian", 4))
    assert half_width(noises, (-1, 7, 2)) == half_width(noises, (1, 0, -2))
    assert half_width((noise("laplace", 0),) * 2, (3, 4)) == 0


def test_a_deviation_is_held_up_to_the_half_width():
    sums, weights = NoiseSums((noise("laplace", 60), noise("laplace", 20)), FAILURE), np.array([[1.0, 2.0]])
    (width,) = sums.half_widths(weights)
    assert sums.holds(weights, np.array([width * 0.999])).all()
    assert not sums.holds(weights, np.array([width * 1.001])).any()


def test_confidence_may_be_beyond_doubles():
    assert half_width((noise("laplace", 5),) * 3, (1, 1, 1), Fraction(1, 10**400)) > 3 * 5 * 900


@pytest.mark.parametrize("scale", ["0.01", "0.3", 1, 2, 7, 100])
@pytest.mark.parametrize("law", ["laplace", "gaussian"])
def test_the_covering_law_covers_the_noise_and_a_uniform_number_within_half_a_step(law, scale):
    """So that sums of it cover sums of noise [Bir48]; a Gaussian one narrower than half a step is never covered."""
    one = noise(law, scale)
    if law == "gaussian" and one.scale < Fraction(1, 2):
        assert not NoiseSums((one, one), FAILURE)._has_law  # the other way is not taken
        return
    steps, chances = masses(one)
    places = np.linspace(0, 12 * float(one.scale) + 2, 3_001)
    inside = np.clip(places[:, None] - steps + 0.5, 0, 1) - np.clip(-places[:, None] - steps + 0.5, 0, 1)
    tail = 1 - inside @ chances
    if law == "laplace":
        covering = np.exp(-places / one.covering_scale)
    else:
        covering = np.array([math.erfc(place / one.covering_scale / math.sqrt(2)) for place in places])
    assert (tail <= covering + 1e-12).all()


def test_ends_are_found_on_both_sides_of_a_center_or_are_the_bounds():
    low, high = held_ends(
        np.array([3.0, 3.0, 50.0]), np.full(3, -10.0), np.full(3, 10.0),
        lambda x: np.abs(x - np.array([3.0, 3.0, 50.0])) <= np.array([2.0, 100.0, 45.0]),
    )  # fmt: skip
    assert low == pytest.approx([1, -10, 5])
    assert high == pytest.approx([5, 10, 10])


def test_public_points_are_the_same_always_and_spread_like_the_noise():
    noises = (noise("laplace", 20), noise("laplace", "0.4"), noise("gaussian", 30), noise("laplace", 0))
    points = public_points(noises)
    assert (points == public_points(noises)).all()
    assert (points == np.rint(points)).all()
    for place, one in enumerate(noises[:3]):
        width = one.half_width(FAILURE)
        exact = np.exp(0) - beyond((one, one), (0.0, 1.0), width)
        assert np.mean(np.abs(points[:, place]) <= width) == pytest.approx(exact, abs=0.003)
    assert not points[:, 3].any()
    assert np.abs(np.corrcoef(points[:, :3].T) - np.eye(3)).max() < 0.02
    sums = np.abs(public_points((noise("laplace", 1_000),) * 6).sum(axis=1))
    assert np.quantile(sums, 0.95) == pytest.approx(half_width((noise("laplace", 1_000),) * 6, (1,) * 6), rel=0.03)
