"""Tumult Analytics on Spark local[2]: count and clamped sum by 100 public groups. Prints what it took as JSON.

Usage: python ask.py <Parquet file> <warm runs>
"""

import os
import sys

from pyspark.sql import SparkSession
from timed_question import report
from tmlt.analytics import (
    AddRowsWithID,
    KeySet,
    MaxGroupsPerID,
    MaxRowsPerGroupPerID,
    PureDPBudget,
    QueryBuilder,
    Session,
)

os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable  # else Spark takes another Python
path, runs = sys.argv[1], int(sys.argv[2])
spark = (
    SparkSession.builder.master("local[2]")
    .config("spark.driver.host", "127.0.0.1")
    .config("spark.driver.bindAddress", "127.0.0.1")
    .config("spark.ui.enabled", "false")
    .config("spark.ui.showConsoleProgress", "false")
    .config("spark.driver.memory", "4g")  # as ours
    .config("spark.sql.shuffle.partitions", "2")  # as many as there are cores; no slower than the default of 200
    .getOrCreate()
)
spark.sparkContext.setLogLevel("OFF")
session = Session.from_dataframe(PureDPBudget(float("inf")), "visits", spark.read.parquet(path), AddRowsWithID("u"))
bounded = QueryBuilder("visits").enforce(MaxGroupsPerID("g", 10)).enforce(MaxRowsPerGroupPerID("g", 2))
keys = KeySet.from_tuples([(g,) for g in range(100)], ["g"])


def asked():
    # It takes one aggregate a query; a cached view bounds the rows once for both.
    session.create_view(bounded, "kept", cache=True)
    kept = QueryBuilder("kept").groupby(keys)
    counts = session.evaluate(kept.count(name="n"), PureDPBudget(0.5)).toPandas()
    sums = session.evaluate(kept.sum("v", 0, 100, name="s"), PureDPBudget(0.5)).toPandas()
    session.delete_view("kept")
    spark.catalog.clearCache()  # which delete_view leaves full: the next question would not bound anything
    return list(counts.merge(sums, on="g").itertuples(index=False))


report(asked, runs=runs, server=None)
