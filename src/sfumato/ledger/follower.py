"""Keeps a replay in step with a store, from a verified snapshot on."""

from collections.abc import Callable
from typing import Final

from sfumato.errors import LedgerCorruptError
from sfumato.ledger.entry import Entry
from sfumato.ledger.journal import Chain, Record
from sfumato.ledger.key import LedgerKey
from sfumato.ledger.replay import Replay
from sfumato.ledger.snapshots import decode_snapshot
from sfumato.ledger.store import Reading

PAGE: Final = 10_000


class Follower:
    """What a process knows of a ledger; what is spent comes from the store alone, its own appends included.

    Args:
        key: By which the snapshot is known to be true.
    """

    def __init__(self, key: LedgerKey) -> None:
        self._key = key
        self._replay: Replay | None = None
        self._known = Chain()
        self.snapshot_length = 0

    def caught_up(self, store: Reading) -> Replay:
        """The replay of all records that are there now.

        Raises:
            LedgerCorruptError: A record does not follow, what was there before is gone, or the key is not the ledger's.
        """
        # Taken out while it changes: whatever interrupts, a replay that is half done is dropped, never used.
        replay, self._replay = self._replay or self._from_snapshot(store), None
        is_first = replay.chain.length == 0
        follow(store, replay)
        if is_first and replay.chain.length and (snapshot := store.snapshot()) is not None:
            decode_snapshot(snapshot, self._key)  # who began it meanwhile may have another key
        self._replay, self._known = replay, replay.chain
        return replay

    @property
    def replay(self) -> Replay | None:
        """What was followed so far, if it is in use."""
        return self._replay

    def forget(self) -> None:
        """The replay is not what the store holds: begin anew with the next question."""
        self._replay = None

    def _from_snapshot(self, store: Reading) -> Replay:
        length = self._known.length
        if length and [record.hash for record in store.read(length - 1, limit=1)] != [self._known.head]:
            raise LedgerCorruptError(length - 1, "it was there before and is gone, or is another")
        snapshot = store.snapshot()
        replay = None if snapshot is None else decode_snapshot(snapshot, self._key)
        self.snapshot_length = 0 if replay is None else replay.chain.length
        return replay or Replay()


def follow(
    store: Reading, replay: Replay, about: Callable[[Record, Entry], None] | None = None, *, until: int | None = None
) -> None:
    """Follow the records that a replay has not followed, page by page, and tell of each when it is about to.

    Args:
        store: Where they are.
        replay: What follows them.
        about: Hears of each.
        until: How many records it is to have followed at the end; all that there are, if left out.

    Raises:
        LedgerCorruptError: A record does not follow, or the last that was followed is gone or another.
    """
    while True:
        length = replay.chain.length
        records = store.read(max(0, length - 1), limit=PAGE)
        if length > 0:
            if not records or records[0].hash != replay.chain.head:
                raise LedgerCorruptError(length - 1, "it was there before and is gone, or is another")
            records = records[1:]
        if not records:
            return
        for record in records:
            if replay.chain.length == until:
                return
            replay.follow(record, about)
