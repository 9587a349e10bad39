"""A table that only grows: each tick is read once, when it closes, in every engine that holds tables."""

import datetime as dt

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.engines.postgres_server import server
from tests.streams.feeding import BUDGET, SetClock, added, counter_of, day, feed_of

import sfumato as sf
from sfumato.errors import (
    EngineError,
    FailedOnRowsError,
    NotPrivateError,
    ParameterError,
    StateError,
    UnavailableError,
)
from sfumato.mechanisms.continual.participation import Participation
from sfumato.streams.counting.measures import ClampedSum, EventCount
from sfumato.streams.keeping.account import StreamSession
from sfumato.streams.sources.tables import TableSource

COLUMNS = {"at": sf.timestamp(), "who": sf.text(), "hours": sf.integer(0, 9)}
UNITS = {"unit": "who", "limits": sf.Limits(max_rows_per_unit=100)}


def rows_of(*events):
    """A table of who came when, and for how long."""
    times, people, hours = zip(*events, strict=True) if events else ((), (), ())
    schema = pa.schema({"at": pa.timestamp("us"), "who": pa.string(), "hours": pa.int64()})
    return pa.table({"at": list(times), "who": list(people), "hours": list(hours)}, schema=schema)


def grown(path, *events):
    kind = path.suffix
    if kind == ".parquet":
        pq.write_table(rows_of(*events), path)
    else:
        lines = [f"{time.isoformat()},{who},{hours}" for time, who, hours in events]
        path.write_text("\n".join(["at,who,hours", *lines, ""]), "utf-8")


def source_of(session, clock, *, counter=None, measure=None, value=None, **options):
    made = {"participation": Participation(most=9)} if measure is None else {"measure": measure}
    feed = feed_of(clock, counter_of(session, **made) if counter is None else counter, **options)
    return TableSource(feed, session, table="visits", time="at", value=value)


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_rows_that_were_added_are_read_and_rows_that_come_late_are_not(tmp_path, ending):
    path, clock = tmp_path / f"visits.{ending}", SetClock(day(2))
    grown(path, (day(1), "ann", 1), (day(1), "bob", 1), (day(2), "ann", 1))
    with sf.open(path, columns=COLUMNS, budget=BUDGET, **UNITS) as session:
        source = source_of(session, clock)
        assert source.advance().values.tolist() == [2]
        grown(path, (day(1), "cyd", 1), (day(2), "ann", 1), (day(2, 23), "bob", 1))
        assert len(source.advance()) == 0
        clock.set(day(4))
        assert source.advance().values.tolist() == [4, 4]


def test_rows_of_the_open_tick_wait_for_it_to_close():
    data = rows_of((day(1), "ann", 1), (day(2), "bob", 1))
    with sf.open(data, name="visits", columns=COLUMNS, budget=BUDGET, **UNITS) as session:
        clock = SetClock(day(2))
        source = source_of(session, clock, lateness=dt.timedelta(hours=12))
        assert source.advance().values.tolist() == [1]
        clock.set(day(3, 11))
        assert len(source.advance()) == 0
        assert source.advance("2026-01-03T12:00").values.tolist() == [2]


def test_a_tick_that_ends_while_rows_are_read_is_not_closed_unread(monkeypatch):
    data = rows_of((day(1), "ann", 1), (day(2), "bob", 1))
    with sf.open(data, name="visits", columns=COLUMNS, budget=BUDGET, **UNITS) as session:
        clock = SetClock(day(2))
        source = source_of(session, clock)
        opened = session.opened_again

        def slowly():
            clock.set(day(3))
            return opened()

        monkeypatch.setattr(session, "opened_again", slowly)
        assert source.advance().values.tolist() == [1]
        assert source.advance().values.tolist() == [2]


