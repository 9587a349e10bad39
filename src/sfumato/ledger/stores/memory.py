"""A ledger store that lives and dies with its process: for tests, and for data whose analyst is its owner."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import TypeVar

from sfumato.errors import LedgerError
from sfumato.ledger.core.store import Chain, IndexEntry, Record, StoreBatch, StoreEnd
from sfumato.ledger.stores.transactions import Gate, OpenTransaction, TableReader

T = TypeVar("T")

_PLACE = "memory:"


class MemoryStore(TableReader):
    """Records in a list, safe for threads."""

    def __init__(self) -> None:
        self._kept = _Kept()
        self._gate = Gate(_PLACE)
        self._lock = Lock()  # held for moments: whoever reads waits for no transaction
        self._closed = False

    @contextmanager
    def transaction(self) -> Iterator[OpenTransaction]:
        """Wait for the right to append; what was appended is kept at the end of the block."""
        with self._gate.entered():
            self._require_open()
            new = _Kept()
            transaction = OpenTransaction(_Tables(self._kept, new), _PLACE)
            with transaction.ending():
                yield transaction
            with self._lock:
                self._kept.keep(new)

    def check(self) -> None:
        """Nothing: there is no file that could be damaged."""
        self._require_open()

    def close(self) -> None:
        """Refuse every later call, once a transaction of another thread is over."""
        with self._gate.entered():
            self._closed = True

    def _asked(self, question: Callable[["_Tables"], T]) -> T:
        with self._lock:
            self._require_open()
            return question(_Tables(self._kept, _Kept()))

    def _require_open(self) -> None:
        if self._closed:
            raise LedgerError(_PLACE, "is closed and its content is lost. Keep it open, or keep the ledger in a file")


@dataclass(slots=True)
class _Kept:
    """All that there is, or what is new in a transaction."""

    records: list[Record] = field(default_factory=list)
    index_entries: dict[str, IndexEntry] = field(default_factory=dict)
    snapshot: str | None = None
    seal: str | None = None
    is_reindexed: bool = False

    def keep(self, new: "_Kept") -> None:
        self.records.extend(new.records)  # first: a charge without its index entry costs budget, and never privacy
        if new.is_reindexed:
            self.index_entries, self.is_reindexed = {}, True
        self.index_entries.update(new.index_entries)
        self.snapshot = self.snapshot if new.snapshot is None else new.snapshot
        self.seal = self.seal if new.seal is None else new.seal


class _Tables:
    """What is kept, and on top of it what a transaction has appended."""

    def __init__(self, kept: _Kept, new: _Kept) -> None:
        self._kept, self._new = kept, new

    def read(self, start: int, *, limit: int | None = None) -> tuple[Record, ...]:
        kept, new = self._kept.records, self._new.records
        end = len(kept) + len(new) if limit is None else start + limit
        return (*kept[start:end], *new[max(0, start - len(kept)) : max(0, end - len(kept))])

    def find(self, name: str) -> IndexEntry | None:
        return self._new.index_entries.get(name) or (
            None if self._new.is_reindexed else self._kept.index_entries.get(name)
        )

    def index_entries(self, *, after: str = "", limit: int) -> tuple[IndexEntry, ...]:
        known = (
            self._new.index_entries if self._new.is_reindexed else self._kept.index_entries | self._new.index_entries
        )
        names = sorted(name for name in map(str.encode, known) if name > after.encode())
        return tuple(known[name.decode()] for name in names[:limit])

    def snapshot(self) -> str | None:
        return self._kept.snapshot if self._new.snapshot is None else self._new.snapshot

    def end(self) -> StoreEnd:
        kept, new = self._kept, self._new
        last = new.records[-1:] or kept.records[-1:]
        chain = Chain(length=last[0].index + 1, head=last[0].hash) if last else Chain()
        return StoreEnd(chain=chain, seal=kept.seal if new.seal is None else new.seal)

    def keep(self, batch: StoreBatch) -> None:
        if batch.is_reindexed:
            self._new.keep(_Kept(is_reindexed=True))
        index_entries = {index_entry.name: index_entry for index_entry in batch.index_entries}
        if len(index_entries) < len(batch.index_entries) or any(self.find(name) for name in index_entries):
            raise LedgerError(_PLACE, "an index entry has a name that is taken")
        self._new.keep(_Kept(list(batch.records), index_entries, batch.snapshot, batch.seal))
