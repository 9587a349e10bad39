"""Days and times in SQL, as `values.dates` has them: NULL outside the years 1 to 9999, and no step could fail before.

What is added is at most as long as those years, so that the engine's own range, of about 290,000 years, is never left.
"""

from collections.abc import Mapping, Sequence
from datetime import date, datetime, time
from typing import Final

from sfumato.engines.sql.expressions.arithmetic import Lowering, whole
from sfumato.engines.sql.expressions.kinds import Term
from sfumato.engines.sql.expressions.terms import Sql, between, cast, constant, figure, function, guarded, null, text
from sfumato.query.model.functions import Function
from sfumato.query.model.kinds import Kind

_ENDS: Final = {
    Kind.DATE: (date.min, date.max),
    Kind.TIMESTAMP: (datetime.combine(date.min, time.min), datetime.combine(date.max, time.max)),
}
_NAMES: Final = {Kind.DATE: "date", Kind.TIMESTAMP: "time"}
_MOST_DAYS: Final = (date.max - date.min).days
_MOST_SECONDS: Final = (_MOST_DAYS + 1) * 86_400
_MOST_MONTHS: Final = 12 * date.max.year


def truncated(value: Term, unit: str) -> Term:
    """TRUNCATE: the start of the year … minute, of the kind of the value; of a day, an hour is that day."""
    if value.kind is Kind.DATE and unit in {"hour", "minute"}:
        return value
    start = function("start_of", text(unit), value.sql)
    return Term(sql=cast(start, "DATE") if value.kind is Kind.DATE else start, kind=value.kind)


def months_added(value: Term, months: float) -> Term:
    """ADD_MONTHS: the same day so many months later, or the last one of that month."""
    if abs(months) > _MOST_MONTHS:
        return Term(sql=null(value.kind), kind=value.kind)
    moved = function(f"months_after_{_NAMES[value.kind]}", value.sql, figure(int(months)))
    return _within_the_years(moved, value.kind)


def _days_added(terms: Sequence[Term]) -> Term:
    value, days = terms
    count = cast(_at_most(days.sql, _MOST_DAYS), "INTEGER")
    return _within_the_years(function(f"days_after_{_NAMES[value.kind]}", value.sql, count), value.kind)


def _seconds_added(terms: Sequence[Term]) -> Term:
    value, seconds = terms
    count = cast(_at_most(seconds.sql, _MOST_SECONDS), "BIGINT")
    return _within_the_years(function("seconds_after_time", value.sql, count), value.kind)


def _days_between(terms: Sequence[Term]) -> Term:
    first, second = (term.sql for term in terms)
    return whole(function("days_between", second, first))


def _part(name: str) -> Lowering:
    return lambda terms: whole(function(name, terms[0].sql))


def _at_most(count: Sql, most: int) -> Sql:
    """A count, or NULL if it is further from 0: it would leave the years from any of their days."""
    return guarded(count, lambda x: between(x, figure(-most), figure(most)))


def _within_the_years(moved: Sql, kind: Kind) -> Term:
    first, last = map(constant, _ENDS[kind])
    return Term(sql=guarded(moved, lambda x: between(x, first, last)), kind=kind)


DATES: Final[Mapping[Function, Lowering]] = {
    Function.YEAR: _part("year_of"),
    Function.QUARTER: _part("quarter_of"),
    Function.MONTH: _part("month_of"),
    Function.WEEK: _part("week_of"),
    Function.DAY: _part("day_of"),
    Function.DAY_OF_WEEK: _part("day_of_week_of"),
    Function.ISO_DAY_OF_WEEK: _part("iso_day_of_week_of"),
    Function.DAY_OF_YEAR: _part("day_of_year_of"),
    Function.HOUR: _part("hour_of"),
    Function.MINUTE: _part("minute_of"),
    Function.SECOND: _part("second_of"),
    Function.ADD_DAYS: _days_added,
    Function.ADD_SECONDS: _seconds_added,
    Function.DAYS_BETWEEN: _days_between,
}
"""Functions of days and times without constants."""
