"""The role of a store: it keeps records in order, and lets one writer at a time append to them.

Beside the records it keeps pointers, by which one record of a million is found, and one snapshot of what they add up
to. It knows nothing of what any of these say; the ledger above verifies whatever it reads.
"""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from sfumato.ledger.journal import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Pointer:
    """At which index the record of a name is; the seal tells whoever has the ledger's key that this is true."""

    name: str
    index: int
    seal: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """What is kept at once, all of it or nothing: records, pointers by new names, a snapshot instead of the last."""

    records: tuple[Record, ...] = ()
    pointers: tuple[Pointer, ...] = ()
    snapshot: str | None = None


class Reading(Protocol):
    """What can be read of a store at any time."""

    def read(self, start: int, *, limit: int | None = None) -> tuple[Record, ...]:
        """The records from an index on, in order, at most so many.

        Raises:
            LedgerError: The store cannot be read.
            LedgerCorruptError: It is damaged.
        """

    def find(self, name: str) -> Pointer | None:
        """The pointer of a name, if there is one."""

    def snapshot(self) -> str | None:
        """The last snapshot, if there is one."""


class Turn(Reading, Protocol):
    """The right to append, which nobody else has meanwhile; it reads what was kept up to now, itself included."""

    def append(self, batch: Batch) -> None:
        """Put a batch at the end; it lasts once the turn is over.

        Raises:
            LedgerConflictError: The first record does not follow the last one that is there.
            LedgerError: A pointer's name is taken, or the store cannot be written.
        """


class LedgerStore(Reading, Protocol):
    """Where a ledger lives, for any number of threads and, where the store lasts, of processes."""

    def turn(self) -> AbstractContextManager[Turn]:
        """Wait for the right to append; at the end of the block what was appended is on the disk, all or nothing.

        An error inside of the block appends nothing. If the end of the block fails, the batch was kept or not.

        Raises:
            LedgerError: The store cannot be written.
        """

    def check(self) -> None:
        """All that the store can verify of itself without reading what its records say: pages, counts, its tables.

        Raises:
            LedgerCorruptError: Something is damaged.
        """

    def close(self) -> None:
        """Let go of files and connections; every later call fails, a second `close` does nothing."""