def test_a_reading_that_is_cut_off_is_done_again_after_a_restart(tmp_path, monkeypatch):
    data, clock = rows_of((day(1), "ann", 1), (day(2), "bob", 1)), SetClock(day(3))
    options = {"name": "visits", "columns": COLUMNS, "budget": BUDGET, "ledger": tmp_path / "ledger.db", **UNITS}
    made = {"participation": Participation(most=9), "state": tmp_path / "state"}
    with sf.open(data, **options) as session:
        with counter_of(session, **made) as counter, monkeypatch.context() as changes:
            changes.setattr(counter, "tick", lambda *_, **__: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                source_of(session, clock, counter=counter).advance()
        with counter_of(session, **made) as counter:
            assert source_of(session, clock, counter=counter).advance().values.tolist() == [1, 2]


def test_rows_count_once_however_often_the_account_refuses_to_close_their_ticks(tmp_path):
    data, clock = rows_of((day(1), "ann", 1), (day(1), "bob", 1), (day(2), "cyd", 1), (day(3), "ann", 1)), SetClock()
    options = {"name": "visits", "columns": COLUMNS, "budget": BUDGET, "ledger": tmp_path / "ledger.db", **UNITS}
    made = {"participation": Participation(most=9), "state": tmp_path / "state"}
    with sf.open(data, **options) as session:
        counter = counter_of(session, **made)
        source = source_of(session, clock, counter=counter)
        counter_of(session, participation=Participation(most=1)).suspend()  # another stream of the data has failed
        for now in ("2026-01-02", "2026-01-02", "2026-01-03"):
            with pytest.raises(UnavailableError):
                source.advance(now)
        session.planning.ledger.resume_account("visits", reason="seen")
        assert source.advance("2026-01-03").values.tolist() == [2, 3]
        assert source.feed.position == {"table": "visits", "read": 2}
        counter.close()
        with counter_of(session, **made) as again:
            assert source_of(session, clock, counter=again).advance("2026-01-04").values.tolist() == [4]


@pytest.mark.parametrize("name", ["add_many", "close"])
def test_rows_count_once_if_their_reading_is_interrupted(monkeypatch, name):
    with sf.open(rows_of((day(1), "ann", 1)), name="visits", columns=COLUMNS, budget=BUDGET) as session:
        source = source_of(session, SetClock(day(2)), measure=EventCount())
        feed = source.feed
        taken = feed.counter if name == "add_many" else feed
        whole = getattr(taken, name)

        def interrupted(*given, **named):
            if name == "add_many":
                whole(*given, **named)
            raise KeyboardInterrupt

        with monkeypatch.context() as changes:
            changes.setattr(taken, name, interrupted)
            with pytest.raises(KeyboardInterrupt):
                source.advance()
        if name == "close":
            assert source.advance().values.tolist() == [1]
        else:
            with pytest.raises(StateError, match="open the counter again"):
                source.advance()


def test_a_feed_of_another_source_is_refused():
    with sf.open(rows_of(), name="visits", columns=COLUMNS, budget=BUDGET) as session:
        feed = feed_of(SetClock(day(1)), counter_of(session))
        for position in (17, {"table": "calls", "read": 1}):
            feed.add(day(1), position=position)
            with pytest.raises(ParameterError, match="committed with table visits"):
                TableSource(feed, session, table="visits", time="at")


def test_values_are_clamped_as_the_policy_says():
    data = rows_of((day(1), "ann", 99), (day(1), "bob", -5), (day(2), "cyd", 3))
    with sf.open(data, name="visits", columns=COLUMNS, budget=BUDGET) as session:
        source = source_of(session, SetClock(day(3)), measure=ClampedSum(-9, 50), value="hours")
        assert added(source.advance()) == [9, 3]


def test_participations_are_enforced_over_ticks():
    data = rows_of(*((day(number), "ann", 1) for number in range(1, 8)), (day(7), "bob", 1))
    with sf.open(data, name="visits", columns=COLUMNS, budget=BUDGET, **UNITS) as session:
        counter = counter_of(session, participation=Participation(most=2, separation=3))
        clock, found = SetClock(day(1)), []
        source = source_of(session, clock, counter=counter)
        for number in (3, 6, 9):
            clock.set(day(number))
            found += source.advance().values.tolist()
        assert found == [1, 1, 1, 2, 2, 2, 3, 3]


def test_a_table_of_postgresql_is_read_where_it_is():
    name = server().load(rows_of((day(1), "ann", 1), (day(2), "bob", 1), (day(2), None, 1)))
    with sf.open(server().url(table=name), name="visits", columns=COLUMNS, budget=BUDGET, **UNITS) as session:
        clock = SetClock(day(2))
        source = source_of(session, clock)
        assert source.advance().values.tolist() == [1]
        server().execute(f"INSERT INTO {name} VALUES ('2026-01-02 23:00', 'cyd', 1), ('2026-01-01 23:00', 'late', 1)")
        clock.set(day(3))
        assert source.advance().values.tolist() == [3]


def test_a_row_that_fails_suspends_the_data_and_releases_nothing(monkeypatch):
    with sf.open(rows_of((day(1), "ann", 1)), name="visits", columns=COLUMNS, budget=BUDGET, **UNITS) as session:
        source = source_of(session, SetClock(day(3)))

        def failing(*_, **__):
            raise FailedOnRowsError("duckdb", "read rows of Alice", "ValueError")

        monkeypatch.setattr(source._reader, "read", failing)
        with pytest.raises(UnavailableError) as caught:
            source.advance()
        assert "Alice" not in str(caught.value)
        assert (source.feed.counter.next_step, len(source.feed.counter.releases)) == (1, 0)
        with pytest.raises(UnavailableError):
            session.sql("SELECT COUNT(*) AS n FROM visits", epsilon=1)


def test_a_file_that_is_gone_is_an_error_and_no_failure_on_rows(tmp_path):
    path = tmp_path / "visits.parquet"
    grown(path, (day(1), "ann", 1))
    with sf.open(path, columns=COLUMNS, budget=BUDGET, **UNITS) as session:
        source = source_of(session, SetClock(day(2)))
        path.rename(tmp_path / "elsewhere")
        with pytest.raises(EngineError):
            source.advance()
        (tmp_path / "elsewhere").rename(path)
        assert source.advance().values.tolist() == [1]


def test_what_is_no_table_of_the_session_is_refused():
    with sf.open(rows_of(), name="visits", columns=COLUMNS, budget=BUDGET) as session:
        feed = feed_of(SetClock(day(1)), counter_of(session))
        with pytest.raises(ParameterError, match="must be 'visits'"):
            TableSource(feed, session, table="nothing", time="at")
        for wrong in ((None, session), (feed, None)):
            with pytest.raises(ParameterError):
                TableSource(*wrong, table="visits", time="at")
        elsewhere = feed_of(SetClock(day(1)), counter_of(StreamSession("elsewhere", budget=BUDGET)))
        with pytest.raises(NotPrivateError, match="charged to elsewhere"):
            TableSource(elsewhere, session, table="visits", time="at")
