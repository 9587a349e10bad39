"""Finding homes: the mean of reports wins where noise is fresh, and loses where a device remembers."""

import numpy as np
import pytest
from tests.laws import ALPHA

from sfumato.attacks.linking.finding_homes import (
    distances_of_means,
    finding_homes,
    homes_picture,
    meters_between,
    textbook_planar_laplace,
)
from sfumato.errors import ParameterError
from sfumato.geo.locations.planar_laplace import PlanarLaplace
from sfumato.geo.locations.tiles import TileMemory
from sfumato.geo.planes.grid import Grid

GRID = Grid.around("48.8566", "2.3522", width=20_000, height=20_000, cell=50)
NOISY = PlanarLaplace(GRID, level="low")
PEOPLE = 30


def homes():
    draws = np.random.default_rng(11)
    return [GRID.projection.degrees(*draws.uniform(-3000, 3000, 2)) for _ in range(PEOPLE)]


def places():
    return [(float(latitude), float(longitude)) for latitude, longitude in homes()]


@pytest.mark.statistical
def test_two_months_of_fresh_reports_finds_homes_and_a_memory_hides_them():
    """With ε = ln 4 within 200 m, one report is within 100 m in 15%, and the mean of 60 in 99%."""
    fresh = finding_homes([(NOISY.release, home) for home in places()], reports=60, within=100)
    remembering = [TileMemory(NOISY, width=4) for _ in range(PEOPLE)]
    hidden = finding_homes(
        [(device.release, home) for device, home in zip(remembering, places(), strict=True)], reports=60, within=100
    )
    assert fresh.success > 0.75  # 23 of 30 or more, but with probability 2e-8
    assert hidden.success < 0.6  # 17 of 30 or fewer, but with probability 1e-8
    assert hidden.notes == ("the same report each time from 30 of 30",)
    assert {device.tiles for device in remembering} == {1}


def test_the_mean_comes_nearer_with_the_root_of_the_number_of_reports():
    noisy = textbook_planar_laplace(epsilon=0.01, seed=2)
    apart = np.mean([distances_of_means(noisy, (48.86, 2.35), reports=[1, 100]) for _ in range(100)], axis=0)
    assert apart[0] == pytest.approx(200, rel=0.35)
    assert 5 < apart[0] / apart[1] < 18


@pytest.mark.statistical
def test_the_textbook_mechanism_has_the_goldens():
    noisy, count = textbook_planar_laplace(epsilon=0.01, seed=5), 20_000
    meters = np.array([meters_between(noisy((0, 0)), (0, 0)) for _ in range(count)])
    assert meters.mean() == pytest.approx(200, abs=5 * 100 * 2**0.5 / count**0.5)
    limit = (np.log(2 / ALPHA) / 2 / count) ** 0.5
    for share, golden in ((0.5, 167.835), (0.95, 474.3865)):
        assert abs((meters <= golden).mean() - share) < limit


def test_places_across_the_180th_meridian_have_a_mean_there():
    reports = iter([(0.0, 179.99), (0.0, -179.99)])
    assert distances_of_means(lambda _: next(reports), (0.0, 180.0), reports=[2]) == [pytest.approx(0, abs=1)]


def test_a_picture_shows_both():
    figure = homes_picture(NOISY.release, TileMemory(NOISY).release, (48.86, 2.35), reports=[1, 9])
    assert {line.get_label() for line in figure.axes[0].get_lines()} >= {"fresh noise each time", "remembered"}


@pytest.mark.parametrize(
    ("devices", "message"),
    [([], "devices"), ([5], "devices"), ([(5, (0, 0))], "devices"), ([(lambda _: 1, (0, 0))], "devices"),
     ([(lambda _: (1, "x"), (0, 0))], "devices"), ([(lambda home: home, (0, float("nan")))], "devices"),
     ([(lambda home: home, (0, 0, 0))], "devices"), (5, "devices")],
)  # fmt: skip
def test_what_is_no_device_is_refused(devices, message):
    with pytest.raises(ParameterError, match=message):
        finding_homes(devices, reports=2)


def test_numbers_out_of_range_are_refused():
    for given in ({"reports": 0}, {"reports": 1, "within": -1}, {"reports": 1, "baseline": 2}):
        with pytest.raises(ParameterError):
            finding_homes([(lambda home: home, (0, 0))], **given)
    for counts in ([], [2, 1], [0], 5):
        with pytest.raises(ParameterError, match="reports"):
            distances_of_means(lambda home: home, (0, 0), reports=counts)
    for given in ({"epsilon": 0, "seed": 1}, {"epsilon": 1, "seed": -1}):
        with pytest.raises(ParameterError):
            textbook_planar_laplace(**given)
