"""What a map shows is made of its release: GeoJSON, pictures and pages; what stands out stands out of all cells."""

import json
import math

import numpy as np
import pyarrow as pa
import pytest
import shapely

import sfumato as sf
from sfumato.errors import ParameterError
from sfumato.geo.maps.cells import HexagonGrid
from sfumato.geo.maps.noisy_map import noisy_map
from sfumato.geo.maps.quadtree import Quadtree
from sfumato.geo.planes.grid import Grid
from sfumato.geo.planes.projection import LocalProjection

PLANE = LocalProjection(10, 20)
ROADS = {
    "type": "FeatureCollection",
    "features": [
        {"type": "Feature", "properties": {}, "geometry": {"type": kind, "coordinates": lines}}
        for kind, lines in (
            ("LineString", [[20, 10], [20.01, 10]]), ("MultiLineString", [[[20, 10], [20, 10.1]]]), ("Point", [20, 10]),
        )
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def db():
    drawn = np.random.default_rng(5).normal(0, 0.004, (2, 4000))
    data = pa.table({"lat": 10 + drawn[0], "lon": 20 + drawn[1], "speed": drawn[0] * 0 + 30})
    columns = {"lat": sf.real(-90, 90), "lon": sf.real(-180, 180), "speed": sf.real(0, 100)}
    with sf.open(data, name="points", columns=columns, budget=sf.PureDP(10**9)) as opened:
        yield opened


@pytest.fixture(scope="module")
def squares(db):
    grid = Grid(PLANE, cell=500, columns=6, rows=6)
    return noisy_map(db.table(), cells=grid, n=sf.count(), speed=sf.mean("speed")).release(epsilon=1)


def test_geojson_has_every_cell_its_values_and_what_is_promised(squares):
    found = json.loads(json.dumps(squares.to_geojson()))
    assert len(found["features"]) == len(squares) == 36
    shapes = [shapely.geometry.shape(one["geometry"]) for one in found["features"]]
    assert all(shape.is_valid and shape.exterior.is_ccw for shape in shapes)
    assert math.isclose(shapely.union_all(shapes).area, sum(shape.area for shape in shapes))
    for one, cell in zip(found["features"], squares, strict=True):
        assert one["properties"]["n"] == cell.values[0].value
        assert one["properties"]["n_low"] <= one["properties"]["n"] <= one["properties"]["n_high"]
        assert one["properties"]["n_stands_out"] is cell.stands_out[0]
    assert found["sfumato"]["guarantee"] == "ε 1 for one row (add or remove one); 95% intervals"
    assert found["sfumato"]["statistics"] == ["n", "speed"]


def test_what_stands_out_is_farther_from_0_than_the_noise_of_all_cells(squares):
    factor = math.log(36 / 0.05) / math.log(1 / 0.05)
    for cell in squares:
        expected = abs(cell.values[0].value) > factor * cell.values[0].half_width
        assert cell.stands_out[0] is expected
    assert 0 < sum(cell.stands_out[0] for cell in squares) < 36


def test_a_tree_is_parted_where_much_is_and_covers_its_square_once(db):
    tree = Quadtree(PLANE, width=4000, levels=5)
    found = noisy_map(db.table(), cells=tree).release(epsilon=2)
    shapes = [shapely.Polygon(cell.polygons[0][0]) for cell in found]
    assert math.isclose(shapely.union_all(shapes).area, sum(shape.area for shape in shapes), rel_tol=1e-9)
    corner, middle = shapely.Point(20 - 0.0175, 10 - 0.0175), shapely.Point(20.0005, 10.0005)
    size = {name: next(s.area for s in shapes if s.contains(at)) for name, at in (("edge", corner), ("core", middle))}
    assert size["edge"] > 4 * size["core"]
    labels = [cell.label for cell in found]
    assert len(set(labels)) == len(labels)
    assert all(cell.values[0].value <= 4 * cell.values[0].half_width for cell in found if None in cell.keys)


@pytest.mark.parametrize("ending", [".geojson", ".html", ".png"])
def test_a_map_is_saved_as_its_ending_says(squares, ending, tmp_path):
    path = squares.save(tmp_path / "maps" / f"map{ending}", statistic="speed", roads=ROADS, title="A map")
    content = path.read_bytes()
    start = {".geojson": b"{", ".html": b"<!doctype html>", ".png": b"\x89PNG"}[ending]
    assert content.startswith(start)


def test_pictures_and_pages_show_one_statistic_or_refuse(squares, db, tmp_path):
    assert [axes.get_ylabel() for axes in squares.plot(roads=ROADS).axes] == ["latitude (degrees)", "n"]
    assert "speed" in squares.to_html()
    for call in (lambda: squares.plot("x"), lambda: squares.plot(3), lambda: squares.save(tmp_path / "map.xyz")):
        with pytest.raises(ParameterError):
            call()
    assert repr(squares).startswith("<NoisyMap of 36 cells: n, speed; ε 1 for one row")
    empty = noisy_map(db.table(), cells=HexagonGrid(PLANE, width=500, columns=2, rows=2), speed=sf.mean("speed"))
    assert empty.release(epsilon=0).plot().axes
