import time as system_time
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.ledger.stories import time

from sfumato.errors import ParameterError
from sfumato.ledger.core import windows
from sfumato.ledger.core.windows import DAY, CalendarWindow, Period, RollingWindow, SystemClock

TIMES = st.integers(0, time("2999-12-31T00:00"))


@pytest.mark.parametrize(
    ("period", "at", "begins"),
    [
        ("day", "2024-11-21T23:59:59", "2024-11-21"),
        ("day", "2024-11-22T00:00", "2024-11-22"),
        ("week", "2024-11-24T23:59:59", "2024-11-18"),
        ("week", "2024-11-25T00:00", "2024-11-25"),
        ("week", "2026-01-01T12:00", "2025-12-29"),
        ("week", "2024-03-01T00:00", "2024-02-26"),
        ("month", "2024-02-29T23:59:59", "2024-02-01"),
        ("month", "2024-03-01T00:00", "2024-03-01"),
        ("month", "2023-02-28T23:59:59", "2023-02-01"),
        ("month", "2023-12-31T23:59:59", "2023-12-01"),
        ("quarter", "2024-03-31T23:59:59", "2024-01-01"),
        ("quarter", "2024-04-01T00:00", "2024-04-01"),
        ("quarter", "2024-12-31T00:00", "2024-10-01"),
        ("year", "2024-12-31T23:59:59", "2024-01-01"),
        ("year", "2025-01-01T00:00", "2025-01-01"),
        ("year", "2000-02-29T00:00", "2000-01-01"),
        ("week", "1970-01-01T00:00", "1969-12-29"),
    ],
)
def test_a_calendar_window_begins_with_its_period(period, at, begins):
    assert CalendarWindow(period).begins(time(at)) == time(begins)


@pytest.mark.parametrize("period", Period)
def test_the_last_microsecond_is_of_the_old_period_and_the_next_one_of_the_new(period):
    window, turn = CalendarWindow(period), time("2024-01-01T00:00")  # a Monday, too
    assert window.begins(turn) == turn
    assert window.begins(turn - 1) < turn - DAY + 1


@given(TIMES, st.sampled_from(Period))
def test_a_period_holds_the_time_it_is_asked_of_and_is_its_own_beginning(at, period):
    window = CalendarWindow(period)
    begins = window.begins(at)
    assert begins <= at
    assert begins % DAY == 0
    assert begins < 0 or window.begins(begins) == begins


@given(TIMES, TIMES, st.sampled_from([*map(CalendarWindow, Period), RollingWindow(1), RollingWindow(365)]))
def test_a_window_never_moves_back(first, second, window):
    early, late = sorted((first, second))
    assert window.begins(early) <= window.begins(late)


@given(TIMES)
def test_the_calendar_is_that_of_utc(at):
    moment = datetime.fromtimestamp(at // 10**6, UTC)
    assert CalendarWindow("month").begins(at) == time(f"{moment:%Y-%m-01}")


@pytest.mark.parametrize("zone", ["America/New_York", "Pacific/Kiritimati", "Europe/Berlin"])
@pytest.mark.parametrize("at", ["2024-03-31T01:30", "2024-10-27T00:30", "2024-11-03T05:30"])
def test_no_zone_and_no_summer_time_moves_a_window(zone, at, monkeypatch):
    monkeypatch.setenv("TZ", zone)
    system_time.tzset()
    try:
        assert CalendarWindow("day").begins(time(at)) == time(at[:10])
    finally:
        monkeypatch.undo()
        system_time.tzset()


def test_a_rolling_window_holds_so_many_days_and_not_a_microsecond_more():
    now = time("2024-11-21T12:00")
    begins = RollingWindow(30).begins(now)
    assert begins == now - 30 * DAY + 1
    assert now - begins == 30 * DAY - 1


@pytest.mark.parametrize("days", [0, -1, 1.5, "30", True, 36_501])
def test_days_are_a_whole_number_up_to_a_century(days):
    with pytest.raises(ParameterError, match="days"):
        RollingWindow(days)


@pytest.mark.parametrize("period", ["fortnight", "", "Day", None, 30])
def test_a_period_is_one_of_five(period):
    with pytest.raises(ParameterError, match="'day' or 'week' or 'month' or 'quarter' or 'year'"):
        CalendarWindow(period)


def test_windows_say_what_they_are():
    assert str(CalendarWindow("month")) == "per calendar month (UTC)"
    assert str(RollingWindow(30)) == "per any 30 days"


def test_windows_are_values():
    assert CalendarWindow("week") == CalendarWindow(Period.WEEK) != CalendarWindow("day")
    assert len({RollingWindow(7), RollingWindow(7), CalendarWindow("week")}) == 2


@pytest.fixture
def system(monkeypatch):
    """What both clocks of a machine say, to be set by hand."""
    shown = {"wall": 20_000 * DAY, "steady": 7}
    monkeypatch.setattr(windows, "_wall", lambda: shown["wall"])
    monkeypatch.setattr(windows, "_steady", lambda: shown["steady"])
    return shown


def test_where_both_go_on_it_is_that_late(system):
    told = SystemClock()
    assert told() == 20_000 * DAY
    system["wall"] += DAY
    system["steady"] += DAY
    assert told() == 20_001 * DAY


def test_put_forward_it_hurries_no_more_than_the_steady_clock(system):
    told = SystemClock()
    system["wall"] += 365 * DAY
    system["steady"] += 5
    assert told() == 20_000 * DAY + 5


def test_put_back_it_stands_still_until_the_old_time_is_there_again(system):
    told, start = SystemClock(), system["wall"]
    for wall, steady, expected in ((1, 1, 1), (-DAY, 2, 1), (0, DAY, 1), (3, DAY + 3, 3)):
        system["wall"], system["steady"] = start + wall, 7 + steady
        assert told() == start + expected


def test_put_forward_and_back_again_nothing_was_gained(system):
    told, start = SystemClock(), system["wall"]
    system["wall"] += DAY
    told()
    system["wall"] = start + 2
    system["steady"] += 2
    assert told() == start + 2


def test_a_machine_that_slept_has_its_time_again(system):
    told = SystemClock()
    system["wall"] += 3 * DAY
    system["steady"] += 3 * DAY  # it counts sleep too
    assert told() == 20_003 * DAY


def test_a_jump_of_a_minute_is_named_once_and_less_is_not(system, caplog):
    told = SystemClock()
    for jump in (59, 2, 0, -3600, 30):
        system["wall"] += jump * 10**6
        told()
    assert [record.getMessage() for record in caplog.records] == [
        "the clock of this machine was put forward by 61 s; open ledgers do not follow it",
        "the clock of this machine was put back by 3600 s; open ledgers wait for it",
    ]


def test_the_clocks_of_this_machine_are_read_in_microseconds():
    assert windows._wall() > 1_700_000_000 * 10**6
    first = windows._steady()
    assert 0 <= windows._steady() - first < DAY


def test_where_no_clock_counts_sleep_the_monotonic_one_is_read(monkeypatch):
    monkeypatch.delattr(windows.time, "CLOCK_BOOTTIME", raising=False)
    assert windows._steady() <= windows._steady()
