"""Days and times in Polars, as `dates` has them: counted as whole numbers, and NULL outside of the years 1 to 9999."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Final, TypeAlias

import polars as pl

from sfumato.engines.frames.terms import MICROSECONDS, TYPES, Term, guarded, named_together, null, whole
from sfumato.query.functions import Function
from sfumato.query.kinds import Kind

Lowering: TypeAlias = Callable[[Sequence[Term]], Term]

DAY: Final = 86_400_000_000
"""Microseconds."""

_EPOCH: Final = date(1970, 1, 1).toordinal()
_FIRST, _LAST = date.min.toordinal() - _EPOCH, date.max.toordinal() - _EPOCH
_ENDS: Final = {Kind.DATE: (_FIRST, _LAST), Kind.TIMESTAMP: (_FIRST * DAY, (_LAST + 1) * DAY - 1)}
_STEP: Final = {Kind.DATE: 1, Kind.TIMESTAMP: DAY}
_MOST_DAYS: Final = (date.max - date.min).days
_MOST_MONTHS: Final = 12 * date.max.year
_MOST_SECONDS: Final = (_MOST_DAYS + 1) * 86_400
_UNITS: Final = {
    "year": "1y", "quarter": "1q", "month": "1mo", "week": "1w", "day": "1d", "hour": "1h", "minute": "1m",
}  # fmt: skip


def within_the_years(kind: Kind) -> Callable[[pl.Expr], pl.Expr]:
    """Whether a count of days or microseconds since 1970 lies in the years 1 to 9999."""
    first, last = _ENDS[kind]
    return lambda count: count.is_between(first, last)


def of_days(days: pl.Expr, kind: Kind) -> pl.Expr:
    """Days since 1970 as days, or as their midnights."""
    return days.cast(pl.Int32).cast(pl.Date) if kind is Kind.DATE else of_microseconds(days * DAY)


def of_microseconds(count: pl.Expr) -> pl.Expr:
    """Microseconds since 1970 as a time."""
    return count.cast(MICROSECONDS)


def truncated(value: Term, unit: str) -> Term:
    """TRUNCATE: the start of the year … minute, of the kind of the value; of a day, an hour is that day."""
    if value.kind is Kind.DATE and unit in {"hour", "minute"}:
        return value
    return Term(value=value.value.dt.truncate(_UNITS[unit]), kind=value.kind)


def months_added(value: Term, months: float) -> Term:
    """ADD_MONTHS: the same day so many months later, or the last one of that month."""
    if abs(months) > _MOST_MONTHS:
        return Term(value=null(value.kind), kind=value.kind)
    moved = value.value.dt.offset_by(f"{int(months)}mo").cast(pl.Int64)
    return _moment(moved, value.kind)


def _days_added(terms: Sequence[Term]) -> Term:
    value, days = terms
    return _moved(value, days, step=_STEP[value.kind], most=_MOST_DAYS)


def _seconds_added(terms: Sequence[Term]) -> Term:
    value, seconds = terms
    return _moved(value, seconds, step=1_000_000, most=_MOST_SECONDS)


def _moved(value: Term, count: Term, *, step: int, most: int) -> Term:
    """What is added is at most as long as all years, so that 64 bits hold the sum."""

    def added(start: pl.Expr, steps: pl.Expr) -> pl.Expr:
        return pl.when(steps.is_between(-most, most)).then(start + steps.clip(-most, most) * step)

    return _moment(named_together((value.value.cast(pl.Int64), count.value), added), value.kind)


def _moment(count: pl.Expr, kind: Kind) -> Term:
    """A count since 1970 as a day or a time, if it lies in those years."""
    within = guarded(count, within_the_years(kind))
    return Term(value=within.cast(pl.Int32).cast(pl.Date) if kind is Kind.DATE else within.cast(TYPES[kind]), kind=kind)


def _days_between(terms: Sequence[Term]) -> Term:
    first, second = (term.value.cast(pl.Int64) for term in terms)
    return whole(first - second)


def _part(part: Callable[[pl.Expr], pl.Expr]) -> Lowering:
    return lambda terms: whole(part(terms[0].value).cast(pl.Int64))


DATES: Final[Mapping[Function, Lowering]] = {
    Function.YEAR: _part(lambda x: x.dt.year()),
    Function.QUARTER: _part(lambda x: x.dt.quarter()),
    Function.MONTH: _part(lambda x: x.dt.month()),
    Function.WEEK: _part(lambda x: x.dt.week()),
    Function.DAY: _part(lambda x: x.dt.day()),
    Function.DAY_OF_WEEK: _part(lambda x: x.dt.weekday() % 7),
    Function.ISO_DAY_OF_WEEK: _part(lambda x: x.dt.weekday()),
    Function.DAY_OF_YEAR: _part(lambda x: x.dt.ordinal_day()),
    Function.HOUR: _part(lambda x: x.dt.hour()),
    Function.MINUTE: _part(lambda x: x.dt.minute()),
    Function.SECOND: _part(lambda x: x.dt.second()),
    Function.ADD_DAYS: _days_added,
    Function.ADD_SECONDS: _seconds_added,
    Function.DAYS_BETWEEN: _days_between,
}
"""Functions of days and times without constants."""
