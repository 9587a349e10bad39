"""Grids: each point lies in one cell, near its center, and points outside are said to be."""

import math

import numpy as np
import pytest

from sfumato.errors import ParameterError
from sfumato.geo.planes.grid import OUTSIDE, Grid
from sfumato.geo.planes.projection import LocalProjection

PLANE = LocalProjection("48.8566", "2.3522")


def grid_of(columns=7, rows=4, cell=100):
    return Grid(PLANE, cell=cell, columns=columns, rows=rows)


def test_a_cell_center_lies_in_its_cell():
    grid = grid_of()
    every = np.arange(len(grid))
    assert grid.cells(*grid.centers(every)).tolist() == every.tolist()


def test_no_point_is_farther_from_its_center_than_the_displacement():
    grid, draws = grid_of(cell="33.3"), np.random.default_rng(1)
    east, north = draws.uniform(-0.5, 0.5, (2, 20_000)) * np.array([[7], [4]]) * 33.3
    points = PLANE.degrees(east, north)
    centers = PLANE.meters(*grid.centers(grid.nearest_cells(*points)))
    apart = np.hypot(centers[0] - east, centers[1] - north)
    assert apart.max() <= grid.displacement
    assert apart.max() > 0.97 * float(grid.displacement)


def test_an_edge_belongs_to_one_cell():
    grid = Grid(LocalProjection(0, 0), cell=100, columns=4, rows=2)
    assert grid.cells(0, 0) == 6  # the cell north-east of the corner
    assert grid.cells(-1e-9, -1e-9) == 1


def test_points_outside_are_in_no_cell_and_nearest_to_one_at_the_edge():
    grid = grid_of()
    latitudes, longitudes = PLANE.degrees([0, 9999, -9999, 9999], [9999, 9999, -9999, 0])
    assert grid.cells(latitudes, longitudes).tolist() == [OUTSIDE] * 4
    assert grid.nearest_cells(latitudes, longitudes).tolist() == [24, 27, 0, 20]


def test_what_is_no_place_is_in_no_cell_and_nearest_to_the_middle():
    grid = grid_of()
    latitudes, longitudes = [float("nan"), math.inf, 1e300], [2.35, float("nan"), 2.35]
    assert grid.cells(latitudes, longitudes).tolist() == [OUTSIDE] * 3
    assert grid.nearest_cells(latitudes, longitudes).tolist()[:2] == [17, 17]


def test_a_grid_around_a_place_covers_the_rectangle():
    grid = Grid.around("48.8566", "2.3522", width=1001, height=999, cell=100)
    assert (grid.columns, grid.rows) == (11, 10)
    assert grid.reach > math.hypot(550, 500)


def test_corners_go_around_a_cell():
    grid = grid_of()
    corners = np.array(grid.corners(0))
    east, north = PLANE.meters(corners[:, 1], corners[:, 0])
    assert east.tolist() == pytest.approx([-350, -250, -250, -350])
    assert north.tolist() == pytest.approx([-200, -200, -100, -100])


@pytest.mark.parametrize(
    ("change", "message"),
    [({"cell": 0}, "cell"), ({"cell": "1e-9"}, "cell"), ({"columns": 0}, "columns"), ({"rows": 2**27}, "rows"),
     ({"columns": 2**20, "rows": 2**20}, "rows"), ({"cell": 1000, "columns": 2000}, "reach")],
)  # fmt: skip
def test_a_grid_out_of_range_is_refused(change, message):
    with pytest.raises(ParameterError, match=message):
        grid_of(**change)


def test_numbers_of_no_cell_are_refused():
    for cells in (28, -1, [0.5], ["a"]):
        with pytest.raises(ParameterError, match="numbers of cells"):
            grid_of().centers(cells)


def test_lists_of_unlike_lengths_are_refused():
    with pytest.raises(ParameterError, match="longitudes"):
        grid_of().cells([1, 2], [1])
