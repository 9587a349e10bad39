"""Events of a table: rounded, clamped and ordered before anything is added up, and refused where units do not fit."""

import datetime as dt
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from tests.streams.feeding import BUDGET, DAYS, SetClock, counter_of, feed_of

import sfumato as sf
from sfumato.errors import EngineError, FailedOnRowsError, NotPrivateError, ParameterError, UnavailableError
from sfumato.mechanisms.continual.participation import Participation
from sfumato.streams.counting.measures import BinCounts, ClampedSum, EventCount
from sfumato.streams.keeping.account import StreamSession
from sfumato.streams.sources.reading import EventColumns, EventReader, require_account, suspending
from sfumato.streams.sources.ticks import Ticks, microseconds

AT = dt.datetime(2026, 1, 1, 5)  # noqa: DTZ001 # without a zone it is UTC
COLUMNS = {
    "at": sf.timestamp(), "day": sf.date(), "ward": sf.text(values=["x", "y"]), "hours": sf.real(0, 2),
    "id": sf.integer(), "who": sf.text(),
}  # fmt: skip
ROWS = {"at": AT, "day": AT.date(), "ward": "x", "hours": 1.0, "id": 1, "who": "ann"}


def table_of(*rows):
    cells = [ROWS | row for row in rows]
    types = {"at": pa.timestamp("us"), "day": pa.date32(), "hours": pa.float64(), "id": pa.int64()}
    schema = pa.schema([(name, types.get(name, pa.string())) for name in ROWS])
    return pa.Table.from_pylist(cells, schema=schema)


def opened(rows, *, unit=None, **options):
    owned = {} if unit is None else {"unit": unit, "limits": sf.Limits(max_rows_per_unit=100)}
    return sf.open(rows, name="visits", columns=COLUMNS, budget=BUDGET, **owned, **options)


def reader(session, *, measure=None, unique=False, ticks=DAYS, **columns):
    owned = session.policy.tables["visits"].has_owners
    counter = counter_of(
        session, measure=measure or EventCount(), participation=Participation(most=9) if owned else None
    )  # fmt: skip
    feed = feed_of(SetClock("2026-01-01"), counter, unique=unique, ticks=ticks)
    return EventReader(session.policy.tables["visits"], EventColumns(**{"time": "at", **columns}), feed=feed)


def read(*rows, unit=None, **options):
    with opened(table_of(*rows), unit=unit) as session:
        return reader(session, **options).read(session.desk.engine)


def test_a_row_without_what_is_wanted_of_it_is_no_event():
    rows = [
        {},
        {"at": None},
        {"ward": None},
        {"ward": "z"},
        {"hours": None},
        {"hours": float("nan")},
        {"who": None},
        {"id": None},
    ]
    found = read(
        *rows, unit="who", measure=ClampedSum(0, 9, keys=("x", "y")), key="ward", value="hours", unique=True, id="id"
    )  # fmt: skip
    assert (found.values, found.keys, found.units, found.ids) == ([1], ["x"], ["ann"], [1])
    assert len(read(*rows).moments) == 7  # where no more is wanted than a time


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        (ClampedSum(0, 9), [0, 1, 2]),
        (ClampedSum(1, 9), [1, 1, 2]),
        (ClampedSum(0, 1), [0, 1, 1]),
        (ClampedSum(0, 9, resolution="0.25"), [0, Fraction(5, 4), 2]),
    ],
    ids=str,
)
def test_values_are_rounded_and_clamped_to_the_bounds_of_the_counter_and_of_the_policy(measure, expected):
    rows = [{"hours": hours, "at": AT.replace(hour=hour)} for hour, hours in enumerate((-7.0, 1.25, 99.0))]
    assert read(*rows, measure=measure, value="hours").values == expected


CASES = 200
"""Each has a minute of its own, and one more without its last row."""


