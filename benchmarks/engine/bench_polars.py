"""What does it cost in Polars to bound what each unit has?

Rows of many units over 100 groups are counted and summed by group; of a unit at most some groups are kept, and 10 rows
in each. Figures are CPU seconds, warm, the least of some runs, and ratios to `pairs`, the aggregate by (unit, group) of
Polars added up by group, without which nothing can be bounded; `plain` is its group_by, which bounds nothing. DuckDB's
answer to the same question stands beside. All of it runs on one Parquet file, in one process.

Usage: python benchmarks/engine/bench_polars.py [--rows 2000000] [--runs 2]
"""

import argparse
import resource
import tempfile
from collections.abc import Callable
from pathlib import Path

import polars as pl
from bench_bounding import SALT, SPREADS, at_most, statement, visits, write_rows
from sfumato.engines.polars import PolarsEngine

from sfumato.engines.duckdb import DuckDBEngine
from sfumato.engines.sources import open_source
from sfumato.query.schema import Limits

KEPT = {"9.5 groups a unit": (13, 3), "3 groups a unit": (3, 2)}
"""Limits that few units are above, and that most are."""


def seconds(action: Callable[[], object], runs: int) -> float:
    """Of processors: the least of some runs, after one that warms up."""
    times = []
    for _ in range(runs + 1):
        before = resource.getrusage(resource.RUSAGE_SELF)
        action()
        after = resource.getrusage(resource.RUSAGE_SELF)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(times[1:])


def unbounded(path: Path, runs: int) -> tuple[float, float]:
    """Of the plain query, and of the aggregate by (unit, group)."""
    rows, sums = pl.scan_parquet(path), (pl.len().alias("n"), pl.col("v").sum().alias("s"))
    pairs = rows.group_by("u", "g").agg(*sums).group_by("g").agg(pl.col("n").sum(), pl.col("s").sum())
    return seconds(rows.group_by("g").agg(*sums).collect, runs), seconds(pairs.collect, runs)


def bounded(engine: DuckDBEngine | PolarsEngine, most: int, runs: int) -> float:
    asked = statement(visits("integer", Limits(max_rows_per_unit=100)), at_most(most))
    try:
        return seconds(lambda: engine.run(asked, salt=SALT), runs)
    finally:
        engine.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--runs", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for place, (spread, term) in enumerate(SPREADS.items()):
            path = Path(folder) / f"{place}.parquet"
            write_rows(path, rows=options.rows, spread=term, units="integer")
            source = {"visits": open_source(path)}
            plain, pairs = unbounded(path, options.runs)
            print(f"{spread}, {options.rows:,} rows: plain {plain:.2f} s, pairs {pairs:.2f} s")
            for most in KEPT[spread]:
                own = {
                    f"{made.name}, {sampling}": bounded(made(source, sampling=sampling), most, options.runs)
                    for made in (PolarsEngine, DuckDBEngine)
                    for sampling in ("md5", "native")
                }
                shown = "  ".join(f"{name} {used:.2f} s, {used / pairs:.1f}" for name, used in own.items())
                print(f"  at most {most:2}: {shown}", flush=True)


if __name__ == "__main__":
    main()
