"""How what is decided of a ledger is kept: in one transaction, under a seal, and noted outside of the store."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from typing import TypeVar, cast
from weakref import finalize

from sfumato.ledger.core.prices import in_words
from sfumato.ledger.core.replay import Replay
from sfumato.ledger.core.store import Chain, LedgerStore, StoreEnd
from sfumato.ledger.core.windows import Clock
from sfumato.ledger.keeping.checkpoints import Checkpoint, require_not_older
from sfumato.ledger.keeping.follower import encode_snapshot
from sfumato.ledger.keeping.key import LedgerKey
from sfumato.ledger.keeping.noting import CheckpointNotes
from sfumato.ledger.keeping.seals import Seal
from sfumato.ledger.reading.reader import LedgerReader
from sfumato.ledger.reading.verification import require_index
from sfumato.ledger.writing.batch import PendingBatch
from sfumato.ledger.writing.writer import WriteRequest, WriterThread

T = TypeVar("T")

SNAPSHOT_EVERY = 1_000
"""So many entries are followed at most when a ledger is opened."""
INDEX_ENTRIES_READ = 10_000
"""So many index entries are all looked at when a ledger is opened; of a ledger with more `verify` does."""


class LedgerWriter(LedgerReader):
    """A store to which decisions are appended, each taken on the ledger as it stands when it is kept.

    Args:
        store: Where the records live.
        key: The ledger's secret, which seals every batch.
        clock: What time it is.
        checkpoint: Where it is noted how far the ledger was; None for nowhere.
        ignores_checkpoint: Whether it is neither read nor written.

    Raises:
        LedgerError: The store cannot be read.
        LedgerCorruptError: It does not verify, or is older than its checkpoint.
    """

    def __init__(
        self,
        store: LedgerStore,
        key: LedgerKey,
        clock: Clock,
        checkpoint: CheckpointNotes | None,
        *,
        ignores_checkpoint: bool,
    ) -> None:
        super().__init__(store, key, clock)
        self._where = None if checkpoint is None else checkpoint.file.where
        self._noting = None if ignores_checkpoint else checkpoint
        self._totals: tuple[tuple[str, str], ...] = ()
        if self._noting is not None:
            finalize(self, self._noting.finish)  # also of a ledger that is not closed, when the process ends
        self._writer = WriterThread()
        self._has_written = False
        with self._exclusive():
            # Read first: others may write on and note it, and what was noted earlier is there later.
            noted = None if self._noting is None else self._noting.file.read(self._key)
            replay = self._follower.caught_up(store)
            self._require_not_older(replay, noted)
            self._require_remembered(replay)
            if self._follower.seal.index.count <= INDEX_ENTRIES_READ:
                require_index(store, self._follower.seal)

    def checkpoint(self) -> Checkpoint:
        """How far the ledger is, sealed; and noted where it was opened with a place for that."""
        with self._exclusive():
            return self._noted(self._caught_up())

    def _do(self, decide: Callable[[PendingBatch], T]) -> T:
        self._require_same_process()
        return cast("T", self._writer.do(decide, self._serve))

    def _serve(self, take: Callable[[], list[WriteRequest]]) -> None:
        """Decide all that is waiting on the ledger as it stands, and append it at once."""
        with ExitStack() as held:
            try:
                with self._store.transaction() as transaction:
                    held.enter_context(self._lock)  # not before, so that nobody who reads waits for other processes
                    replay = self._follower.caught_up(transaction)
                    pending, kept = PendingBatch(replay, transaction, self._key, self._now()), None
                    for request in take():
                        request.settle(pending)
                    if pending.records:
                        seal = pending.seal_after(self._remembering())
                        kept = pending.batch(self._snapshot(replay), seal=seal)
                        transaction.append(kept)
                if kept is not None:
                    self._follower.wrote(StoreEnd(chain=replay.chain, seal=kept.seal), seal)
                    self._written(replay)
            except BaseException:
                self._follower.forget()  # what was decided was perhaps not kept
                raise

    def _snapshot(self, replay: Replay) -> str | None:
        """The state so far, with the first batch and every now and then."""
        return encode_snapshot(replay, self._key) if self._is_due(replay) else None

    def _is_due(self, replay: Replay) -> bool:
        before = self._follower.snapshot_length
        new = replay.chain.length - before
        # A large state is written more rarely, so that writing it costs each entry the same.
        return before == 0 or (new >= SNAPSHOT_EVERY and new >= replay.size())

    def _written(self, replay: Replay) -> None:
        """A batch was kept: note how far the ledger is outside of it too."""
        self._has_written = True
        if self._is_due(replay):
            self._follower.snapshot_length = replay.chain.length
        if self._noting is not None:
            self._noted(replay, is_synced=self._noting.is_due())

    def _noted(self, replay: Replay, *, is_synced: bool = True) -> Checkpoint:
        if is_synced:  # else what was spent a second ago at most is told, which is no more than is spent now
            self._totals = tuple(
                (name, str(in_words(state.lifetime.total(), state.budget))) for name, state in replay.accounts.items()
            )
        found = self._sealed(replay.chain)
        if self._noting is not None:
            self._noting.write(found, is_synced=is_synced)
        return found

    def _sealed(self, chain: Chain) -> Checkpoint:
        return Checkpoint.sealed(self._key, length=chain.length, head=chain.head, at=self._now(), totals=self._totals)

    def _remembering(self) -> Seal:
        """The seal before a batch, with the place of the checkpoint, which is there before a seal says so."""
        seal = self._follower.seal
        if self._where is None or seal.checkpoint == self._where:
            return seal
        if self._noting is not None:
            self._noting.write(self._sealed(seal.chain), is_synced=True)
        return replace(seal, checkpoint=self._where)

    def _require_remembered(self, replay: Replay) -> None:
        """Refuse a ledger whose checkpoint is gone from where it was, or says there that the ledger is older."""
        where = self._follower.seal.checkpoint
        if self._noting is None or where is None:
            return
        file = self._noting.file.at(where)
        file.require_there()
        if where != self._where:
            self._require_not_older(replay, file.read(self._key))

    def _require_not_older(self, replay: Replay, noted: Checkpoint | None) -> None:
        if noted is not None:
            require_not_older(noted, replay.chain.length, lambda index: self._store.read(index, limit=1)[0].hash)
