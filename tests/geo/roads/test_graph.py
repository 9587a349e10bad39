import math

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import floyd_warshall

from sfumato.datasets.towns import city
from sfumato.errors import ParameterError
from sfumato.geo.roads.graph import FARTHEST, RoadGraph


def line(*places, **properties):
    """A road of places in hundredths of meters about the equator, where a degree is about 111 km both ways."""
    corners = [[east / 111_320, north / 110_574] for east, north in places]
    return {"type": "Feature", "properties": properties, "geometry": {"type": "LineString", "coordinates": corners}}


def collection(*features):
    return {"type": "FeatureCollection", "features": list(features)}


CROSS = collection(
    line((-300, 0), (0, 0), segment="west"),
    line((0, 0), (300, 0), segment="east"),
    line((0, 0), (0, 400), segment="north"),
    line((300, 0), (300, 200), (0, 400), segment="around"),
)


@pytest.fixture(scope="module")
def cross():
    return RoadGraph.from_geojson(CROSS)


@pytest.fixture(scope="module")
def town():
    return RoadGraph.from_geojson(city(1, days=1).roads)


def test_segments_have_their_names_lengths_and_crossings(cross):
    assert cross.segments == ("west", "east", "north", "around")
    assert cross.lengths == pytest.approx([300, 300, 400, 200 + math.hypot(300, 200)], rel=1e-3)
    assert cross.ends.tolist() == [[0, 1], [1, 2], [1, 3], [2, 3]]


def test_segments_without_names_have_their_place_as_name():
    assert RoadGraph.from_geojson(collection(line((0, 0), (9, 9)), line((9, 9), (9, 0)))).segments == (0, 1)


def test_the_nearest_segment_is_that_of_the_smallest_distance(town):
    """By plain geometry: a point, and the place on each straight segment that is nearest to it."""
    generator = np.random.default_rng(1)
    east, north = generator.uniform(-1_500, 1_500, (2, 400))
    latitude, longitude = town.projection.degrees(east, north)
    first, second = (np.array([part[place] for part in town.lines]) for place in (0, -1))
    along = second - first
    points = np.stack([east, north], axis=1)[:, np.newaxis]
    share = np.clip(((points - first) * along).sum(axis=2) / (along * along).sum(axis=1), 0, 1)
    off = np.sqrt(((first + share[..., np.newaxis] * along - points) ** 2).sum(axis=2))
    plain = np.where(off.min(axis=1) <= 40, off.argmin(axis=1), -1)
    assert town.nearest(latitude, longitude, within=40).tolist() == plain.tolist()
    found, place, distance = town.candidates(*town.plane(latitude, longitude), within=150, most=3)
    near = np.sort(off, axis=1)[:, :3]
    assert np.where(near <= 150, near, np.inf) == pytest.approx(distance, abs=1e-6)
    chosen = np.take_along_axis(share * np.sqrt((along * along).sum(axis=1)), found, axis=1)
    assert place == pytest.approx(np.where(found >= 0, chosen, 0), abs=1e-5)


def test_a_point_without_a_place_is_near_no_segment(cross):
    assert cross.nearest([math.nan, 0, math.inf, 80], [0, math.nan, 0, 0]).tolist() == [-1] * 4
    found, along, off = cross.candidates(np.array([1e9]), np.array([0.0]), within=50, most=2)
    assert (found.tolist(), along.tolist(), off.tolist()) == ([[-1, -1]], [[0, 0]], [[math.inf, math.inf]])


def test_of_segments_equally_near_the_first_counts(cross):
    assert cross.nearest(0, 0).tolist() == [0]


def test_ways_are_the_shortest_by_another_algorithm(town):
    graph = csr_array((town.lengths, tuple(town.ends.T)), shape=town.between.shape)
    plain = floyd_warshall(graph, directed=False)
    assert town.between == pytest.approx(np.where(plain <= FARTHEST, plain, np.inf))
    for start, goal in ((0, 14), (5, 60), (100, 30), (168, 170)):
        assert town.lengths[list(town.way(start, goal))].sum() == pytest.approx(plain[start, goal])


def test_a_way_leads_from_crossing_to_crossing(cross):
    assert [cross.segments[at] for at in cross.way(0, 3)] == ["west", "north"]
    assert cross.way(2, 2) == ()


@pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=str)
def test_of_two_segments_between_the_same_crossings_ways_take_the_shorter(order):
    both = line((0, 0), (50, 90), (100, 0), segment="long"), line((0, 0), (100, 0), segment="short")
    roads = RoadGraph.from_geojson(collection(*(both[at] for at in order)))
    assert [roads.segments[at] for at in roads.way(0, 1)] == ["short"]
    assert roads.between[0, 1] == pytest.approx(roads.lengths.min())


def test_roads_that_cross_without_an_end_do_not_meet():
    roads = RoadGraph.from_geojson(
        collection(line((-100, 0), (100, 0), segment=1), line((0, -100), (0, 100), segment=2))
    )
    assert np.isinf(roads.between[0, 2])


@pytest.mark.parametrize(
    ("roads", "said"),
    [
        (None, "FeatureCollection"),
        ([], "FeatureCollection"),
        ({"type": "FeatureCollection"}, "FeatureCollection"),
        (collection(), "FeatureCollection"),
        ({"features": "abc"}, "FeatureCollection"),
        (collection(3), "FeatureCollection"),
        (collection({"geometry": None}), "must be a LineString"),
        (collection({"geometry": {"type": "Point", "coordinates": [0, 0]}}), "must be a LineString"),
        (collection({"geometry": {"type": "LineString", "coordinates": [[0, 0]]}}), "must be a LineString"),
        (collection({"geometry": {"type": "LineString", "coordinates": [[0, 0], [1]]}}), "must be a LineString"),
        (collection({"geometry": {"type": "LineString", "coordinates": [[0, 0], [1, "x"]]}}), "must be a LineString"),
        (collection({"geometry": {"type": "LineString", "coordinates": [[0, 0], [1, math.nan]]}}), "LineString"),
        (collection(line((0, 0), (0, 0))), "longer than 0"),
        (collection(line((0, 0), (1, 1), segment=1), line((0, 0), (2, 1), segment=1)), "must name each segment"),
        (collection(line((0, 0), (1, 1), segment=1), line((0, 0), (2, 1))), "must name each segment"),
        (collection(line((0, 0), (1, 1), segment=True)), "must name each segment"),
        (collection(line((0, 0), (1, 1), segment=1.5)), "must name each segment"),
    ],
    ids=str,
)
def test_what_is_no_graph_of_roads_is_refused(roads, said):
    with pytest.raises(ParameterError, match=said):
        RoadGraph.from_geojson(roads)


def test_too_many_segments_and_crossings_are_refused():
    with pytest.raises(ParameterError, match="10,000"):
        RoadGraph.from_geojson(collection(*[line((0, 0), (1, 1))] * 10_001))
    with pytest.raises(ParameterError, match="5,000"):
        RoadGraph.from_geojson(collection(*[line((at, 0), (at, 9)) for at in range(2_501)]))


def test_lists_of_unequal_length_are_refused(cross):
    with pytest.raises(ParameterError, match="as many as latitudes"):
        cross.nearest([0, 0], [0])
