"""The role of a store: it keeps records in order and appends one only if nobody came first."""

from typing import Protocol

from sfumato.ledger.journal import Record


class LedgerStore(Protocol):
    """Where records live. It knows nothing of what they say; the ledger above verifies every one it reads."""

    def read(self, start: int) -> tuple[Record, ...]:
        """The records from an index on, in order.

        Raises:
            LedgerError: The store cannot be read.
        """

    def append(self, record: Record, *, expected_head: str) -> None:
        """Keep a record for good, if the last hash is still the expected one; once it returns, a crash loses nothing.

        If it raises, the record may have been kept or not.

        Raises:
            LedgerConflictError: Another writer appended first; nothing was written.
            LedgerError: The store cannot be written.
        """

    def close(self) -> None:
        """Let go of files and connections; every later call fails, a second `close` does nothing."""
