"""What the turns of every store have in common: one at a time, in the chain's order, whole or not at all."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock
from typing import Protocol

from sfumato.errors import LedgerConflictError, LedgerError
from sfumato.ledger.core.store import Batch, Chain, End, Pointer, Reading, Record


class Tables(Reading, Protocol):
    """Where a store keeps things, seen from within a transaction."""

    def keep(self, batch: Batch) -> None:
        """Write a batch, which fits; it lasts once the transaction does.

        Raises:
            LedgerError: A pointer's name is taken, or the store cannot be written.
        """


class OpenTurn:
    """The turn of any store: what is appended follows the chain, and all of it is kept or nothing.

    Args:
        tables: What it reads and writes.
        end: How far the store is.
        place: The store, as errors name it.
    """

    def __init__(self, tables: Tables, end: End, place: str) -> None:
        self._tables, self._end, self._place = tables, end, place
        self._is_over = False
        self._has_failed = False

    def read(self, start: int, *, limit: int | None = None) -> tuple[Record, ...]:
        """As the store's own, with what this turn appended."""
        return self._open_tables().read(start, limit=limit)

    def find(self, name: str) -> Pointer | None:
        """As the store's own, with what this turn appended."""
        return self._open_tables().find(name)

    def pointers(self, *, after: str = "", limit: int) -> tuple[Pointer, ...]:
        """As the store's own, with what this turn appended."""
        return self._open_tables().pointers(after=after, limit=limit)

    def snapshot(self) -> str | None:
        """As the store's own, with what this turn appended."""
        return self._open_tables().snapshot()

    def end(self) -> End:
        """As the store's own, with what this turn appended."""
        self._open_tables()
        return self._end

    def append(self, batch: Batch) -> None:
        """Put a batch at the end; it lasts once the turn is over."""
        tables = self._open_tables()
        self._has_failed = True
        chain = _followed(self._end.chain, batch.records)
        if any(not 0 <= pointer.index < chain.length for pointer in batch.pointers):
            raise LedgerError(self._place, "a pointer must lead to a record that is there")
        if not all(_is_storable(text) for text in _texts(batch)):
            raise LedgerError(self._place, "cannot keep text with a NUL or with half of a surrogate pair")
        tables.keep(batch)
        self._end = End(chain=chain, seal=self._end.seal if batch.seal is None else batch.seal)
        self._has_failed = False

    @contextmanager
    def ending(self) -> Iterator["OpenTurn"]:
        """The block in which the turn can be used.

        Raises:
            LedgerError: An append has failed, although the block hid it: a part of a batch must not be kept.
        """
        try:
            yield self
        finally:
            self._is_over = True
        if self._has_failed:
            raise LedgerError(self._place, "an append of this turn failed, so nothing of the turn is kept; ask again")

    def _open_tables(self) -> Tables:
        if self._is_over:
            raise LedgerError(self._place, "this turn is over; take another one")
        return self._tables


class OneAtATime:
    """By which the threads of a process wait for each other, before they wait for other processes.

    Args:
        place: The store, as errors name it.
    """

    def __init__(self, place: str) -> None:
        self._place = place
        self._lock = RLock()  # so that a turn within a turn is an error, and does not wait for itself
        self._is_taken = False

    @contextmanager
    def taken(self) -> Iterator[None]:
        """A block that no two threads are in.

        Raises:
            LedgerError: This very thread is in it.
        """
        with self._lock:
            if self._is_taken:
                raise LedgerError(self._place, "a turn cannot begin within a turn; use the one that there is")
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


def _texts(batch: Batch) -> Iterator[str]:
    for record in batch.records:
        yield record.text
        yield record.hash
    for pointer in batch.pointers:
        yield pointer.name
        yield pointer.seal
    yield from (text for text in (batch.snapshot, batch.seal) if text is not None)


def _is_storable(text: str) -> bool:
    """Whether every database keeps this text as it is: PostgreSQL has no NUL, and UTF-8 no halves of pairs."""
    return "\0" not in text and (text.isascii() or not any("\ud800" <= one <= "\udfff" for one in text))
