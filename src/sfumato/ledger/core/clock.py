"""What time it is, for windows: microseconds since 1970 in UTC, from a clock that can be put in."""

import logging
import time
from typing import Final, Protocol

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
            _LOG.warning("the clock of this machine was put back by %d s; in open ledgers time stands still", -seconds)


def _wall() -> int:
    return time.time_ns() // 1_000


def _steady() -> int:
    # Where there is one, a clock that goes on while the machine sleeps.
    clock = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
    return time.clock_gettime_ns(clock) // 1_000
