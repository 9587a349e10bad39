"""A row lies in the one public cell that its place is in, or in none, whatever it holds, in every engine."""

import math

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import ParameterError
from sfumato.geo.maps.cells import DegreeGrid, HexagonGrid, cells_of
from sfumato.geo.maps.noisy_map import noisy_map
from sfumato.geo.maps.quadtree import Quadtree
from sfumato.geo.planes.grid import Grid
from sfumato.geo.planes.projection import LocalProjection

PARIS = LocalProjection("48.8566", "2.3522")
GRID = Grid(PARIS, cell=250, columns=14, rows=11)
EXACT = 10**6
"""An ε of which no noise is left."""
HOSTILE = [None, math.nan, math.inf, -math.inf, 1e300, -1e300, 1e19, 1e308, -9.3e18, 5e-324]
KINDS = ("grid", "hexagons", "tree")


def opened(latitudes, longitudes, *, engine="duckdb"):
    data = pa.table({"lat": pa.array(latitudes, pa.float64()), "lon": pa.array(longitudes, pa.float64())})
    columns = {"lat": sf.real(-90, 90), "lon": sf.real(-180, 180)}
    return sf.open(data, name="points", columns=columns, budget=sf.PureDP(10**9), engine=engine)


def counts(cells, latitudes, longitudes, **options):
    """The exact number of rows in each cell that is asked for."""
    with opened(latitudes, longitudes, **options) as db:
        release = noisy_map(db.table(), cells=cells).release(epsilon=EXACT).release
        return dict(zip(release.groups, (round(one.value) for one in release["n"]), strict=True))


@pytest.fixture(scope="module")
def points():
    drawn = np.random.default_rng(17).uniform(-1, 1, (2, 3000))
    return 48.8566 + drawn[0] * 0.02, 2.3522 + drawn[1] * 0.03


def cells_named(name):
    return {
        "grid": GRID,
        "hexagons": HexagonGrid(PARIS, width=250, columns=9, rows=8),
        "tree": Quadtree(PARIS, width=2000, levels=3),
    }[name]


def test_squares_are_those_of_the_grid(points):
    found = GRID.cells(*points)
    expected = np.bincount(found[found >= 0], minlength=len(GRID))
    assert list(counts(GRID, *points).values()) == expected.tolist()
    known = cells_of(GRID)
    for cell in (0, 13, 14, len(GRID) - 1):
        ring = known.rings(divmod(cell, GRID.columns))[0][0]
        assert np.allclose(ring, GRID.corners(cell), atol=1e-12)


def test_a_hexagon_has_the_points_to_which_its_center_is_the_nearest(points):
    honeycomb = HexagonGrid(PARIS, width=400, columns=9, rows=10)
    wide = HexagonGrid(PARIS, width=400, columns=13, rows=14)  # whose rows are moved by two, and columns by two
    keys = [(row, column) for row in range(14) for column in range(13)]
    centers = np.array([np.mean(wide.rings(key)[0][0], axis=0) for key in keys])
    east, north = PARIS.meters(*points)
    center_east, center_north = PARIS.meters(centers[:, 1], centers[:, 0])
    squares = (east[:, None] - center_east) ** 2 + (north[:, None] - center_north) ** 2
    nearest, is_near = np.argmin(squares, axis=1), np.min(squares, axis=1) < 400**2 / 3
    expected = dict.fromkeys(((row, column) for row in range(10) for column in range(9)), 0)
    for place in nearest[is_near]:
        row, column = keys[place][0] - 2, keys[place][1] - 2
        if (row, column) in expected:
            expected[row, column] += 1
    assert counts(honeycomb, *points) == expected


def test_hexagons_meet_at_their_corners():
    honeycomb = HexagonGrid(PARIS, width=400, columns=3, rows=3)
    corners = [{(round(x, 9), round(y, 9)) for x, y in honeycomb.rings((row, 1))[0][0]} for row in range(3)]
    assert len(corners[0] & corners[1]) == len(corners[1] & corners[2]) == 2


def test_a_cell_has_its_southern_and_its_western_edge_alone():
    grid = DegreeGrid(1, south=10, west=20, north=12, east=22)
    places = [(10, 20), (11, 20), (10, 21), (12, 20.5), (10.5, 22), (math.nextafter(12, 0), math.nextafter(22, 0))]
    found = counts(grid, *zip(*places, strict=True))
    assert found == {(0, 0): 1, (0, 1): 1, (1, 0): 1, (1, 1): 1}


@pytest.mark.parametrize("name", KINDS)
def test_what_is_no_place_lies_nowhere_and_each_row_in_one_cell(name):
    inside = [(48.8566, 2.3522), (48.8566 + 1e-4, 2.3522 - 1e-4)]
    pairs = [(lat, lon) for lat in (*HOSTILE, 48.8566) for lon in (*HOSTILE, 2.3522)][:-1] + inside
    found = {
        engine: counts(cells_named(name), *zip(*pairs, strict=True), engine=engine)
        for engine in ("duckdb", "reference")
    }
    assert found["duckdb"] == found["reference"]
    leaves = [value for keys, value in found["duckdb"].items() if None not in keys]
    assert sum(leaves) == len(inside)


@pytest.mark.parametrize("name", KINDS)
def test_every_cell_is_answered_where_nobody_is(name):
    cells = cells_named(name)
    found = counts(cells, [], [])
    assert len([keys for keys in found if None not in keys]) == cells_of(cells).count
    assert set(found.values()) == {0}


@pytest.mark.parametrize(
    ("grid", "longitudes"),
    [
        (DegreeGrid(5, south=0, west=170, north=10, east=-170), (172, 179.9, -180, -179, -171, 160, -160, 5, -5)),
        (Grid(LocalProjection(4, 180), cell=50_000, columns=12, rows=12), (178, 179.9, -180, -179, -178, 100, -100, 5)),
        (
            Grid(LocalProjection(4, -180), cell=50_000, columns=12, rows=12),
            (178, 179.9, -180, -179, -178, 100, -100, 5),
        ),
        (DegreeGrid(10, south=0, west=-10, north=10, east=-170), (-5, 5, 179, -179, -171, -169, -11)),
    ],
    ids=["degrees", "east of the meridian", "west of the meridian", "more than half a turn"],
)
def test_maps_lie_across_the_meridian(grid, longitudes):
    inside = longitudes[:5]
    expected = counts(grid, [5] * 5, inside)
    assert sum(expected.values()) == len(inside)
    assert counts(grid, [5] * len(longitudes), longitudes) == expected


def test_what_cannot_be_listed_is_refused():
    with pytest.raises(ParameterError, match="larger cells"):
        cells_of(Grid(PARIS, cell=1, columns=1001, rows=1))
    with pytest.raises(ParameterError, match="larger cells"):
        DegreeGrid("0.1")
    for options in ({"south": 10, "north": 10}, {"north": 91}, {"west": 181}, {"cell": 0}):
        with pytest.raises(ParameterError):
            DegreeGrid(**({"cell": 5} | options))
    with pytest.raises(ParameterError, match="must be a Grid"):
        cells_of("squares")
    with pytest.raises(ParameterError):
        HexagonGrid(PARIS, width=-1, columns=2, rows=2)
