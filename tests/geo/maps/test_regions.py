"""Regions are a public table of cells: a row lies in at most one of them, whatever the table says."""

import h3
import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import ParameterError
from sfumato.geo.maps import regions as regions_module
from sfumato.geo.maps.noisy_map import noisy_map
from sfumato.geo.maps.regions import Regions, features_of, h3_cells, region_cells
from sfumato.geo.planes.grid import Grid

GRID = Grid.around(0, 0, width=4000, height=4000, cell=100)
EXACT = 10**6


def square(west, south, east, north):
    return [[west, south], [east, south], [east, north], [west, north], [west, south]]


def feature(name, *rings, kind="Polygon"):
    coordinates = [[ring] for ring in rings] if kind == "MultiPolygon" else list(rings)
    geometry = {"type": kind, "coordinates": coordinates}
    return {"type": "Feature", "properties": {"name": name}, "geometry": geometry}


def collection(*features):
    return {"type": "FeatureCollection", "features": list(features)}


WEST = feature("west", square(-0.01, -0.01, 0, 0.01))
EAST = feature("east", square(-0.005, -0.01, 0.01, 0.01), square(0.004, -0.002, 0.008, 0.002))  # overlaps, and a hole
ISLES = feature("isles", square(0.012, 0.012, 0.014, 0.014), square(0.015, 0.012, 0.017, 0.014), kind="MultiPolygon")
CELLS = region_cells(collection(WEST, EAST, ISLES), GRID)
POINTS = {
    (-0.0031, -0.0031): "west", (0.0021, 0.0021): "east", (0.0001, 0.0061): None, (0.0131, 0.0131): "isles",
    (0.0131, 0.0161): "isles", (0.0131, 0.0145): None, (0.05, 0.05): None, (float("nan"), 0): None,
}  # fmt: skip


def opened(regions=None):
    """A session on points, and on the public table or what somebody made of it."""
    latitudes, longitudes = zip(*POINTS, strict=True)
    points = pa.table({"lat": latitudes, "lon": longitudes})
    columns = {"lat": sf.real(-90, 90), "lon": sf.real(-180, 180)}
    declared = CELLS.table("regions")
    sources = {"points": points, "regions": CELLS.to_arrow() if regions is None else regions}
    policy = sf.Policy(
        dataset="d", version="1", data_version="1", unit_name="row",
        tables={"points": sf.Table(name="points", columns=columns), "regions": declared},
        sources={name: sf.SourceFacts(source=source) for name, source in sources.items()},
    )  # fmt: skip
    return sf.Session(policy, budget=sf.PureDP(10**9))


def counted(db):
    cells = Regions(CELLS, table=db.table("regions"))
    found = noisy_map(db.table("points"), cells=cells).release(epsilon=EXACT)
    return {cell.label: round(cell.values[0].value) for cell in found}


def test_a_row_counts_for_the_region_of_its_cell_and_for_no_other():
    expected = {name: sum(one == name for one in POINTS.values()) for name in CELLS.names}
    with opened() as db:
        assert counted(db) == expected == {"west": 1, "east": 1, "isles": 2}


def test_a_cell_that_stands_twice_in_the_table_counts_once():
    table = CELLS.to_arrow()
    twice = pa.concat_tables([table, table.set_column(1, "region", pa.array(["isles"] * table.num_rows))])
    with opened(twice) as db:
        assert sum(counted(db).values()) == sum(one is not None for one in POINTS.values())


def test_centers_belong_to_the_first_region_that_has_them():
    latitudes, longitudes = GRID.centers(np.arange(len(GRID)))
    in_both = (longitudes > -0.005) & (longitudes < 0) & (abs(latitudes) < 0.01)
    assert set(CELLS.places[in_both]) == {0}
    in_hole = (longitudes > 0.004) & (longitudes < 0.008) & (abs(latitudes) < 0.002)
    assert set(CELLS.places[in_hole]) == {-1}
    assert CELLS.to_arrow().num_rows == np.count_nonzero(CELLS.places >= 0)
    assert [len(polygons) for polygons in CELLS.polygons] == [1, 1, 2]
    assert len(CELLS.polygons[1][0]) == 2  # an outline and a hole


def test_cells_of_h3_are_regions_like_all_others():
    cells = h3_cells(GRID, 8)
    latitudes, longitudes = GRID.centers([0, len(GRID) // 2, len(GRID) - 1])
    for place, latitude, longitude in zip((0, len(GRID) // 2, len(GRID) - 1), latitudes, longitudes, strict=True):
        assert cells.names[cells.places[place]] == h3.latlng_to_cell(latitude, longitude, 8)
    assert cells.to_arrow().num_rows == len(GRID)
    assert {len(polygons[0][0]) for polygons in cells.polygons} == {6}


@pytest.mark.parametrize(
    "regions",
    [
        None, {"type": "Feature"}, {"type": "FeatureCollection", "features": [1]}, collection(),
        collection(WEST, WEST), collection(feature("", square(0, 0, 1, 1))),
        collection({"type": "Feature", "properties": None, "geometry": None}),
        collection({"type": "Feature", "properties": {"name": "x"}, "geometry": None}),
        collection(feature("x", square(0, 0, 1, 1), kind="Point")), collection(feature("x", [[0, 0]])),
        collection(feature("x", "no")), collection(feature("x", [[0, 0], [1, 1], [0, 1], [1, 0], [0, 0]])),
    ],
    ids=[
        "nothing", "a feature", "a number", "no region", "a name twice", "no name", "no properties", "no geometry",
        "a point", "one corner", "text", "a bow tie",
    ],
)  # fmt: skip
def test_what_is_no_region_is_refused(regions):
    with pytest.raises(ParameterError):
        region_cells(regions, GRID)


def test_only_the_declared_table_is_joined():
    with opened() as db:
        for table in (db.table("points"), db.table("regions").filter(db.table("regions").cell > 3), "regions"):
            with pytest.raises(ParameterError):
                Regions(CELLS, table=table)
    with pytest.raises(ParameterError):
        h3_cells(GRID, 16)
    with pytest.raises(ParameterError):
        region_cells(collection(WEST), "grid")
    assert features_of(collection(WEST), "regions") == [WEST]


def test_the_extra_is_named_where_it_is_missing(monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(regions_module, "import_module", missing)
    with pytest.raises(ParameterError, match="pip install shapely"):
        region_cells(collection(WEST), GRID)
