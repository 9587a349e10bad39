import hashlib
import json
from itertools import pairwise

import numpy as np
import pyarrow.compute as pc
import pytest

from sfumato.datasets.towns import SECONDS_BETWEEN_POINTS, UTC_OFFSET_HOURS, city
from sfumato.errors import ParameterError


@pytest.fixture(scope="module")
def made():
    return city(60)


@pytest.fixture(scope="module")
def lines(made):
    return [np.array(feature["geometry"]["coordinates"]) for feature in made.roads["features"]]


def local(times):
    """Seconds after the first midnight by the city's clock."""
    return np.asarray(times).astype("datetime64[s]").astype(np.int64) + 3_600 * UTC_OFFSET_HOURS


def test_segments_have_their_place_in_the_list_as_number(made):
    assert [road["properties"]["segment"] for road in made.roads["features"]] == list(
        range(len(made.roads["features"]))
    )
    assert {road["properties"]["kind"] for road in made.roads["features"]} == {"street", "avenue", "bridge", "ring"}


def test_no_two_segments_join_the_same_crossings(lines):
    joined = [frozenset(map(tuple, line.tolist())) for line in lines]
    assert len(set(joined)) == len(joined)


def test_the_river_is_crossed_on_three_bridges_and_twice_by_the_ring(made, lines):
    """On each side of the river every crossing is reached without them, and none of the other side."""
    banks = {}
    for road, line in zip(made.roads["features"], lines, strict=True):
        if road["properties"]["kind"] not in {"bridge", "ring"} and not road["properties"]["name"].startswith("Ramp"):
            for one, other in (line.tolist(), line.tolist()[::-1]):
                banks.setdefault(tuple(one), set()).add(tuple(other))
    seen, ahead = set(), [next(iter(banks))]
    while ahead:
        seen.add(place := ahead.pop())
        ahead += banks[place] - seen
    river = np.array(made.river["geometry"]["coordinates"])
    is_south = {place: place[1] < np.interp(place[0], *river.T) for place in banks}
    assert {is_south[place] for place in seen} == {True}
    assert seen == {place for place in banks if is_south[place]}
    assert sum(road["properties"]["kind"] == "bridge" for road in made.roads["features"]) == 3


def test_passages_of_a_trip_follow_each_other(made, lines):
    trips, segments = (np.asarray(made.passages[name]) for name in ("trip", "segment"))
    entered = local(made.passages["time"])
    for at, after in pairwise(range(2_000)):
        if trips[at] == trips[after]:
            assert set(map(tuple, lines[segments[at]].tolist())) & set(map(tuple, lines[segments[after]].tolist()))
            assert entered[at] <= entered[after]
    assert made.trips["trip"].to_pylist() == sorted(set(trips.tolist()))


def test_trips_begin_and_end_where_they_say(made, lines):
    trips = np.asarray(made.passages["trip"])
    for trip in made.trips.slice(0, 50).to_pylist():
        passed = np.asarray(made.passages["segment"])[trips == trip["trip"]]
        assert [trip["from_longitude"], trip["from_latitude"]] in lines[passed[0]].tolist()
        assert [trip["to_longitude"], trip["to_latitude"]] in lines[passed[-1]].tolist()


def test_points_are_ten_seconds_apart_and_near_the_segment_that_is_passed(made, lines):
    trips, at = np.asarray(made.points["trip"]), local(made.points["time"])
    apart = np.diff(at)[np.diff(trips) == 0]
    assert set(apart.tolist()) == {SECONDS_BETWEEN_POINTS}
    key = np.asarray(made.passages["trip"]) * 10**8 + local(made.passages["time"])
    passage = np.searchsorted(key, trips * 10**8 + at, side="right") - 1
    segment = np.asarray(made.passages["segment"])[passage]
    ends = np.array(lines)[segment] * [78_158, 111_143]
    place = np.stack([np.asarray(made.points[name]) for name in ("longitude", "latitude")], axis=1) * [78_158, 111_143]
    along = ends[:, 1] - ends[:, 0]
    share = np.clip(((place - ends[:, 0]) * along).sum(axis=1) / (along * along).sum(axis=1), 0, 1)
    off = np.hypot(*(ends[:, 0] + share[:, np.newaxis] * along - place).T)
    assert off.max() < 60
    assert 4 < np.sqrt((off * off).mean()) < 12


def test_people_go_to_work_in_the_morning_by_the_clock_of_the_city(made):
    day, second = np.divmod(local(made.trips["time"]) - local(np.array(["2026-03-02T02:00:00"])), 86_400)
    hours = np.unique(second[day < 5] // 3_600, return_counts=True)
    assert set(hours[0].tolist()) <= {7, 8, 9, 16, 17, 18, 19, 20, 21, 22, 23}
    assert dict(zip(*(part.tolist() for part in hours), strict=True))[8] > 50


def test_rush_hours_and_bridges_are_slow(made):
    speed = np.asarray(made.passages["speed"])
    hour = local(made.passages["time"]) // 3_600 % 24
    kinds = np.array([road["properties"]["kind"] for road in made.roads["features"]])
    limits = np.array([road["properties"]["speed_limit"] for road in made.roads["features"]])
    kind, limit = (values[np.asarray(made.passages["segment"])] for values in (kinds, limits))
    assert (speed <= 1.11 * limit).all()
    assert speed[(hour == 8) & (kind == "avenue")].mean() < 0.75 * speed[(hour == 20) & (kind == "avenue")].mean()
    assert speed[kind == "bridge"].mean() < speed[kind == "avenue"].mean()


def test_more_people_leave_the_streets_as_they_are(made):
    assert city(2, days=1).roads == made.roads


def test_the_seed_decides_the_city_on_every_platform():
    few = city(3, days=2)
    tables = (few.points, few.trips, few.passages)
    text = json.dumps([few.roads, few.river, *(table.to_pydict() for table in tables)], default=str)
    digest = "321f467c9e4e2b6e571d7df1095bb414af75ec4a9f80c5860ab5c707e9a320c4"
    assert hashlib.sha256(text.encode()).hexdigest() == digest
    assert not city(2, seed=1).points.equals(city(2, seed=2).points)


def test_one_person_of_one_day_has_trips_or_none():
    for seed, is_at_home in ((1, False), (42, True)):
        one = city(1, days=1, seed=seed)
        assert (one.trips.num_rows == 0) == is_at_home
        assert one.trips.num_rows <= 4
        assert sorted(pc.unique(one.points["trip"]).to_pylist()) == one.trips["trip"].to_pylist()


@pytest.mark.parametrize("sizes", [{"people": 0}, {"people": 50_001}, {"days": 32}, {"days": 1.5}], ids=str)
def test_sizes_of_a_city_are_whole_numbers_in_range(sizes):
    with pytest.raises(ParameterError):
        city(**({"people": 2} | sizes))
