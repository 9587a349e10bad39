"""`Ticks`: the public clock of a stream, and to which of its periods a moment belongs.

Moments are microseconds since 1970 in UTC. A period of the calendar begins at a midnight of its zone, so that days have
23 or 25 hours where clocks are changed.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from fractions import Fraction
from operator import itemgetter
from typing import Any, Final
from zoneinfo import ZoneInfo

import numpy as np
import numpy.typing as npt

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import of_kind, whole
from sfumato.numeric.rationals import set_fields

Moments = npt.NDArray[np.int64]
"""Microseconds since 1970 in UTC, or numbers of ticks."""

NO_TICK: Final = 0
"""Stands for the tick of a moment that lies in none."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_FIXED: Final = {"microsecond": 1, "second": 10**6, "minute": 60 * 10**6, "hour": 3600 * 10**6}
_DAYS: Final = {"day": 1, "week": 7}
_MONTHS: Final = {"month": 1, "year": 12}
_UNITS: Final = (*_FIXED, *_DAYS, *_MONTHS)
_EVERY: Final = re.compile(rf"(?:([1-9][0-9]{{0,14}}) )?({'|'.join(_UNITS)})s?")
_LAST_DAY: Final = 28
"""The latest day of a month on which months and years may begin, as every month has it."""

MOST_TICKS: Final = 2**31
"""No stream has more."""

