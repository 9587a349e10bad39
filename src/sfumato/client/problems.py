"""What a server answers: whether to try again, and which error of this package a problem document says.

Problem documents are those of RFC 9457, with the class of the error and its attributes.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sfumato import errors
from sfumato.errors import CuratorError, ParameterError, SfumatoError
from sfumato.privacy.codec import decode_budget
from sfumato.privacy.formats import parse_json

PROBLEM: Final = "application/problem+json"
TRIES: Final = 6
"""How often a request about queries is sent, at most."""

FEW_TRIES: Final = 2
"""How often any other is, so that a wrong address is said soon."""

FIRST_PAUSE: Final = 0.25
LONGEST_PAUSE: Final = 60.0
"""Seconds between two tries: each time twice as many, or as many as the server says, but no more than this."""

_BETWEEN: Final = frozenset({502, 503, 504})
"""What those answer that stand between a client and a server which they do not reach."""

_BUSY: Final = frozenset({"BusyError", "TooFastError"})
"""Errors before anything happened that pass by themselves; all others are refusals."""

_LONGEST_SHOWN: Final = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a server answered.

    Attributes:
        status: Of HTTP.
        headers: By names in lower case.
        body: As it came.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def is_good(self) -> bool:
        """Whether it is what was asked for."""
        return 200 <= self.status < 300  # noqa: PLR2004 # as HTTP says

    @property
    def is_problem(self) -> bool:
        """Whether it is a problem document of the server itself."""
        return self.headers.get("content-type", "").split(";")[0].strip() == PROBLEM

    def document(self) -> Any:
        """The body as JSON.

        Raises:
            ValueError: It is none.
        """
        return parse_json(self.body)

    def problem(self) -> Mapping[str, Any]:
        """The problem document; empty if it is none."""
        try:
            found = self.document() if self.is_problem else None
        except ValueError:
            found = None
        return found if isinstance(found, dict) else {}


def pause_after(answer: Answer | None, tried: int, *, tries: int = TRIES) -> float | None:
    """After how many seconds to send the same request again; None for never.

    A request can be sent again where nobody knows whether it came: it has a key under which nothing is charged twice.

    Args:
        answer: What came back; None if nothing did.
        tried: How often it was sent.
        tries: How often it may be.
    """
    growing = min(FIRST_PAUSE * 2.0 ** (tried - 1), LONGEST_PAUSE)
    if tried >= tries:
        return None
    if answer is None:
        return growing
    is_between = answer.status in _BETWEEN and not answer.is_problem
    if not is_between and answer.problem().get("error") not in _BUSY:
        return None
    seconds = stated_pause(answer, growing)
    return None if seconds > LONGEST_PAUSE else max(seconds, growing)


def stated_pause(answer: Answer, otherwise: float) -> float:
    """After how many seconds the server wants to be asked again, if it says so."""
    stated = answer.headers.get("retry-after", "")
    return float(stated) if stated.isascii() and stated.isdigit() and len(stated) < len("10000000") else otherwise


def error_of(answer: Answer, address: str) -> SfumatoError:
    """The error that an answer says: the library's own where it has one, with its message and its attributes.

    Args:
        answer: What came back.
        address: Of the server.
    """
    problem = answer.problem()
    detail = str(problem.get("detail", ""))
    kind = getattr(errors, str(problem.get("error")), None)
    if not detail or not isinstance(kind, type) or not issubclass(kind, SfumatoError):
        requirement = detail[:_LONGEST_SHOWN] or "must be the address of a server of sfumato, and answer as such"
        return CuratorError(address, answer.status, requirement)
    made: SfumatoError = kind.__new__(kind, detail)
    fields = problem.get("fields")
    for name, value in (fields if isinstance(fields, dict) else {}).items():
        if name.isidentifier() and not name.startswith("_") and not hasattr(kind, name):
            setattr(made, name, _attribute(value))
    return made


def _attribute(value: Any) -> Any:
    """A budget as it is here, and anything else as JSON has it."""
    try:
        return decode_budget(value) if isinstance(value, dict) else value
    except ParameterError:
        return value
