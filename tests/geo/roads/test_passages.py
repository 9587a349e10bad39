from collections import Counter
from datetime import UTC, date, datetime, timedelta, timezone
from itertools import permutations
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pytest
from tests.geo.roads.test_graph import CROSS

from sfumato.datasets.draws import uniforms
from sfumato.datasets.towns import UTC_OFFSET_HOURS, city
from sfumato.errors import ParameterError
from sfumato.geo.roads.graph import RoadGraph
from sfumato.geo.roads.matching import RoadMatching
from sfumato.geo.roads.passages import passages

ZONE = timezone(timedelta(hours=UTC_OFFSET_HOURS))


@pytest.fixture(scope="module")
def made():
    return city(14, days=5)


@pytest.fixture(scope="module")
def town(made):
    return RoadGraph.from_geojson(made.roads)


@pytest.fixture(scope="module")
def found(made, town):
    return passages(made.points, town, zone=ZONE)


@pytest.fixture(scope="module")
def cross():
    return RoadGraph.from_geojson(CROSS)


def drive(roads, *places, person="a", start="2026-03-02T08:00:00", seconds=10):
    """Points about the middle of the cross, so many seconds apart."""
    middle = roads.lines[0][-1]
    latitude, longitude = roads.projection.degrees(*(np.array(places, dtype=float) + middle).T)
    times = np.datetime64(start, "s") + np.arange(len(places)) * np.timedelta64(seconds, "s")
    return pa.table({"person": [person] * len(places), "time": times, "latitude": latitude, "longitude": longitude})


def rows(table):
    return [tuple(row.values()) for row in table.to_pylist()]


def counted(table):
    return Counter(zip(table["person"].to_pylist(), table["segment"].to_pylist(), strict=True))


def test_passages_of_the_city_are_those_that_happened(made, found):
    true, matched = counted(made.passages), counted(found)
    assert (matched - true).total() == 0
    assert (true - matched).total() < 0.005 * true.total()


def test_speeds_and_hours_are_those_that_happened(made, found):
    local = np.asarray(made.passages["time"]).astype("datetime64[s]") + np.timedelta64(UTC_OFFSET_HOURS, "h")
    hours = Counter((local.astype("datetime64[h]").astype(np.int64) % 24).tolist())
    assert (Counter(found["hour"].to_pylist()) - hours).total() < 0.02 * found.num_rows
    assert set(found["day"].to_pylist()) == {date(2026, 3, day) for day in range(2, 7)}
    true, matched = {}, {}
    for table, speeds in ((made.passages, true), (found, matched)):
        for segment, speed in zip(table["segment"].to_pylist(), table["speed"].to_pylist(), strict=True):
            speeds.setdefault(segment, []).append(speed)
    busy = [segment for segment, speeds in matched.items() if len(speeds) > 20]
    assert len(busy) > 3
    for segment in busy:
        assert np.mean(matched[segment]) == pytest.approx(np.mean(true[segment]), rel=0.12)


def test_under_much_noise_the_markov_model_invents_fewer_passages_than_the_nearest_segment(made, town):
    moved = {
        name: np.asarray(made.points[name]) + size * (uniforms(1, name, made.points.num_rows) - 0.5)
        for name, size in (("latitude", 240 / 111_143), ("longitude", 240 / 78_158))
    }  # 69 meters of standard deviation
    points = {"person": made.points["person"], "time": made.points["time"], **moved}
    true = counted(made.passages)
    errors = []
    for candidates in (1, 6):
        wide = RoadMatching(noise=60, within=200, candidates=candidates)
        matched = counted(passages(points, town, zone=ZONE, matching=wide))
        errors.append((matched - true).total() + (true - matched).total())
    assert errors[1] < errors[0] / 2
    assert errors[1] < 0.1 * true.total()


def test_rows_of_a_person_depend_on_that_person_alone(made, town, found):
    person = np.asarray(made.points["person"])
    for one in (0, 7, 13):
        alone = passages(made.points.filter(pa.array(person == one)), town, zone=ZONE)
        assert rows(alone) == [row for row in rows(found) if row[0] == one]
        without = passages(made.points.filter(pa.array(person != one)), town, zone=ZONE)
        assert rows(without) == [row for row in rows(found) if row[0] != one]


def test_replaced_points_of_one_person_change_no_row_of_another(made, town, found):
    """By points in one place, far away, without a place, all at one time, and before the calendar."""
    others = [row for row in rows(found) if row[0] != 3]
    kept = made.points.select(["person", "time", "latitude", "longitude"])
    kept = kept.filter(pa.array(np.asarray(kept["person"]) != 3)).cast(
        pa.schema(
            [
                ("person", pa.int64()),
                ("time", pa.timestamp("us")),
                ("latitude", pa.float64()),
                ("longitude", pa.float64()),
            ]
        )
    )
    for hostile in (
        {"time": [0] * 50, "latitude": np.linspace(45.4, 45.6, 50), "longitude": [-30.0] * 50},
        {"time": range(50), "latitude": [45.5] * 50, "longitude": [-30.0] * 50},
        {"time": [-(2**62), 2**62, 2**63 - 1, -(2**63), None], "latitude": [45.5] * 5, "longitude": [-30.0] * 5},
        {"time": range(5), "latitude": [np.nan, np.inf, 1e300, -1e300, None], "longitude": [-30.0] * 5},
    ):
        theirs = {"person": [3] * len(hostile["latitude"]), **hostile}
        changed = pa.concat_tables([pa.table(theirs, schema=kept.schema), kept])
        assert [row for row in rows(passages(changed, town, zone=ZONE)) if row[0] != 3] == others


