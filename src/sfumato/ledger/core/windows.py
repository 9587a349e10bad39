"""What time it is, and windows: budgets that come back with time, and what they promise.

Times are microseconds since 1970 in UTC. A budget with a window bounds what is charged in each window. All windows
together are bounded by an account above with a budget for life, or by nothing, which a label then says.
"""

import logging
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Final, Protocol, TypeAlias

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import one_of
from sfumato.numeric.rationals import positive_integer, set_fields

MICROSECONDS: Final = 10**6
DAY: Final = 24 * 60 * 60 * MICROSECONDS

_LOG: Final = logging.getLogger("sfumato.ledger")
_NAMED: Final = 60 * MICROSECONDS
"""A jump of the machine's clock is logged from here on; a clock that is kept in time moves by less."""


class Clock(Protocol):
    """Tells the time; a ledger never lets it go back, whatever it says."""

    def __call__(self) -> int:
        """Microseconds since 1970 in UTC."""


class SystemClock:
    """The clock of the machine, as long as it does not hurry.

    **Guarantee**: between two readings it advances by at most what a clock that nobody can set has advanced, so that
    putting the machine's clock forward opens no window as long as the process lives. Put back, it stands still. A jump
    of a minute or more is logged, once.

    Example:
        >>> clock = SystemClock()
        >>> clock() <= clock()
        True
    """

    def __init__(self) -> None:
        self._wall, self._steady, self._last = _wall(), _steady(), 0
        self._named = 0

    def __call__(self) -> int:
        """The lesser of what both clocks say, and no less than before."""
        wall, steadily = _wall(), self._wall + _steady() - self._steady
        self._last = max(self._last, min(wall, steadily))
        if abs(wall - steadily - self._named) >= _NAMED:
            self._name(wall - steadily)
        return self._last

    def _name(self, jumped: int) -> None:
        """Say by how much the machine's clock was put, since this began or since that was said last."""
        seconds = (jumped - self._named) // MICROSECONDS
        self._named = jumped
        if seconds > 0:
            _LOG.warning("the clock of this machine was put forward by %d s; open ledgers do not follow it", seconds)
        else:
            _LOG.warning("the clock of this machine was put back by %d s; open ledgers wait for it", -seconds)


def _wall() -> int:
    return time.time_ns() // 1_000


def _steady() -> int:
    # Where there is one, a clock that goes on while the machine sleeps.
    clock = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
    return time.clock_gettime_ns(clock) // 1_000


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MOST_DAYS = 36_500


class Period(StrEnum):
    """How often a calendar window begins, in UTC, where no day is shorter or longer than another."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    QUARTER = "quarter"
    YEAR = "year"


@dataclass(frozen=True, slots=True)
class CalendarWindow:
    """A budget per calendar day, week (from Monday), month, quarter or year, in UTC.

    **Guarantee**: all charges within one period are within the budget. Two budgets can be spent within hours of a
    calendar boundary; a `RollingWindow` has no boundary. A lost answer that is requested again under its key is
    returned later than it was charged.

    Args:
        period: ``"day"``, ``"week"``, ``"month"``, ``"quarter"`` or ``"year"``.

    Raises:
        ParameterError: The period is none of these.

    Example:
        >>> CalendarWindow("month").begins(1_732_190_400_000_000)  # 2024-11-21 12:00
        1730419200000000
    """

    period: Period

    def __init__(self, period: str) -> None:
        set_fields(self, period=Period(one_of(period, "period", [*map(str, Period)])))

    def __str__(self) -> str:
        return f"per calendar {self.period} (UTC)"

    def begins(self, at: int) -> int:
        """The start of the period that contains a time."""
        midnight = _EPOCH + timedelta(days=at // DAY)
        match self.period:
            case Period.DAY:
                start = midnight
            case Period.WEEK:
                start = midnight - timedelta(days=midnight.weekday())
            case Period.MONTH:
                start = midnight.replace(day=1)
            case Period.QUARTER:
                start = midnight.replace(month=midnight.month - (midnight.month - 1) % 3, day=1)
            case Period.YEAR:
                start = midnight.replace(month=1, day=1)
        return (start - _EPOCH) // timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class RollingWindow:
    """A budget for any stretch of so many days.

    **Guarantee**: all charges within any stretch of this length are within the budget.

    Args:
        days: The length of the window in days, at least 1.

    Raises:
        ParameterError: days is not a whole number from 1 to 36,500.

    Example:
        >>> RollingWindow(30).begins(1_732_190_400_000_000) == 1_732_190_400_000_000 - 30 * 86_400_000_000 + 1
        True
    """

    days: int

    def __post_init__(self) -> None:
        if positive_integer(self.days, "days") > _MOST_DAYS:
            raise ParameterError("days", self.days, f"must be at most {_MOST_DAYS:,}")

    def __str__(self) -> str:
        return f"per any {self.days} days"

    def begins(self, at: int) -> int:
        """The start of the window that ends at a time: charges from then on count together with one at that time."""
        return at - self.days * DAY + 1


Window: TypeAlias = CalendarWindow | RollingWindow
