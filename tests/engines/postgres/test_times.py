from datetime import date, datetime, timedelta

import pyarrow as pa
import pytest
from tests.engines.in_postgres import values_of

from sfumato.engines.postgres.times import within_the_years
from sfumato.engines.sql.expressions.terms import cast, column, constant, figure, function, text
from sfumato.query.model.kinds import Kind
from sfumato.query.values.dates import days_added, months_added, seconds_added

FIRST, LAST = date(1, 1, 1), date(9999, 12, 31)
FIRST_TIME, LAST_TIME = datetime.fromisoformat("0001-01-01"), datetime.fromisoformat("9999-12-31 23:59:59.999999")
DAYS = (FIRST, LAST, date(2024, 2, 29), date(2000, 1, 1), date(1582, 10, 10), date(1900, 3, 1), None)
TIMES = (FIRST_TIME, LAST_TIME, datetime.fromisoformat("2024-02-29 23:59:58.999999"), None)
COUNTS = (0, 1, -1, 400, -3_652_059, 3_652_059, -730_000, 2**31 - 1)
SECONDS = (0, 1, -1, 86_399, 86_400, -86_401, 315_537_897_600, -315_537_897_600)


@pytest.mark.parametrize("count", COUNTS)
def test_days_later_are_those_of_the_years_1_to_9999(count):
    data = pa.table({"d": pa.array(DAYS, pa.date32()), "t": pa.array([*TIMES, *[None] * 3], pa.timestamp("us"))})
    terms = [
        function("days_after_date", column("d"), figure(count)),
        function("days_after_time", column("t"), figure(count)),
    ]
    days, times = values_of(terms, data)
    assert days == [day and days_added(day, count) for day in DAYS]
    assert times[: len(TIMES)] == [time and days_added(time, count) for time in TIMES]


@pytest.mark.parametrize("count", [0, 1, -1, 13, -119_988, 119_988])
def test_months_later_are_those_of_the_years_1_to_9999(count):
    data = pa.table({"d": pa.array(DAYS, pa.date32())})
    (days,) = values_of([function("months_after_date", column("d"), figure(count))], data)
    assert days == [day and months_added(day, count) for day in DAYS]


@pytest.mark.parametrize("count", SECONDS)
def test_seconds_later_leave_the_years_by_a_day_at_most(count):
    data = pa.table({"t": pa.array(TIMES, pa.timestamp("us"))})
    later = function("seconds_after_time", column("t"), cast(figure(count), "BIGINT"))
    (times,) = values_of([within_the_years(later, Kind.TIMESTAMP)], data)
    assert times == [time and seconds_added(time, count) for time in TIMES]


def test_infinity_is_outside_of_the_years():
    infinite = [cast(text(sign + "infinity"), kind) for kind in ("DATE", "TIMESTAMP") for sign in ("", "-")]
    kinds = [Kind.DATE, Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMP]
    terms = [within_the_years(value, kind) for value, kind in zip(infinite, kinds, strict=True)]
    assert values_of(terms, pa.table({"v": [1]})) == [[None]] * 4


def test_days_have_the_parts_of_their_midnight():
    parts = (
        "year",
        "quarter",
        "month",
        "week",
        "day",
        "day_of_week",
        "iso_day_of_week",
        "day_of_year",
        "hour",
        "second",
    )
    terms = [function(f"{part}_of", constant(LAST)) for part in parts]
    assert [value for (value,) in values_of(terms, pa.table({"v": [1]}))] == [9999, 4, 12, 52, 31, 5, 5, 365, 0, 0]
    assert LAST.isoweekday() == 5
    assert LAST - timedelta(days=LAST.weekday()) == date(9999, 12, 27)
    (start,) = values_of([function("start_of", text("week"), constant(LAST))], pa.table({"v": [1]}))
    assert start == [datetime.fromisoformat("9999-12-27")]
