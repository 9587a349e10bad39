"""What a collector keeps of reports: counts, which add up in any order and are never a report again."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from hashlib import sha256
from typing import Any, Final, Generic, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.local.core.domain import Label
from sfumato.local.core.protocol import LocalProtocol
from sfumato.local.core.reports import Given, Intake, Payloads, blocks
from sfumato.numeric.arguments import of_kind
from sfumato.numeric.rationals import Number

P = TypeVar("P", bound=LocalProtocol)
_MAGIC: Final = b"sfumato-local-1\n"
_DIGEST_BYTES: Final = 32


class Estimates(Protocol):
    """Numbers that reports say of people, with intervals; each protocol has its own."""

    def rows(self) -> list[dict[str, Any]]:
        """One row for each estimate, for tables and files."""
        ...


class Aggregator(ABC, Generic[P]):
    """Counts of the reports of one protocol. Whatever is computed of them is post-processing and costs nothing.

    Adding is streaming: memory is that of the counts, however many reports come. Aggregators of parts are merged into
    that of the whole, and a snapshot restores one elsewhere.

    Subclasses say what the counts mean by `estimate`, and may count something else by `_tally` and `_cells`.
    """

    def __init__(self, protocol: P) -> None:
        self.protocol: Final = protocol
        self._fingerprint: Final = protocol.fingerprint
        self._counts: NDArray[np.int64] = np.zeros(self._cells, dtype=np.int64)
        self._reports = 0

    def __len__(self) -> int:
        """How many reports were counted."""
        return self._reports

    @property
    def counts(self) -> NDArray[np.int64]:
        """A copy of the cells; the protocol says what they count."""
        return self._counts.copy()

    def add(self, reports: Given) -> Intake:
        """Count reports: one, a batch, or any iterable of reports, of their bytes or of their texts.

        What is no report of this protocol is refused by itself: another version, fingerprint or length, and payloads
        that no client makes. Everything else is counted.

        Raises:
            ParameterError: It is nothing that holds reports.

        Example:
            >>> from sfumato.local import DirectEncoding
            >>> oracle = DirectEncoding(3, epsilon=1)
            >>> oracle.aggregator().add([oracle.client().report(2), b"nonsense"])
            Intake(accepted=1, refused=(1,))
        """
        accepted = came = 0
        refused: list[int] = []
        for block in blocks(reports, fingerprint=self._fingerprint, width=self.protocol.payload_bytes):
            valid = self.protocol.are_valid(block.payloads)
            kept = block.payloads if valid.all() else block.payloads[valid]
            self._counts += self._tally(kept)
            self._reports += len(kept)
            if len(kept) < block.items:
                is_refused = np.ones(block.items, dtype=np.bool_)
                is_refused[block.places[valid]] = False
                refused += (came + np.flatnonzero(is_refused)).tolist()
            accepted, came = accepted + len(kept), came + block.items
        return Intake(accepted, tuple(refused))

    def merge(self, other: "Aggregator[Any]") -> None:
        """Add the counts of another aggregator of the same protocol, which stays as it is.

        Raises:
            ParameterError: It is of another protocol, or counts other candidates.
        """
        if type(other) is not type(self) or other.header() != self.header() or other is self:
            raise ParameterError("other", type(other).__name__, "must be another aggregator of the same protocol")
        self._counts += other.counts
        self._reports += len(other)

    @abstractmethod
    def estimate(self, candidates: Iterable[Label] | None = None, confidence: Number = "0.95") -> Estimates:
        """What the reports say of the people, with intervals.

        Args:
            candidates: The values to estimate, if the protocol is one of values; all of them, if none are given.
            confidence: How often an interval holds what it is of.

        Raises:
            ParameterError: There are no reports, or an argument is out of range.
        """

    def snapshot(self) -> bytes:
        """The state as bytes, with a checksum: the same state gives the same bytes."""
        state = self.header() + self._reports.to_bytes(8) + self._counts.astype("<i8").tobytes()
        return state + sha256(state).digest()

    def restore(self, snapshot: bytes) -> Self:
        """Take the state of a snapshot in place of this one's.

        Raises:
            ParameterError: It is damaged, or of another protocol or version.
        """
        of_kind(snapshot, "snapshot", bytes, "bytes that `snapshot` gave")
        header, cells = self.header(), self._cells
        state, digest = snapshot[:-_DIGEST_BYTES], snapshot[-_DIGEST_BYTES:]
        if len(state) != len(header) + 8 * (1 + cells) or not state.startswith(header):
            raise ParameterError("snapshot", f"{len(snapshot)} bytes", "must be of an aggregator of this protocol")
        if sha256(state).digest() != digest:
            raise ParameterError("snapshot", f"{len(snapshot)} bytes", "is damaged: its checksum is wrong")
        self._reports = int.from_bytes(state[len(header) : len(header) + 8])
        self._counts = np.frombuffer(state[len(header) + 8 :], dtype="<i8").astype(np.int64)
        return self

    def header(self) -> bytes:
        """What a snapshot begins with: the version, the protocol, and what is counted of its reports."""
        return _MAGIC + self._fingerprint + sha256(self._scope()).digest()

    @property
    def _cells(self) -> int:
        return self.protocol.cells

    def _tally(self, payloads: Payloads) -> NDArray[np.int64]:
        return self.protocol.tally(payloads)

    def _scope(self) -> bytes:
        """What is counted of the reports, if that is not all."""
        return b""