_LONGEST_DATE: Final = 10
_FINER: Final = ("ns", "ps", "fs", "as")
_FAR: Final = 2**62
_UNKNOWN: Final = np.iinfo(np.int64).min
"""Stands for what is no moment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticks:
    """Periods of public time, numbered from 1: tick t lasts from `begin(t)` until just before `begin(t + 1)`.

    They are fixed before the first event and depend on no event. A period of elapsed time begins (t − 1) · every after
    `start`. A period of the calendar begins at midnight in `zone`: at the change of clocks where that leaves midnight
    out, and at the first midnight where there are two. A day that a zone leaves out is an empty period.

    Args:
        start: When tick 1 begins: a date, at midnight in `zone`; or for periods of elapsed time also a moment, as a
            `datetime` or its text. One without a zone is meant in `zone`.
        every: The period: `"second"`, `"minute"`, `"hour"` or a `timedelta` of elapsed time; `"day"`, `"week"`,
            `"month"` or `"year"` of the calendar; or several, such as `"15 minutes"`.
        zone: The name of a time zone, such as `"Europe/Berlin"`.

    Raises:
        ParameterError: No such period or zone; or months that begin after the 28th.

    Example:
        >>> days = Ticks(start="2026-03-28", every="day", zone="Europe/Berlin")
        >>> [str(days.moment(tick)) for tick in (1, 2, 3)]
        ['2026-03-28 00:00:00+01:00', '2026-03-29 00:00:00+01:00', '2026-03-30 00:00:00+02:00']
    """

    start: date | datetime | str
    every: str | timedelta = "day"
    zone: str = "UTC"
    _unit: str = field(init=False, repr=False, compare=False)
    _count: int = field(init=False, repr=False, compare=False)
    _zone: ZoneInfo = field(init=False, repr=False, compare=False)
    _origin: datetime = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        zone = _zone_of(self.zone)
        origin = _origin_of(self.start)
        count, unit = _period_of(self.every)
        if unit not in _FIXED:
            if origin.tzinfo is not None or origin.time() != time(0):
                raise ParameterError("start", str(origin), f"must be a date, as a {unit} begins at midnight")
            if unit in _MONTHS and origin.day > _LAST_DAY:
                raise ParameterError("start", str(origin), f"must be at most the {_LAST_DAY}th, which each month has")
        if origin.tzinfo is None:
            origin = origin.replace(tzinfo=zone)
        set_fields(self, _zone=zone, _origin=origin, _unit=unit, _count=count)

    @property
    def calendar(self) -> ZoneInfo:
        """The zone."""
        return self._zone

    @property
    def document(self) -> Mapping[str, str]:
        """The arguments as text: equal for equal ticks, and `Ticks(**document)` are the same."""
        origin = self._origin if self._unit in _FIXED else self._origin.date()
        return {"start": origin.isoformat(), "every": f"{self._count} {self._unit}", "zone": self.zone}

    def begin(self, tick: int) -> int:
        """When a tick begins, in microseconds since 1970 in UTC.

        Raises:
            ParameterError: It is no tick, or after the year 9999.
        """
        return microseconds(self.moment(tick))

    def moment(self, tick: int) -> datetime:
        """When a tick begins, as a moment in the zone.

        Raises:
            ParameterError: It is no tick, or after the year 9999.
        """
        before = whole(tick, "tick", least=1, most=MOST_TICKS) - 1
        periods = before * self._count
        try:
            if self._unit in _FIXED:
                elapsed = periods * _FIXED[self._unit] * _MICROSECOND
                return (self._origin.astimezone(UTC) + elapsed).astimezone(self._zone)
            local = self._origin.replace(tzinfo=None)
            if self._unit in _DAYS:
                local += timedelta(days=periods * _DAYS[self._unit])
            else:
                months = local.year * 12 + local.month - 1 + periods * _MONTHS[self._unit]
                local = local.replace(year=months // 12, month=months % 12 + 1)
            return local.replace(tzinfo=self._zone)
        except (OverflowError, ValueError):
            raise ParameterError("tick", tick, "must begin before the year 10000") from None

    def at(self, moment: int) -> int:
        """The tick of a moment of public time; 0 before the first.

        Example:
            >>> days = Ticks(start="2026-01-01")
            >>> days.at(days.begin(3) - 1), days.at(days.begin(3)), days.at(days.begin(1) - 1)
            (2, 3, 0)
        """
        if moment < self.begin(1):
            return NO_TICK
        first, beyond = 1, 2
        while self._is_begun(beyond, moment):
            first, beyond = beyond, 2 * beyond
        while beyond - first > 1:
            middle = (first + beyond) // 2
            first, beyond = (middle, beyond) if self._is_begun(middle, moment) else (first, middle)
        return first

    def edges(self, first: int, count: int) -> Moments:
        """When `count` ticks from `first` on begin, and when the last one of them ends.

        Example:
            >>> (Ticks(start="1970-01-01", every="second").edges(2, 3) // 10**6).tolist()
            [1, 2, 3, 4]
        """
        if self._unit not in _FIXED:
            return np.array([self.begin(tick) for tick in range(first, first + count + 1)], dtype=np.int64)
        return self.begin(first) + np.arange(count + 1, dtype=np.int64) * (self._count * _FIXED[self._unit])

    def _is_begun(self, tick: int, moment: int) -> bool:
        try:
            return self.begin(tick) <= moment
        except ParameterError:  # it is beyond all years
            return False


def microseconds(moment: datetime) -> int:
    """Microseconds since 1970 in UTC; a time without a zone is taken for UTC, as in every table.

    Example:
        >>> microseconds(datetime(1970, 1, 1, 0, 0, 1))
        1000000
    """
    return ((moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)) - _EPOCH) // _MICROSECOND


def moment_of(value: Any, zone: tzinfo = UTC) -> int | None:
    """What one event says of its time, in microseconds since 1970 in UTC; None of what is no moment. It never raises.

    A moment is a `datetime`, a date (its midnight in the zone), ISO text of either, or a number of seconds since 1970.
    A time of day without a zone is taken for UTC, as in every table.

    Example:
        >>> moment_of("2026-01-01T01:00:00+01:00") == moment_of("2026-01-01"), moment_of("soon"), moment_of(1.5)
        (True, None, 1500000)
    """
    try:
        if isinstance(value, np.generic):
            value = value.astype("datetime64[us]").item() if isinstance(value, np.datetime64) else value.item()
        if isinstance(value, str):
            is_date = len(value) <= _LONGEST_DATE
            value = date.fromisoformat(value) if is_date else datetime.fromisoformat(value)
        if isinstance(value, datetime):
            return microseconds(value)
        if isinstance(value, date):
            return microseconds(datetime.combine(value, time(0), tzinfo=zone))
        if isinstance(value, int | float) and not isinstance(value, bool):
            found = int(Fraction(value) * 10**6)
            return found if abs(found) < _FAR else None
    except Exception:  # noqa: BLE001 # it may be any object, and whatever it fails with would tell of it
        return None
    return None


def moments_of(values: Any, zone: tzinfo = UTC) -> Moments:
    """The moments of many events: an array of `datetime64`, or a list of what one may be.

    What `moment_of` calls no moment becomes one that lies in no tick. The error names no event.

    Raises:
        ParameterError: It is no array of moments and no list.

    Example:
        >>> moments_of(np.array(["1970-01-01T00:00:01", "NaT"], dtype="datetime64[s]"))[0]
        np.int64(1000000)
    """
    if isinstance(values, np.ndarray):
        if values.dtype.kind == "M":
            found = values.astype("datetime64[us]")
            is_exact = found.astype(values.dtype) == values  # years far beyond the calendar come round again
            is_finer = np.datetime_data(values.dtype)[0] in _FINER
            return np.where(is_exact | is_finer, found.astype(np.int64), _UNKNOWN)
        if values.dtype.kind != "O":
            raise ParameterError("times", values, "must be moments: an array of datetime64, or a list")
        values = values.tolist()
    of_kind(values, "times", (list, tuple), "an array or a list of moments")
    read = [moment_of(value, zone) for value in values]
    return np.array([_UNKNOWN if moment is None else moment for moment in read], dtype=np.int64)


def _period_of(every: object) -> tuple[int, str]:
    """How many of which unit."""
    if isinstance(every, timedelta):
        if every <= timedelta(0):
            raise ParameterError("every", every, "must be longer than nothing")
        return _reduced(every // _MICROSECOND)
    found = _EVERY.fullmatch(every) if isinstance(every, str) else None
    if found is None:
        units = ", ".join(_UNITS[1:])
        raise ParameterError("every", every, f"must be a timedelta, one of {units}, or several such as '15 minutes'")
    count, unit = int(found[1] or 1), found[2]
    return _reduced(count * _FIXED[unit]) if unit in _FIXED else (count, unit)


def _reduced(duration: int) -> tuple[int, str]:
    """Microseconds in the largest unit of which they are a whole number."""
    unit, size = max(((unit, size) for unit, size in _FIXED.items() if duration % size == 0), key=itemgetter(1))
    return duration // size, unit


def _zone_of(name: object) -> ZoneInfo:
    try:
        return ZoneInfo(of_kind(name, "zone", str, 'the name of a time zone, such as "Europe/Berlin"'))
    except (ValueError, OSError, LookupError):  # ZoneInfoNotFoundError is a LookupError
        raise ParameterError("zone", name, 'must be the name of a time zone, such as "Europe/Berlin"') from None


def _origin_of(start: object) -> datetime:
    """When the first tick begins, still without a zone if none was stated."""
    if isinstance(start, str):
        try:
            start = datetime.fromisoformat(start)
        except ValueError:
            raise ParameterError("start", start, 'must be a date or a moment, such as "2026-01-01"') from None
    if isinstance(start, datetime):
        return start
    return datetime.combine(of_kind(start, "start", date, 'a date or a moment, such as "2026-01-01"'), time(0))
