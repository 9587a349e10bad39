"""Windows: budgets that come back with time, and what they promise.

A budget with a window bounds what is charged in each window. All windows together are bounded by an account above
with a budget for life, or by nothing, which a label then says.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import TypeAlias

from sfumato.errors import ParameterError
from sfumato.ledger.core.clock import DAY
from sfumato.numeric.arguments import one_of
from sfumato.numeric.rationals import positive_integer

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
    """The budget is for each calendar day, week (from Monday), month, quarter or year, in UTC.

    **Guarantee**: what is charged within one period is within the budget. Around the turn of two periods both budgets
    may be spent in a short time; a `RollingWindow` has no such turn. An answer that got lost and is asked for again
    under its key is given later than it was charged.

    Args:
        period: ``"day"``, ``"week"``, ``"month"``, ``"quarter"`` or ``"year"``.

    Raises:
        ParameterError: It is none of these.

    Example:
        >>> CalendarWindow("month").begins(1_732_190_400_000_000)  # 2024-11-21 12:00
        1730419200000000
    """

    period: Period

    def __init__(self, period: str) -> None:
        object.__setattr__(self, "period", Period(one_of(period, "period", [*map(str, Period)])))

    def __str__(self) -> str:
        return f"per calendar {self.period} (UTC)"

    def begins(self, at: int) -> int:
        """When the period began in which a time lies."""
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
    """The budget is for any so many days in a row.

    **Guarantee**: what is charged within any stretch of this length is within the budget.

    Args:
        days: At least 1.

    Raises:
        ParameterError: It is no whole number of days up to 36,500.

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
        """Of what is charged at a time, what counts beside it: from here on."""
        return at - self.days * DAY + 1


Window: TypeAlias = CalendarWindow | RollingWindow
