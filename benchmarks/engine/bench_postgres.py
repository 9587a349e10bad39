"""What does it cost on PostgreSQL to bound what each unit has?

Rows of many units over 100 groups are counted and summed by group; of a unit at most three groups are kept, and 10 rows
in each. Figures are seconds of the wall, warm, the least of some runs, and ratios to `pairs`, the aggregate by (unit,
group) added up by group, without which nothing can be bounded; `plain` is GROUP BY group, which bounds nothing. All of
it runs on one table, in one server, which is started for it, with memory for sorting and two more processes a query.

Usage: python benchmarks/engine/bench_postgres.py [--rows 5000000] [--runs 3]
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import adbc_driver_postgresql.dbapi as adbc
import pyarrow.parquet as pq
from bench_bounding import SALT, SPREADS, at_most, statement, visits, write_rows
from postgres_server import OWNER, READER, Server, postgres

from sfumato.engines.postgres.engine import PostgresEngine
from sfumato.engines.sources.sources import open_in_place
from sfumato.query.model.schema import Limits

KEPT = 3
MEMORY = "64MB"


def load(server: Server, path: Path, name: str) -> None:
    """A table with the rows of a file, which the reader may read."""
    with adbc.connect(server.url(OWNER)) as connection, connection.cursor() as cursor:
        cursor.adbc_ingest(name, pq.ParquetFile(path).iter_batches(), mode="create")
        cursor.execute(f"GRANT SELECT ON {name} TO {READER}")
        connection.commit()
    with adbc.connect(server.url(OWNER), autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute(f"VACUUM ANALYZE {name}")


def seconds(action: Callable[[], object], runs: int) -> float:
    """The least of some runs, after one that warms up."""
    times = []
    for _ in range(runs + 1):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return min(times[1:])


def unbounded(server: Server, name: str, runs: int) -> tuple[float, float]:
    """Seconds of the plain query, and of the aggregate by (unit, group)."""
    pairs = f"SELECT u, g, COUNT(*) AS n, SUM(v) AS s FROM {name} GROUP BY u, g"
    queries = (
        f"SELECT g, COUNT(*), SUM(v) FROM {name} GROUP BY g",
        f"SELECT g, SUM(n)::bigint, SUM(s) FROM ({pairs}) AS p GROUP BY g",
    )
    with adbc.connect(server.url(READER), autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute(f"SET work_mem = '{MEMORY}'")
        cursor.execute("SET jit = off")

        def answer(query: str) -> object:
            cursor.execute(query)
            return cursor.fetchall()

        plain, by_unit = (seconds(lambda q=query: answer(q), runs) for query in queries)
    return plain, by_unit


def bounded(server: Server, name: str, runs: int, sampling: str) -> float:
    """Seconds of the whole question."""
    limits = at_most(KEPT)
    table = visits("integer", Limits(max_rows_per_unit=100))
    source = open_in_place(f"{server.url(READER)}?table={name}", table)
    engine = PostgresEngine({"visits": source}, sampling=sampling, work_mem=MEMORY)
    asked = statement(table, limits)
    found = seconds(lambda: engine.run(asked, salt=SALT), runs)
    engine.close()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    with postgres() as server, tempfile.TemporaryDirectory() as folder:
        for place, (spread, term) in enumerate(SPREADS.items()):
            path, name = Path(folder) / f"{place}.parquet", f"visits{place}"
            write_rows(path, rows=options.rows, spread=term, units="integer")
            load(server, path, name)
            plain, pairs = unbounded(server, name, options.runs)
            md5, native = (bounded(server, name, options.runs, sampling) for sampling in ("md5", "native"))
            print(f"{spread}, {options.rows:,} rows, at most {KEPT}: plain {plain:.2f} s, pairs {pairs:.2f} s")
            for shown, own in (("md5", md5), ("native", native)):
                print(
                    f"  {shown:7} {own:6.2f} s, {own / pairs:5.2f} times pairs, {own / plain:5.1f} times plain",
                    flush=True,
                )


if __name__ == "__main__":
    main()
