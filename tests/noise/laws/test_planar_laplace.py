"""Planar Laplace noise: what the sampler does, enumerated, is the distribution; and draws follow it."""

from fractions import Fraction
from math import gcd, hypot, isqrt

import mpmath
import numpy as np
import pytest
from tests.laws import ALPHA

from sfumato.errors import ParameterError
from sfumato.geo.planes.planar_noise import grid_tails
from sfumato.noise import entropy
from sfumato.noise.laws import planar_laplace as module
from sfumato.noise.laws.planar_laplace import keeping, planar_laplace

SCALES = [Fraction(1, 3), Fraction(1), Fraction(10, 3), Fraction(101, 7)]
DRAWS = 200_000


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_proposed_and_kept_places_have_the_distribution_exactly(scale):
    """P(proposed) · P(kept) over exp(−|z|/scale) is one number for all places, to 40 digits."""
    with mpmath.workdps(60):
        slope = mpmath.mpf(module._SLOPE.numerator) / module._SLOPE.denominator
        width = mpmath.mpf(scale.numerator) / scale.denominator
        for across, up in ((0, 0), (1, 0), (0, -1), (3, 4), (5, 5), (-7, 2), (40, -41)):
            proposed = mpmath.exp(-slope * (abs(across) + abs(up)) / width)
            lower, upper = keeping(scale, across, up)(160)
            assert 0 <= upper - lower < 2**10
            kept = mpmath.mpf(lower) / 2**160
            wanted = mpmath.exp(-mpmath.hypot(across, up) / width)
            assert abs(proposed * kept / wanted - 1) < mpmath.mpf(10) ** -35


@pytest.mark.parametrize("place", [(0, 0), (3, 4), (20, 21), (1, 1), (10**9, 1)])
def test_bounds_enclose_the_probability_and_draw_together(place):
    for bits in (4, 20, 64, 300):
        lower, upper = keeping(Fraction(7, 3), *place)(bits)
        with mpmath.workdps(120):
            excess = mpmath.hypot(*place) - mpmath.mpf(module._SLOPE.numerator) * sum(place) / module._SLOPE.denominator
            exact = mpmath.exp(-excess * 3 / 7) * mpmath.mpf(2) ** bits
            assert lower <= exact <= upper
            assert upper - lower <= 4


def test_no_place_is_kept_with_more_than_certainty():
    slope = module._SLOPE
    assert 2 * slope.numerator**2 < slope.denominator**2
    assert gcd(slope.numerator, slope.denominator) == 1
    assert keeping(Fraction(5), 0, 0)(64) == (1 << 64, 1 << 64)


@pytest.mark.statistical
@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_distances_follow_their_distribution_and_none_five_percent_off(scale):
    draws = planar_laplace(scale, DRAWS)
    squares = (draws**2).sum(axis=1)
    gaps = {}
    for name, width in (("right", float(scale)), ("wrong", float(scale) * 1.05)):
        distances, tails = grid_tails(width)
        seen = 1 - np.searchsorted(np.sort(squares), np.rint(distances**2).astype(np.int64), side="right") / DRAWS
        gaps[name] = np.abs(seen - tails).max()
    limit = (np.log(2 / ALPHA) / 2 / DRAWS) ** 0.5  # Dvoretzky, Kiefer and Wolfowitz, with Massart's constant
    assert gaps["right"] < limit, f"refused with a type-I error of {ALPHA}"
    assert scale < 1 or gaps["wrong"] > limit


@pytest.mark.statistical
def test_every_direction_is_as_likely_as_those_beside_it():
    draws = planar_laplace(Fraction(50), DRAWS)
    draws = draws[(draws != 0).any(axis=1)]
    octants = np.floor((np.arctan2(draws[:, 1] + 0.01, draws[:, 0] + 0.003) + np.pi) / (np.pi / 4)).astype(int) % 8
    counts = np.bincount(octants, minlength=8)
    assert np.abs(counts - len(draws) / 8).max() < 5.6 * (len(draws) / 8) ** 0.5 + 0.004 * len(draws)
    signs = np.sign(draws).sum(axis=0)
    assert np.abs(signs).max() < 5.1 * len(draws) ** 0.5


@pytest.mark.statistical
def test_with_every_coin_decided_by_whole_numbers_it_is_the_same_distribution(monkeypatch):
    monkeypatch.setattr(module, "MARGIN", 2.0)
    draws = planar_laplace(Fraction(2), 4000)
    distances, tails = grid_tails(2.0)
    seen = 1 - np.searchsorted(np.sort((draws**2).sum(axis=1)), np.rint(distances**2), side="right") / len(draws)
    assert np.abs(seen - tails).max() < (np.log(2 / ALPHA) / 2 / len(draws)) ** 0.5


def test_far_places_are_decided_by_whole_numbers(monkeypatch):
    """A float is trusted up to 64 scales; a proposal beyond is asked for its exact bounds."""
    asked = []
    far = iter([np.array([0, 3, 500]), np.array([0, 4, 1])])
    monkeypatch.setattr(module, "discrete_laplace", lambda *_: next(far))
    monkeypatch.setattr(
        module, "keeping", lambda scale, across, up: asked.append((across, up)) or keeping(scale, across, up)
    )
    module._attempts(Fraction(2), 3)
    assert (500, 1) in asked


@pytest.mark.parametrize(("offset", "is_kept"), [(-(2**20), True), (2**20, False)])
def test_a_word_near_the_edge_of_a_coin_is_decided_by_whole_numbers(monkeypatch, offset, is_kept):
    edge = keeping(Fraction(3), 3, 4)(64)[0] + offset
    proposals = iter([np.array([3]), np.array([4])])
    monkeypatch.setattr(module, "discrete_laplace", lambda *_: next(proposals))
    monkeypatch.setattr(entropy, "random_words", lambda count: np.full(count, edge, dtype=np.uint64))
    assert len(module._attempts(Fraction(3), 1)) == is_kept


def test_large_scales_and_large_places_stay_exact():
    draws = planar_laplace(Fraction(1 << 40), 50)
    assert draws.dtype == np.int64
    lower, upper = keeping(Fraction(1, 10**6), 10**30, 10**30 + 1)(64)
    assert (lower, upper) == (0, 1)
    assert isqrt(2 * 10**60) > 10**30
    assert hypot(*draws[0]) > 0


@pytest.mark.parametrize("scale", [Fraction(0), Fraction(-1), Fraction(1, 1001), Fraction(1 << 41)])
def test_a_scale_out_of_range_is_refused(scale):
    with pytest.raises(ParameterError, match="scale"):
        planar_laplace(scale, 1)


def test_no_draws_are_no_rows():
    assert planar_laplace(Fraction(3), 0).shape == (0, 2)
    with pytest.raises(ParameterError, match="size"):
        planar_laplace(Fraction(3), -1)
