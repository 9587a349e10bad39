"""The optimal remap: it reads the noisy place alone, and no other choice has a smaller expected distance."""

import numpy as np
import pytest

from sfumato.errors import ParameterError
from sfumato.geo.locations.planar_laplace import PlanarLaplace
from sfumato.geo.locations.remap import MOST_REMAPPED, OptimalRemap
from sfumato.geo.planes.grid import Grid
from sfumato.geo.planes.projection import LocalProjection

GRID = Grid(LocalProjection(0, 0), cell=100, columns=6, rows=5)
NOISY = PlanarLaplace(GRID, epsilon="0.006")
PRIOR = np.random.default_rng(6).integers(0, 9, len(GRID)).astype(float)


def test_no_cell_has_a_smaller_expected_distance():
    remap = OptimalRemap(NOISY, PRIOR)
    columns, rows = GRID.places_of(np.arange(len(GRID)))
    for place in ([0, 0], [3, 2], [-4, 9], [2, -30]):
        posterior = PRIOR * np.exp(-0.6 * np.hypot(columns - place[0], rows - place[1]))
        expected = [float((posterior * np.hypot(columns - columns[c], rows - rows[c])).sum()) for c in range(len(GRID))]
        assert expected[int(remap.remap(np.array([place]))[0])] == pytest.approx(min(expected))


def test_it_is_nearer_on_average_than_moving_to_the_nearest_cell():
    prior = np.where(np.arange(len(GRID)) % 7 == 0, 1.0, 0.0)
    remap, draws = OptimalRemap(NOISY, prior), np.random.default_rng(1)
    true = draws.choice(len(GRID), 3000, p=prior / prior.sum())
    noisy = NOISY.noisy_places(true)
    columns, rows = GRID.places_of(true)
    means = []
    for reports in (remap.remap(noisy), NOISY.nearest(noisy)):
        across, up = GRID.places_of(reports)
        means.append(float(np.hypot(across - columns, up - rows).mean()))
    assert means[0] < means[1] - 0.05


def test_it_sees_nothing_but_the_noisy_place_and_promises_the_same(monkeypatch):
    monkeypatch.setattr(PlanarLaplace, "noisy_places", lambda *_: np.array([[3, 2]]))
    remap = OptimalRemap(NOISY, PRIOR)
    assert len({remap.release(place) for place in ((0, 0), (0.001, 0.002), (float("nan"), 0))}) == 1
    assert remap.guarantee == NOISY.guarantee


@pytest.mark.parametrize("far", [10**9, 2**63, 2**80])
def test_a_place_far_away_has_a_report_too(far):
    assert OptimalRemap(NOISY, PRIOR).remap(np.array([[far, -far]])).shape == (1,)


@pytest.mark.parametrize(
    "prior",
    [[1] * 29, [0] * 30, [-1] + [1] * 29, [float("nan")] * 30, "x", [[1] * 30]],
    ids=["short", "none", "below", "nan", "text", "rows"],
)
def test_a_prior_that_is_none_is_refused(prior):
    with pytest.raises(ParameterError, match="prior"):
        OptimalRemap(NOISY, prior)


def test_a_large_grid_is_refused():
    large = PlanarLaplace(Grid(LocalProjection(0, 0), cell=100, columns=MOST_REMAPPED + 1, rows=1), epsilon="0.006")
    with pytest.raises(ParameterError, match="cells"):
        OptimalRemap(large, [1] * (MOST_REMAPPED + 1))
    with pytest.raises(ParameterError, match="mechanism"):
        OptimalRemap(5, PRIOR)
