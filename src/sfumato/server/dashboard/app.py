"""All pages, put beside the routes of the REST interface in one application."""

from collections.abc import Awaitable, Mapping
from typing import Final, cast

from fastapi import APIRouter, FastAPI, Request, Response
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sfumato.server.dashboard.pages import (
    admin,
    budgets,
    collections,
    console,
    counters,
    home,
    learning,
    logs,
    maps,
    providers,
    registering,
    results,
    signing_in,
    synthetic,
)
from sfumato.server.dashboard.rendering import assets, zipped
from sfumato.server.dashboard.visits import HEADERS, Dashboard, Visit
from sfumato.server.gateway.access import Gateway

_NOT_FOUND: Final = 404
_TYPES: Final = {"js": "text/javascript", "css": "text/css", "svg": "image/svg+xml"}
_FOREVER: Final = {
    "Cache-Control": "public, max-age=31536000, immutable", "Cross-Origin-Resource-Policy": "same-origin",
    "Vary": "Accept-Encoding", "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'",
}  # fmt: skip
"""Addresses of assets change with what they hold. The style is for pictures, which have theirs inside."""

_files = APIRouter(include_in_schema=False)


@_files.get("/assets/{name}")
async def asset(name: str, request: Request) -> Response:
    """A script, a style or a picture, compressed for browsers that read it so; all of them are public."""
    if name not in assets():
        raise HTTPException(404, "no such file")
    is_zipped = "gzip" in request.headers.get("accept-encoding", "")
    content = zipped(name) if is_zipped else assets()[name]
    response = Response(content, media_type=_TYPES[name.rpartition(".")[2]], headers=_FOREVER)
    if is_zipped:
        response.headers["Content-Encoding"] = "gzip"
    return response


@_files.get("/favicon.ico")
async def favicon(request: Request) -> Response:
    """The picture that browsers show beside the title, where they do not read its address."""
    return await asset("icon.svg", request)


ROUTERS: Final = (
    _files, signing_in.router, providers.router, home.router, budgets.router, console.router, results.router,
    logs.router, admin.router, learning.router, registering.router, collections.router, counters.router, maps.router,
    synthetic.router,
)  # fmt: skip
"""All pages."""


def add_dashboard(app: FastAPI, gateway: Gateway) -> None:
    """Put all pages into an application.

    Args:
        app: The application of the REST interface.
        gateway: What both work with.
    """
    app.state.dashboard = Dashboard(gateway)
    for router in ROUTERS:
        app.include_router(router)
    for_programs = app.exception_handlers[HTTPException]

    async def nowhere(request: Request, error: Exception) -> Response:
        """A page for people, where there is none at an address; a problem document for programs."""
        is_for_people = "text/html" in request.headers.get("accept", "") and not request.url.path.startswith("/v1/")
        if not isinstance(error, HTTPException) or error.status_code != _NOT_FOUND or not is_for_people:
            answer: Response = await cast("Awaitable[Response]", for_programs(request, error))
            return answer
        page = Visit(app.state.dashboard, request, []).page("nowhere.html", status=_NOT_FOUND)
        page.headers.update(HEADERS)
        return page

    app.add_exception_handler(HTTPException, nowhere)


class DefaultHeaders:
    """Sends headers with every response that does not have its own of the same name.

    Args:
        app: What answers.
        headers: The headers.
    """

    def __init__(self, app: ASGIApp, headers: Mapping[str, str]) -> None:
        self._app, self._headers = app, headers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                stated = MutableHeaders(scope=message)
                for name, value in self._headers.items():
                    stated.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, with_headers)
