"""What one request, one key and all together may take, so that a server stays there for everybody.

Bodies are read up to a size and within a time. A key may make so many requests a minute, also such that fail or cost
nothing, and may have so many under way. All together may have so many under way; then nothing is charged.
"""

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any, Final

from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from sfumato.errors import BusyError
from sfumato.server.config import LimitsEntry
from sfumato.server.gateway.problems import TooFastError, TooLargeError, plain_problem, response_of

_SECONDS_OF_A_MINUTE: Final = 60
_RETRY_AFTER: Final = 2


class Rates:
    """How often each key, and each address without one, may ask.

    Args:
        limits: What is allowed.
    """

    def __init__(self, limits: LimitsEntry) -> None:
        self._most = RateLimitItemPerMinute(limits.requests_per_minute)
        self._limiter = MovingWindowRateLimiter(MemoryStorage())

    def hit(self, who: str) -> None:
        """Count one request.

        Raises:
            TooFastError: It is one too many.
        """
        if not self._limiter.hit(self._most, who):
            raise TooFastError("requests within a minute", _SECONDS_OF_A_MINUTE)


class Places:
    """How many queries are under way, of each key and of all.

    Args:
        limits: What is allowed.
    """

    def __init__(self, limits: LimitsEntry) -> None:
        self._limits = limits
        self._inside: Counter[str] = Counter()
        self._lock = Lock()

    def take(self, key: str) -> None:
        """One more query of a key is under way.

        Raises:
            TooFastError: The key has too many.
            BusyError: All together have.
        """
        with self._lock:
            if self._inside[key] >= self._limits.concurrent_per_key:
                raise TooFastError("queries of one key at once", _RETRY_AFTER)
            if self._inside.total() >= self._limits.concurrent:
                raise BusyError("queries at once", _RETRY_AFTER)
            self._inside[key] += 1

    def give_back(self, key: str) -> None:
        """One query of a key has ended."""
        with self._lock:
            self._inside[key] -= 1
            self._inside += Counter()  # without those that have none

    @contextmanager
    def taken(self, key: str) -> Iterator[None]:
        """Inside, one more query of a key is under way.

        Raises:
            BusyError: As for `take`.
        """
        self.take(key)
        try:
            yield
        finally:
            self.give_back(key)

    def count(self) -> int:
        """How many are under way."""
        with self._lock:
            return self._inside.total()


class BoundedBodies:
    """Reads the body of a request up to a size and within a time, before anything else is done with it.

    Args:
        app: What answers.
        limits: What is allowed.
    """

    def __init__(self, app: ASGIApp, limits: LimitsEntry) -> None:
        self._app, self._limits = app, limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            body = await asyncio.wait_for(self._body(scope, receive), self._limits.seconds_to_send)
        except TooLargeError as error:
            await response_of(error)(scope, receive, send)
        except TimeoutError:
            seconds = self._limits.seconds_to_send
            refusal = plain_problem(
                408, f"the body took more than {seconds:g} s; send it faster", {"Connection": "close"}
            )
            await refusal(scope, receive, send)
        else:
            await self._app(scope, _given(body, receive), send)

    async def _body(self, scope: Scope, receive: Receive) -> bytes:
        """All of the body.

        Raises:
            TooLargeError: It has too many bytes, or says that it will.
        """
        stated = dict(scope["headers"]).get(b"content-length", b"0")
        if stated.isdigit() and int(stated) > self._limits.body_bytes:
            raise TooLargeError(self._limits.body_bytes)
        body, is_more = b"", True
        while is_more:
            message = await receive()
            if message["type"] == "http.disconnect":
                break
            body += message.get("body", b"")
            is_more = message.get("more_body", False)
            if len(body) > self._limits.body_bytes:
                raise TooLargeError(self._limits.body_bytes)
        return body


def _given(body: bytes, receive: Receive) -> Receive:
    """The body that was read, then whatever comes next."""
    is_given = False

    async def again() -> Message:
        nonlocal is_given
        if is_given:
            return await receive()
        is_given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


def protocol(limits: LimitsEntry) -> type[H11Protocol]:
    """How uvicorn speaks HTTP, with a time within which the head of a request must have come.

    uvicorn waits without end for the first bytes of a connection, and for the rest of a head that has begun.
    """

    class TimedProtocol(H11Protocol):
        _patience: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._expect()

        def handle_events(self) -> None:
            before = self.cycle
            super().handle_events()
            if self.cycle is not before and self._patience is not None:
                self._patience.cancel()  # a whole head has come
                self._patience = None

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
            if not self.transport.is_closing():
                self.transport.abort()

    return TimedProtocol
