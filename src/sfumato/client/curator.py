"""A server as its clients see it: its address, the requests that are sent to it, and what is tried again.

Requests are values (`calls.Exchange`). `RemoteCurator` sends one and waits, `AsyncCurator` sends one and lets others
run; all else is the same.
"""

import asyncio
import time
from fractions import Fraction
from ipaddress import ip_address
from types import TracebackType
from typing import Any, Final, Self, TypeVar
from urllib.parse import SplitResult, urlsplit

from sfumato.client.calls import Exchange
from sfumato.client.problems import LONGEST_PAUSE, Answer, error_of, pause_after, stated_pause
from sfumato.client.tokens import Token
from sfumato.errors import CuratorError, ParameterError, SfumatoError
from sfumato.numeric.arguments import of_kind
from sfumato.numeric.rationals import Number, flag, positive
from sfumato.version import __version__

try:
    import httpx
except ImportError:
    raise ParameterError("client", "httpx", "is not installed; run: pip install httpx") from None

T = TypeVar("T")

TIMEOUT: Final = 300.0
"""Seconds that an answer may take; a query is then sent again, and finds its answer."""

_MOST_WAITS: Final = 1_000
"""How often to ask for an answer that takes long; each time the server waits for it for some seconds."""

_TAKES_LONG: Final = 202
"""The status of a response that has no answer yet."""

_A_DAY: Final = Fraction(86_400)
_CONNECT: Final = 10.0
_MISTAKES: Final = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What is raised where an answer is read that is none of this package's."""


def address_of(url: str, *, insecure: bool = False) -> str:
    """The address of a server, in one form.

    Args:
        url: As people write it.
        insecure: Whether others on the network may read and change what is sent.

    Raises:
        ParameterError: It is no address of HTTP, has a password in it, or would send a key in the open.

    Example:
        >>> address_of("https://Curator.example.org/")
        'https://curator.example.org'
    """
    flag(insecure, "insecure")
    of_kind(url, "url", str, "the address of a server, such as 'https://curator.example.org'")
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host, parts = None, SplitResult("", "", "", "", "")
    is_plain = url.isascii() and url.isprintable() and not {" ", "\\"} & set(url)
    if parts.scheme not in {"http", "https"} or not host or parts.query or parts.fragment or not is_plain:
        raise ParameterError("url", "an address", "must be such as 'https://curator.example.org', without ? and #")
    if "@" in parts.netloc:
        raise ParameterError("url", "an address", "must have no name or password in it; give an API key as token=…")
    if parts.scheme == "http" and not insecure and not _is_here(host):
        raise ParameterError(
            "url", f"http://{host}", "must begin with https://, or others can read the key; insecure=True allows that"
        )
    return f"{parts.scheme}://{parts.netloc.lower()}{parts.path.rstrip('/')}"


def _is_here(host: str) -> bool:
    """Whether nothing that is sent there leaves this machine."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _settings(token: Token, timeout: Number) -> dict[str, Any]:
    """What httpx is told; it is kept nowhere else, because the key is in it."""
    seconds = float(min(positive(timeout, "timeout"), _A_DAY))
    return {
        "headers": {"Authorization": token.authorization, "User-Agent": f"sfumato/{__version__}"},
        "timeout": httpx.Timeout(seconds, connect=min(seconds, _CONNECT)),
    }


class _Addressed:
    """What both kinds have in common.

    Args:
        address: Of the server, as `address_of` writes it.
    """

    def __init__(self, address: str) -> None:
        self.address = address

    def _request(self, call: Exchange[Any]) -> dict[str, Any]:
        """A request as httpx takes it."""
        return {
            "method": call.method, "url": f"{self.address}/v1/{call.path}", "params": dict(call.parameters) or None,
            "json": call.body, "headers": {} if call.key is None else {"Idempotency-Key": call.key},
        }  # fmt: skip

    def _read(self, call: Exchange[T], answer: Answer | None) -> T:
        """What was asked for.

        Raises:
            SfumatoError: The one that the server answers with.
            CuratorError: There is no answer, or one that is none.
        """
        if answer is None:
            asked = "" if call.key is None else (
                f" Whether the query was charged is not known; ask it again with idempotency_key={call.key!r}"
            )  # fmt: skip
            raise CuratorError(self.address, None, f"cannot be reached. Check the address and the network.{asked}")
        if not answer.is_good:
            raise error_of(answer, self.address)
        if _is_awaited(call, answer):
            raise CuratorError(self.address, None, f"takes long; ask again with idempotency_key={call.key!r}")
        try:
            return call.read(answer)
        except SfumatoError:
            raise
        except _MISTAKES:
            pass  # what is raised outside keeps nothing of what was read
        raise CuratorError(self.address, answer.status, "must be a server of the same version of sfumato")

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.address}>"


def _is_awaited(call: Exchange[Any], answer: Answer) -> bool:
    """Whether the server works on it still: the same request finds the answer later, and is charged once."""
    return answer.status == _TAKES_LONG and call.key is not None


def _answer(response: httpx.Response) -> Answer:
    return Answer(status=response.status_code, headers=dict(response.headers), body=response.content)


class RemoteCurator(_Addressed):
    """A server, asked by one who waits.

    Args:
        address: Of the server, as `address_of` writes it.
        token: Who asks.
        timeout: Seconds that an answer may take.
    """

    def __init__(self, address: str, token: Token, *, timeout: Number = TIMEOUT) -> None:
        super().__init__(address)
        self._client = httpx.Client(**_settings(token, timeout))

    def send(self, call: Exchange[T]) -> T:
        """Send a request, again where it may not have come, and give what was asked for.

        Raises:
            SfumatoError: The one that the server answers with.
            CuratorError: There is no answer, or one that is none.
        """
        tried, waited = 1, 0
        while True:
            answer = self._sent(call)
            if answer is not None and _is_awaited(call, answer) and waited < _MOST_WAITS:
                time.sleep(min(stated_pause(answer, 0), LONGEST_PAUSE))
                tried, waited = 1, waited + 1
                continue
            pause = pause_after(answer, tried, tries=call.tries)
            if pause is None:
                return self._read(call, answer)
            time.sleep(pause)
            tried += 1

    def _sent(self, call: Exchange[Any]) -> Answer | None:
        try:
            return _answer(self._client.request(**self._request(call)))
        except httpx.HTTPError:  # which knows the request, and so the key
            return None

    def close(self) -> None:
        """Close all connections."""
        self._client.close()


class AsyncCurator(_Addressed):
    """A server, asked by one who does something else meanwhile; see `RemoteCurator`."""

    def __init__(self, address: str, token: Token, *, timeout: Number = TIMEOUT) -> None:
        super().__init__(address)
        self._client = httpx.AsyncClient(**_settings(token, timeout))

    async def send(self, call: Exchange[T]) -> T:
        """The same as of `RemoteCurator`."""
        tried, waited = 1, 0
        while True:
            answer = await self._sent(call)
            if answer is not None and _is_awaited(call, answer) and waited < _MOST_WAITS:
                await asyncio.sleep(min(stated_pause(answer, 0), LONGEST_PAUSE))
                tried, waited = 1, waited + 1
                continue
            pause = pause_after(answer, tried, tries=call.tries)
            if pause is None:
                return self._read(call, answer)
            await asyncio.sleep(pause)
            tried += 1

    async def _sent(self, call: Exchange[Any]) -> Answer | None:
        try:
            return _answer(await self._client.request(**self._request(call)))
        except httpx.HTTPError:
            return None

    async def close(self) -> None:
        """Close all connections."""
        await self._client.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
