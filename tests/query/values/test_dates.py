"""Days and times: how text is read, and how they move, against the calendar itself."""

import re
from datetime import date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engines.stored_values import MOMENTS_AS_READ, TIMES_AS_READ, at

from sfumato.query.model.functions import Function
from sfumato.query.values.dates import (
    DATE_PATTERN,
    PARTS,
    TIMESTAMP_PATTERN,
    as_date,
    as_timestamp,
    days_added,
    days_between,
    iso,
    months_added,
    seconds_added,
    truncated,
)

UNITS = ("year", "quarter", "month", "week", "day", "hour", "minute")
MOMENTS = st.dates() | st.datetimes()


@pytest.mark.parametrize(("stored", "moment"), TIMES_AS_READ + MOMENTS_AS_READ)
def test_a_stored_time_is_read_or_null_and_a_day_is_that_of_the_time(stored, moment):
    assert as_timestamp(stored) == moment
    assert as_date(stored) == (None if moment is None else moment.date())


@pytest.mark.parametrize("day", ["0000-01-01", "2026-00-01", "2026-13-01", "2026-01-00", "2026-01-32"])
def test_a_pattern_leaves_only_the_length_of_a_month_to_the_calendar(day):
    assert not re.fullmatch(DATE_PATTERN, day)
    assert not re.fullmatch(TIMESTAMP_PATTERN, f"{day} 12:00")
    assert re.fullmatch(DATE_PATTERN, "2026-02-31")


@given(st.datetimes(), st.sampled_from(["T", " "]))
def test_a_time_in_text_is_that_time(moment, separator):
    assert as_timestamp(f" {moment.isoformat(separator)} ") == moment
    assert as_timestamp(moment.isoformat(separator, "minutes")) == moment.replace(second=0, microsecond=0)
    assert as_date(moment.date().isoformat()) == moment.date()


@given(st.text(max_size=12) | st.from_regex(r"\A\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d{1,7})?)?)?\Z"))
def test_reading_a_time_is_total(text):
    assert as_timestamp(text) is None or type(as_timestamp(text)) is datetime
    assert as_date(text) is None or type(as_date(text)) is date


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (date(1, 2, 3), "0001-02-03"),
        (at("0001-02-03"), "0001-02-03 00:00:00.000000"),
        (at("9999-12-31 23:59:59.999999"), "9999-12-31 23:59:59.999999"),
    ],
)
def test_iso_text_has_all_its_digits(value, text):
    assert iso(value) == text


@given(MOMENTS, st.sampled_from(UNITS))
def test_a_truncated_time_begins_its_unit(x, unit):
    start = truncated(x, unit)
    assert type(start) is type(x)
    assert start <= x
    assert truncated(start, unit) == start
    if unit in {"year", "quarter", "month"}:
        assert PARTS[Function.DAY](start) == 1
        assert PARTS[Function(unit)](start) == PARTS[Function(unit)](x)
    if unit == "week":
        assert PARTS[Function.ISO_DAY_OF_WEEK](start) == 1
        assert days_between(x, start) < 7


@given(MOMENTS, st.integers(-4_000_000, 4_000_000))
def test_days_are_added_as_the_calendar_does_or_leave_it(x, days):
    try:
        expected = x + timedelta(days=days)
    except OverflowError:
        expected = None
    assert days_added(x, days) == expected


@given(st.datetimes(), st.integers(-(2**63), 2**63 - 1) | st.integers(-(10**7), 10**7))
def test_seconds_are_added_as_the_calendar_does_or_leave_it(x, seconds):
    try:
        expected = x + timedelta(seconds=seconds)
    except OverflowError:
        expected = None
    assert seconds_added(x, seconds) == expected


@given(MOMENTS, st.integers(-130_000, 130_000))
def test_months_are_added_to_the_same_day_or_the_last_one(x, months):
    moved = months_added(x, months)
    if moved is None:
        assert not 12 <= 12 * x.year + x.month - 1 + months <= 12 * 9999 + 11
        return
    assert 12 * (moved.year - x.year) + moved.month - x.month == months
    assert moved.day == x.day or (moved.day < x.day and (moved + timedelta(days=1)).day == 1)
    assert not isinstance(x, datetime) or moved.time() == x.time()


@given(st.dates(), st.dates())
def test_days_between_two_days_lead_from_one_to_the_other(x, y):
    assert days_added(y, days_between(x, y)) == x


@given(MOMENTS)
def test_the_parts_of_a_day_are_those_of_the_calendar(x):
    year, week, weekday = x.isocalendar()
    assert [PARTS[f](x) for f in (Function.YEAR, Function.MONTH, Function.DAY)] == [x.year, x.month, x.day]
    assert [PARTS[f](x) for f in (Function.WEEK, Function.ISO_DAY_OF_WEEK, Function.DAY_OF_WEEK)] == [
        week,
        weekday,
        weekday % 7,
    ]
    assert PARTS[Function.DAY_OF_YEAR](x) == days_between(x, date(x.year, 1, 1)) + 1
    assert PARTS[Function.QUARTER](x) == -(-x.month // 3)
    assert abs(year - x.year) <= 1
