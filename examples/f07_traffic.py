"""F7. Traffic: counts and mean speeds of a made-up city's streets by hour, and what their exact counterparts reveal.

2,500 people drive for five days. Of each, 30 passages a day count, a segment once an hour, and speeds are clamped to
0 to 90 km/h. Then three attacks: raw traces of two weeks are linked by habits, people are found in raw traces by four
points, and somebody's trace is looked for in exact and in released counts.

Usage: f07_traffic.py [OUTPUT_FOLDER]
"""

import numpy as np
import pyarrow as pa

import sfumato as sf
from sfumato.attacks.members.means import Floats, Membership, Records, membership

PEOPLE, FEW = 2_500, 150
DAYS = ("2026-03-02", "2026-03-06")
EPSILON, DELTA = "1", "1e-6"
HOURS = (8, 17)
SEGMENTS = 334
BRIDGES = ("West Bridge", "Old Bridge", "East Bridge")


def driven(city: sf.datasets.City) -> pa.Table:
    """The passages of a city by its own clock: what map matching finds, but for a few in a thousand."""
    local = np.asarray(city.passages["time"]).astype("datetime64[s]") - np.timedelta64(2, "h")
    hour = local.astype("datetime64[h]").astype(np.int64) % 24
    columns = {name: city.passages[name] for name in ("person", "segment", "speed")}
    return pa.table({**columns, "day": local.astype("datetime64[D]"), "hour": hour})


def released(table: pa.Table, roads: sf.geo.RoadGraph, *, epsilon: str) -> tuple[sf.geo.Traffic, str]:
    """Noisy traffic of two hours, and what it cost."""
    bounds = sf.ApproxDP(epsilon, DELTA)
    with sf.geo.open_traffic(table, roads, days=DAYS, passages_per_day=30, speeds=(0, 90), budget=bounds) as db:
        found = sf.geo.noisy_traffic(db.table("passages"), roads, hours=HOURS).release(epsilon=epsilon, delta=DELTA)
        return found, f"spent {db.spent} of {db.budget}, remaining {db.remaining}"


def habits(people: int) -> tuple[Floats, Floats]:
    """How often each of some people passed each segment, in two weeks."""
    passages = sf.datasets.city(people, days=14).passages
    weeks = np.zeros((2, people, SEGMENTS))
    first = np.asarray(passages["time"]).astype("datetime64[s]") < np.datetime64("2026-03-09T02:00:00")
    np.add.at(weeks, (1 - first, np.asarray(passages["person"]), np.asarray(passages["segment"])), 1)
    return weeks[0], weeks[1]


def with_noise(traces: Floats, epsilon: str) -> Floats:
    """Each person's counts, scaled to at most 40 in all, with noise for a whole trace, as a simulation."""
    total = np.maximum(traces.sum(axis=1, keepdims=True), 40)
    noise = sf.mechanisms.Laplace(l1_sensitivity=40, epsilon=epsilon)
    return np.array([noise.release(row) for row in np.floor(40 * traces / total).astype(np.int64)], dtype=float)


def in_no_empty_cell(records: Records, counts: Floats, _: Floats) -> Floats:
    """How few of a person's cells are empty: none of a member's, if counts are exact."""
    missed = (records * (counts < 1 / 2)).sum(axis=1)
    score: Floats = -missed / np.maximum(records.sum(axis=1), 1)
    return score


def members_found(table: pa.Table, roads: sf.geo.RoadGraph) -> tuple[Membership, Membership]:
    """Who of 2·FEW people drove, by the exact counts of FEW of them, and by released ones."""
    person, hour = np.asarray(table["person"]), np.asarray(table["hour"])
    place = {hour: column for column, hour in enumerate(HOURS)}
    kept = (person < 3 * FEW) & np.isin(hour, HOURS)
    cells = len(HOURS) * np.asarray(table["segment"])[kept] + np.vectorize(place.__getitem__)(hour[kept])
    records = np.zeros((3 * FEW, len(HOURS) * SEGMENTS), dtype=np.int64)
    records[person[kept], cells] = 1
    members, others, reference = np.split(records, 3)
    found, _ = released(table.filter(pa.array(person < FEW)), roads, epsilon=EPSILON)
    noisy = np.array([own.n.value for own in found], dtype=np.float64)
    exact, private = (
        membership(counts, members=members, outsiders=others, reference=reference, score=in_no_empty_cell)
        for counts in (members.sum(axis=0).astype(np.float64), noisy)
    )
    return exact, private


def main() -> None:
    """Release traffic, compare it with exact counts, and attack both."""
    print(__doc__)
    city = sf.datasets.city(PEOPLE, days=5)
    roads = sf.geo.RoadGraph.from_geojson(city.roads)
    table = driven(city)
    found, cost = released(table, roads, epsilon=EPSILON)
    at_eight = np.asarray(table["segment"])[np.asarray(table["hour"]) == HOURS[0]]
    for name in BRIDGES:
        named = [one["properties"] for one in city.roads["features"] if one["properties"]["name"] == name]
        segment = int(named[0]["segment"])
        own = found.at(HOURS[0])[segment]
        print(
            f"{name}, 8:00 to 9:00, five days: exact {int((at_eight == segment).sum()):,} (owner only), "
            f"private {own.n.value:,} ± {own.n.half_width:.0f}, {own.speed.value:.0f} ± {own.speed.half_width:.0f} km/h"
        )
    print(f"{sum(own.is_shown for own in found)} of {len(found)} segments in an hour reach the threshold; {cost}")
    first, second = habits(FEW)
    print(f"attacks on {FEW} people, in a simulation (truth known to nobody but the owner):")
    print(f"  raw traces:   {sf.attacks.linked_traces(first, second)}")
    print(f"  noisy traces: {sf.attacks.linked_traces(with_noise(first, EPSILON), with_noise(second, EPSILON))}")
    print(f"  raw traces:   {sf.attacks.found_by_points(first, first)}")
    print(f"  noisy traces: {sf.attacks.found_by_points(with_noise(first, EPSILON), first)}")
    exact, private = members_found(table, roads)
    print(
        f"  who is in exact counts: area under the curve {exact.roc.area:.2f}; in released ones {private.roc.area:.2f}"
    )


if __name__ == "__main__":
    main()
