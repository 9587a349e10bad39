"""What does it cost to ask DuckDB about rows in a LazyFrame, a DataFrame, pandas, Arrow or Parquet?

Rows of many units over 100 groups, ten a unit, are counted and summed by group; of a unit at most some groups are kept,
and 10 rows in each. Each kind of input is asked in a process of its own: CPU seconds of the first question (which reads
what is not read in place), of a warm one (the least of some), the peak of memory before anything is opened and after
all questions; and the ratios of both questions to those on the Parquet file.

Usage: python benchmarks/engine/bench_frames.py [--rows 3000000] [--runs 3]
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow.parquet as pq
from bench_bounding import SALT, SPREADS, at_most, cpu_seconds, statement, visits, write_rows

from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.sources.sources import open_source, readable
from sfumato.query.model.schema import Limits

INPUTS: dict[str, Callable[[Path], Any]] = {
    "Parquet": lambda path: path,
    "LazyFrame": pl.scan_parquet,
    "DataFrame": pl.read_parquet,
    "pandas": pd.read_parquet,
    "Arrow": pq.read_table,
}
KEPT = {19: "one unit in a thousand is above", 10: "one in three", 3: "nearly every unit"}
"""The most groups of a unit, and what that means for units of 9.5 groups on average."""


def peak() -> float:
    """Megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def ask(path: Path, kind: str, most: int, sampling: str, runs: int) -> dict[str, float]:
    """The figures of one input, in this process."""
    table, data, before = visits("integer", Limits(max_rows_per_unit=100)), INPUTS[kind](path), peak()
    asked = statement(table, at_most(most))
    start = resource.getrusage(resource.RUSAGE_SELF)
    engine = DuckDBEngine({"visits": readable(open_source(data), table)}, sampling=sampling)
    engine.run(asked, salt=SALT)
    end = resource.getrusage(resource.RUSAGE_SELF)
    first = end.ru_utime + end.ru_stime - start.ru_utime - start.ru_stime
    warm = cpu_seconds(lambda: engine.run(asked, salt=SALT), runs)
    return {"first": first, "warm": warm, "before": before, "peak": peak()}


def in_process(*arguments: object) -> dict[str, float]:
    command = [sys.executable, __file__, "--one", *map(str, arguments)]
    shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return dict(json.loads(shown))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=3_000_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--one", nargs=5, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        path, kind, most, sampling, runs = options.one
        print(json.dumps(ask(Path(path), kind, int(most), sampling, int(runs))))
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        write_rows(path, rows=options.rows, spread=SPREADS["9.5 groups a unit"], units="integer")
        for sampling in ("md5", "native"):
            for most, meaning in KEPT.items():
                print(f"{options.rows:,} rows, at most {most} groups a unit ({meaning}), {sampling}")
                found = {kind: in_process(path, kind, most, sampling, options.runs) for kind in INPUTS}
                least = found["Parquet"]
                for kind, own in found.items():
                    ratios = "  ".join(
                        f"{what} {own[what]:5.2f} s ({own[what] / least[what]:.2f})" for what in ("first", "warm")
                    )
                    print(f"  {kind:10} {ratios}  memory {own['before']:4.0f} to {own['peak']:4.0f} MB", flush=True)


if __name__ == "__main__":
    main()
