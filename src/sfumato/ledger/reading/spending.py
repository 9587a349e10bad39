"""What was spent by when, and for how long a budget will last at this pace; pure functions over entries."""

from bisect import bisect_right
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import takewhile
from typing import Final

from sfumato.accounting.adaptive.amounts import NOTHING, Amounts
from sfumato.ledger.core.account import AccountState
from sfumato.ledger.core.entry import Entry, Opened, Rebudgeted, Reserved, Shared
from sfumato.ledger.core.prices import limits
from sfumato.ledger.core.replay import Replay
from sfumato.ledger.core.windows import DAY, CalendarWindow, RollingWindow, Window
from sfumato.ledger.reading.history import time_text
from sfumato.numeric.rationals import positive_integer

_LONGEST_PERIOD: Final = 366


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """An account from a moment on, until the next point.

    Attributes:
        at: The moment.
        spent: What counts against its budget; with a window, within it.
        spent_in_all: What was ever spent.
        allowed: Its budget in each number of its measure; None where nothing limits it.
    """

    at: int
    spent: Amounts
    spent_in_all: Amounts
    allowed: Amounts | None

    @property
    def left(self) -> Amounts | None:
        """What may still be spent; None where nothing limits it."""
        return None if self.allowed is None else self.spent.left_of(self.allowed)

    @property
    def share_left(self) -> Fraction:
        """The same as a part of the budget, of the number that is scarcest; 1 where nothing limits it."""
        if self.allowed is None:
            return Fraction(1)
        left = self.spent.left_of(self.allowed)
        shares = (Fraction(left[name]) / Fraction(allowed) for name, allowed in self.allowed.numbers if allowed)
        return max(min(shares, default=Fraction(0)), Fraction(0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Projection:
    """How long a budget lasts if it is spent as it was of late.

    Attributes:
        days: From how many days this is drawn.
        lasts_until: When it is used up; None if it is not, at this pace.
        returns: When it comes back, where it does on a day.
    """

    days: int
    lasts_until: int | None
    returns: int | None = None

    def __str__(self) -> str:
        pace = f"at the pace of the last {self.days} {'day' if self.days == 1 else 'days'}"
        if self.lasts_until is None:
            return f"{pace} the budget is never used up"
        if self.returns is not None and self.lasts_until >= self.returns:
            return f"{pace} the budget lasts until it refills on {_day(self.returns)}"
        return f"{pace} the budget lasts until {_day(self.lasts_until)}"


def spending(
    entries: Iterable[Entry], *, accounts: Container[str] | None = None, now: int | None = None
) -> Mapping[str, tuple[Point, ...]]:  # fmt: skip
    """What accounts had spent by when: a point for each charge, change of budget, and turn of a window.

    Args:
        entries: All entries of a ledger, in order.
        accounts: Which accounts; all if left out.
        now: What time it is, for a last point; the last entry's, if left out.

    Example:
        >>> from sfumato.privacy.events import PureEvent
        >>> from sfumato.privacy.guarantees import PureDP
        >>> from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE
        >>> opened = Opened(
        ...     account="census", budget=PureDP(1), neighboring_relation=ADD_OR_REMOVE_ONE, privacy_unit="row"
        ... )
        >>> asked = Reserved(
        ...     account="census", request="r", question="5f3a", event=PureEvent("0.1"), charge=PureDP("0.1"), at=60
        ... )
        >>> [(point.at, str(point.left)) for point in spending([opened, asked])["census"]]
        [(0, 'epsilon 1, delta 0'), (60, 'epsilon 0.9, delta 0')]
    """
    replay, points = Replay(), dict[str, list[Point]]()
    for entry in entries:
        concerned = [name for name in _concerned(replay, entry) if accounts is None or name in accounts]
        for name in concerned:
            _pass_time(replay, points, name, entry.at)
        replay.apply(entry)
        for name in concerned:
            points.setdefault(name, []).append(_point(replay.accounts[name], entry.at))
    at = max(replay.at, now or 0)
    for name, known in points.items():
        _pass_time(replay, points, name, at)
        if at > known[-1].at:
            known.append(_point(replay.accounts[name], at))
    return {name: tuple(known) for name, known in points.items()}


def project(points: Sequence[Point], window: Window | None, *, days: int = 30) -> Projection | None:
    """How long a budget lasts at the pace of the last days; None if it is younger than a day, or unlimited.

    A straight line, no more: whoever asks more from tomorrow on is through earlier.

    Args:
        points: From `spending`, up to now.
        window: How often the budget comes back.
        days: How many days count; all, if the account is younger.

    Raises:
        ParameterError: `days` is no whole number above 0.
    """
    last = points[-1]
    seen = min(positive_integer(days, "days"), (last.at - points[0].at) // DAY)
    if seen < 1 or last.allowed is None or last.left is None:
        return None
    used = _in_all_at(points, last.at - seen * DAY).left_of(last.spent_in_all)
    if isinstance(window, RollingWindow) and used.times(Fraction(window.days, seen)).is_within(last.allowed):
        return Projection(days=seen, lasts_until=None)
    returns = _next_begin(window, last.at) if isinstance(window, CalendarWindow) else None
    spans = (Fraction(last.left[name]) * seen / Fraction(number) for name, number in used.numbers if number > 0)
    shortest = min(spans, default=None)
    until = None if shortest is None else last.at + int(max(shortest, Fraction(0)) * DAY)
    return Projection(days=seen, lasts_until=until, returns=returns)


def _pass_time(replay: Replay, points: dict[str, list[Point]], account: str, until: int) -> None:
    """Put in a point for each moment at which something left the account's window."""
    if account in points:
        state, known = replay.accounts[account], points[account]
        known.extend(_point(state, at) for at in _turns(state, known[-1].at, until))


def _turns(state: AccountState, since: int, until: int) -> Iterator[int]:
    match state.opened.window:
        case CalendarWindow() as window:
            begins = window.begins(until)
            if begins > since and state.recent:
                yield begins
        case RollingWindow(days=days):
            over = list(takewhile(lambda end: end <= until, (charged.at + days * DAY for charged in state.recent)))
            yield from dict.fromkeys(over)
        case None:
            return


def _concerned(replay: Replay, entry: Entry) -> tuple[str, ...]:
    """Whose spending or budget an entry changes."""
    match entry:
        case Opened() | Rebudgeted():
            return (entry.account,)
        case Reserved():
            return replay.state(entry.account).path
        case Shared():
            paid = replay.state(entry.source).path
            return tuple(name for name in replay.state(entry.account).path if name not in paid)
        case _:
            return ()


def _point(state: AccountState, at: int) -> Point:
    return Point(
        at=at, spent=state.spent(at), spent_in_all=state.lifetime.total(), allowed=limits(state.budget)
    )  # fmt: skip


def _in_all_at(points: Sequence[Point], at: int) -> Amounts:
    index = bisect_right(points, at, key=lambda point: point.at)
    return points[index - 1].spent_in_all if index else NOTHING


def _next_begin(window: CalendarWindow, at: int) -> int:
    days = (window.begins(at + day * DAY) for day in range(1, _LONGEST_PERIOD + 1))
    return next(begins for begins in days if begins > at)


def _day(at: int) -> str:
    return time_text(at)[:10]
