"""Distances under planar Laplace noise: goldens of the continuous one, and sums over places."""

from fractions import Fraction
from math import exp

import numpy as np
import pytest

from sfumato.errors import ParameterError
from sfumato.geo.planes.planar_noise import (
    grid_tails,
    planar_half_width,
    planar_mean,
    planar_quantile,
)


def test_quantiles_are_those_of_the_closed_form():
    assert planar_quantile(0.5) == pytest.approx(1.67835, abs=5e-6)
    assert planar_quantile(0.95) == pytest.approx(4.743865, abs=5e-7)
    for confidence in (0.01, 0.9, 0.999999):
        r = planar_quantile(confidence)
        assert (1 + r) * exp(-r) == pytest.approx(1 - confidence, rel=1e-9)


@pytest.mark.parametrize(("goal", "measured"), [(2, planar_mean), (1.67835, None), (4.743865, None)])
def test_small_cells_lead_to_the_goldens(goal, measured):
    """Mean 2/ε, median 1.67835/ε and 95% at 4.743865/ε, where 1/ε is ever more cells."""
    confidence = {1.67835: "0.5", 4.743865: "0.95"}.get(goal)
    gaps = []
    for scale in (2, 8, 24):
        found = measured(float(scale)) if measured else planar_half_width(Fraction(scale), confidence)
        gaps.append(abs(found / scale - goal))
    assert gaps[-1] < 0.03
    assert gaps[-1] < gaps[0] or gaps[0] < 1e-3
    assert measured or planar_half_width(Fraction(10**6), confidence) / 10**6 == pytest.approx(goal, abs=1e-5)


@pytest.mark.parametrize("scale", [0.3, 1.0, 4.5])
def test_tails_are_sums_over_all_places(scale):
    reach = int(30 * scale) + 3
    places = np.arange(-reach, reach + 1)
    apart = np.hypot(places[:, None], places[None, :])
    masses = np.exp(-apart / scale)
    distances, tails = grid_tails(scale)
    for index in (0, 1, 5, 20):
        direct = masses[apart > distances[index] + 1e-9].sum() / masses.sum()
        assert tails[index] == pytest.approx(direct, abs=1e-9)
        assert tails[index] >= direct - 1e-9


def test_a_half_width_is_the_smallest_or_above():
    for scale in (Fraction(1), Fraction(24)):
        distances, tails = grid_tails(float(scale))
        found = planar_half_width(scale, "0.9")
        assert tails[distances == found] <= 0.1 < tails[distances < found].min()
    summed, bounded = planar_half_width(Fraction(24), "0.9") / 24, planar_half_width(Fraction(241, 10), "0.9") / 24.1
    assert summed <= bounded < summed * 1.03


def test_rare_places_have_a_bound_too():
    assert planar_half_width(Fraction(3), Fraction(10**12 - 1, 10**12)) > 3 * planar_quantile(1 - 1e-12)


@pytest.mark.parametrize("confidence", [0, 1, "x", -1])
def test_a_confidence_out_of_range_is_refused(confidence):
    with pytest.raises(ParameterError, match="confidence"):
        planar_half_width(Fraction(3), confidence)
