"""A ledger store that lives and dies with its process: for tests, and for data whose analyst is its owner."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import TypeVar

from sfumato.errors import LedgerError
from sfumato.ledger.core.store import Batch, Chain, End, Pointer, Record
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
            raise LedgerError(_PLACE, "is closed; what it held is gone. Keep it open, or keep the ledger in a file")


@dataclass(slots=True)
class _Kept:
    """All that there is, or what is new in a transaction."""

    records: list[Record] = field(default_factory=list)
    pointers: dict[str, Pointer] = field(default_factory=dict)
    snapshot: str | None = None
    seal: str | None = None
    is_reindexed: bool = False

    def keep(self, new: "_Kept") -> None:
        self.records.extend(new.records)  # first: a charge without its pointer costs budget, and never privacy
        if new.is_reindexed:
            self.pointers, self.is_reindexed = {}, True
        self.pointers.update(new.pointers)
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

    def find(self, name: str) -> Pointer | None:
        return self._new.pointers.get(name) or (None if self._new.is_reindexed else self._kept.pointers.get(name))

    def pointers(self, *, after: str = "", limit: int) -> tuple[Pointer, ...]:
        known = self._new.pointers if self._new.is_reindexed else self._kept.pointers | self._new.pointers
        names = sorted(name for name in map(str.encode, known) if name > after.encode())
        return tuple(known[name.decode()] for name in names[:limit])

    def snapshot(self) -> str | None:
        return self._kept.snapshot if self._new.snapshot is None else self._new.snapshot

    def end(self) -> End:
        kept, new = self._kept, self._new
        last = new.records[-1:] or kept.records[-1:]
        chain = Chain(length=last[0].index + 1, head=last[0].hash) if last else Chain()
        return End(chain=chain, seal=kept.seal if new.seal is None else new.seal)

    def keep(self, batch: Batch) -> None:
        if batch.is_reindexed:
            self._new.keep(_Kept(is_reindexed=True))
        pointers = {pointer.name: pointer for pointer in batch.pointers}
        if len(pointers) < len(batch.pointers) or any(self.find(name) for name in pointers):
            raise LedgerError(_PLACE, "a pointer has a name that is taken")
        self._new.keep(_Kept(list(batch.records), pointers, batch.snapshot, batch.seal))
