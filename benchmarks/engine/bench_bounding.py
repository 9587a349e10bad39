"""What does it cost to bound what each unit has, and how does it compare with the same query unbounded?

Rows of many units over 100 groups are counted and summed by group; of a unit at most L groups are kept and 10 rows in
each. Figures are CPU seconds, warm, the least of some runs, and ratios to `pairs`, the aggregate by (unit, group) added
up by group, without which nothing can be bounded. `plain` is GROUP BY group, which bounds nothing; where each row is a
unit that is what a question is compared with. All of it runs on one Parquet file, in one process. OpenDP is asked the
same in a process of its own, where `make peers` made its environment, with one row in each of at most ten groups.

Usage: python benchmarks/engine/bench_bounding.py [--rows 10000000] [--units integer|sparse|text] [--runs 2]
"""

import argparse
import json
import resource
import subprocess
import tempfile
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import duckdb

from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.sources.sources import open_source
from sfumato.privacy.neighbors import EACH_ROW, UnitColumn
from sfumato.query.model.expressions import ColumnRef
from sfumato.query.model.relations import Source
from sfumato.query.model.schema import Limits, Table, integer, real, text
from sfumato.query.model.statement import KeyColumn, LatticeValue, RowCount, Statement, StepSum

GROUPS, ROWS_PER_UNIT, ROWS_PER_GROUP = 100, 10, 10
OPENDP = Path(__file__).parent.parent / "peers" / "opendp"
SALT = "0123456789abcdef" * 2
UNITS = {
    "integer": "(hash(i) % {units})::BIGINT",
    "sparse": "(hash(hash(i) % {units}) >> 1)::BIGINT",
    "text": "printf('%016x', hash(hash(i) % {units}))",
}
SPREADS = {
    "9.5 groups a unit": "hash(i + 100000007) % 100",
    "3 groups a unit": "(hash(hash(i) % {units}) % 100 + 7 * (hash(i + 100000007) % 3)) % 100",
}
SPREAD_OF_PEERS = "9.5 groups a unit"
SCENARIOS = (
    # spread, most groups of a unit, what that means
    ("3 groups a unit", 100, "no limit can bind"),
    ("3 groups a unit", 3, "no unit is above"),
    ("9.5 groups a unit", 13, "one unit in seven is above"),
    ("9.5 groups a unit", 16, "one unit in eighty is above"),
    ("3 groups a unit", 2, "nine units in ten are above"),
    ("9.5 groups a unit", 3, "nearly every unit is above"),
)


def write_rows(path: Path, *, rows: int, spread: str, units: str) -> None:
    count = rows // ROWS_PER_UNIT
    unit, group = (term.format(units=count) for term in (UNITS[units], spread))
    with duckdb.connect() as database:
        database.execute(
            f"COPY (SELECT {unit} AS u, ({group})::BIGINT AS g, (hash(3 * i + 17) % 10000) / 100.0::DOUBLE AS v "
            f"FROM range({rows}) AS r(i)) TO '{path}' (FORMAT parquet)"
        )


def cpu_seconds(action: Callable[[], object], runs: int) -> float:
    """The least of some runs, after one that warms up."""
    times = []
    for _ in range(runs + 1):
        start = resource.getrusage(resource.RUSAGE_SELF)
        action()
        end = resource.getrusage(resource.RUSAGE_SELF)
        times.append(end.ru_utime + end.ru_stime - start.ru_utime - start.ru_stime)
    return min(times[1:])


def rows_alone() -> Table:
    return Table(name="visits", columns={"g": integer(values=range(GROUPS)), "v": real(0, 100)}, unit=EACH_ROW)


def visits(units: str, limits: Limits) -> Table:
    unit = text() if units == "text" else integer()
    columns = {"u": unit, "g": integer(values=range(GROUPS)), "v": real(0, 100)}
    return Table(name="visits", columns=columns, unit=UnitColumn("u"), limits=limits, keeps_rows=True)


def statement(table: Table, limits: Limits) -> Statement:
    value = LatticeValue(
        value=ColumnRef("v"), resolution=Fraction(1, 100), lower=0, upper=10_000, offset=0, nullable=True
    )  # fmt: skip
    return Statement(
        rows=Source(table), keys=(KeyColumn(name="g", values=tuple(range(GROUPS))),),
        measures=(RowCount(), StepSum(value)), limits=limits,
    )  # fmt: skip


