"""Routes of collections: devices send randomized reports, and readers see estimates grow.

A report costs its person what its protocol says, ε₀, and no less: reports come over HTTP, with moments and perhaps with
keys, so nothing here hides them among those of others. What is read of the counts costs nothing more.
"""

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Header, Query, Request
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from sfumato.errors import ForbiddenError, NotFoundError, ParameterError
from sfumato.local.core.protocol import LocalProtocol
from sfumato.local.core.reports import HEADER_BYTES
from sfumato.local.files import cell_of_line
from sfumato.server.config import Collection
from sfumato.server.gateway.access import Anybody, Caller, Guarded
from sfumato.server.gateway.problems import BatchUsedError
from sfumato.server.identity.people import Action

BINARY: Final = "application/octet-stream"
LINES: Final = "application/x-ndjson"
_SECONDS_ALLOWED: Final = 600  # for which browsers need not ask again
COST: Final = "epsilon for each report: reports gathered over HTTP with keys or times are priced at ε₀"

_BODY: Final[dict[str, Any]] = {
    "requestBody": {
        "required": True,
        "description": "Reports one after the other, or a line of JSON with a report in base64 for each.",
        "content": {
            BINARY: {"schema": {"type": "string", "format": "binary"}},
            LINES: {"schema": {"type": "string"}},
        },
    }
}


class ForDevices(Guarded):
    """A route of a collection, which may be public: then whoever sends no key may use it, and stays unnamed."""

    def admit(self, who: Caller, request: Request) -> None:
        """Find out who makes a request, unless the collection is public and no key was sent."""
        collection = who.gateway.curator.collections.get(request.path_params["collection"])
        if collection is not None and collection.is_public and not who.has_key:
            who.stay_unnamed()
        else:
            who.sign_in()


class ForPages:
    """Lets pages of the origins that a collection lists read its protocol and send reports, and no other pages.

    Whether a page may is a matter of its browser, which asks here first. It sends no cookies, so a page has no more
    rights than the key that it has.

    Args:
        app: What answers.
        collections: The collections, by their names.
    """

    def __init__(self, app: ASGIApp, collections: Mapping[str, Collection]) -> None:
        self._app = app
        self._open = {
            f"/v1/collections/{name}{end}": CORSMiddleware(
                app, allow_origins=found.origins, allow_methods=("GET", "POST"), max_age=_SECONDS_ALLOWED,
                allow_headers=("Authorization", "Content-Type", "Idempotency-Key"), expose_headers=("Retry-After",),
            )
            for name, found in collections.items() if found.origins for end in ("", "/reports")
        }  # fmt: skip

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        await self._open.get(scope.get("path", ""), self._app)(scope, receive, send)


router = APIRouter(prefix="/v1/collections", tags=["collections"], route_class=Guarded)
door = APIRouter(prefix="/v1/collections", tags=["collections"], route_class=ForDevices)


async def _body(request: Request) -> bytes:
    """The body, which is no JSON."""
    return await request.body()


@router.get("")
def collections(who: Anybody) -> list[dict[str, Any]]:
    """The collections to which reports can be sent."""
    with who.doing(Action.READ_COLLECTIONS):
        return [_shown(who, each) for each in who.gateway.curator.collections.values()]


@door.get("/{collection}")
def collection(collection: str, who: Anybody) -> dict[str, Any]:
    """A collection: its protocol, what a report costs its person, and how many reports there are."""
    with who.doing(Action.READ_COLLECTIONS, target=collection):
        found = _collection(who, collection)
        return {**_shown(who, found), "protocol": found.protocol.to_json()}


