"""The application: its routes, what stands before all of them, and the program that serves it."""

import os
import signal
import socket
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any, Final

import anyio.to_thread
import uvicorn
from fastapi import APIRouter, FastAPI, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST

from sfumato.errors import LedgerMissingError, UnavailableError
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.locations import open_ledger
from sfumato.server.config import Curator, load_curator
from sfumato.server.dashboard.app import DefaultHeaders, add_dashboard
from sfumato.server.gateway.access import Anybody, Gateway, Guarded
from sfumato.server.gateway.bodies import BoundedBodies
from sfumato.server.gateway.limits import protocol
from sfumato.server.gateway.observing import Observed, log_in_json
from sfumato.server.gateway.problems import ProblemDocument, documented, install
from sfumato.server.gateway.routes import (
    accounts,
    asking,
    collections,
    counters,
    datasets,
    federations,
    maps,
    people,
    releases,
    synthetic,
)
from sfumato.server.identity.database import Database
from sfumato.server.identity.people import Action
from sfumato.server.serve import end_with_parent, write_no_core
from sfumato.version import __version__

_HEADERS: Final = (("strict-transport-security", "max-age=31536000"), ("x-content-type-options", "nosniff"))
_UNLESS_STATED: Final = {
    "cache-control": "no-store", "content-security-policy": "default-src 'none'", "referrer-policy": "no-referrer",
}  # fmt: skip
"""Headers of responses that do not state them: those of the interface; pages have their own."""

_OTHER_THREADS: Final = 32
"""Threads for what is no query, so that waiting queries leave room for it."""

_SECONDS_IDLE: Final = 15
"""For how long a connection may be idle: longer than clients usually keep one, or both would close and ask at once."""

_SECONDS_FOR_A_LEDGER: Final = 60.0
_PAUSE: Final = 0.05

operations = APIRouter(prefix="/v1", tags=["operations"])
guarded_operations = APIRouter(prefix="/v1", tags=["operations"], route_class=Guarded)


@operations.get("/health")
async def health() -> dict[str, str]:
    """Whether this process answers; nobody has to say who they are."""
    return {"status": "ok", "version": __version__}


@operations.get("/ready")
def ready(request: Request) -> dict[str, str]:
    """Whether every dataset can be asked; nobody has to say who they are, and nobody hears which cannot."""
    gateway: Gateway = request.app.state.gateway
    gateway.rates.hit(f"address {request.client.host if request.client else ''}")
    for name in gateway.curator.datasets:
        with closing(gateway.datasets.line(name, patience=0)) as line:
            gateway.datasets.served(name)
            line.enter()
    return {"status": "ready"}


@guarded_operations.get("/metrics", response_class=Response)
def metrics(who: Anybody) -> Response:
    """Counts of this process, for Prometheus."""
    with who.doing(Action.READ_METRICS):
        return Response(who.gateway.metrics.text(), media_type=CONTENT_TYPE_LATEST)


ROUTERS: Final = (
    operations, guarded_operations, datasets.router, asking.router, asking.questions_router, accounts.router,
    accounts.approvals_router, releases.router, people.router, collections.router, collections.door,
    counters.router, maps.router, synthetic.router, federations.router,
)  # fmt: skip
"""All routes; docs/reference/rest.md lists them."""


class _Application(FastAPI):
    def openapi(self) -> dict[str, Any]:
        """The document of the interface; problem documents are in none of its models, as no route returns one."""
        document = super().openapi()
        document["components"]["schemas"].setdefault("ProblemDocument", ProblemDocument.model_json_schema())
        return document


def create_app(gateway: Gateway) -> FastAPI:
    """The application of a gateway.

    Args:
        gateway: All that its routes work with; closed with the application.
    """

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        anyio.to_thread.current_default_thread_limiter().total_tokens = (
            gateway.curator.limits.concurrent + _OTHER_THREADS
        )
        yield
        app.state.dashboard.close()
        gateway.close()

    app = _Application(
        title="Sfumato", version=__version__, lifespan=lifespan, docs_url=None, redoc_url=None, redirect_slashes=False,
        responses=documented(400, 401, 403, 404, 408, 409, 413, 422, 429, 503), openapi_url="/v1/openapi.json",
        description="A curator of databases of people: answers have exact noise.",
    )  # fmt: skip
    app.state.gateway = gateway
    install(app)
    for router in ROUTERS:
        app.include_router(router)
    app.add_middleware(BoundedBodies, limits=gateway.curator.limits)
    app.add_middleware(collections.ForPages, collections=gateway.curator.collections)
    app.add_middleware(Observed, metrics=gateway.metrics)
    add_dashboard(app, gateway)
    app.add_middleware(DefaultHeaders, headers=_UNLESS_STATED)
    return app


def serve(config: str, listening: socket.socket, *, heir: int | None = None) -> None:
    """Serve a curator on a socket until this process is told to end.

    Args:
        config: The curator's file.
        listening: The socket; several gateways may have the same.
        heir: A pipe through which it says its version once it is ready, if it is to take another one's place.
    """
    write_no_core()
    curator = load_curator(config)
    curator.make_state()
    log_in_json(curator.log_level)
    server = server_of(Gateway(curator, _ledger(curator), Database(curator.database)))
    if heir is not None:  # whoever connects from now on waits until it accepts, which it soon does
        os.write(heir, f"{__version__}\n".encode())
        os.close(heir)
    server.run(sockets=[listening])


def server_of(gateway: Gateway) -> uvicorn.Server:
    """What speaks HTTP for a gateway."""
    curator = gateway.curator
    certificate, key = (None, None) if curator.tls is None else map(str, curator.tls)
    server: uvicorn.Server
    timed = protocol(curator.limits, is_ending=lambda: server.should_exit)
    server = uvicorn.Server(
        uvicorn.Config(
            create_app(gateway), log_config=None, access_log=False, server_header=False, date_header=False,
            proxy_headers=False, ssl_certfile=certificate, ssl_keyfile=key, http=timed, ws="none",
            headers=list(_HEADERS), timeout_graceful_shutdown=30, timeout_keep_alive=_SECONDS_IDLE,
        )
    )  # fmt: skip
    return server


def _ledger(curator: Curator) -> Ledger:
    """The ledger, once the worker has made it; that of a server without datasets is made here, and empty."""
    end = time.monotonic() + _SECONDS_FOR_A_LEDGER
    while True:
        try:
            return open_ledger(curator.ledger, must_exist=bool(curator.datasets))
        except LedgerMissingError:
            if time.monotonic() >= end:
                raise UnavailableError from None
            time.sleep(_PAUSE)


if __name__ == "__main__":
    descriptor, heir = int(sys.argv[2]), int(sys.argv[4]) if sys.argv[4:] else None
    for inherited in (descriptor, *(() if heir is None else (heir,))):
        os.set_inheritable(inherited, False)
    if sys.argv[3:]:
        end_with_parent(int(sys.argv[3]), lambda: os.kill(os.getpid(), signal.SIGTERM))
    serve(str(Path(sys.argv[1]).absolute()), socket.socket(fileno=descriptor), heir=heir)
