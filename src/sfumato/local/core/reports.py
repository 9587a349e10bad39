"""What a person sends: bytes of one form, which name the protocol they belong to and nothing else.

A report is one byte of version, four of the protocol's fingerprint, and a payload whose length the protocol fixes. So
two people with the same payload send the same bytes, and the length reveals nothing.
"""

from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import of_kind

Payloads: TypeAlias = NDArray[np.uint8]
"""One row of bytes for each report, all of the length that the protocol fixes."""

VERSION: Final = 1
FINGERPRINT_BYTES: Final = 4
HEADER_BYTES: Final = 1 + FINGERPRINT_BYTES
_BLOCK: Final = 1 << 15  # reports whose numbers stay in the processor's cache
_REQUIREMENT: Final = "must be the bytes of a report: a version, a fingerprint and a payload"


@dataclass(frozen=True, slots=True)
class Report:
    """One randomized report. Its bytes are canonical: one form for each report, and one report for each form.

    Attributes:
        fingerprint: The first four bytes of the SHA-256 of the protocol.
        payload: What the protocol made of the value.

    Example:
        >>> Report(b"abcd", b"x").to_text(), Report.from_text("AWFiY2R4") == Report(b"abcd", b"x")
        ('AWFiY2R4', True)
    """

    fingerprint: bytes
    payload: bytes

    def __post_init__(self) -> None:
        _check_fingerprint(self.fingerprint)
        of_kind(self.payload, "payload", bytes, "bytes")

    def __bytes__(self) -> bytes:
        return bytes((VERSION,)) + self.fingerprint + self.payload

    def to_text(self) -> str:
        """The bytes in base64, for CSV and JSON."""
        return b64encode(bytes(self)).decode()

    @classmethod
    def from_bytes(cls, data: bytes) -> "Report":
        """The report that these bytes are.

        Raises:
            ParameterError: They are of another version, or too short.
        """
        of_kind(data, "report", (bytes, bytearray, memoryview), "bytes")
        if len(data) <= HEADER_BYTES or data[0] != VERSION:
            raise ParameterError("report", f"{len(data)} bytes", _REQUIREMENT)
        return cls(bytes(data[1:HEADER_BYTES]), bytes(data[HEADER_BYTES:]))

    @classmethod
    def from_text(cls, text: str) -> "Report":
        """The report in base64.

        Raises:
            ParameterError: It is none.
        """
        of_kind(text, "report", str, "a text in base64")
        return cls.from_bytes(bytes_of_text(text) or b"")


@dataclass(frozen=True, slots=True, eq=False)
class Reports:
    """Many reports of one protocol, as one array. It is a sequence of `Report`.

    Attributes:
        fingerprint: That of the protocol.
        payloads: One row of bytes for each report.
    """

    fingerprint: bytes
    payloads: Payloads

    def __post_init__(self) -> None:
        _check_fingerprint(self.fingerprint)
        of_kind(self.payloads, "payloads", np.ndarray, "an array")
        if self.payloads.ndim != 2 or self.payloads.dtype != np.uint8:  # noqa: PLR2004 # rows of bytes
            raise ParameterError("payloads", f"an array of {self.payloads.dtype}", "must be rows of bytes (uint8)")

    def __len__(self) -> int:
        return len(self.payloads)

    def __iter__(self) -> Iterator[Report]:
        return (Report(self.fingerprint, row.tobytes()) for row in self.payloads)

    def __getitem__(self, chosen: slice) -> "Reports":
        return Reports(self.fingerprint, self.payloads[chosen])

    def whole(self) -> Payloads:
        """The bytes of all reports with their headers, a row for each."""
        header = np.frombuffer(bytes((VERSION,)) + self.fingerprint, dtype=np.uint8)
        heads = np.broadcast_to(header, (len(self), HEADER_BYTES))
        return np.concatenate((heads, self.payloads), axis=1)


@dataclass(frozen=True, slots=True)
class Intake:
    """What became of reports that came together: each is counted or refused by itself.

    Attributes:
        accepted: How many were counted.
        refused: The positions of those that are no reports of the protocol, from 0.
    """

    accepted: int
    refused: tuple[int, ...] = ()


Given: TypeAlias = Reports | Report | Iterable[Any]
"""Reports of one protocol; a single one; or reports, their bytes, or their texts in base64, in any mixture."""


@dataclass(frozen=True, slots=True, eq=False)
class Arrivals:
    """A part of what came, in its order: the payloads of what has the form of a report, and where each stood.

    Attributes:
        payloads: Those of the reports of the protocol's version, fingerprint and length.
        places: The position of each of them among the items.
        items: How many came, with those that have another form.
    """

    payloads: Payloads
    places: NDArray[np.int64]
    items: int


def blocks(given: Given, *, fingerprint: bytes, width: int) -> Iterator[Arrivals]:
    """What came, a block at a time. An item of another form is left out by itself, before it is copied."""
    if isinstance(given, Reports):
        fits = given.fingerprint == fingerprint and given.payloads.shape[1] == width
        for start in range(0, len(given), _BLOCK):
            part = given.payloads[start : start + _BLOCK]
            rows = part if fits else np.empty((0, width), dtype=np.uint8)
            yield Arrivals(rows, np.arange(len(rows)), len(part))
        return
    header, length = bytes((VERSION,)) + fingerprint, HEADER_BYTES + width
    held: Any = (given,) if isinstance(given, Report | str | bytes | bytearray | memoryview) else given
    if not isinstance(held, Iterable) or (isinstance(held, np.ndarray) and held.dtype.kind == "S"):
        # NumPy's bytes lose the zeros at their end.
        raise ParameterError(
            "reports", type(given).__name__, "must be Reports, a Report, or a list of them or of bytes"
        )
    items = iter(held)
    while came := [_bytes_of(item, length) for item in islice(items, _BLOCK)]:
        kept = {place: data for place, data in enumerate(came) if data is not None and data.startswith(header)}
        whole = np.frombuffer(b"".join(kept.values()), dtype=np.uint8).reshape(len(kept), length)
        yield Arrivals(whole[:, HEADER_BYTES:], np.fromiter(kept, dtype=np.int64, count=len(kept)), len(came))


def _check_fingerprint(fingerprint: object) -> None:
    if not isinstance(fingerprint, bytes) or len(fingerprint) != FINGERPRINT_BYTES:
        raise ParameterError("fingerprint", fingerprint, f"must be {FINGERPRINT_BYTES} bytes")


def bytes_of_text(text: str) -> bytes | None:
    """The bytes that a text in base64 stands for, if it is one in its only form."""
    try:
        data = b64decode(text, validate=True)
    except (NotBase64, ValueError):
        return None
    return data if b64encode(data).decode() == text else None


def _bytes_of(item: object, length: int) -> bytes | None:
    """The bytes of one item, if they are of this length."""
    match item:
        case Report():
            data: bytes | None = bytes(item)
        case bytes() | bytearray() | memoryview():
            data = bytes(item) if len(item) == length else None
        case str():
            data = bytes_of_text(item) if len(item) == 4 * -(-length // 3) else None
        case _:
            data = None
    return data if data is not None and len(data) == length else None
