"""How long does a map of ten million points to ten thousand squares take, beside the plain query of the same groups?

Points lie in a Parquet file. Both sides run on DuckDB with the same threads, in turn; the best of three for each. The
map's time has planning, charging, noise and all cells in it; its target is at most twice the plain query.
"""

import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import duckdb

import sfumato as sf

POINTS, REPEATS, TARGET = 10_000_000, 3, 2.0
SIDE = 100
GRID = sf.geo.DegreeGrid("0.01", south=48, west=2, north=49, east=3)
PLAIN = "SELECT floor((lat - 48) * 100) AS r, floor((lon - 2) * 100) AS c, count(*) FROM '{}' GROUP BY r, c"


def made_up(path, points):
    """A file of points in a degree."""
    with duckdb.connect() as database:
        drawn = f"SELECT 48 + random() AS lat, 2 + random() AS lon FROM range({points})"
        database.execute(f"COPY ({drawn}) TO '{path}' (FORMAT parquet)")


def seconds(act):
    """Wall time and the processor's."""
    wall, own = time.perf_counter(), time.process_time()
    act()
    return time.perf_counter() - wall, time.process_time() - own


def main(points=POINTS):
    """Time both, in turn."""
    path = Path(tempfile.mkdtemp()) / "points.parquet"
    made_up(path, points)
    columns = {"lat": sf.real(48, 49), "lon": sf.real(2, 3)}
    db = sf.open(path, name="points", columns=columns, budget=sf.PureDP(1000))
    plain_database = duckdb.connect()
    asked = {
        "squares": sf.geo.noisy_map(db.table(), cells=GRID),
        "hexagons": sf.geo.noisy_map(
            db.table(),
            cells=sf.geo.HexagonGrid(sf.geo.LocalProjection("48.5", "2.5"), width=800, columns=SIDE, rows=SIDE),
        ),
        "quadtree, 6 levels": sf.geo.noisy_map(
            db.table(), cells=sf.geo.Quadtree(sf.geo.LocalProjection("48.5", "2.5"), width=70_000, levels=6)
        ),
    }
    best = {name: (float("inf"), float("inf")) for name in (*asked, "plain")}
    for turn in range(REPEATS):
        epsilon = f"1.{turn + 1}"
        acts = {name: partial(one.release, epsilon=epsilon) for name, one in asked.items()}
        acts["plain"] = lambda: plain_database.execute(PLAIN.format(path)).fetchnumpy()
        for name, act in acts.items():
            best[name] = tuple(map(min, best[name], seconds(act)))
    plain = best.pop("plain")
    print(f"{points:,} points; plain query {plain[0]:.3f} s ({plain[1]:.3f} s of the processor)")
    for name, own in best.items():
        print(f"{name}: {own[0]:.3f} s ({own[1]:.3f}); {own[0] / plain[0]:.2f} times plain ({own[1] / plain[1]:.2f})")
    print(f"target for squares: at most {TARGET:.0f} times")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
