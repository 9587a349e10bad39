"""A ledger store that lives and dies with its process: for tests, and for data whose analyst is its owner."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock

from sfumato.errors import LedgerError
from sfumato.ledger.journal import Chain, Record
from sfumato.ledger.store import Batch, Pointer
from sfumato.ledger.turns import OneAtATime, OpenTurn

_PLACE = "memory:"


class MemoryStore:
    """Records in a list, safe for threads."""

    def __init__(self) -> None:
        self._kept = _Kept()
        self._turns = OneAtATime(_PLACE)
        self._lock = Lock()  # held for moments: whoever reads does not wait for a turn
        self._closed = False

    def read(self, start: int, *, limit: int | None = None) -> tuple[Record, ...]:
        """The records from an index on."""
        with self._reading() as tables:
            return tables.read(start, limit=limit)

    def find(self, name: str) -> Pointer | None:
        """The pointer of a name."""
        with self._reading() as tables:
            return tables.find(name)

    def snapshot(self) -> str | None:
        """The last snapshot."""
        with self._reading() as tables:
            return tables.snapshot()

    @contextmanager
    def turn(self) -> Iterator[OpenTurn]:
        """Wait for the right to append; what was appended is kept at the end of the block."""
        with self._turns.taken():
            self._require_open()
            new, records = _Kept(), self._kept.records
            chain = Chain(length=len(records), head=records[-1].hash) if records else Chain()
            with OpenTurn(_Tables(self._kept, new), chain, _PLACE).ending() as turn:
                yield turn
            with self._lock:
                self._kept.keep(new)

    def check(self) -> None:
        """Nothing: there is no file that could be damaged."""
        self._require_open()

    def close(self) -> None:
        """Refuse every later call, once a turn that another thread has is over."""
        with self._turns.taken():
            self._closed = True

    @contextmanager
    def _reading(self) -> Iterator["_Tables"]:
        with self._lock:
            self._require_open()
            yield _Tables(self._kept, _Kept())

    def _require_open(self) -> None:
        if self._closed:
            raise LedgerError(_PLACE, "is closed; what it held is gone. Keep it open, or keep the ledger in a file")


@dataclass(slots=True)
class _Kept:
    """All that there is, or what is new in a turn."""

    records: list[Record] = field(default_factory=list)
    pointers: dict[str, Pointer] = field(default_factory=dict)
    snapshot: str | None = None

    def keep(self, new: "_Kept") -> None:
        self.records.extend(new.records)  # first: a charge without its pointer costs budget, and never privacy
        self.pointers.update(new.pointers)
        self.snapshot = self.snapshot if new.snapshot is None else new.snapshot


class _Tables:
    """What is kept, and on top of it what a turn has appended."""

    def __init__(self, kept: _Kept, new: _Kept) -> None:
        self._kept, self._new = kept, new

    def read(self, start: int, *, limit: int | None = None) -> tuple[Record, ...]:
        kept, new = self._kept.records, self._new.records
        end = len(kept) + len(new) if limit is None else start + limit
        return (*kept[start:end], *new[max(0, start - len(kept)) : max(0, end - len(kept))])

    def find(self, name: str) -> Pointer | None:
        return self._new.pointers.get(name) or self._kept.pointers.get(name)

    def snapshot(self) -> str | None:
        return self._kept.snapshot if self._new.snapshot is None else self._new.snapshot

    def keep(self, batch: Batch) -> None:
        pointers = {pointer.name: pointer for pointer in batch.pointers}
        if len(pointers) < len(batch.pointers) or any(self.find(name) for name in pointers):
            raise LedgerError(_PLACE, "a pointer has a name that is taken")
        self._new.keep(_Kept(list(batch.records), pointers, batch.snapshot))
