import itertools
import math

import numpy as np
import pytest
from tests.geo.roads.test_graph import CROSS, collection, line

from sfumato.datasets.draws import uniforms
from sfumato.datasets.towns import city
from sfumato.errors import ParameterError
from sfumato.geo.roads.graph import RoadGraph
from sfumato.geo.roads.matching import RoadMatching, match


@pytest.fixture(scope="module")
def town():
    return RoadGraph.from_geojson(city(1, days=1).roads)


@pytest.fixture(scope="module")
def cross():
    return RoadGraph.from_geojson(CROSS)


def plain_way(roads, one, other):
    """Meters along roads from a place to another, over either end of both."""
    (start, left), (goal, reached) = one, other
    ways = [abs(left - reached)] if start == goal else []
    for out, leaving in ((left, 0), (roads.lengths[start] - left, 1)):
        for into, entering in ((reached, 0), (roads.lengths[goal] - reached, 1)):
            ways.append(out + roads.between[roads.ends[start, leaving], roads.ends[goal, entering]] + into)
    return min(ways)


def plain_logarithm(roads, east, north, chosen, off, matching):
    """Of the probability of a sequence of places, up to a constant."""
    total = sum(-((distance / matching.noise) ** 2) / 2 for distance in off)
    for at in range(1, len(east)):
        straight = math.hypot(east[at] - east[at - 1], north[at] - north[at - 1])
        total -= abs(plain_way(roads, chosen[at - 1], chosen[at]) - straight) / matching.detour
    return total


@pytest.mark.parametrize("seed", range(6))
def test_the_sequence_found_is_the_most_probable_of_all(town, seed):
    """Every sequence of candidates is tried."""
    generator = np.random.default_rng(seed)
    turn = generator.uniform(0, 2 * math.pi)
    east = 300 * generator.uniform(-1, 1) + 90 * np.arange(5) * math.cos(turn) + generator.normal(0, 40, 5)
    north = 300 * generator.uniform(-1, 1) + 90 * np.arange(5) * math.sin(turn) + generator.normal(0, 40, 5)
    matching = RoadMatching(noise=40, detour=30, within=200, candidates=4)
    places, along, off = town.candidates(east, north, within=200, most=4)
    sequences = list(itertools.product(range(4), repeat=5))
    logs = [
        plain_logarithm(
            town, east, north, [(places[at, own], along[at, own]) for at, own in enumerate(sequence)],
            [off[at, own] for at, own in enumerate(sequence)], matching,
        )
        for sequence in sequences
    ]  # fmt: skip
    best = sequences[int(np.argmax(logs))]
    found = match(town, east, north, trip=np.zeros(5, dtype=np.int64), matching=matching)
    assert found.segments.tolist() == [places[at, own] for at, own in enumerate(best)]
    assert found.along.tolist() == [along[at, own] for at, own in enumerate(best)]
    assert found.follows.tolist() == [False, True, True, True, True]


def test_a_point_nearer_to_a_side_street_stays_on_the_road_that_its_trip_is_on(cross):
    shift = cross_shift(cross)
    east, north = np.array([-200.0, -100, -6, 100, 200]) - shift[0], np.array([3.0, 2, 20, -2, 1]) - shift[1]
    trip = np.zeros(5, dtype=np.int64)
    nearest = match(cross, east, north, trip=trip, matching=RoadMatching(candidates=1))
    assert [cross.segments[at] for at in nearest.segments] == ["west", "west", "north", "east", "east"]
    markov = match(cross, east, north, trip=trip, matching=RoadMatching(noise=20))
    assert [cross.segments[at] for at in markov.segments] == ["west", "west", "west", "east", "east"]


def cross_shift(roads):
    """Where the middle of the cross lies in the plane of its roads, which is that of its own middle."""
    return -roads.lines[0][-1]


def test_where_nothing_is_near_a_trip_goes_on_with_the_next_point(cross):
    shift = cross_shift(cross)
    east, north = np.array([-200.0, -100, 100]) - shift[0], np.array([0.0, 300, 0]) - shift[1]
    found = match(cross, east, north, trip=np.zeros(3, dtype=np.int64), matching=RoadMatching())
    assert found.segments.tolist() == [0, -1, 1]
    assert found.follows.tolist() == [False, False, True]


def test_where_no_way_leads_a_trip_is_parted():
    islands = RoadGraph.from_geojson(collection(line((0, 0), (100, 0)), line((0, 300), (100, 300))))
    low, high = islands.lines[0][0], islands.lines[1][0]
    east = np.array([low[0] + 20, low[0] + 60, high[0] + 60, high[0] + 90])
    north = np.array([low[1], low[1], high[1], high[1]])
    found = match(islands, east, north, trip=np.zeros(4, dtype=np.int64), matching=RoadMatching())
    assert found.segments.tolist() == [0, 0, 1, 1]
    assert found.follows.tolist() == [False, True, False, True]


def test_trips_are_matched_each_by_its_own_points(town):
    """Together, alone, and among others: the same bits."""
    lengths = [1, 7, 30, 2, 12]
    trip = np.repeat(np.arange(5), lengths)
    east, north = (3_000 * uniforms(3, axis, len(trip)) - 1_500 for axis in "xy")
    together = match(town, east, north, trip=trip, matching=RoadMatching(within=120))
    for number in range(5):
        own = trip == number
        alone = match(town, east[own], north[own], trip=trip[own], matching=RoadMatching(within=120))
        for part in ("segments", "along", "follows"):
            assert getattr(alone, part).tolist() == getattr(together, part)[own].tolist()


def test_no_points_are_matched_to_nothing(cross):
    nothing = np.array([], dtype=np.float64)
    found = match(cross, nothing, nothing, trip=nothing.astype(np.int64), matching=RoadMatching())
    assert found.segments.tolist() == []


def test_trips_that_do_not_ascend_are_refused(cross):
    with pytest.raises(ParameterError, match="ascend"):
        match(cross, np.zeros(2), np.zeros(2), trip=np.array([1, 0]), matching=RoadMatching())
    with pytest.raises(ParameterError, match="ascend"):
        match(cross, np.zeros(2), np.zeros(2), trip=np.array([1]), matching=RoadMatching())


@pytest.mark.parametrize(
    "wrong", [{"noise": 0}, {"detour": -1}, {"within": 0}, {"candidates": 0}, {"candidates": 21}], ids=str
)
def test_parameters_out_of_range_are_refused(wrong):
    with pytest.raises(ParameterError):
        RoadMatching(**wrong)
