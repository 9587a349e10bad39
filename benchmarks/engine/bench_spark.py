"""What does it cost on Spark to bound what each unit has?

Rows of many units over 100 groups are counted and summed by group; of a unit at most three groups are kept. Figures are
seconds of the wall and of Java's processors, warm, the least of some runs, and ratios to `pairs`, the aggregate by
(unit, group) added up by group, without which nothing can be bounded; `plain` is GROUP BY group, which bounds nothing.
All of it runs on one Parquet file, in one session. A small question is one about a thousand rows, from SQL text to
release: the first one, and the median of the next.

Usage: python benchmarks/engine/bench_spark.py [--rows 10000000] [--runs 2] [--memory 6g]
"""

import argparse
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from statistics import median

from pyspark.sql import SparkSession

import sfumato as sf
from sfumato.engines.sources.sources import SparkData
from sfumato.engines.spark.engine import SparkEngine
from sfumato.privacy.neighbors import UnitColumn
from sfumato.query.model.expressions import ColumnRef
from sfumato.query.model.relations import Source
from sfumato.query.model.schema import Limits, Table, integer, real
from sfumato.query.model.statement import KeyColumn, LatticeValue, RowCount, Statement, StepSum

GROUPS, ROWS_PER_UNIT, KEPT = 100, 10, 3
SALT = "0123456789abcdef" * 2
SPREADS = {
    "9.5 groups a unit": "pmod(xxhash64(id, 1), 100)",
    "3 groups a unit": "pmod(xxhash64(pmod(xxhash64(id), {units})) + 7 * pmod(xxhash64(id, 1), 3), 100)",
}


def session(memory: str) -> SparkSession:
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    settings = {
        "spark.driver.memory": memory, "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1", "spark.log.level": "ERROR",
    }  # fmt: skip
    builder = SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def write_rows(spark: SparkSession, folder: Path, *, rows: int, spread: str) -> None:
    units = rows // ROWS_PER_UNIT
    spark.sql(
        f"SELECT pmod(xxhash64(id), {units}) AS u, {spread.format(units=units)} AS g, "
        f"pmod(xxhash64(id, 2), 10000) / 100D AS v FROM range({rows})"
    ).write.parquet(str(folder))


def java_seconds(spark: SparkSession) -> float:
    """Of its processors, as the operating system counts them."""
    pid = spark.sparkContext._jvm.java.lang.ProcessHandle.current().pid()  # noqa: SLF001 # has no public name
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def seconds(spark: SparkSession, action: Callable[[], object], runs: int) -> tuple[float, float]:
    """Of the wall and of processors: the least of some runs, after one that warms up."""
    times = []
    for _ in range(runs + 1):
        started, used = time.perf_counter(), java_seconds(spark)
        action()
        times.append((time.perf_counter() - started, java_seconds(spark) - used))
    return min(times[1:])


def statement(limits: Limits) -> tuple[Table, Statement]:
    columns = {"u": integer(), "g": integer(values=range(GROUPS)), "v": real(0, 100)}
    table = Table(name="visits", columns=columns, unit=UnitColumn("u"), limits=limits)
    value = LatticeValue(
        value=ColumnRef("v"), resolution=Fraction(1, 100), lower=0, upper=10_000, offset=0, nullable=True
    )  # fmt: skip
    asked = Statement(
        rows=Source(table), keys=(KeyColumn(name="g", values=tuple(range(GROUPS))),),
        measures=(RowCount(), StepSum(value)), limits=limits,
    )  # fmt: skip
    return table, asked


def bounded(spark: SparkSession, folder: Path, runs: int, sampling: str) -> tuple[float, float]:
    table, asked = statement(Limits(max_groups_per_unit=KEPT, max_rows_per_group_per_unit=10))
    source = SparkData(f"parquet.`{folder}`", table)
    engine = SparkEngine({"visits": source}, session=spark, sampling=sampling)
    found = seconds(spark, lambda: engine.run(asked, salt=SALT), runs)
    engine.close()
    return found


def small(spark: SparkSession, folder: Path) -> tuple[float, float]:
    """Seconds of the wall that a question about a thousand rows takes: the first, and the median of ten more."""
    write_rows(spark, folder, rows=1_000, spread=SPREADS["9.5 groups a unit"])
    visits = sf.open(
        f"spark:parquet.`{folder}`", name="visits", unit="u", engine_options={"spark": {"session": spark}},
        budget=sf.PureDP(99),
        columns={"u": sf.integer(), "g": sf.integer(values=range(GROUPS)), "v": sf.real(0, 100)},
        limits=sf.Limits(max_groups_per_unit=KEPT, max_rows_per_group_per_unit=10),
    )  # fmt: skip
    times = []
    for place in range(11):
        started = time.perf_counter()
        visits.sql("SELECT g, COUNT(*) AS n, SUM(v) AS s FROM visits GROUP BY g", epsilon=f"1.{place:02d}")
        times.append(time.perf_counter() - started)
    visits.close()
    return times[0], median(times[1:])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--memory", default="6g")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    spark = session(options.memory)
    with tempfile.TemporaryDirectory() as place:
        first, others = small(spark, Path(place) / "rows")
        print(f"a small question: the first {first:.2f} s, others {others:.2f} s")
    for name, spread in SPREADS.items():
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place) / "rows"
            write_rows(spark, folder, rows=options.rows, spread=spread)
            source = f"parquet.`{folder}`"
            pairs = f"SELECT u, g, COUNT(*) AS n, SUM(v) AS s FROM {source} GROUP BY u, g"
            queries = {
                "plain": f"SELECT g, COUNT(*), SUM(v) FROM {source} GROUP BY g",
                "pairs": f"SELECT g, SUM(n), SUM(s) FROM ({pairs}) GROUP BY g",
            }
            found = {
                query: seconds(spark, lambda sql=text: spark.sql(sql).toArrow(), options.runs)
                for query, text in queries.items()
            }
            found |= {sampling: bounded(spark, folder, options.runs, sampling) for sampling in ("md5", "native")}
            wall, java = found["pairs"]
            print(f"{name}, {options.rows:,} rows")
            for query, (own_wall, own_java) in found.items():
                print(
                    f"  {query:8} {own_wall:6.2f} s, {own_java:6.2f} s of processors;"
                    f" of pairs {own_wall / wall:5.2f}, {own_java / java:5.2f}"
                )
    spark.stop()


if __name__ == "__main__":
    main()