@door.post("/{collection}/reports", openapi_extra=_BODY)
def send(
    collection: str,
    who: Anybody,
    body: Annotated[bytes, Depends(_body)],
    batch: Annotated[
        str,
        Header(
            alias="Idempotency-Key", max_length=200,
            description="The id of the batch: its day in UTC, such as 2026-11-27, a dot, and at least 16 characters "
            "chosen at random.",
        ),
    ],
    content_type: Annotated[str, Header(alias="Content-Type", max_length=200)] = "",
    content_encoding: Annotated[str, Header(alias="Content-Encoding", max_length=200)] = "",
) -> dict[str, Any]:  # fmt: skip
    """Count a batch of randomized reports, each by itself; a batch that is sent again counts once."""
    with who.doing(Action.SEND_REPORTS, target=collection):
        found, kept, limits = _collection(who, collection), who.gateway.collections, who.gateway.curator.limits
        if content_encoding:
            raise ParameterError("Content-Encoding", content_encoding, "must be left out: bodies are not compressed")
        most = min(limits.batch_reports, limits.reports_per_minute)
        reports = _reports(found.protocol, body, content_type.partition(";")[0].strip().lower(), most)
        who.count_reports(len(reports))
        received = kept.receive(found, reports, batch=batch, body=body, sender=who.principal.name)
        if received is None:
            raise BatchUsedError
        if not received.is_repeated:
            who.gateway.metrics.reports.labels(found.name, "accepted").inc(received.accepted)
            who.gateway.metrics.reports.labels(found.name, "refused").inc(received.refused)
        return {"accepted": received.accepted, "refused": received.refused, "repeated": received.is_repeated}


@router.get("/{collection}/estimate")
def estimate(
    collection: str,
    who: Anybody,
    candidate: Annotated[list[str] | None, Query(max_length=10_000, description="A value; all, without any.")] = None,
    confidence: Annotated[
        str, Query(max_length=100, description="How often an interval holds what it is of.")
    ] = "0.95",
) -> dict[str, Any]:
    """What the reports say of the people, unbiased and with intervals, for readers of the collection."""
    with who.doing(Action.READ_ESTIMATES, target=collection):
        found = _collection(who, collection)
        if who.principal.name not in found.readers:
            raise ForbiddenError(str(Action.READ_ESTIMATES), "ask operators to name you among its readers")
        chosen = None if candidate is None else [found.protocol.parse(text) for text in candidate]
        if chosen is not None and None in chosen:
            raise ParameterError("candidate", None, "must be a value of the protocol")
        counted = who.gateway.collections.counted(found)
        rows = counted.estimate(chosen, confidence).rows()
        return {"collection": found.name, "reports": len(counted), "confidence": confidence, "estimates": rows}


def _collection(who: Caller, name: str) -> Collection:
    found = who.gateway.curator.collections.get(name)
    if found is None:
        raise NotFoundError("collection", name)
    return found


def _reports(protocol: LocalProtocol, body: bytes, kind: str, most: int) -> list[Any]:
    """What a body holds, report by report; each that is none is left for the count to refuse.

    Raises:
        ParameterError: It is of no known type, has too many reports, or they cannot be told apart.
    """
    if kind not in (LINES, BINARY):
        raise ParameterError("Content-Type", kind, f"must be {BINARY} or {LINES}")
    length = HEADER_BYTES + protocol.payload_bytes
    if kind == BINARY and len(body) % length:
        raise ParameterError("body", f"{len(body)} bytes", f"must be reports of {length} bytes each, and nothing else")
    lines = body.removesuffix(b"\n")
    count = len(body) // length if kind == BINARY else bool(body) + lines.count(b"\n")
    if count > most:
        raise ParameterError("body", f"{count:,} reports", f"must have at most {most:,}; send several batches")
    if kind == LINES:
        return [cell_of_line(line) for line in lines.split(b"\n")] if body else []
    return [body[start : start + length] for start in range(0, len(body), length)]


def _shown(who: Caller, found: Collection) -> dict[str, Any]:
    """What a list of collections says of one; ε is rounded up."""
    protocol, exact = found.protocol, found.protocol.realized_epsilon
    epsilon = float(exact)
    first, last = who.gateway.collections.days()
    return {
        "name": found.name,
        "kind": protocol.kind,
        "epsilon": epsilon if Fraction(epsilon) >= exact else math.nextafter(epsilon, math.inf),
        "cost": COST,
        "report_bytes": HEADER_BYTES + protocol.payload_bytes,
        "public": found.is_public,
        "may_read_estimates": who.principal.name in found.readers,
        "first_day": first.isoformat(),
        "last_day": last.isoformat(),
        "reports": len(who.gateway.collections.counted(found)),
    }
