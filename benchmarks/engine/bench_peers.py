"""How long does one question take us and other libraries, on the same engine and the same table?

Count and sum by 100 public groups over rows of many units; of a unit 10 groups are kept with 2 rows in each, or what is
nearest to it that a peer can say; values are clamped to [0, 100]; ε is 1. Each library runs in a process of its own:
cold is the wall from its start, libraries loaded and a session opened, to the first answer; warm is the least of some
more questions in that session, and CPU seconds are those of one of them, with the JVM, its workers and the database
server. Peak memory is without the server. A peer takes part where `make peers` made its environment.

Usage: python benchmarks/engine/bench_peers.py [--rows 1000000] [--runs 3] [--only tumult] [--no-sizes]
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb
import psycopg
from bench_bounding import SPREADS, write_rows
from install_sizes import print_sizes
from postgres_server import DATABASE, HOST, OWNER, READER, postgres

HERE = Path(__file__).parent
PEERS = HERE.parent / "peers"
ENGINES = {"pipelinedp": "duckdb", "tumult": "spark", "smartnoise": "postgres"}
"""Where a peer runs, or what of ours runs in one process as it does."""


@dataclass(frozen=True, slots=True)
class Data:
    """The same rows, for each engine: the arguments of its script before and after the number of runs."""

    before: dict[str, list[str]]
    after: dict[str, list[str]]


@contextmanager
def written(rows: int) -> Iterator[Data]:
    """The rows in a Parquet file, a CSV file and a table of PostgreSQL."""
    with tempfile.TemporaryDirectory() as folder, postgres() as server:
        parquet, csv = Path(folder) / "visits.parquet", Path(folder) / "visits.csv"
        write_rows(parquet, rows=rows, spread=SPREADS["9.5 groups a unit"], units="integer")
        with duckdb.connect() as database:
            database.execute(f"COPY (FROM '{parquet}') TO '{csv}' (HEADER)")
        with psycopg.connect(server.url(OWNER), autocommit=True) as connection:
            connection.execute("CREATE TABLE visits (u bigint, g bigint, v double precision)")
            with csv.open("rb") as file, connection.cursor().copy("COPY visits FROM STDIN (FORMAT csv, HEADER)") as to:
                while block := file.read(1 << 20):
                    to.write(block)
            connection.execute(f"GRANT SELECT ON visits TO {READER}")
            connection.execute("VACUUM ANALYZE visits")
        process = [str(server.process)]
        address = f"{server.url(READER)}?table=public.visits"
        before = {
            "pipelinedp": [str(csv)], "tumult": [str(parquet)],
            "smartnoise": [HOST, str(server.port), DATABASE, READER],
            "duckdb": [str(parquet)], "spark": [str(parquet)], "postgres": [address],
        }  # fmt: skip
        yield Data(before, {"smartnoise": process, "postgres": process})


def asked(script: Sequence[str], name: str, data: Data, runs: int) -> dict[str, float] | None:
    """What a script reports of itself; None if it failed, which is said."""
    command = [*script, *data.before[name], str(runs), *data.after.get(name, [])]
    environment = {**os.environ, "PYTHONPATH": str(HERE)}
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
    if done.returncode:
        print(f"{name:12} failed: {(done.stderr.strip() or 'without a word').splitlines()[-1]}")
        return None
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures


def peer(name: str, data: Data, runs: int) -> dict[str, float] | None:
    python = PEERS / name / ".venv" / "bin" / "python"
    if not python.exists():
        print(f"{name:12} not measured: make peers")
        return None
    return asked([str(python), str(PEERS / name / "ask.py")], name, data, runs)


def row(name: str, figures: dict[str, float], own: dict[str, float] | None) -> None:
    line = "".join(f"{figures[key]:9.2f}" for key in ("cold_s", "warm_s", "cpu_s"))
    ratios = "" if own is None else "".join(f"{figures[key] / own[key]:8.1f}" for key in ("cold_s", "warm_s", "cpu_s"))
    print(f"{name:18}{line}{figures['peak_mb']:9.0f}{figures['count']:11.0f}{figures['sum']:13.0f}{ratios}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", choices=tuple(ENGINES))
    parser.add_argument("--no-sizes", action="store_true")
    options = parser.parse_args()
    print(f"{options.rows:,} rows; seconds; how many times as long as ours on the same engine")
    heads = ("cold", "warm", "CPU", "peak MB", "count", "sum", "cold ×", "warm ×", "CPU ×")
    print(
        " " * 18 + "".join(f"{head:>{width}}" for head, width in zip(heads, (9, 9, 9, 9, 11, 13, 8, 8, 8), strict=True))
    )
    with written(options.rows) as data:
        for name in ENGINES if options.only is None else (options.only,):
            engine = ENGINES[name]
            own = asked([sys.executable, str(HERE / "ask_sfumato.py"), engine], engine, data, options.runs)
            other = peer(name, data, options.runs)
            if own is not None:
                row(f"ours on {engine}", own, None)
            if other is not None:
                row(name, other, own)
    if not options.no_sizes:
        print_sizes(PEERS)


if __name__ == "__main__":
    main()
