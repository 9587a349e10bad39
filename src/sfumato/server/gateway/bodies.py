"""Bodies of requests: read up to a size and within a time, before anything else is done, and as JSON in one way only.

Two programs read `{"epsilon": 1, "epsilon": 9}`, `NaN` or half of a character in two ways. So what has several
meanings is refused here, and no route has to think of it.
"""

import asyncio
import json
from typing import Any, Final

from fastapi import Request
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sfumato.privacy.formats import parse_json
from sfumato.server.config import LimitsEntry
from sfumato.server.gateway.problems import TooLargeError, plain_problem, response_of

_LONGEST: Final = 200


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


class StrictRequest(Request):
    """A request whose JSON has one meaning."""

    async def json(self) -> Any:
        """The body.

        Raises:
            HTTPException: It is no JSON in UTF-8, names something twice, or holds a number or a character that is none.
        """
        try:
            content = parse_json(await self.body(), object_pairs_hook=_named_once)
            json.dumps(content, ensure_ascii=False, allow_nan=False).encode()
        except ValueError as error:
            why = "is not UTF-8" if isinstance(error, UnicodeError) else str(error)
            raise HTTPException(400, f"the body is no JSON that has one meaning: {why[:_LONGEST]}") from None
        return content


def _named_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON.

    Raises:
        ValueError: A name stands in it twice.
    """
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("an object has a name twice")
    return found
