"""How long does one whole question take on a small table, and where does the time go?

Size: 1,000 rows, count by two public groups, plan to committed release; warm median over 100 questions (each with its
own ε, so that none is a stored answer). Beside it, in the same run: the plain DuckDB query, the fsync of one ledger
page, and OpenDP where its environment was made with `make peers`.
"""

import json
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import pyarrow as pa

import sfumato as sf

ROWS, WARM_UP, REPEATS = 1_000, 10, 100
SQL = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"
PEERS = Path(__file__).parent.parent / "peers"
TABLE = pa.table(
    {"age": [20 + i % 60 for i in range(ROWS)], "sex": ["Male" if i % 3 else "Female" for i in range(ROWS)]}
)


def milliseconds(action: Callable[[int], object]) -> float:
    """The median time of an action, after a warm-up."""
    times = []
    for i in range(WARM_UP + REPEATS):
        start = time.perf_counter()
        action(i)
        times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times[WARM_UP:])


def question(ledger: Path | None) -> float:
    columns = {"age": sf.integer(17, 90), "sex": sf.text(values=["Male", "Female"])}
    with sf.open(TABLE, name="people", columns=columns, budget=sf.PureDP(10_000), ledger=ledger) as people:
        return milliseconds(lambda i: people.sql(SQL, epsilon=f"0.5{i:03d}"))


def plain() -> float:
    with duckdb.connect() as database:
        database.register("people", TABLE)
        return milliseconds(lambda _: database.execute(SQL).fetchall())


def fsync(folder: Path) -> float:
    def write(_: int) -> None:
        file.write(b"x" * 4096)
        file.flush()
        os.fsync(file.fileno())

    with (folder / "page").open("wb") as file:
        return milliseconds(write)


def opendp() -> float | None:
    python = PEERS / "opendp" / ".venv" / "bin" / "python"
    if not python.exists():
        return None
    command = [str(python), str(PEERS / "opendp" / "count_by_group.py"), str(ROWS), "8"]
    return float(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["warm_ms"])


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        memory, lasting = question(None), question(Path(folder) / "ledger.db")
        exact, sync, peer = plain(), fsync(Path(folder)), opendp()
    print(f"one question, {ROWS:,} rows, count by 2 public groups, warm median of {REPEATS}")
    print(f"  memory ledger                  {memory:8.2f} ms")
    print(f"  SQLite ledger, two commits     {lasting:8.2f} ms")
    print(f"  one fsync of a page            {sync:8.2f} ms")
    print(f"  SQLite ledger less two fsyncs  {lasting - 2 * sync:8.2f} ms   (target 20)")
    print(f"  plain DuckDB query             {exact:8.2f} ms   ratio {lasting / exact:.1f}")
    if peer is None:
        print("  OpenDP                         not measured: make peers")
    else:
        print(f"  OpenDP 0.16 (Polars)           {peer:8.2f} ms   ratio {peer / lasting:.0f}")


if __name__ == "__main__":
    main()
