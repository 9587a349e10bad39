"""What a monitor compares at each tick, and how far one privacy unit can move it.

All are computed from exact totals of ticks; only their comparison with a noisy threshold is private.
"""

from collections import deque
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, NamedTuple, TypeAlias, assert_never

from sfumato.errors import ParameterError
from sfumato.mechanisms.continual.participation import Participation
from sfumato.mechanisms.continual.sums import RunningTotal, SlidingWindow
from sfumato.numeric.rationals import Number, exact, flag, positive_integer, set_fields
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, NeighboringRelation

_LARGEST_WIDTH: Final = 1 << 24
_LARGEST_DENOMINATOR: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Change:
    """The total of the last `width` ticks less that of the `width` ticks before them.

    It is compared as soon as there are 2·width ticks.

    Args:
        width: How many ticks, from 1 to 2^24.
        absolute: Whether its size counts, whatever its sign.

    Raises:
        ParameterError: The width is out of range.

    Example:
        >>> Change(7, absolute=True)
        Change(width=7, absolute=True)
    """

    width: int
    absolute: bool = False

    def __post_init__(self) -> None:
        positive_integer(self.width, "width", most=_LARGEST_WIDTH)
        flag(self.absolute, "absolute")


@dataclass(frozen=True, slots=True, init=False)
class CumulativeSum:
    """S_t = max(0, S_(t−1) + x_t − drift), from 0, and from 0 again after each alarm: Page's test for a rise.

    It stays near 0 while totals x are below the drift, and grows by their excess from the tick on at which they rise.
    If `falling`, S_t = max(0, S_(t−1) + drift − x_t), for a fall.

    Args:
        drift: A number between the usual total of a tick and one that should raise an alarm; its denominator is at
            most 2^20.
        falling: Whether totals are expected to fall.

    Raises:
        ParameterError: The drift is no such number.

    Example:
        >>> CumulativeSum("2.5", falling=True)
        CumulativeSum(drift=Fraction(5, 2), falling=True)

    References:
        [Pag54]
    """

    drift: Fraction
    falling: bool

    def __init__(self, drift: Number, *, falling: bool = False) -> None:
        set_fields(self, drift=exact(drift, "drift"), falling=flag(falling, "falling"))
        if self.drift.denominator > _LARGEST_DENOMINATOR:
            raise ParameterError("drift", drift, "must have a denominator of at most 2^20, such as 2.5")


Statistic: TypeAlias = RunningTotal | SlidingWindow | Change | CumulativeSum
"""What a monitor compares with its threshold at each tick."""


class StatisticSensitivity(NamedTuple):
    """How far one privacy unit moves the statistic.

    Attributes:
        furthest: The most at any one tick.
        is_monotonic: Whether it moves all ticks in one direction, if at all.
    """

    furthest: Fraction
    is_monotonic: bool


def sensitivity_of(
    statistic: Statistic, *, lower: int, upper: int, participation: Participation, relation: NeighboringRelation
) -> StatisticSensitivity:
    """How far one privacy unit moves a statistic, at any tick, whatever the other events are.

    A unit has an event in at most `participation.most` ticks; each adds a number from `lower` to `upper`, or nothing.
    Under ADD_OR_REMOVE_ONE all events of the unit are changed to nothing; under REPLACE_ONE, to any others that it may
    have, also at other ticks. Proof: proofs/mechanisms/monitors/statistics.md.

    Raises:
        ParameterError: No event could add anything.

    Example:
        >>> weekly = Participation(most=20, separation=7)
        >>> sensitivity_of(SlidingWindow(8), lower=0, upper=1, participation=weekly, relation=ADD_OR_REMOVE_ONE)
        StatisticSensitivity(furthest=Fraction(2, 1), is_monotonic=True)
    """
    low, high = min(lower, 0), max(upper, 0)
    if lower > upper or low == high:
        raise ParameterError("bounds", (lower, upper), "must be a lower and an upper bound, of which one is not 0")
    size, spread = max(-low, high), high - low
    is_added = relation is ADD_OR_REMOVE_ONE
    match statistic:
        case Change(width):
            moved = min(participation.within(width) * spread, participation.within(2 * width) * size)
            return StatisticSensitivity(Fraction(moved if is_added else 2 * moved), is_monotonic=False)
        case SlidingWindow(width):
            times = participation.within(width)
        case RunningTotal() | CumulativeSum():
            times = participation.most
        case _:
            assert_never(statistic)
    is_one_sided = is_added and (spread == size or participation.most == 1)
    return StatisticSensitivity(Fraction(times * (size if is_added else spread)), is_one_sided)


class RunningStatistic:
    """A statistic over the ticks so far. Its state holds exact totals.

    Args:
        statistic: Which.

    Example:
        >>> change = RunningStatistic(Change(2))
        >>> [str(change.next(total)) for total in (1, 2, 3, 5, 8)]
        ['None', 'None', 'None', '5', '8']
    """

    __slots__ = ("_current", "_past", "_statistic")

    def __init__(self, statistic: Statistic) -> None:
        self._statistic = statistic
        self._current = Fraction(0)
        self._past: deque[int] = deque(maxlen=_ticks_kept(statistic))

    def next(self, total: int) -> Fraction | None:
        """The statistic once a tick with this total is over; None as long as its ticks are too few."""
        match self._statistic:
            case RunningTotal():
                self._current += total
            case SlidingWindow():
                self._current += total - self._dropped()
                self._past.append(total)
            case Change(width):
                self._current += total - 2 * (self._past[-width] if len(self._past) >= width else 0) + self._dropped()
                self._past.append(total)
                if len(self._past) < 2 * width:
                    return None
            case CumulativeSum(drift=drift, falling=falling):
                self._current = max(Fraction(0), self._current + (drift - total if falling else total - drift))
            case _:
                assert_never(self._statistic)
        is_size = isinstance(self._statistic, Change) and self._statistic.absolute
        return abs(self._current) if is_size else self._current

    def alarmed(self) -> None:
        """Begin again after an alarm, if the statistic does."""
        if isinstance(self._statistic, CumulativeSum):
            self._current = Fraction(0)

    def saved(self) -> dict[str, Any]:
        """The exact totals that it goes on from: secret."""
        return {"current": str(self._current), "past": list(self._past)}

    def restore(self, saved: dict[str, Any]) -> None:
        """Take over what was `saved`."""
        self._current = Fraction(saved["current"])
        self._past.extend(saved["past"])

    def _dropped(self) -> int:
        """The total that the next tick pushes out."""
        return self._past[0] if self._past and len(self._past) == self._past.maxlen else 0


def _ticks_kept(statistic: Statistic) -> int:
    match statistic:
        case SlidingWindow(width):
            return width
        case Change(width):
            return 2 * width
        case _:
            return 0
