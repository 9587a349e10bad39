"""One Spark for all tests of a process: local, with a retry for each task, and as little of it as there can be.

It is a Spark Connect server too, on a port of its own.
"""

import os
import shutil
import sys
import tempfile
import warnings
from functools import cache
from pathlib import Path

import pyarrow as pa
from tests.ending import AT_END

from sfumato.engines.spark.dialect import sql
from sfumato.engines.spark.engine import SparkEngine
from sfumato.engines.spark.session import STARTED, OwnSession, found_java

MASTER = "local[2,3]"
"""Two tasks at a time; each may fail twice."""

JAVA = (
    "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC "
    "-XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
)
"""What is run once or twice is compiled quickly, and classes of Spark itself are taken for whole."""

_OF_JAVA_ITSELF = ("C1 ", "C2 ", "VM ", "GC ")

SETTINGS = {
    **STARTED,
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
    "spark.connect.grpc.binding.address": "127.0.0.1",
    "spark.connect.grpc.binding.port": "0",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.leafNodeDefaultParallelism": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",  # code is not made for a few rows
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.driver.memory": "2g",
    "spark.driver.extraJavaOptions": f"{JAVA} -Duser.timezone=Asia/Kathmandu",  # which is not UTC
}


@cache
def application():
    """A session of it, stopped when the tests end."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    with warnings.catch_warnings(), found_java():
        warnings.simplefilter("ignore")  # of pandas, which is newer than the one that Spark was made for
        from pyspark.sql import SparkSession

        place = tempfile.mkdtemp(prefix="spark-")
        builder = SparkSession.builder.master(MASTER).appName("tests").config("spark.sql.warehouse.dir", place)
        for name, value in SETTINGS.items():
            builder = builder.config(name, value)
        spark = builder.getOrCreate()
    AT_END.callback(shutil.rmtree, place, ignore_errors=True)
    AT_END.callback(spark.stop)
    return spark


@cache
def address():
    """Where it is a Spark Connect server."""
    service = getattr(application().sparkContext._jvm, "org.apache.spark.sql.connect.service.SparkConnectService$")
    return f"sc://127.0.0.1:{getattr(service, 'MODULE$').localPort()}"


def processor_seconds():
    """What its threads have spent, but for those that compile and collect garbage; of Linux."""
    threads = Path(f"/proc/{application()._jvm.java.lang.ProcessHandle.current().pid()}/task")
    return sum(map(_nanoseconds, threads.iterdir())) / 1e9


def spend(seconds):
    """Keep one of its threads busy for so long."""
    number, end = application()._jvm.java.math.BigInteger("3"), processor_seconds() + seconds
    while seconds and processor_seconds() < end:
        number.pow(20_000).bitCount()


def _nanoseconds(thread):
    try:
        is_of_others = (thread / "comm").read_text().startswith(_OF_JAVA_ITSELF)
        return 0 if is_of_others else int((thread / "schedstat").read_text().split()[0])
    except OSError:  # it has ended
        return 0


def engine(sources, **options):
    """An engine in it."""
    return SparkEngine(sources, session=application(), **({"sampling": "md5"} | options))


@cache
def session():
    """A session with the settings of engines."""
    return OwnSession({}, session=application(), master=None, remote=None).spark


def values_of(terms, cells):
    """What terms are on every row of an Arrow table, a list for each term; of one row they may be aggregates."""
    numbered = cells.append_column("row", pa.array(range(cells.num_rows)))
    session().createDataFrame(numbered).createOrReplaceTempView("cells")
    shown = [f"{sql(term)} AS v{place}" for place, term in enumerate(terms)]
    has_order = cells.num_rows > 1
    found = session().sql(f"SELECT {', '.join(['row'] * has_order + shown)} FROM cells").toArrow()
    found = found.sort_by("row") if has_order else found
    return [found[f"v{place}"].to_pylist() for place in range(len(terms))]
