"""What operators see: lines of JSON, counts for Prometheus, and spans for whoever installs an exporter.

None of them holds a value from data, a constant of SQL, a key or a name of a person: only methods, routes, statuses,
classes of errors, and times. Times of queries are those of their classes, which tell nothing of data.
"""

import asyncio
import json
import logging
import sys
import time
import traceback
from pathlib import Path
from typing import Final

from opentelemetry import trace
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sfumato.errors import BusyError
from sfumato.server.gateway.limits import Places
from sfumato.server.gateway.problems import response_of
from sfumato.server.work.channel import RENEWED_AFTER

_LOG: Final = logging.getLogger("sfumato.server")
_TRACER: Final = trace.get_tracer("sfumato")


class JsonLines(logging.Formatter):
    """One object of JSON for each record; of an exception its class alone, as its text may hold values."""

    def format(self, record: logging.LogRecord) -> str:
        """The line of a record."""
        line = {
            "at": round(record.created, 3), "level": record.levelname.lower(), "logger": record.name,
            "text": record.getMessage(), **getattr(record, "facts", {}),
        }  # fmt: skip
        if record.exc_info and record.exc_info[0] is not None:
            line["exception"] = record.exc_info[0].__name__
        return json.dumps(line, default=str)


def log_in_json(level: str) -> None:
    """Write all logs of this process to the error stream, as lines of JSON."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    for other in ("alembic", "uvicorn", "httpx"):  # which tell of themselves, and of nobody's queries
        logging.getLogger(other).setLevel(logging.WARNING)


class Metrics:
    """Counts of one process, for Prometheus; nothing in them depends on data.

    Args:
        places: The queries that are under way.
    """

    def __init__(self, places: Places) -> None:
        self._registry = CollectorRegistry()
        self.requests = Counter(
            "sfumato_requests", "Requests by route, method and status.", ["route", "method", "status"],
            registry=self._registry,
        )  # fmt: skip
        self.seconds = Histogram(
            "sfumato_request_seconds", "Time of requests by route; that of queries is of their time class.", ["route"],
            registry=self._registry,
        )  # fmt: skip
        self.problems = Counter(
            "sfumato_problems", "Problem documents by the class of the error.", ["error"], registry=self._registry
        )  # fmt: skip
        self.reports = Counter(
            "sfumato_reports", "Reports that came to collections, by what became of them.", ["collection", "outcome"],
            registry=self._registry,
        )  # fmt: skip
        under_way = Gauge("sfumato_queries_under_way", "Queries that are being answered.", registry=self._registry)
        under_way.set_function(places.count)

    def text(self) -> bytes:
        """All of them, as Prometheus reads them."""
        return generate_latest(self._registry)


class Observed:
    """Writes down what happened to each request, without what was asked and answered.

    Args:
        app: What answers.
        metrics: Where it is counted.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, and write that down."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status = time.perf_counter(), 0

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        # An exception is not described in a span: its text may hold values.
        with _TRACER.start_as_current_span("request", record_exception=False, set_status_on_exception=False) as span:
            try:
                await self._app(scope, receive, noted)
            except Exception as error:
                _LOG.error("defect", extra={"facts": {"exception": type(error).__name__, "place": _place(error)}})
                if status:
                    raise
                await response_of(error)(scope, receive, noted)
            except asyncio.CancelledError:  # the server ends, and this took longer than it waits
                if status:
                    raise
                await response_of(BusyError("queries while the server ends", RENEWED_AFTER))(scope, receive, noted)
            finally:
                # Of an unknown path or method nothing is said, as it may hold anything.
                route = str(getattr(scope.get("route"), "path", "unknown"))
                method = scope["method"] if scope["method"] in _METHODS else "OTHER"
                taken = time.perf_counter() - began
                span.update_name(f"{method} {route}")
                span.set_attributes(
                    {"http.request.method": method, "http.route": route, "http.response.status_code": status}
                )
                self._metrics.requests.labels(route, method, str(status)).inc()
                self._metrics.seconds.labels(route).observe(taken)
                facts = {"route": route, "method": method, "status": status, "seconds": round(taken, 3)}
                _LOG.info("request", extra={"facts": facts})


def _place(error: BaseException) -> str:
    """Where an exception was raised: a file and a line, and nothing of what was at hand there."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""


_METHODS: Final = frozenset({"GET", "POST", "PATCH", "PUT", "DELETE", "HEAD", "OPTIONS"})
