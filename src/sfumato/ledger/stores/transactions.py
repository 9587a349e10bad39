"""What all stores have in common: reads, and write transactions, one at a time and kept whole or not at all."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import RLock
from typing import Protocol, TypeVar

from sfumato.errors import LedgerConflictError, LedgerError
from sfumato.ledger.core.store import Chain, IndexEntry, ReadableStore, Record, StoreBatch, StoreEnd

T = TypeVar("T")


class Tables(ReadableStore, Protocol):
    """Where a store keeps things, seen from within a transaction of its own."""

    def keep(self, batch: StoreBatch) -> None:
        """Write a batch, which fits; it lasts once the transaction does.

        Raises:
            LedgerError: An index entry's name is taken, or the store cannot be written.
        """


class TableReader(ABC):
    """Reads what the tables of a store hold."""

    @abstractmethod
    def _asked(self, question: Callable[[ReadableStore], T]) -> T:
        """Ask the tables, where that may be done now."""

    def read(self, start: int, *, limit: int | None = None) -> tuple[Record, ...]:
        """The records from an index on."""
        return self._asked(lambda tables: tables.read(start, limit=limit))

    def find(self, name: str) -> IndexEntry | None:
        """The index entry of a name."""
        return self._asked(lambda tables: tables.find(name))

    def index_entries(self, *, after: str = "", limit: int) -> tuple[IndexEntry, ...]:
        """The index entries after a name."""
        return self._asked(lambda tables: tables.index_entries(after=after, limit=limit))

    def snapshot(self) -> str | None:
        """The last snapshot."""
        return self._asked(lambda tables: tables.snapshot())

    def end(self) -> StoreEnd:
        """How far it is."""
        return self._asked(lambda tables: tables.end())


class OpenTransaction(TableReader):
    """The write transaction of any store: what is appended follows the chain, and all of it is kept or nothing.

    Args:
        tables: What it reads and writes.
        place: The store, as errors name it.
    """

    def __init__(self, tables: Tables, place: str) -> None:
        self._tables, self._place = tables, place
        self._end = tables.end()
        self._is_over = False
        self._has_failed = False

    def append(self, batch: StoreBatch) -> None:
        """Put a batch at the end; it lasts once the transaction is over."""
        self._require_open()
        self._has_failed = True
        chain = _followed(self._end.chain, batch.records)
        if any(not 0 <= index_entry.index < chain.length for index_entry in batch.index_entries):
            raise LedgerError(self._place, "an index entry must lead to a record that is there")
        if not all(map(_is_storable, _texts(batch))):
            raise LedgerError(self._place, "cannot keep text with a NUL or with half of a surrogate pair")
        self._tables.keep(batch)
        self._end = StoreEnd(chain=chain, seal=self._end.seal if batch.seal is None else batch.seal)
        self._has_failed = False

    def end(self) -> StoreEnd:
        """How far it is, with what was appended, which is known without asking the tables."""
        self._require_open()
        return self._end

    @contextmanager
    def ending(self) -> Iterator[None]:
        """The block in which the transaction can be used.

        Raises:
            LedgerError: An append has failed, although the block hid it: a part of a batch must not be kept.
        """
        try:
            yield
        finally:
            self._is_over = True
        if self._has_failed:
            requirement = "an append failed, so nothing of the write transaction is kept; ask again"
            raise LedgerError(self._place, requirement)

    def _asked(self, question: Callable[[ReadableStore], T]) -> T:
        self._require_open()
        return question(self._tables)

    def _require_open(self) -> None:
        if self._is_over:
            raise LedgerError(self._place, "this write transaction is over; begin another one")


class Gate:
    """By which the threads of a process wait for each other, before they wait for other processes.

    Args:
        place: The store, as errors name it.
    """

    def __init__(self, place: str) -> None:
        self._place = place
        self._lock = RLock()  # so that who is inside and enters again gets an error, and does not wait for itself
        self._is_taken = False

    @contextmanager
    def entered(self) -> Iterator[None]:
        """A block that no two threads are in.

        Raises:
            LedgerError: This very thread is in it.
        """
        with self._lock:
            if self._is_taken:
                requirement = "a write transaction cannot begin within another one; use the one that is open"
                raise LedgerError(self._place, requirement)
            self._is_taken = True
            try:
                yield
            finally:
                self._is_taken = False


def _followed(chain: Chain, records: tuple[Record, ...]) -> Chain:
    """The chain with these records at its end; that their texts have these hashes is for the reader to verify."""
    for record in records:
        if (record.index, record.previous) != (chain.length, chain.head):
            raise LedgerConflictError(record.previous, chain.head)
        chain = Chain(length=chain.length + 1, head=record.hash)
    return chain


def _texts(batch: StoreBatch) -> Iterator[str]:
    for record in batch.records:
        yield record.text
        yield record.hash
    for index_entry in batch.index_entries:
        yield index_entry.name
        yield index_entry.seal
    yield from (text for text in (batch.snapshot, batch.seal) if text is not None)


def _is_storable(text: str) -> bool:
    """Whether every database keeps this text as it is: PostgreSQL has no NUL, and UTF-8 no halves of pairs."""
    return "\0" not in text and (text.isascii() or not any("\ud800" <= one <= "\udfff" for one in text))
