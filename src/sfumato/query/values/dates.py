"""Days and times of the years 1 to 9999: how they are read, what parts they have, and how they are moved.

Total: whatever would leave those years is None. A time has no zone (UTC) and counts microseconds.
"""

import re
from calendar import monthrange
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from typing import Final, TypeVar

from sfumato.query.model.functions import Function

DATE_PATTERN: Final = r"(000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
"""A day in text, ISO 8601; a day that its month does not have still matches, and is NULL."""

TIMESTAMP_PATTERN: Final = DATE_PATTERN + r"[ T]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,6})?)?"
"""A day and a time in text, to the minute, the second or up to six digits of it."""

_LAST_DAY: Final = date.max.toordinal()
_SECONDS_OF_DAY: Final = 86_400
_DATE: Final = re.compile(DATE_PATTERN, re.ASCII)
_TIMESTAMP: Final = re.compile(TIMESTAMP_PATTERN, re.ASCII)

DateT = TypeVar("DateT", bound=date)


def as_timestamp(value: object) -> datetime | None:
    """A stored value as a time: of a day its midnight; of a time with a zone that time in UTC; text by its pattern."""
    match value:
        case str():
            return _read(value.strip(" "))
        case datetime():
            return _in_utc(value)
        case date():
            return datetime.combine(value, time.min)
        case _:
            return None


def as_date(value: object) -> date | None:
    """A stored value as a day: of a time the day it lies in."""
    moment = as_timestamp(value)
    return None if moment is None else moment.date()


def iso(value: date) -> str:
    """ISO 8601 as the salted hash reads it: 2026-01-31 of a day, 2026-01-31 12:00:00.000000 of a time."""
    return value.isoformat(" ", "microseconds") if isinstance(value, datetime) else value.isoformat()


def _read(text: str) -> datetime | None:
    if not (_DATE.fullmatch(text) or _TIMESTAMP.fullmatch(text)):
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:  # the 30th of February
        return None


def _in_utc(value: datetime) -> datetime | None:
    """Of any subclass, some of which count nanoseconds, a plain time."""
    try:
        utc = value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
        day, clock = date(utc.year, utc.month, utc.day), time(utc.hour, utc.minute, utc.second, utc.microsecond)
    except (OverflowError, ValueError):
        return None
    return datetime.combine(day, clock)


PARTS: Final[Mapping[Function, Callable[..., int]]] = {
    Function.YEAR: lambda x: x.year,
    Function.QUARTER: lambda x: (x.month + 2) // 3,
    Function.MONTH: lambda x: x.month,
    Function.WEEK: lambda x: x.isocalendar().week,
    Function.DAY: lambda x: x.day,
    Function.DAY_OF_WEEK: lambda x: x.isoweekday() % 7,
    Function.ISO_DAY_OF_WEEK: lambda x: x.isoweekday(),
    Function.DAY_OF_YEAR: lambda x: x.timetuple().tm_yday,
    Function.HOUR: lambda x: x.hour,
    Function.MINUTE: lambda x: x.minute,
    Function.SECOND: lambda x: x.second,
}
"""The parts of a day or a time, each a whole number."""

_FIRST_DAYS: Final[Mapping[str, Callable[[date], int]]] = {
    "year": lambda x: date(x.year, 1, 1).toordinal(),
    "quarter": lambda x: date(x.year, x.month - (x.month - 1) % 3, 1).toordinal(),
    "month": lambda x: date(x.year, x.month, 1).toordinal(),
    "week": lambda x: x.toordinal() - x.weekday(),  # the year 1 begins on a Monday
    "day": lambda x: x.toordinal(),
}


def truncated(x: date, unit: str) -> date:
    """The start of the year, quarter, month, week (Monday), day, hour or minute; of a day, an hour is that day."""
    if unit in _FIRST_DAYS:
        first = date.fromordinal(_FIRST_DAYS[unit](x))
        return datetime.combine(first, time.min) if isinstance(x, datetime) else first
    if not isinstance(x, datetime):
        return x
    whole_minute = x.replace(second=0, microsecond=0)
    return whole_minute.replace(minute=0) if unit == "hour" else whole_minute


def days_added(x: DateT, days: int) -> DateT | None:
    """So many days later, at the same time of day."""
    ordinal = x.toordinal() + days
    if not 1 <= ordinal <= _LAST_DAY:
        return None
    day = date.fromordinal(ordinal)
    return x.replace(year=day.year, month=day.month, day=day.day)


def months_added(x: DateT, months: int) -> DateT | None:
    """The same day so many months later, or the last one of that month."""
    year, month = divmod(12 * x.year + x.month - 1 + months, 12)
    if not date.min.year <= year <= date.max.year:
        return None
    last = monthrange(year, month + 1)[1]
    return x.replace(year=year, month=month + 1, day=min(x.day, last))


def seconds_added(x: datetime, seconds: int) -> datetime | None:
    """So many seconds later."""
    midnight = datetime.combine(x, time.min)
    since = x - midnight
    days, rest = divmod(since.seconds + seconds, _SECONDS_OF_DAY)
    day = days_added(midnight, days)
    return None if day is None else day + timedelta(seconds=rest, microseconds=since.microseconds)


def days_between(x: date, y: date) -> int:
    """How many days the first is after the second."""
    return x.toordinal() - y.toordinal()