@pytest.mark.parametrize("measure", [ClampedSum(0, 1), ClampedSum(-1, 3, resolution="0.5")], ids=str)
def test_one_row_moves_the_sum_by_no_more_than_its_own_clamped_value(measure):
    """Rows of one time share their sum, and each share is within the bounds of the counter, as each value was."""
    draws, rows = np.random.default_rng(0), []
    for case in range(CASES):
        hours = draws.uniform(-3, 5, size=draws.integers(1, 6)).tolist()
        for values, minute in ((hours, 2 * case), (hours[:-1], 2 * case + 1)):
            rows += [{"hours": value, "at": AT + dt.timedelta(minutes=minute)} for value in values]
    with sf.open(table_of(*rows), name="visits", columns={**COLUMNS, "hours": sf.real()}, budget=BUDGET) as session:
        found = reader(session, measure=measure, value="hours").read(session.desk.engine)
    assert all(measure.lower <= value <= measure.upper for value in found.values)
    minutes = ((found.moments - microseconds(AT)) // (60 * 10**6)).tolist()
    sums = [0] * (2 * CASES)
    for minute, value in zip(minutes, found.values, strict=True):
        sums[minute] += value
    moved = [whole - less for whole, less in zip(sums[::2], sums[1::2], strict=True)]
    assert measure.lower <= min(moved) < max(moved) <= measure.upper


def test_rows_that_agree_count_as_often_as_they_are_there_and_with_an_id_once():
    assert len(read({}, {}, {"id": 2}).moments) == 3
    owned = {"unit": "who", "unique": True, "id": "id"}
    assert sorted(read({}, {}, {"id": 2}, **owned).ids) == [1, 2]
    found = read({"hours": 0.0}, {"hours": 2.0}, measure=ClampedSum(0, 2), value="hours", **owned)
    assert found.values == [1]


def test_where_each_row_is_a_unit_two_rows_are_never_one_event():
    """One of them would stand in for the other, so that a row could move two numbers, or one by twice its bound."""
    with pytest.raises(NotPrivateError, match="two rows with one id are two units"):
        read({}, {"ward": "y"}, unique=True, id="id", key="ward", measure=EventCount(keys=("x", "y")))


@pytest.mark.parametrize("order", [(0, 1, 2, 3, 4, 5), (5, 4, 3, 2, 1, 0), (2, 5, 0, 4, 1, 3)], ids=str)
def test_the_order_in_which_rows_are_stored_is_not_seen(order):
    rows = [{"at": AT.replace(hour=5 - place // 3), "ward": "xyxyyx"[place], "who": "ab"[place % 2]} for place in order]
    found = read(*rows, unit="who", key="ward", measure=EventCount(keys=("y", "x")))
    pairs = list(zip(found.moments.tolist(), ["yx".index(key) for key in found.keys], strict=True))
    assert pairs == sorted(pairs)


@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Asia/Kathmandu"])
def test_dates_are_days_of_the_zone_and_edges_are_theirs(zone):
    ticks = Ticks(start="2026-01-01", every="day", zone=zone)
    days = [{"day": dt.date(2026, 1, number)} for number in (1, 2, 2, 3)]
    with opened(table_of(*days)) as session:
        one = reader(session, time="day", ticks=ticks)
        for first, expected in ((1, 1), (2, 2), (3, 1), (4, 0)):
            found = one.read(session.desk.engine, first=ticks.begin(first), beyond=ticks.begin(first + 1))
            assert len(found.moments) == expected
            assert [ticks.at(moment) for moment in found.moments.tolist()] == [first] * expected
        hours = ticks.begin(2) + 3600 * 10**6
        assert len(one.read(session.desk.engine, first=hours, beyond=hours + 1).moments) == 0


def test_only_rows_of_the_time_that_is_asked_for_are_read():
    edges = [{"at": AT.replace(hour=0)}, {"at": AT.replace(hour=23)}, {"at": AT.replace(day=2, hour=0)}]
    with opened(table_of(*edges)) as session:
        found = reader(session).read(session.desk.engine, first=DAYS.begin(1), beyond=DAYS.begin(2))
    assert len(found.moments) == 2


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"time": "when"}, "one of the columns"),
        ({"time": "id"}, "dates or of timestamps"),
        ({"key": "ward"}, "must be left out"),
        ({"measure": EventCount(keys=("x",))}, "must name a column"),
        ({"value": "hours"}, "must be left out"),
        ({"measure": ClampedSum(0, 1), "value": "who"}, "column of numbers"),
        ({"measure": ClampedSum(5, 9), "value": "hours"}, "within the bounds"),
        ({"measure": BinCounts((0, 1)), "value": "hours"}, "EventCount or a ClampedSum"),
        ({"id": "id"}, "unique=True"),
        ({"unique": True}, "unique=True"),
    ],
    ids=lambda value: "-".join(map(str, value)) if isinstance(value, dict) else "",
)
def test_columns_that_do_not_fit_are_refused(wrong, said):
    with opened(table_of({})) as session, pytest.raises(ParameterError, match=said):
        reader(session, **wrong)


