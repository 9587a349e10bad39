"""Who drove in a city, by its released traffic [PTD18]: exact counts tell, and those of a session do not."""

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.attacks.members.means import membership

GROUP = 60
"""So many members, and so many others; as many more show how common each segment and hour is."""

DAYS = ("2026-03-02", "2026-03-03")
CERTAIN = 1 - 2e-6


@pytest.fixture(scope="module")
def made():
    return sf.datasets.city(3 * GROUP, days=2)


@pytest.fixture(scope="module")
def roads(made):
    return sf.geo.RoadGraph.from_geojson(made.roads)


@pytest.fixture(scope="module")
def table(made):
    """Passages as they happened: map matching is tested elsewhere."""
    local = np.asarray(made.passages["time"]).astype("datetime64[s]") - np.timedelta64(2, "h")
    hour = local.astype("datetime64[h]").astype(np.int64) % 24
    columns = {name: made.passages[name] for name in ("person", "segment", "speed")}
    return pa.table({**columns, "day": local.astype("datetime64[D]"), "hour": hour})


@pytest.fixture(scope="module")
def records(table):
    """Whether each person ever passed each segment in each hour of the day."""
    found = np.zeros((3 * GROUP, 334 * 24), dtype=np.int64)
    found[np.asarray(table["person"]), 24 * np.asarray(table["segment"]) + np.asarray(table["hour"])] = 1
    return found


def nowhere_alone(records, released, _):
    """Members are in no empty cell: how few of a person's cells have a count below one half."""
    missed = (records * (released < 0.5 / GROUP)).sum(axis=1)
    return -missed / np.maximum(records.sum(axis=1), 1)


def attacked(released, records, **claims):
    members, outsiders, reference = np.split(records, 3)
    return membership(
        released, members=members, outsiders=outsiders, reference=reference, score=nowhere_alone, **claims
    )


@pytest.mark.statistical
def test_exact_traffic_tells_who_drove_and_that_of_a_session_does_not(table, roads, records):
    exact = attacked(records[:GROUP].mean(axis=0), records)
    assert exact.roc.area > 0.9
    members = table.filter(pa.array(np.asarray(table["person"]) < GROUP))
    bounds = {"days": DAYS, "passages_per_day": 20, "speeds": (0, 90), "budget": sf.PureDP(1)}
    with sf.geo.open_traffic(members, roads, **bounds) as db:
        found = sf.geo.noisy_traffic(db.table("passages"), roads).release(epsilon=1)
    counts = {(own.segment, own.hour): own.n.value for own in found}
    noisy = np.array([counts[segment, hour] for segment in range(334) for hour in range(24)]) / GROUP
    private = attacked(noisy, records, epsilon=1)
    assert private.roc.area < 0.75
    assert private.outcome.interval(confidence=CERTAIN)[0] <= private.outcome.allowed