def test_the_order_of_points_changes_nothing(made, town, found):
    order = np.argsort(uniforms(1, "order", made.points.num_rows))
    assert passages(made.points.take(pa.array(order)), town, zone=ZONE).equals(found)


def test_a_passage_has_the_meters_and_the_time_between_its_first_and_last_place(cross):
    driven = passages(drive(cross, (-290, 0), (-190, 0), (-90, 0), (10, 0), (110, 0), (210, 0), (290, 0)), cross)
    assert [row[3] for row in rows(driven)] == ["west", "east"]
    assert [row[4] for row in rows(driven)] == pytest.approx([36, 3.6 * 290 / 31], rel=1e-2)


def test_a_segment_between_two_points_is_passed(cross):
    driven = passages(drive(cross, (-200, 0), (-100, 0), (0, 330), seconds=30), cross)
    assert [row[3] for row in rows(driven)] == ["west", "north"]
    leaped = passages(drive(cross, (-250, 0), (290, 100), seconds=60), cross)
    assert [row[3] for row in rows(leaped)] == ["west", "east"]
    assert rows(leaped)[1][4] == pytest.approx(3.6 * (250 + 300 + 100) / 60, rel=1e-2)


@pytest.mark.parametrize(("from_middle", "is_passed"), [(140, False), (160, True)])
def test_less_than_half_of_a_segment_is_no_passage(cross, from_middle, is_passed):
    driven = passages(drive(cross, (-from_middle, 0), (-70, 0), (-1, 0)), cross)
    assert (driven.num_rows == 1) == is_passed


def test_who_waits_and_who_stays_drives_nowhere(cross):
    assert passages(drive(cross, *[(-100, 0)] * 6), cross).num_rows == 0
    assert passages(drive(cross, (-290, 0), (-10, 0), seconds=121), cross).num_rows == 0
    assert passages(drive(cross, (-290, 0), (-10, 0), seconds=120), cross).num_rows == 1
    assert passages(drive(cross, (-290, 0), (-10, 0), seconds=121), cross, pause=121).num_rows == 1


def test_of_several_points_at_one_time_one_counts_in_any_order(cross):
    points = pa.concat_tables([drive(cross, (-290, 0), (-10, 0)), drive(cross, (0, 390), (0, 380))])
    expected = rows(passages(points, cross))
    for order in permutations(range(4)):
        assert rows(passages(points.take(pa.array(order)), cross)) == expected
    assert expected == rows(passages(drive(cross, (-290, 0), (-10, 0)), cross))


@pytest.mark.parametrize(
    ("zone", "start", "day", "hour"),
    [
        (UTC, "2026-03-02T23:50:00", date(2026, 3, 2), 23),
        (timezone(timedelta(hours=-2)), "2026-03-02T01:10:00", date(2026, 3, 1), 23),
        (timezone(timedelta(hours=5, minutes=45)), "2026-03-02T23:50:00", date(2026, 3, 3), 5),
        (ZoneInfo("Europe/Paris"), "2026-03-29T00:59:00", date(2026, 3, 29), 1),
        (ZoneInfo("Europe/Paris"), "2026-03-29T01:00:00", date(2026, 3, 29), 3),
        (ZoneInfo("Europe/Paris"), "2026-10-25T00:30:00", date(2026, 10, 25), 2),
        (ZoneInfo("Europe/Paris"), "2026-10-25T01:30:00", date(2026, 10, 25), 2),
        (UTC, "1969-12-31T23:59:59", date(1969, 12, 31), 23),
    ],
    ids=str,
)
def test_days_and_hours_are_those_of_the_zone_when_the_segment_was_entered(cross, zone, start, day, hour):
    (row,) = rows(passages(drive(cross, (-290, 0), (-10, 0), start=start), cross, zone=zone))
    assert row[1:3] == (day, hour)
    expected = datetime.fromisoformat(start).replace(tzinfo=UTC).astimezone(zone)
    assert (day, hour) == (expected.date(), expected.hour)


def test_points_without_an_owner_a_time_or_a_place_are_left_out(cross):
    good = drive(cross, (-290, 0), (-10, 0))
    bad = good.slice(0, 1).to_pydict()
    for name in ("person", "time", "latitude", "longitude"):
        points = pa.concat_tables([good, pa.table(bad | {name: [None]}, schema=good.schema)])
        assert rows(passages(points, cross)) == rows(passages(good, cross))


def test_no_points_give_no_passages(cross):
    nothing = drive(cross, (0, 0)).slice(0, 0)
    assert passages(nothing, cross).num_rows == 0
    assert passages(nothing, cross).schema == passages(drive(cross, (-290, 0), (-10, 0)), cross).schema


def test_columns_may_have_other_names(cross):
    good = drive(cross, (-290, 0), (-10, 0))
    named = good.rename_columns(["who", "at", "lat", "lon"])
    found = passages(named, cross, person="who", time="at", latitude="lat", longitude="lon")
    assert found.equals(passages(good, cross))


@pytest.mark.parametrize(
    "points",
    [None, 3, {}, {"person": [1], "time": [1], "latitude": ["north"], "longitude": [0]}, {"person": [1]}, "abc"],
    ids=str,
)
def test_what_is_no_table_of_points_is_refused(cross, points):
    with pytest.raises(ParameterError, match="must be a table with columns 'person'"):
        passages(points, cross)


@pytest.mark.parametrize(
    "wrong", [{"zone": "UTC"}, {"matching": 8}, {"pause": 0}, {"roads": CROSS}], ids=lambda w: next(iter(w))
)
def test_arguments_of_another_kind_are_refused(cross, wrong):
    with pytest.raises(ParameterError):
        passages(drive(cross, (0, 0)), **({"roads": cross} | wrong))
