"""How does the cost of a question grow with rows, with groups, and with cores?

COUNT and SUM by group, of units with ten rows each of which at most ten groups of two rows count, on DuckDB, into a
file: each question in a process of its own, cold, on a Parquet file. First by 100 public groups of more and more rows;
then of as many rows by more and more private groups, of which those with units enough are in the answer; at last,
where each row is a unit, by ten million groups. Figures are seconds of the wall and of all processors, and the peak of
memory.

Usage: python benchmarks/engine/bench_scale.py [--rows 1000000 10000000 50000000 100000000] [--threads 1 2]
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench_bounding import write_rows

import sfumato as sf

SQL = "SELECT g, COUNT(*) AS n, SUM(v) AS total FROM visits GROUP BY g"
PUBLIC = 100
OF_GROUPS = 10_000_000
ROWS_IN_A_BUCKET = 6_250_000
"""So many rows of all units take about 1 GB."""


def ask(path: str, *, groups: int, threads: int, buckets: int, is_unit: bool) -> None:
    """Answer one question, and print what it took."""
    keys = sf.integer(values=range(PUBLIC)) if groups == PUBLIC else sf.integer()
    columns = {"g": keys, "v": sf.real(0, 100)} | ({} if is_unit else {"u": sf.integer()})
    limits = None if is_unit else sf.Limits(max_groups_per_unit=10, max_rows_per_group_per_unit=2)
    unit = sf.EACH_ROW if is_unit else "u"
    options = {"threads": threads, "buckets": buckets} | ({"memory_limit": "500MB"} if is_unit else {})
    with (
        tempfile.TemporaryDirectory() as folder,
        sf.open(
            path, name="visits", columns=columns, unit=unit, limits=limits, budget=sf.NO_GUARANTEE,
            engine_options=options,
        ) as session,
    ):  # fmt: skip
        started = time.perf_counter()
        question = session.query(SQL)
        saved = question.release(epsilon=50, delta="1e-6", to=Path(folder) / "answer.parquet")
        took = time.perf_counter() - started
    usage = resource.getrusage(resource.RUSAGE_SELF)
    figures = {"rows": len(saved), "wall": took, "cpu": usage.ru_utime + usage.ru_stime}
    print(json.dumps(figures | {"peak": usage.ru_maxrss / 2**20}))


def measure(path: Path, label: str, *, groups: int, threads: int, buckets: int, is_unit: bool = False) -> None:
    """One question in a process of its own."""
    settings = json.dumps({"groups": groups, "threads": threads, "buckets": buckets, "is_unit": is_unit})
    command = [sys.executable, __file__, "--ask", str(path), settings]
    found = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    print(
        f"{label:46} threads {threads}  buckets {buckets:2}  {found['rows']:>10,} in the answer  "
        f"wall {found['wall']:6.1f} s  CPU {found['cpu']:6.1f} s  peak {found['peak']:5.2f} GB",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 10_000_000, 50_000_000, 100_000_000])
    parser.add_argument("--groups", type=int, nargs="+", default=[10**power for power in range(2, 8)])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--ask", nargs=2, help="a file and settings: what the process of one question runs")
    options = parser.parse_args()
    if options.ask:
        ask(options.ask[0], **json.loads(options.ask[1]))
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "visits.parquet"
        for rows in options.rows:
            write_rows(path, rows=rows, spread=f"hash(i + 100000007) % {PUBLIC}", units="integer")
            for threads in options.threads:
                buckets = max(1, rows // ROWS_IN_A_BUCKET)
                measure(path, f"{rows:,} rows, {PUBLIC} groups", groups=PUBLIC, threads=threads, buckets=buckets)
        for groups in options.groups:
            write_rows(path, rows=OF_GROUPS, spread=f"hash(i + 100000007) % {groups}", units="integer")
            for threads in options.threads:
                label = f"{OF_GROUPS:,} rows, {groups:,} private groups"
                measure(path, label, groups=groups + 1 if groups == PUBLIC else groups, threads=threads, buckets=2)
        write_rows(path, rows=5 * OF_GROUPS, spread=f"i % {OF_GROUPS}", units="integer")
        for threads in options.threads:
            label = f"{5 * OF_GROUPS:,} rows that are units, {OF_GROUPS:,} groups"
            measure(path, label, groups=OF_GROUPS, threads=threads, buckets=4, is_unit=True)


if __name__ == "__main__":
    main()
