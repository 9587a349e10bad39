"""How long does `Session.check` take, beside one COUNT question over the same data?

A table of visits, ten rows a person on average, in memory and as a Parquet file; the owner's check reads it several
times: what is missing or out of bounds in each column, what the limits of the policy leave out, and which claims are
broken. Seconds of processor time, of all threads, the least of some turns that both take one after the other, so that
other work on the machine moves both alike; the ratio is that of the check over the question. `sfumato check` does the
same, and starts Python before.

Usage: python benchmarks/session/bench_check.py [--rows 1000000] [--turns 5]
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import sfumato as sf

ROWS_A_PERSON, WARDS = 10, ("Surgery", "Inner", "Children")
COLUMNS = {
    "ward": sf.text(values=WARDS), "age": sf.integer(0, 100), "cost": sf.real(0, 9_999, resolution="0.01"),
}  # fmt: skip
COUNT = "SELECT COUNT(*) AS n FROM visits"


def visits(rows: int) -> pa.Table:
    """Rows of which some ages are out of bounds and some costs are missing."""
    generator = np.random.default_rng(7)
    cost = generator.integers(0, 999_900, rows) / 100
    return pa.table(
        {
            "person": generator.integers(0, max(1, rows // ROWS_A_PERSON), rows),
            "ward": np.array(WARDS)[generator.integers(0, len(WARDS), rows)],
            "age": generator.integers(0, 110, rows),
            "cost": pa.array(cost, mask=generator.random(rows) < 0.01),
        }
    )


def seconds(action: Callable[[], object]) -> float:
    """How long an action keeps the processors busy."""
    start = time.process_time()
    action()
    return time.process_time() - start


def compare(name: str, source: pa.Table | Path, turns: int) -> None:
    """Print the least times of the question and of the check."""
    asked, checked = list[float](), list[float]()
    limits = sf.Limits(max_rows_per_unit=20)
    with sf.open(
        source, name="visits", unit="person", columns=COLUMNS, limits=limits, budget=sf.NO_GUARANTEE
    ) as session:
        for turn in range(turns + 1):  # the first does not count
            price = f"0.5{turn:03d}"  # each its own, so that none is a stored answer
            asked.append(seconds(lambda price=price: session.sql(COUNT, epsilon=price)))
            checked.append(seconds(session.check))
    question, check = min(asked[1:]), min(checked[1:])
    print(f"  {name:<10}{1e3 * question:>10.1f} ms{1e3 * check:>12.1f} ms{check / question:>8.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--turns", type=int, default=5)
    options = parser.parse_args()
    table = visits(options.rows)
    print(
        f"{options.rows:,} rows of 3 declared columns, processor time\n  {'':10}{'COUNT':>13}{'check':>15}{'ratio':>8}"
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "visits.parquet"
        pq.write_table(table, path)
        compare("in memory", table, options.turns)
        compare("Parquet", path, options.turns)


if __name__ == "__main__":
    main()
