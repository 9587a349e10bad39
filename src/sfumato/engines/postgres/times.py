"""Days and times in PostgreSQL, whose years begin in 4713 BC: what would leave the years 1 to 9999 is not computed."""

from collections.abc import Callable
from datetime import date, datetime, time
from typing import Final

from sqlglot import exp

from sfumato.engines.postgres.names import once
from sfumato.engines.sql.dialect import Idioms, native
from sfumato.engines.sql.expressions.terms import Sql, between, case, cast, constant, figure, operation, text
from sfumato.query.model.kinds import Kind

_FIRST: Final = date.min
_ENDS: Final = {
    Kind.DATE: (date.min, date.max),
    Kind.TIMESTAMP: (datetime.combine(date.min, time.min), datetime.combine(date.max, time.max)),
}
_DAYS: Final = (date.max - date.min).days
_SECONDS_OF_DAY: Final = 86_400
_FIRST_MONTH, _LAST_MONTH = 12 * date.min.year, 12 * date.max.year + 11


def _part(name: str) -> Callable[[Sql], Sql]:
    """A part of a day or a time, as a whole number."""

    def part(moment: Sql) -> Sql:
        return cast(native("FLOOR", _extracted(name, moment)), "BIGINT")

    return part


def _extracted(name: str, moment: Sql) -> Sql:
    return native("DATE_PART", text(name), cast(moment, "TIMESTAMP"))


def _if_days(moment: Sql, days: Sql, later: Sql, *, beyond: int = 0) -> Sql:
    """What is so many days later, if that day is of the years 1 to 9999; or at most so many beyond them."""
    days_before = operation(exp.Sub, cast(moment, "DATE"), constant(_FIRST))
    day = operation(exp.Add, cast(days_before, "BIGINT"), days)
    return case([(between(day, figure(-beyond), figure(_DAYS + beyond)), later)])


def _seconds_after_time(moment: Sql, seconds: Sql) -> Sql:
    def later(x: Sql, n: Sql) -> Sql:
        days, rest = (operation(kind, n, figure(_SECONDS_OF_DAY)) for kind in (exp.Div, exp.Mod))
        moved = _later(x, days=cast(days, "INTEGER"), seconds=cast(rest, "DOUBLE"))
        return _if_days(x, days, moved, beyond=1)

    return once(moment, lambda x: once(seconds, lambda n: later(x, n)))


def _months_after_time(moment: Sql, months: Sql) -> Sql:
    """The last day of the month where it has no such day."""

    def later(x: Sql) -> Sql:
        year, month = (cast(_extracted(part, x), "INTEGER") for part in ("year", "month"))
        place = operation(exp.Add, operation(exp.Mul, year, figure(12)), operation(exp.Sub, month, figure(1)))
        reached = operation(exp.Add, place, months)
        return case([(between(reached, figure(_FIRST_MONTH), figure(_LAST_MONTH)), _later(x, months=months))])

    return once(moment, later)


def _later(moment: Sql, *, months: Sql | None = None, days: Sql | None = None, seconds: Sql | None = None) -> Sql:
    """A time later, by the parts of MAKE_INTERVAL: years, months, weeks, days, hours, minutes, seconds."""
    nothing = figure(0)
    parts = (nothing, months or nothing, nothing, days or nothing, nothing, nothing, seconds or nothing)
    return operation(exp.Add, moment, native("MAKE_INTERVAL", *parts))


def within_the_years(moment: Sql, kind: Kind) -> Sql:
    """A day or a time of the years 1 to 9999; any other, infinity included, is NULL."""
    first, last = map(constant, _ENDS[kind])
    return once(moment, lambda x: case([(between(x, first, last), x)]))


TIMES: Final[Idioms] = {
    "days_after_date": lambda day, days: once(
        day, lambda x: once(days, lambda n: _if_days(x, n, operation(exp.Add, x, n)))
    ),
    "days_after_time": lambda moment, days: once(
        moment, lambda x: once(days, lambda n: _if_days(x, n, _later(x, days=n)))
    ),
    "months_after_date": lambda day, months: cast(_months_after_time(cast(day, "TIMESTAMP"), months), "DATE"),
    "months_after_time": _months_after_time,
    "seconds_after_time": _seconds_after_time,
    "days_between": lambda first, second: cast(operation(exp.Sub, cast(second, "DATE"), cast(first, "DATE")), "BIGINT"),
    "start_of": lambda unit, moment: native("DATE_TRUNC", unit, cast(moment, "TIMESTAMP")),
    "year_of": _part("year"),
    "quarter_of": _part("quarter"),
    "month_of": _part("month"),
    "week_of": _part("week"),
    "day_of": _part("day"),
    "day_of_week_of": _part("dow"),
    "iso_day_of_week_of": _part("isodow"),
    "day_of_year_of": _part("doy"),
    "hour_of": _part("hour"),
    "minute_of": _part("minute"),
    "second_of": _part("second"),
    "time_in_full": lambda moment: native("TO_CHAR", moment, text("YYYY-MM-DD HH24:MI:SS.US")),
}
"""Idioms of days and times."""
