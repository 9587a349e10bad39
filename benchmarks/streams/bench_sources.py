"""How fast do events reach a counter: one by one, in arrays, from a table, from Spark, and as lines of JSON?

Each figure is the best of three, in time of the processor; Spark's is wall time on two cores. The last part, which
`--spark` runs, kills a process with -9 while Spark streams a million
events into a durable counter, starts it again until it ends, and adds up what was counted: all of it once.
"""

import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import sfumato as sf
from sfumato.cli.stream.running import events_of

EVENTS, FEW, FILES, REPEATS = 1_000_000, 100_000, 10, 3
DAYS = sf.streams.Ticks(start="2026-01-01", every="day")
START = datetime(2026, 1, 1, tzinfo=UTC)
COLUMNS = {"at": sf.timestamp(), "who": sf.text()}
EPSILON = 1_000  # no noise, so that a total says what was counted
BUDGET = sf.PureDP(10**6)


def times_of(count):
    """Moments of ten days."""
    seconds = np.random.default_rng(0).integers(0, 10 * 86400, count)
    return np.datetime64("2026-01-01", "us") + seconds.astype("m8[s]")


def feed_of(session, **options):
    counter = sf.streams.Counter(
        session=session, mechanism=sf.mechanisms.BinaryTree, horizon=30, epsilon=EPSILON, **options
    )
    return sf.streams.Feed(counter, ticks=DAYS, now=lambda: DAYS.begin(1), ahead=30)


def fresh():
    return feed_of(sf.streams.StreamSession("visits", budget=BUDGET))


def best(action):
    """Events a second of processor time, the best of a few runs; the action says how many events it took."""
    rates = []
    for _ in range(REPEATS):
        start = time.process_time()
        count = action()
        rates.append(count / (time.process_time() - start))
    return max(rates)


def one_by_one(times):
    feed = fresh()
    for moment in times:
        feed.add(moment)
    return len(times)


def in_arrays(times, ids=None):
    session = sf.streams.StreamSession("visits", budget=BUDGET)
    counter = sf.streams.Counter(session=session, mechanism=sf.mechanisms.BinaryTree, horizon=30, epsilon=EPSILON)
    feed = sf.streams.Feed(counter, ticks=DAYS, unique=ids is not None)  # all ticks have ended, and wait
    feed.add_many(times, ids=ids)
    return len(times)


def followed(times):
    for _ in sf.streams.follow(fresh(), ((moment, None) for moment in times)):
        pass
    return len(times)


def lines(text):
    feed = fresh()
    count = 0
    for moment, event in events_of(io.BytesIO(text), {"time": "at"}):
        feed.add(moment, **(event or {}))
        count += 1
    return count


def from_table(path):
    with sf.open(path, name="visits", columns={"at": sf.timestamp()}, budget=BUDGET) as session:
        source = sf.streams.TableSource(feed_of(session), session, table="visits", time="at")
        released = source.advance("2026-02-01")
        assert released.values[-1] == EVENTS
    return EVENTS


def in_process():
    moments = [START + timedelta(seconds=second) for second in range(20_000)]
    text = "".join(json.dumps({"at": moment.isoformat()}) + "\n" for moment in moments).encode()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "visits.parquet"
        pq.write_table(pa.table({"at": times_of(EVENTS)}), path)
        print(f"{'events a second':<44}")
        print(f"{'Feed.add, one by one':<44}{best(lambda: one_by_one(moments)):>14,.0f}")
        print(f"{'Feed.add_many, arrays':<44}{best(lambda: in_arrays(times_of(EVENTS))):>14,.0f}")
        print(f"{'Feed.add_many, arrays with ids':<44}{best(lambda: in_arrays(times_of(FEW), range(FEW))):>14,.0f}")
        print(f"{'follow, an iterator':<44}{best(lambda: followed(moments)):>14,.0f}")
        print(f"{'lines of JSON, as sfumato stream':<44}{best(lambda: lines(text)):>14,.0f}")
        print(f"{'TableSource, Parquet in DuckDB':<44}{best(lambda: from_table(path)):>14,.0f}")


def stream(folder):
    """What the process does that is killed: count all files of a folder, one a batch, into a durable counter."""
    from pyspark.sql import SparkSession

    from sfumato.engines.spark.session import STARTED, found_java

    with found_java():
        builder = SparkSession.builder.master("local[2]")
        for name, value in STARTED.items():
            builder = builder.config(name, value)
        spark = builder.getOrCreate()
    empty = pa.table({name: pa.array([], kind) for name, kind in (("at", pa.timestamp("us")), ("who", pa.string()))})
    with sf.open(empty, name="visits", columns=COLUMNS, budget=BUDGET, ledger=folder / "ledger.db") as session:
        feed = feed_of(session, state=folder / "state")
        sink = sf.streams.SparkSink(feed, session, table="visits", time="at")
        if "--once" in sys.argv:
            sink(spark.read.parquet(str(folder / "in")), 0)  # so that what follows is measured warm
            start = time.perf_counter()
            sink(spark.read.parquet(str(folder / "in")), 1)
            print(f"{'Spark local[2], one batch of a million':<44}{EVENTS / (time.perf_counter() - start):>14,.0f}")
            return
        frame = spark.readStream.schema("at timestamp_ntz, who string").option("maxFilesPerTrigger", 1)
        frame = frame.parquet(str(folder / "in"))
        start = time.perf_counter()
        writer = frame.writeStream.foreachBatch(sink).option("checkpointLocation", str(folder / "checkpoint"))
        writer.trigger(availableNow=True).start().awaitTermination()
        seconds = time.perf_counter() - start
        total = feed.advance("2026-02-01").values[-1]
        print(f"counted {total:,} of {EVENTS:,}; the last process took {seconds:.1f} s for its batches")
        assert total == EVENTS


def with_spark():
    for mode in ("--once", "--kill"):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "in").mkdir()
            people = [f"person {number}" for number in range(EVENTS // FILES)]
            for number in range(FILES):
                data = pa.table({"at": times_of(EVENTS)[number::FILES], "who": people})
                pq.write_table(data, folder / "in" / f"{number}.parquet")
            command = [sys.executable, __file__, "--stream", name, mode]
            if mode == "--once":
                subprocess.run(command, check=True)
                continue
            kills = 0
            while not _ended(command, folder, after=kills + 2):
                kills += 1
            print(f"killed with -9 {kills} times while batches were counted")


def _ended(command, folder, *, after):
    """Whether a process came to its end; it is killed as soon as so many batches are planned."""
    with subprocess.Popen(command) as process:
        while process.poll() is None:
            time.sleep(0.02)
            planned = list((folder / "checkpoint" / "offsets").glob("[0-9]*"))
            if len(planned) >= after and after <= FILES // 2:
                os.kill(process.pid, signal.SIGKILL)
                process.wait()
                return False
        assert process.returncode == 0
    return True


if __name__ == "__main__":
    if "--stream" in sys.argv:
        stream(Path(sys.argv[sys.argv.index("--stream") + 1]))
    elif "--spark" in sys.argv:
        with_spark()
    else:
        in_process()
