"""What one request, one person and all together may take, so that a server stays there for everybody.

A person, who may have many keys, may make so many requests a minute, also such that fail or cost nothing, and may have
so many under way. All together may have so many under way; of what is over that, nothing is charged. The head of a
request must come within a time.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any, Final

from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter, SlidingWindowCounterRateLimiter
from uvicorn.protocols.http.h11_impl import H11Protocol

from sfumato.errors import BusyError
from sfumato.server.config import LimitsEntry
from sfumato.server.gateway.problems import TooFastError

_SECONDS_OF_A_MINUTE: Final = 60
_RETRY_AFTER: Final = 2


class RequestRates:
    """How often each person, and each address without a key, may ask, and how many reports they may send.

    Addresses are in memory alone, for two minutes.

    Args:
        limits: What is allowed.
    """

    def __init__(self, limits: LimitsEntry) -> None:
        self._most = RateLimitItemPerMinute(limits.requests_per_minute)
        self._most_reports = RateLimitItemPerMinute(limits.reports_per_minute)
        self._limiter = MovingWindowRateLimiter(MemoryStorage())
        self._reports = SlidingWindowCounterRateLimiter(MemoryStorage())

    def hit(self, who: str) -> None:
        """Count one request.

        Raises:
            TooFastError: It is one too many.
        """
        if not self._limiter.hit(self._most, who):
            raise TooFastError("requests within a minute", _SECONDS_OF_A_MINUTE)

    def hit_reports(self, who: str, count: int) -> None:
        """Count reports that came, good or bad; a batch that is too many is refused whole, and does not count.

        Raises:
            TooFastError: They are too many.
        """
        if count and not self._reports.hit(self._most_reports, who, cost=count):
            raise TooFastError("reports within a minute", _SECONDS_OF_A_MINUTE)


class Places:
    """How many queries are under way, of each person and of all.

    Args:
        limits: What is allowed.
    """

    def __init__(self, limits: LimitsEntry) -> None:
        self._limits = limits
        self._inside: Counter[str] = Counter()
        self._lock = Lock()

    def take(self, person: str) -> None:
        """One more query of a person is under way.

        Raises:
            TooFastError: The person has too many.
            BusyError: All together have.
        """
        with self._lock:
            if self._inside[person] >= self._limits.concurrent_per_person:
                raise TooFastError("queries of one person at once", _RETRY_AFTER)
            if self._inside.total() >= self._limits.concurrent:
                raise BusyError("queries at once", _RETRY_AFTER)
            self._inside[person] += 1

    def give_back(self, person: str) -> None:
        """One query of a person has ended."""
        with self._lock:
            self._inside[person] -= 1
            self._inside += Counter()  # without those that have none

    @contextmanager
    def taken(self, person: str) -> Iterator[None]:
        """Inside, one more query of a person is under way.

        Raises:
            BusyError: As for `take`.
        """
        self.take(person)
        try:
            yield
        finally:
            self.give_back(person)

    def count(self) -> int:
        """How many are under way."""
        with self._lock:
            return self._inside.total()


def protocol(limits: LimitsEntry, *, is_ending: Callable[[], bool]) -> type[H11Protocol]:
    """How uvicorn speaks HTTP, with a time within which the head of a request must have come.

    uvicorn waits without end for the first bytes of a connection, and for the rest of a head that has begun. When it
    ends, it tells connections to; one that it accepts in that moment would not hear that, and ask on and on.

    Args:
        limits: How long it may take.
        is_ending: Whether the server ends: then each connection has one more response at most.
    """

    class TimedProtocol(H11Protocol):
        _patience: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._expect()

        def handle_events(self) -> None:
            before = self.cycle
            super().handle_events()
            if self.cycle is before:
                return
            if self._patience is not None:
                self._patience.cancel()  # a whole head has come
                self._patience = None
            if is_ending():
                self.cycle.keep_alive = False

        def on_response_complete(self) -> None:
            super().on_response_complete()
            if self._patience is None and not self.transport.is_closing():
                self._expect(self.timeout_keep_alive)

        def connection_lost(self, exc: Exception | None) -> None:
            if self._patience is not None:
                self._patience.cancel()
            super().connection_lost(exc)

        def _expect(self, more: float = 0.0) -> None:
            self._patience = self.loop.call_later(limits.seconds_to_send + more, self._drop)

        def _drop(self) -> None:
            self._patience = None
            # One that was sent behind another may be answered by now.
            is_answering = not getattr(self.cycle, "response_complete", True)
            if not is_answering and not self.transport.is_closing():
                self.transport.abort()

    return TimedProtocol
