"""Days and times in SQL, as `dates` has them: NULL outside of the years 1 to 9999, and no step that could fail before.

What is added is at most as long as those years, so that the engine's own range, of about 290,000 years, is never left.
"""

from collections.abc import Mapping, Sequence
from datetime import date, datetime, time
from typing import Final

from sqlglot import exp

from sfumato.engines.sql.arithmetic import Lowering, whole
from sfumato.engines.sql.kinds import Term
from sfumato.engines.sql.terms import Sql, between, cast, constant, figure, function, guarded, null, operation, text
from sfumato.query.functions import Function
from sfumato.query.kinds import Kind

_ENDS: Final = {
    Kind.DATE: (date.min, date.max),
    Kind.TIMESTAMP: (datetime.combine(date.min, time.min), datetime.combine(date.max, time.max)),
}
_MOST_DAYS: Final = (date.max - date.min).days
_MOST_SECONDS: Final = (_MOST_DAYS + 1) * 86_400
_MOST_MONTHS: Final = 12 * date.max.year


def truncated(value: Term, unit: str) -> Term:
    """TRUNCATE: the start of the year … minute, of the kind of the value; of a day, an hour is that day."""
    if value.kind is Kind.DATE and unit in {"hour", "minute"}:
        return value
    start = function("DATE_TRUNC", text(unit), value.sql)
    return Term(sql=cast(start, "DATE") if value.kind is Kind.DATE else start, kind=value.kind)


def months_added(value: Term, months: float) -> Term:
    """ADD_MONTHS: the same day so many months later, or the last one of that month."""
    if abs(months) > _MOST_MONTHS:
        return Term(sql=null(value.kind), kind=value.kind)
    moved = operation(exp.Add, value.sql, function("TO_MONTHS", figure(int(months))))
    return _within_the_years(cast(moved, "DATE") if value.kind is Kind.DATE else moved, value.kind)


def _days_added(terms: Sequence[Term]) -> Term:
    value, days = terms
    count = cast(_at_most(days.sql, _MOST_DAYS), "INTEGER")
    added = count if value.kind is Kind.DATE else function("TO_DAYS", count)
    return _within_the_years(operation(exp.Add, value.sql, added), value.kind)


def _seconds_added(terms: Sequence[Term]) -> Term:
    value, seconds = terms
    count = cast(_at_most(seconds.sql, _MOST_SECONDS), "BIGINT")
    microseconds = operation(exp.Mul, count, figure(1_000_000))
    return _within_the_years(operation(exp.Add, value.sql, function("TO_MICROSECONDS", microseconds)), value.kind)


def _days_between(terms: Sequence[Term]) -> Term:
    first, second = (term.sql for term in terms)
    return whole(function("DATE_DIFF", text("day"), second, first))


def _part(name: str) -> Lowering:
    return lambda terms: whole(function(name, terms[0].sql))


def _at_most(count: Sql, most: int) -> Sql:
    """A count, or NULL if it is further from 0: it would leave the years from any of their days."""
    return guarded(count, lambda x: between(x, figure(-most), figure(most)))


def _within_the_years(moved: Sql, kind: Kind) -> Term:
    first, last = map(constant, _ENDS[kind])
    return Term(sql=guarded(moved, lambda x: between(x, first, last)), kind=kind)


DATES: Final[Mapping[Function, Lowering]] = {
    Function.YEAR: _part("YEAR"),
    Function.QUARTER: _part("QUARTER"),
    Function.MONTH: _part("MONTH"),
    Function.WEEK: _part("WEEKOFYEAR"),
    Function.DAY: _part("DAY"),
    Function.DAY_OF_WEEK: _part("DAYOFWEEK"),
    Function.ISO_DAY_OF_WEEK: _part("ISODOW"),
    Function.DAY_OF_YEAR: _part("DAYOFYEAR"),
    Function.HOUR: _part("HOUR"),
    Function.MINUTE: _part("MINUTE"),
    Function.SECOND: _part("SECOND"),
    Function.ADD_DAYS: _days_added,
    Function.ADD_SECONDS: _seconds_added,
    Function.DAYS_BETWEEN: _days_between,
}
"""Functions of days and times without constants."""
