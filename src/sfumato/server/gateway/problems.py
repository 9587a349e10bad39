"""Errors as problem documents (RFC 9457): the class of the library's error, its message, and its attributes.

Messages of this package name what was wanted and how to fix it, and hold nothing that was computed from rows. What is
no error of this package is a defect: its document says nothing of it.
"""

from collections.abc import Mapping
from contextlib import suppress
from http import HTTPStatus
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from sfumato.errors import (
    AccessError,
    BudgetExceededError,
    BusyError,
    DatabaseError,
    EngineError,
    EntropyError,
    ForbiddenError,
    LedgerConflictError,
    LedgerError,
    NotAuthenticatedError,
    NotFoundError,
    NotPrivateError,
    ParameterError,
    PolicyError,
    ReservationError,
    SfumatoError,
    StateError,
    TicketError,
    UnavailableError,
    UnboundedSensitivityError,
    UnsupportedEventError,
)
from sfumato.privacy.budgets import Budget
from sfumato.privacy.codec import Json, encode_budget

MEDIA_TYPE: Final = "application/problem+json"
RETRY_AFTER: Final = 5
"""After how many seconds it may be worth trying again where nothing more is known."""

_URN: Final = "urn:sfumato:error:"
_LONGEST_FIELD: Final = 1_000
_LONGEST_DETAIL: Final = 4_000
_MOST_SHOWN: Final = 2**53

_STATUS: Final[Mapping[type[Exception], HTTPStatus]] = {
    NotAuthenticatedError: HTTPStatus.UNAUTHORIZED,
    ForbiddenError: HTTPStatus.FORBIDDEN,
    NotFoundError: HTTPStatus.NOT_FOUND,
    AccessError: HTTPStatus.FORBIDDEN,
    BudgetExceededError: HTTPStatus.PAYMENT_REQUIRED,
    ReservationError: HTTPStatus.CONFLICT,
    LedgerConflictError: HTTPStatus.CONFLICT,
    ParameterError: HTTPStatus.UNPROCESSABLE_ENTITY,
    NotPrivateError: HTTPStatus.UNPROCESSABLE_ENTITY,
    UnboundedSensitivityError: HTTPStatus.UNPROCESSABLE_ENTITY,
    UnsupportedEventError: HTTPStatus.UNPROCESSABLE_ENTITY,
    PolicyError: HTTPStatus.UNPROCESSABLE_ENTITY,
    BusyError: HTTPStatus.SERVICE_UNAVAILABLE,
    EngineError: HTTPStatus.SERVICE_UNAVAILABLE,
    TicketError: HTTPStatus.SERVICE_UNAVAILABLE,
    LedgerError: HTTPStatus.SERVICE_UNAVAILABLE,
    DatabaseError: HTTPStatus.SERVICE_UNAVAILABLE,
    EntropyError: HTTPStatus.SERVICE_UNAVAILABLE,
    StateError: HTTPStatus.SERVICE_UNAVAILABLE,
}
"""What an error is in HTTP: the first of its classes, itself first, that is listed."""


class TooFastError(BusyError):
    """One key asks too often, or too much at once; others do not."""


class TooLargeError(SfumatoError):
    """A request has more bytes than are read."""

    def __init__(self, most: int) -> None:
        self.most = most
        super().__init__(f"the body has more than {most:,} bytes; send less at once")


class BatchUsedError(SfumatoError):
    """The id of a batch was used for another batch."""

    def __init__(self) -> None:
        super().__init__(
            "another batch came under this id, and this one was not counted; choose a new id for each batch"
        )


class ProblemDocument(BaseModel):
    """A problem document."""

    type: str
    title: str
    status: int
    detail: str
    error: str
    fields: dict[str, Any] = {}


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """What the document of the interface says of problems with some statuses."""
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemDocument"}}}
    return {status: {"description": HTTPStatus(status).phrase, "content": content} for status in statuses}


def status_of(error: Exception) -> HTTPStatus:
    """The status of a response that says this error."""
    if isinstance(error, TooFastError):
        return HTTPStatus.TOO_MANY_REQUESTS
    if isinstance(error, TooLargeError):
        return HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    if isinstance(error, BatchUsedError):
        return HTTPStatus.CONFLICT
    known = (_STATUS[kind] for kind in type(error).__mro__ if kind in _STATUS)
    return next(known, HTTPStatus.INTERNAL_SERVER_ERROR)


def document_of(error: Exception) -> dict[str, Json]:
    """The problem document of an error; of one that is no error of this package nothing is told."""
    status = status_of(error)
    if _names_a_place(error):
        error = UnavailableError()
    known = error if isinstance(error, SfumatoError) else None
    name, attributes = ("InternalError", {}) if known is None else (type(known).__name__, vars(known))
    return {
        "type": f"{_URN}{name}",
        "title": status.phrase,
        "status": status.value,
        "detail": "a defect of this server; nothing more is told. Tell its operators"
        if known is None
        else str(known)[:_LONGEST_DETAIL],
        "error": name,
        "fields": {name: _field(value) for name, value in attributes.items() if not name.startswith("_")},
    }


def _names_a_place(error: Exception) -> bool:
    """Whether an error names a file or a host, which only operators are to know; their logs have its class."""
    is_of_ledger = isinstance(error, LedgerError) and not isinstance(error, LedgerConflictError)
    return isinstance(error, DatabaseError) or (is_of_ledger and not str(error).startswith("ledger account "))


def response_of(error: Exception) -> Response:
    """The response that says an error."""
    document = document_of(error)
    status, headers = status_of(error), {}
    if status in {HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.TOO_MANY_REQUESTS}:
        headers["Retry-After"] = str(getattr(error, "retry_after", RETRY_AFTER))
    if status is HTTPStatus.UNAUTHORIZED:
        headers["WWW-Authenticate"] = "Bearer"
    return JSONResponse(document, status_code=status, headers=headers, media_type=MEDIA_TYPE)


def plain_problem(status: int, detail: str, headers: Mapping[str, str] | None = None) -> Response:
    """A problem that is about HTTP alone."""
    phrase = HTTPStatus(status).phrase
    name = "".join(phrase.title().split()) + "Error"
    document = {"type": "about:blank", "title": phrase, "status": status, "detail": detail, "error": name, "fields": {}}
    return JSONResponse(document, status_code=status, headers=headers, media_type=MEDIA_TYPE)


def install(app: FastAPI) -> None:
    """Have an application answer errors with problem documents; `observing` does for what is none of this package."""

    @app.exception_handler(SfumatoError)
    async def known(request: Request, error: SfumatoError) -> Response:
        request.app.state.gateway.metrics.problems.labels(type(error).__name__).inc()
        return response_of(error)

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        return response_of(ParameterError(place, None, f"is not as the interface says: {first['msg']}"))

    @app.exception_handler(HTTPException)
    async def plain(_: Request, error: HTTPException) -> Response:
        return plain_problem(error.status_code, str(error.detail), error.headers)


def _field(value: Any) -> Json:
    """An attribute of an error as JSON."""
    match value:
        case bool() | None:
            return value
        case int() | float() if abs(value) <= _MOST_SHOWN:
            return value
        case str():
            return value[:_LONGEST_FIELD]
        case _ if isinstance(value, Budget):
            return encode_budget(value)
        case _:
            with suppress(ValueError):  # Python writes no number of thousands of digits
                return str(value)[:_LONGEST_FIELD]
    return None
