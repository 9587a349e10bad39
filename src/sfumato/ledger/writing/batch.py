"""What is decided within one transaction: entries that follow each other, to be kept all at once."""

from dataclasses import dataclass, field, replace

from sfumato.errors import LedgerError
from sfumato.ledger.core.codec import encode_entry
from sfumato.ledger.core.entry import Entry
from sfumato.ledger.core.replay import Replay
from sfumato.ledger.core.store import IndexEntry, Record, StoreBatch, WriteTransaction
from sfumato.ledger.keeping.key import LedgerKey
from sfumato.ledger.keeping.seals import Seal, encode_seal, entry_at, index_entry_to, names_of


@dataclass(slots=True)
class PendingBatch:
    """The ledger as it stands in a transaction, what was decided in it included.

    Attributes:
        replay: All entries so far, taken into account.
        transaction: The store, for one writer.
        key: The ledger's key.
        at: What time it is.
    """

    replay: Replay
    transaction: WriteTransaction
    key: LedgerKey
    at: int
    records: list[Record] = field(default_factory=list)
    named: dict[str, tuple[IndexEntry, Entry]] = field(default_factory=dict)

    def keep(self, entry: Entry) -> None:
        """Put an entry at the end.

        Raises:
            LedgerError: The ledger goes on elsewhere.
            ParameterError: It cannot follow, or is not to be written as JSON.
        """
        if self.replay.moved_to is not None:
            raise LedgerError("of this place", f"was moved to {self.replay.moved_to}; use the ledger there")
        text = encode_entry(entry)
        names = tuple(names_of(entry, self.replay))
        self.replay.apply(entry)
        record = self.replay.chain.link(text)
        self.replay.chain = self.replay.chain.follow(record)
        self.records.append(record)
        for name in names:
            if self.find(name) is None:
                self.named[name] = index_entry_to(record, name, self.key), entry

    def find(self, name: str) -> Entry | None:
        """The entry of a name, if there is one."""
        if name in self.named:
            return self.named[name][1]
        index_entry = self.transaction.find(name)
        return None if index_entry is None else entry_at(self.transaction, index_entry, self.key)

    def batch(self, snapshot: str | None, *, seal: Seal) -> StoreBatch:
        """All that was decided, under a seal from `seal_after`."""
        return StoreBatch(
            records=tuple(self.records), index_entries=self._index_entries(), snapshot=snapshot,
            seal=encode_seal(seal, self.key),
        )  # fmt: skip

    def seal_after(self, before: Seal) -> Seal:
        """What the seal of the batch covers, after the one before."""
        return replace(before, chain=self.replay.chain, index=before.index.plus(self._index_entries()))

    def _index_entries(self) -> tuple[IndexEntry, ...]:
        return tuple(index_entry for index_entry, _ in self.named.values())
