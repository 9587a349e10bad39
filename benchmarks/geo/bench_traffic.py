"""How long do map matching and a release of traffic take, on one core?

Times are of the processor, the best of three. Traffic is compared with the plain query that counts and averages the
same groups in DuckDB without bounds or noise.
"""

import sys
import time

import duckdb
import numpy as np
import pyarrow as pa

import sfumato as sf

REPEATS = 3
PEOPLE, MATCHED = 20_000, 300
DAYS = ("2026-03-02", "2026-03-06")
PLAIN = "SELECT segment, hour, COUNT(*), AVG(speed) FROM passages GROUP BY segment, hour"


def seconds(work):
    """Of the processor, the best of several runs."""
    best = float("inf")
    for _ in range(REPEATS):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def driven(city):
    local = np.asarray(city.passages["time"]).astype("datetime64[s]") - np.timedelta64(2, "h")
    columns = {name: city.passages[name] for name in ("person", "segment", "speed")}
    hour = local.astype("datetime64[h]").astype(np.int64) % 24
    return pa.table({**columns, "day": local.astype("datetime64[D]"), "hour": hour})


def released(table, roads):
    """A session of its own, so that no stored answer is returned."""
    bounds = {"days": DAYS, "passages_per_day": 20, "speeds": (0, 90), "budget": sf.ApproxDP(2, "1e-6")}
    with sf.geo.open_traffic(table, roads, **bounds) as db:
        sf.geo.noisy_traffic(db.table("passages"), roads).release(epsilon=1, delta="1e-6")


def main():
    few = sf.datasets.city(MATCHED, days=5)
    roads = sf.geo.RoadGraph.from_geojson(few.roads)
    for candidates in (1, 6):
        matching = sf.geo.RoadMatching(candidates=candidates)
        taken = seconds(lambda matching=matching: sf.geo.passages(few.points, roads, matching=matching))
        print(f"map matching, {candidates} candidates: {few.points.num_rows / taken:,.0f} points/s")
    table = driven(sf.datasets.city(PEOPLE, days=5))
    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        connection.register("passages", table)
        plain = seconds(lambda: connection.execute(PLAIN).fetchall())
    noisy = seconds(lambda: released(table, roads))
    groups = 24 * len(roads)
    print(f"traffic of {table.num_rows:,} passages in {groups:,} groups: {noisy:.2f} s; plain query {plain:.2f} s")


if __name__ == "__main__":
    sys.exit(main())