def at_most(groups: int, *, rows: int = ROWS_PER_GROUP) -> Limits:
    return Limits(max_groups_per_unit=groups, max_rows_per_group_per_unit=rows)


def unbounded(path: Path, runs: int) -> tuple[float, float]:
    """CPU seconds of the plain query, and of the aggregate by (unit, group)."""
    source = f"read_parquet('{path}')"
    pairs = f"SELECT u, g, COUNT(*) AS n, SUM(v) AS s FROM {source} GROUP BY u, g"
    queries = (
        f"SELECT g, COUNT(*), SUM(v) FROM {source} GROUP BY g",
        f"SELECT g, SUM(n), SUM(s) FROM ({pairs}) GROUP BY g",
    )
    with duckdb.connect() as database:
        plain, by_unit = (cpu_seconds(lambda q=query: database.execute(q).fetchall(), runs) for query in queries)
    return plain, by_unit


def bounded(
    path: Path, table: Table, limits: Limits, *, runs: int, sampling: str = "native", prepared: bool = False
) -> float:
    engine = DuckDBEngine({"visits": open_source(path)}, sampling=sampling)
    if prepared:
        engine.prepare(table)
    seconds = cpu_seconds(lambda: engine.run(statement(table, limits), salt=SALT), runs)
    engine.close()
    return seconds


def opendp(path: Path, rows: int, mode: str, runs: int) -> float | None:
    """CPU seconds of the whole question."""
    python = OPENDP / ".venv" / "bin" / "python"
    if not python.exists():
        return None
    command = [str(python), str(OPENDP / "group_sums.py"), str(path), str(rows), mode, str(runs + 1)]
    shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return float(json.loads(shown)["cpu_s"])


def compared(what: str, own: float, other: float | None) -> None:
    peer = "not measured: make peers" if other is None else f"{other:.2f} s, {other / own:.1f} times as long"
    print(f"{what:60} {own:5.2f} s   OpenDP {peer}", flush=True)


def against_opendp(path: Path, table: Table, rows: int, runs: int) -> None:
    alone = bounded(path, rows_alone(), Limits(), runs=runs)
    plain, _ = unbounded(path, runs)
    print(f"each row a unit: {alone:.2f} s, {alone / plain:.2f} times the plain query")
    compared("each row a unit", alone, opendp(path, rows, "rows", runs))
    limits = at_most(10, rows=1)
    peer = opendp(path, rows, "users", runs)
    for sampling in ("md5", "native"):
        for prepared in (False, True):
            own = bounded(path, table, limits, sampling=sampling, prepared=prepared, runs=runs)
            compared(f"ten groups a unit, a row in each, {sampling}{', prepared' * prepared}", own, peer)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--units", choices=tuple(UNITS), default="integer")
    parser.add_argument("--runs", type=int, default=2)
    options = parser.parse_args()
    table = visits(options.units, Limits(max_rows_per_unit=100))
    print(f"{options.rows:,} rows, {options.rows // ROWS_PER_UNIT:,} units ({options.units}), {GROUPS} groups")
    print("CPU seconds; bounded: ratios to `pairs`, of md5, native, and md5 and native once the table is prepared")
    with tempfile.TemporaryDirectory() as folder:
        for spread, most_groups, meaning in SCENARIOS:
            path = Path(folder) / f"{spread}.parquet"
            if not path.exists():
                write_rows(path, rows=options.rows, spread=SPREADS[spread], units=options.units)
            plain, pairs = unbounded(path, options.runs)
            ratios = [
                bounded(path, table, at_most(most_groups), sampling=sampling, prepared=prepared, runs=options.runs)
                / pairs
                for prepared in (False, True)
                for sampling in ("md5", "native")
            ]
            shown = "  ".join(f"{ratio:5.2f}" for ratio in ratios)
            print(
                f"{spread:18} L = {most_groups:<3} {meaning:28} plain {plain:5.2f}  pairs {pairs:5.2f}  {shown}",
                flush=True,
            )
        against_opendp(Path(folder) / f"{SPREAD_OF_PEERS}.parquet", table, options.rows, options.runs)


if __name__ == "__main__":
    main()
