"""A ledger store that lives and dies with its process: for tests, and for data whose analyst is its owner."""

from threading import Lock

from sfumato.errors import LedgerConflictError, LedgerError
from sfumato.ledger.journal import GENESIS, Record


class MemoryStore:
    """Records in a list, safe for threads."""

    def __init__(self) -> None:
        self._records: list[Record] = []
        self._lock = Lock()
        self._closed = False

    def read(self, start: int) -> tuple[Record, ...]:
        """The records from an index on."""
        with self._lock:
            self._require_open()
            return tuple(self._records[start:])

    def append(self, record: Record, *, expected_head: str) -> None:
        """Keep a record if nobody came first."""
        with self._lock:
            self._require_open()
            head = self._records[-1].hash if self._records else GENESIS
            if head != expected_head:
                raise LedgerConflictError(expected_head, head)
            self._records.append(record)

    def close(self) -> None:
        """Refuse every later call."""
        self._closed = True

    def _require_open(self) -> None:
        if self._closed:
            raise LedgerError("memory:", "is closed; what it held is gone. Keep it open, or keep the ledger in a file")
