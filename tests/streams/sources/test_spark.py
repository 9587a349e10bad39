"""Batches of Spark Structured Streaming: each counts once, however often Spark hands it over and wherever it stops."""

import pickle

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.engines.spark_application import application
from tests.streams.feeding import BUDGET, SetClock, counter_of, day, feed_of

import sfumato as sf
from sfumato.errors import NotPrivateError, ParameterError, UnavailableError
from sfumato.mechanisms.continual.participation import Participation
from sfumato.streams.keeping.account import StreamSession
from sfumato.streams.sources.spark import SparkSink

SCHEMA = pa.schema({"at": pa.timestamp("us"), "who": pa.string()})
COLUMNS = {"at": sf.timestamp(), "who": sf.text()}
UNITS = {"unit": "who", "limits": sf.Limits(max_rows_per_unit=100)}
NO_PATHS = {"name": "visits", "columns": COLUMNS, "budget": BUDGET, **UNITS}


def rows_of(*events):
    return pa.Table.from_pylist([{"at": at, "who": who} for at, who in events], schema=SCHEMA)


def session_of(**options):
    """The policy alone: the rows come in batches."""
    return sf.open(rows_of(), **NO_PATHS, **options)


def sink_of(session, clock, **options):
    counter = counter_of(session, participation=Participation(most=9), **options)
    released = []
    feed = feed_of(clock, counter)
    return SparkSink(feed, session, table="visits", time="at", on_release=released.append), released


def batch_of(*events):
    return application().createDataFrame(rows_of(*events))


def test_a_batch_counts_once_and_ticks_close_by_the_clock_alone(monkeypatch):
    with session_of() as session:
        clock = SetClock(day(1))
        sink, released = sink_of(session, clock)
        first = batch_of(
            (day(1), "ann"), (day(1), "bob"), (day(1), "ann"), (day(2), "ann"), (None, "cyd"), (day(1), None)
        )
        with monkeypatch.context() as changes:
            changes.setattr(sink.feed, "commit", lambda: 1 / 0)
            with pytest.raises(ZeroDivisionError):  # the process ends here
                sink(first, 0)
        assert (sink.feed.counter.position, released) == (None, [])
        sink, released = sink_of(session, clock)
        for _ in range(3):
            sink(first, 0)
        assert (sink.feed.position, released) == ({"query": "", "batch": 0}, [])
        clock.set(day(2))
        sink(first, 0)
        assert released == []  # a batch that is known does nothing, and so closes nothing
        sink(batch_of(), 1)
        assert [one.values.tolist() for one in released] == [[2]]
        clock.set(day(3))
        assert sink.feed.advance().values.tolist() == [3]


def test_a_batch_of_which_the_commit_was_refused_is_committed_when_it_comes_again(monkeypatch):
    with session_of() as session:
        sink, _ = sink_of(session, SetClock(day(1)))
        with monkeypatch.context() as changes:
            changes.setattr(sink.feed, "commit", lambda: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                sink(batch_of((day(1), "ann")), 0)
        assert sink.feed.counter.position is None
        sink(batch_of((day(1), "ann")), 0)
        assert sink.feed.counter.position["position"] == {"query": "", "batch": 0}
        assert sink.feed.advance(day(2)).values.tolist() == [1]


def test_a_query_that_is_killed_around_its_commit_counts_each_row_once(tmp_path, monkeypatch):
    """Spark hands the last batch over again; whether it was committed is what the state says."""
    incoming, clock, state = tmp_path / "in", SetClock(day(1)), tmp_path / "state"
    incoming.mkdir()
    with session_of(ledger=tmp_path / "ledger.db") as session:
        for number, when in enumerate(("before", "after", "never")):
            pq.write_table(rows_of((day(1), f"one {number}"), (day(1), "ann")), incoming / f"{number}.parquet")
            sink, _ = sink_of(session, clock, state=state)
            counter = sink.feed.counter
            with counter, monkeypatch.context() as changes:
                commit = counter.commit

                def failing(*, position, commit=commit, when=when):
                    if when == "after":
                        commit(position=position)
                    raise KeyError("killed")

                if when != "never":
                    changes.setattr(counter, "commit", failing)
                is_done = streamed(sink, incoming, tmp_path / "checkpoint")
                assert is_done is (when == "never")
        with counter_of(session, participation=Participation(most=9), state=state) as counter:
            assert counter.position["position"]["batch"] == 1  # of the second and third file, behind the first again
            assert len(counter.position["position"]["query"]) == 36
            assert counter.tick().values.tolist() == [4]  # ann once


def streamed(sink, incoming, checkpoint):
    """Whether a query over all files that are there comes to its end."""
    frame = application().readStream.schema("at timestamp_ntz, who string").parquet(str(incoming))
    writer = frame.writeStream.foreachBatch(sink).option("checkpointLocation", str(checkpoint))
    query = writer.trigger(availableNow=True).start()
    try:
        query.awaitTermination()
    except Exception:  # noqa: BLE001 # of Spark, which says what its function raised
        return False
    return True


def test_batches_of_another_query_are_refused():
    with session_of() as session:
        sink, _ = sink_of(session, SetClock(day(1)))
        sink.feed.add(day(1), unit="ann", position={"query": "another", "batch": 0})
        with pytest.raises(ParameterError, match="same checkpoint"):
            sink(batch_of(), 1)
        sink.feed.add(day(1), unit="ann", position=17)
        with pytest.raises(ParameterError, match="same checkpoint"):
            sink(batch_of(), 1)


def test_a_batch_that_fails_on_a_row_suspends_the_data_without_a_word_of_it():
    with session_of() as session:
        sink, _ = sink_of(session, SetClock(day(1)))
        spark = application().newSession()
        spark.conf.set("spark.sql.ansi.enabled", "true")
        frame = spark.createDataFrame(rows_of((day(1), "Alice"))).selectExpr(
            "at", "CAST(CAST(who AS INT) AS STRING) AS who"
        )
        with pytest.raises(UnavailableError) as caught:
            sink(frame, 0)
        assert "Alice" not in f"{caught.value!r} {caught.value.__cause__} {caught.value.__context__}"
        assert sink.feed.position is None


def test_over_spark_connect_the_sink_cannot_be_sent():
    with session_of() as session, pytest.raises(ParameterError, match="not over Spark Connect"):
        pickle.dumps(sink_of(session, SetClock(day(1)))[0])


def test_what_fits_no_policy_is_refused():
    with session_of() as session:
        sink, _ = sink_of(session, SetClock(day(1)))
        for wrong in ({"table": "nothing"}, {"on_release": 7}):
            with pytest.raises(ParameterError, match=next(iter(wrong))):
                SparkSink(sink.feed, session, **({"table": "visits", "time": "at"} | wrong))
        with StreamSession("elsewhere", budget=BUDGET, unit="who") as other:
            elsewhere = feed_of(SetClock(day(1)), counter_of(other, participation=Participation(most=1)))
            with pytest.raises(NotPrivateError, match="charged to elsewhere"):
                SparkSink(elsewhere, session, table="visits", time="at")
