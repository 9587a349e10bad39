"""The question that peers are asked, of a session of ours. Prints what it took as JSON.

Usage: python ask_sfumato.py duckdb|spark|postgres <Parquet file, or address of the table> <warm runs> [<process>]
"""

import os
import sys
from itertools import count

from timed_question import report

import sfumato as sf

engine, source, runs = sys.argv[1], sys.argv[2], int(sys.argv[3])
server = int(sys.argv[4]) if len(sys.argv) > 4 else None
options = {}
if engine == "spark":
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]")
    settings = {
        "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1", "spark.log.level": "OFF",
        "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.driver.memory": "4g",
        "spark.sql.shuffle.partitions": "2",
    }  # fmt: skip
    for name, value in settings.items():
        builder = builder.config(name, value)
    options = {"session": builder.getOrCreate()}
    source = f"spark:parquet.`{source}`"

visits = sf.open(
    source,
    name="visits",
    columns={"u": sf.integer(), "g": sf.integer(values=range(100)), "v": sf.real(0, 100)},
    unit="u",
    limits=sf.Limits(max_groups_per_unit=10, max_rows_per_group_per_unit=2),
    budget=sf.PureDP(1_000),
    engine=engine,
    engine_options=options,
)
budgets = (f"1.{i:03d}" for i in count())  # each its own, so that none is a stored answer


def asked():
    answer = visits.sql("SELECT g, COUNT(*) AS n, SUM(v) AS s FROM visits GROUP BY g", epsilon=next(budgets))
    return [(g, n.value, s.value) for g, n, s in zip(range(100), answer["n"], answer["s"], strict=True)]


report(asked, runs=runs, server=server)
