"""What a store keeps, and the role of a store: it keeps records in order, and lets one writer at a time append to them.

Records are a hash chain, so that none changes, vanishes or moves unnoticed:

    hash₀ = 64 zeros,   hashᵢ₊₁ = SHA-256(hashᵢ ‖ textᵢ)

The hash has no key: it finds accidents and edits, not an owner of the file who computes the whole chain anew, and not
the loss of the last records. Beside the records a store keeps index entries, by which one record of a million
is found, one snapshot of what they add up to, and the seal of the last batch. It knows nothing of what any of these
say; the ledger above verifies whatever it reads.
"""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from hashlib import sha256
from typing import Final, Protocol

from sfumato.errors import LedgerCorruptError

GENESIS: Final = "0" * 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One entry's text at its place in the chain."""

    index: int
    previous: str
    text: str
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """How many records there are and the hash of the last: all that the next one depends on.

    Example:
        >>> start = Chain()
        >>> start.follow(start.link("an entry")).length
        1
    """

    length: int = 0
    head: str = GENESIS

    def link(self, text: str) -> Record:
        """The record that this text makes at the end of the chain."""
        return Record(index=self.length, previous=self.head, text=text, hash=_digest(self.head, text))

    def follow(self, record: Record) -> "Chain":
        """The chain one record longer.

        Raises:
            LedgerCorruptError: The record is not what `link` makes of its text here.
        """
        if record.index != self.length:
            raise LedgerCorruptError(self.length, "a record is missing here, or out of order")
        if record.previous != self.head or record.hash != _digest(self.head, record.text):
            raise LedgerCorruptError(self.length)
        return Chain(length=self.length + 1, head=record.hash)


def _digest(previous: str, text: str) -> str:
    # The previous hash has a fixed length, so no two pairs join to the same bytes.
    return sha256(f"{previous}{text}".encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexEntry:
    """At which index the record of a name is; the seal tells whoever has the ledger's key that this is true."""

    name: str
    index: int
    seal: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreBatch:
    """What is kept at once, all of it or nothing.

    Attributes:
        records: Records after the last one.
        index_entries: Index entries by new names.
        snapshot: A snapshot instead of the last; None to leave that.
        seal: A seal instead of the last; None to leave that.
        is_reindexed: Whether these index entries replace all that there are, as under a new key.
    """

    records: tuple[Record, ...] = ()
    index_entries: tuple[IndexEntry, ...] = ()
    snapshot: str | None = None
    seal: str | None = None
    is_reindexed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreEnd:
    """How far a store is at one moment: its length, the hash of the last record, and the seal of the last batch."""

    chain: Chain
    seal: str | None


class ReadableStore(Protocol):
    """What can be read of a store at any time."""

    def read(self, start: int, *, limit: int | None = None) -> tuple[Record, ...]:
        """The records from an index on, in order, at most so many.

        Raises:
            LedgerError: The store cannot be read.
            LedgerCorruptError: It is damaged.
        """

    def find(self, name: str) -> IndexEntry | None:
        """The index entry of a name, if there is one."""

    def index_entries(self, *, after: str = "", limit: int) -> tuple[IndexEntry, ...]:
        """The index entries whose names come after one, by the bytes of their names, at most so many."""

    def snapshot(self) -> str | None:
        """The last snapshot, if there is one."""

    def end(self) -> StoreEnd:
        """How far it is, all of it at one moment.

        Raises:
            LedgerCorruptError: Records are gone.
        """


class WriteTransaction(ReadableStore, Protocol):
    """The right to append, which nobody else has meanwhile; it reads what was kept up to now, itself included."""

    def append(self, batch: StoreBatch) -> None:
        """Put a batch at the end; it lasts once the transaction is over.

        Raises:
            LedgerConflictError: The first record does not follow the last one that is there.
            LedgerError: An index entry's name is taken, or the store cannot be written.
        """


class LedgerStore(ReadableStore, Protocol):
    """Where a ledger lives, for any number of threads and, where the store lasts, of processes."""

    def transaction(self) -> AbstractContextManager[WriteTransaction]:
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


def unsealed(place: str) -> LedgerCorruptError:
    """The refusal of a store whose tables are those of a version that sealed no batch."""
    requirement = (
        f"{place} has no seals; if an older version of this package wrote it, and nobody else could,"
        " run `sfumato ledger migrate --unsealed`, which accepts its entries"
    )
    return LedgerCorruptError(0, requirement)
