"""The plane around a center: its factors are those of the ellipsoid, and its bound holds between any two points."""

import math
from fractions import Fraction

import numpy as np
import pytest

from sfumato.errors import ParameterError
from sfumato.geo.planes.projection import EQUATOR, LocalProjection, degrees_long, pair_of

SQUARED = (1 / 298.257223563) * (2 - 1 / 298.257223563)


def on_the_ground(first, second, steps=400):
    """The length of a dense way between two points, near enough straight in degrees, summed on the ellipsoid.

    No shortest way is longer, and within a few kilometers none is shorter by more than a millionth.
    """
    at = np.linspace(0, 1, steps + 1)[:, None] * (np.array(second) - np.array(first)) + np.array(first)
    middle = np.radians((at[1:, 0] + at[:-1, 0]) / 2)
    change = np.radians(np.diff(at, axis=0))
    bend = 1 - SQUARED * np.sin(middle) ** 2
    north = change[:, 0] * EQUATOR * (1 - SQUARED) / bend**1.5
    east = change[:, 1] * EQUATOR / np.sqrt(bend) * np.cos(middle)
    return float(np.hypot(north, east).sum())


@pytest.mark.parametrize(("latitude", "along", "across"), [(0, 110_574, 111_319), (45, 111_132, 78_847)])
def test_degrees_are_as_long_as_tables_say(latitude, along, across):
    assert [round(meters) for meters in degrees_long(latitude)] == [along, across]


@pytest.mark.parametrize("latitude", ["0", "48.85", "-60", "78"])
def test_no_pair_of_points_is_stretched_beyond_the_bound(latitude):
    plane, reach = LocalProjection(latitude, "179.99"), 60_000
    bound, draws = plane.stretch(reach), np.random.default_rng(7)
    seen = []
    for _ in range(300):
        angle, radius = draws.uniform(0, 2 * math.pi, 1), 0.9 * reach * draws.uniform(0, 1) ** 0.5
        east, north = radius * np.cos(angle), radius * np.sin(angle)
        step = draws.uniform(-500, 500, 2)
        points = np.array(plane.degrees(np.append(east, east + step[0]), np.append(north, north + step[1]))).T
        points[:, 1] %= 360
        seen.append(math.hypot(*step) / on_the_ground(points[0], points[1]))
    assert bound.least <= min(seen) * (1 + 1e-6)
    assert max(seen) * (1 - 1e-6) <= bound.most
    assert bound.least < 1 < bound.most


def test_the_bound_is_nearly_reached_where_a_region_is_farthest_from_the_equator():
    plane, reach = LocalProjection(60, 0), 50_000
    edge = 60 + reach / degrees_long(60)[0]
    seen = 1000 / on_the_ground((edge, 0), (edge, 1000 / float(plane.meters_per_degree_east)))
    assert seen <= plane.stretch(reach).most * (1 + 1e-9) < seen * 1.001


def test_the_bound_grows_with_the_region_and_is_near_one_in_a_city():
    plane = LocalProjection("52.52", "13.4")
    reaches = [plane.stretch(reach).most for reach in (1_000, 10_000, 100_000)]
    assert reaches == sorted(reaches)
    assert reaches[1] < 1.003


def test_the_way_back_leads_back():
    plane, draws = LocalProjection("-33.9", "151.2"), np.random.default_rng(3)
    east, north = draws.uniform(-4e5, 4e5, (2, 1000))
    again = plane.meters(*plane.degrees(east, north))
    assert np.abs(np.array(again) - np.array([east, north])).max() < 1e-6


def test_longitudes_are_taken_the_short_way_round():
    plane = LocalProjection(0, 179)
    east, _ = plane.meters([0, 0], [-179, 179])
    assert east.tolist() == [pytest.approx(2 * 111_319.49, abs=1), 0]
    assert plane.degrees(east, [0, 0])[1].tolist() == [pytest.approx(-179), 179]


def test_what_is_no_place_stays_nan():
    _, north = LocalProjection(0, 0).meters([float("nan"), math.inf], [0, 0])
    assert np.isnan(north[0])
    assert math.isinf(north[1])


def test_a_reach_holds_the_points_at_a_distance():
    plane = LocalProjection(60, 0)
    reach = plane.reach_of(100_000)
    assert reach * Fraction(plane.stretch(reach).least) >= 100_000
    corner = np.array(plane.degrees(0, -100_000))
    assert on_the_ground((60, 0), corner) <= reach < 104_000


@pytest.mark.parametrize(("latitude", "longitude"), [(81, 0), (-81, 0), (0, 181), ("x", 0), (0, None)])
def test_a_center_out_of_range_is_refused(latitude, longitude):
    with pytest.raises(ParameterError, match=r"latitude|longitude"):
        LocalProjection(latitude, longitude)


@pytest.mark.parametrize("reach", [0, -1, 600_000, "x"])
def test_a_reach_out_of_range_is_refused(reach):
    with pytest.raises(ParameterError, match="reach"):
        LocalProjection(0, 0).stretch(reach)


def test_a_region_that_leads_to_a_pole_is_refused():
    with pytest.raises(ParameterError, match="pole"):
        LocalProjection(80, 0).reach_of(499_000)


def test_a_point_is_two_numbers():
    assert pair_of((1, 2)) == (1, 2)
    with pytest.raises(ParameterError, match="latitude and a longitude"):
        pair_of([1, 2, 3])
