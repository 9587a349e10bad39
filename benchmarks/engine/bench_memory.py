"""How much memory does a table take that is larger than it?

Three questions, each in a process of its own whose peak of memory is shown, on Parquet files of 100 million rows of 10
million units: by 100 public groups, by as many private groups as there are units, of which few have units enough to be
in the answer, and by a million that nearly all have. Units are handled in buckets, one after the other.

Usage: python benchmarks/engine/bench_memory.py [--rows 100000000] [--buckets 16] [--memory 3GB]
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench_bounding import GROUPS, ROWS_PER_UNIT, write_rows

import sfumato as sf

SQL = "SELECT g, COUNT(*) AS n, SUM(v) AS total FROM visits GROUP BY g"
QUESTIONS = {
    f"{GROUPS} public groups": "hash(i + 100000007) % 100",
    "as many private groups as units": "hash(i + 100000007) % {units}",
    "a tenth as many private groups": "hash(i + 100000007) % ({units} // 10)",
}


def ask(path: str, question: str, buckets: int, memory: str) -> None:
    """Answer one question, and print what it took."""
    public = question.endswith("public groups")
    columns = {
        "u": sf.integer(), "g": sf.integer(values=range(GROUPS)) if public else sf.integer(), "v": sf.real(0, 100),
    }  # fmt: skip
    options = {"buckets": buckets, "memory_limit": memory}
    limits = sf.Limits(max_groups_per_unit=10, max_rows_per_group_per_unit=2)
    with sf.open(
        path, name="visits", columns=columns, unit="u", limits=limits, budget=sf.ApproxDP(10, "1e-3"),
        engine_options=options,
    ) as session:  # fmt: skip
        started = time.perf_counter()
        release = session.sql(SQL, epsilon=5, delta=0 if public else "1e-6")
        took = time.perf_counter() - started
    usage = resource.getrusage(resource.RUSAGE_SELF)
    figures = {"groups": len(release), "wall": took, "cpu": usage.ru_utime + usage.ru_stime}
    print(json.dumps(figures | {"peak": usage.ru_maxrss / 2**20}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=100_000_000)
    parser.add_argument("--buckets", type=int, default=16)
    parser.add_argument("--memory", default="3GB")
    parser.add_argument("--ask", nargs=2, help="a file and a question: what the process of one question runs")
    options = parser.parse_args()
    if options.ask:
        ask(*options.ask, options.buckets, options.memory)
        return
    print(
        f"{options.rows:,} rows, {options.rows // ROWS_PER_UNIT:,} units, {options.buckets} buckets, {options.memory}"
    )
    settings = ["--buckets", str(options.buckets), "--memory", options.memory]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "visits.parquet"
        for question, spread in QUESTIONS.items():
            write_rows(path, rows=options.rows, spread=spread, units="integer")
            command = [sys.executable, __file__, "--ask", str(path), question, *settings]
            found = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
            print(
                f"{question:34} {found['groups']:>10,} in the answer   wall {found['wall']:6.1f} s   "
                f"CPU {found['cpu']:6.1f} s   peak {found['peak']:5.2f} GB",
                flush=True,
            )


if __name__ == "__main__":
    main()
