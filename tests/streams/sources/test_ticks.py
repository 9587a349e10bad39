"""Ticks: periods of public time, also where clocks are changed, and what of an event is a moment."""

from datetime import UTC, date, datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import ParameterError
from sfumato.streams.sources.ticks import NO_TICK, Ticks, microseconds, moment_of, moments_of

HOUR = 3600 * 10**6
CLOCKS = [
    Ticks(start="2026-03-01", every="day", zone="Europe/Berlin"),
    Ticks(start="2026-01-05", every="2 weeks", zone="America/New_York"),
    Ticks(start="2024-02-28", every="month"),
    Ticks(start="2024-02-28", every="year", zone="Asia/Kathmandu"),
    Ticks(start="2026-01-01T12:00", every="15 minutes", zone="Asia/Kathmandu"),
    Ticks(start="2026-01-01", every=timedelta(milliseconds=1)),
]


def utc(clock, tick):
    return clock.moment(tick).astimezone(UTC).isoformat()


def test_days_have_23_and_25_hours_where_clocks_are_changed():
    spring = Ticks(start="2026-03-29", zone="Europe/Berlin")
    autumn = Ticks(start="2026-10-25", zone="Europe/Berlin")
    assert (spring.begin(2) - spring.begin(1), autumn.begin(2) - autumn.begin(1)) == (23 * HOUR, 25 * HOUR)


def test_a_midnight_that_is_left_out_is_the_change_and_of_two_the_first_counts():
    left_out = Ticks(start="2018-11-03", zone="America/Sao_Paulo")
    assert [utc(left_out, tick) for tick in (2, 3)] == ["2018-11-04T03:00:00+00:00", "2018-11-05T02:00:00+00:00"]
    twice = Ticks(start="2018-02-17", zone="America/Sao_Paulo")  # at midnight of the 18th it was 23:00 again
    assert [utc(twice, tick) for tick in (1, 2)] == ["2018-02-17T02:00:00+00:00", "2018-02-18T03:00:00+00:00"]


def test_a_day_that_a_zone_leaves_out_is_an_empty_tick():
    samoa = Ticks(start="2011-12-29", zone="Pacific/Apia")
    assert samoa.begin(2) == samoa.begin(3) < samoa.begin(4)
    assert samoa.at(samoa.begin(2)) == 3


def test_hours_are_elapsed_time_whatever_clocks_do():
    hours = Ticks(start="2026-03-29T00:00", every="hour", zone="Europe/Berlin")
    assert [hours.moment(tick).hour for tick in (1, 2, 3, 4)] == [0, 1, 3, 4]
    assert len(set(np.diff(hours.edges(1, 100)).tolist())) == 1


def test_months_and_years_keep_their_day():
    assert utc(CLOCKS[2], 13) == "2025-02-28T00:00:00+00:00"
    assert str(CLOCKS[3].moment(3).date()) == "2026-02-28"


@pytest.mark.parametrize("clock", CLOCKS, ids=lambda clock: clock.document["every"])
@given(tick=st.integers(1, 900), offset=st.sampled_from([-1, 0, 1]))
def test_a_tick_lasts_from_its_begin_until_before_the_next(clock, tick, offset):
    moment = clock.begin(tick) + offset
    assert clock.at(moment) == (tick if offset >= 0 else tick - 1)
    edges = clock.edges(1, tick)
    assert (len(edges), edges[0], edges[-1]) == (tick + 1, clock.begin(1), clock.begin(tick + 1))


@pytest.mark.parametrize("clock", CLOCKS, ids=lambda clock: clock.document["every"])
def test_a_clock_is_the_same_again_from_its_document(clock):
    again = Ticks(**clock.document)
    assert again.document == clock.document
    assert again.edges(1, 50).tolist() == clock.edges(1, 50).tolist()


def test_before_the_first_tick_there_is_none_and_the_calendar_ends():
    clock = Ticks(start="2026-01-01", every="year")
    assert clock.at(clock.begin(1) - 1) == NO_TICK
    assert clock.at(2**62) == 9999 - 2026 + 1
    with pytest.raises(ParameterError, match="before the year 10000"):
        clock.begin(9000)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"start": "soon"}, "a date or a moment"),
        ({"start": 7}, "a date or a moment"),
        ({"every": "fortnight"}, "15 minutes"),
        ({"every": "0 days"}, "15 minutes"),
        ({"every": timedelta(0)}, "longer than nothing"),
        ({"zone": "Mars/Base"}, "time zone"),
        ({"zone": "../etc"}, "time zone"),
        ({"zone": None}, "time zone"),
        ({"start": "2026-01-01T10:00"}, "midnight"),
        ({"start": datetime(2026, 1, 1, tzinfo=UTC)}, "midnight"),
        ({"start": "2026-01-31", "every": "month"}, "28th"),
    ],
    ids=lambda value: str(value) if isinstance(value, str) else "-".join(value),
)
def test_what_is_no_clock_is_refused(arguments, said):
    with pytest.raises(ParameterError, match=said):
        Ticks(**{"start": "2026-01-01", **arguments})


def test_an_event_may_say_its_time_in_many_ways():
    noon = microseconds(datetime(2026, 1, 1, 12, tzinfo=UTC))
    ways = [
        datetime(2026, 1, 1, 12), datetime(2026, 1, 1, 14, tzinfo=timezone(timedelta(hours=2))), "2026-01-01T12:00Z",  # noqa: DTZ001 # without a zone
        "2026-01-01 13:00+01:00", noon / 10**6, noon // 10**6, np.datetime64("2026-01-01T12"), np.int64(noon // 10**6),
    ]  # fmt: skip
    assert [moment_of(way) for way in ways] == [noon] * len(ways)
    berlin = Ticks(start="2026-01-01", zone="Europe/Berlin").calendar
    midnight = microseconds(datetime(2025, 12, 31, 23, tzinfo=UTC))
    assert [moment_of(day, berlin) for day in ("2026-01-01", date(2026, 1, 1))] == [midnight, midnight]


@pytest.mark.parametrize(
    "value",
    [None, "", "soon", "2026-02-30", True, float("nan"), float("inf"), 10**400, 1e300, [], {}, b"x", 1j],
    ids=lambda value: repr(value)[:9],
)
def test_what_is_no_moment_raises_nothing(value):
    assert moment_of(value) is None


def test_arrays_of_moments_are_read_as_their_items_are():
    days = np.array(["2026-01-01", "NaT"], dtype="datetime64[D]")
    assert moments_of(days)[0] == moment_of("2026-01-01")
    clock = Ticks(start="1970-01-01")
    far = np.array([2**62, 5], dtype="datetime64[s]")
    assert [clock.at(int(moment)) for moment in moments_of(far)] == [0, 1]
    assert moments_of(days.astype("datetime64[ns]"))[0] == moment_of("2026-01-01")
    assert moments_of(["2026-01-01", "soon"]).tolist() == moments_of(np.array(["2026-01-01", "soon"], object)).tolist()
    for wrong in (np.array([1.5]), "2026-01-01", 7):
        with pytest.raises(ParameterError, match="times"):
            moments_of(wrong)