def test_a_counter_has_to_protect_the_units_of_the_table():
    with opened(table_of({})) as rows, opened(table_of({}), unit="who") as people:
        table, columns = people.policy.tables["visits"], EventColumns(time="at")
        with pytest.raises(NotPrivateError, match="State participation="):
            EventReader(table, columns, feed=feed_of(SetClock("2026-01-01"), counter_of(rows)))
        owned = feed_of(SetClock("2026-01-01"), counter_of(people, participation=Participation(most=1)))
        with pytest.raises(NotPrivateError, match="Leave out participation="):
            EventReader(rows.policy.tables["visits"], columns, feed=owned)
        public = sf.Table(name="visits", columns=COLUMNS, unit=sf.PUBLIC)
        with pytest.raises(NotPrivateError, match="needs no noise"):
            EventReader(public, columns, feed=owned)
        one_row = sf.Limits(max_rows_per_unit=1)
        path = sf.Table(name="visits", columns=COLUMNS, unit=sf.UnitPath("id", table, "id"), limits=one_row)
        with pytest.raises(NotPrivateError, match="Store the column of the unit"):
            EventReader(path, columns, feed=owned)


def test_a_counter_has_to_be_charged_to_the_account_of_the_data():
    session = opened(table_of({}))
    require_account(feed_of(SetClock("2026-01-01"), counter_of(session)), session, "visits")
    elsewhere = feed_of(SetClock("2026-01-01"))
    other = sf.open(table_of({}), name="other", columns=COLUMNS, budget=BUDGET)
    with pytest.raises(NotPrivateError, match="charged to visits, and not to other"):
        require_account(elsewhere, other, "visits")


def test_an_account_of_the_same_name_in_another_ledger_pays_for_nothing_here(tmp_path):
    ledger = tmp_path / "ledger.db"
    with opened(table_of({}), ledger=ledger) as session:
        for elsewhere in (None, tmp_path / "elsewhere.db"):
            with StreamSession("visits", budget=BUDGET, ledger=elsewhere) as other:
                feed = feed_of(SetClock("2026-01-01"), counter_of(other))
                with pytest.raises(NotPrivateError, match="not charged to visits in the ledger of the session"):
                    require_account(feed, session, "visits")
        with opened(table_of({}), ledger=ledger) as again:  # which has the same ledger, opened twice
            feed = feed_of(SetClock("2026-01-01"), counter_of(again))
            require_account(feed, session, "visits")
            feed.advance("2026-01-31")
            require_account(feed, session, "visits")  # it is over, and releases nothing more


def test_a_failure_on_a_row_suspends_the_account_and_any_other_does_not():
    with opened(table_of({})) as session:
        counter = counter_of(session)
        with pytest.raises(EngineError, match="opened"), suspending(counter):
            raise EngineError("duckdb", "opened a source")
        counter.tick()
        with pytest.raises(UnavailableError), suspending(counter):
            raise FailedOnRowsError("duckdb", "read rows", "ValueError")
        with pytest.raises(UnavailableError):
            session.sql("SELECT COUNT(*) AS n FROM visits", epsilon=1)
