"""Keeps a replay in step with a store, from a verified snapshot on and up to the last seal."""

from collections.abc import Callable
from typing import Final

from sfumato.errors import LedgerCorruptError
from sfumato.ledger.core.entry import Entry
from sfumato.ledger.core.journal import Chain, Record
from sfumato.ledger.core.replay import Replay
from sfumato.ledger.core.store import End, Reading
from sfumato.ledger.keeping.key import LedgerKey
from sfumato.ledger.keeping.seals import UNWRITTEN, Seal, seal_of
from sfumato.ledger.keeping.snapshots import decode_snapshot

PAGE: Final = 10_000


class Follower:
    """What a process knows of a ledger; what is spent comes from the store alone, its own appends included.

    Args:
        key: By which the seal and the snapshot are known to be true.
    """

    def __init__(self, key: LedgerKey) -> None:
        self._key = key
        self._replay: Replay | None = None
        self._known = Chain()
        self._end: End | None = None
        self._seal = UNWRITTEN
        self.snapshot_length = 0

    def caught_up(self, store: Reading) -> Replay:
        """The replay of all records that are there now, which the seal of the last batch covers.

        Raises:
            LedgerCorruptError: A record does not follow or is not sealed, what was there before is gone, or the key is
                not the ledger's.
        """
        end = store.end()
        if end != self._end:  # the seal may be another although the entries are the same: the key may be
            self._end, self._seal = None, seal_of(end, self._key)
            self._end = end
        # Taken out while it changes: whatever interrupts, a replay that is half done is dropped, never used.
        replay, self._replay = self._replay or self._from_snapshot(store, end), None
        if replay.chain != end.chain:
            follow(store, replay, until=end.chain.length)
        if replay.chain != end.chain:
            raise LedgerCorruptError(end.chain.length, _GONE)
        self._replay, self._known = replay, replay.chain
        return replay

    @property
    def replay(self) -> Replay | None:
        """What was followed so far, if it is in use."""
        return self._replay

    @property
    def seal(self) -> Seal:
        """The seal at the end of what was followed."""
        return self._seal

    def wrote(self, end: End, seal: Seal) -> None:
        """The store ends with what this process has just sealed and kept, so the seal need not be verified again."""
        self._end, self._seal = end, seal

    def forget(self) -> None:
        """The replay is not what the store holds: begin anew with the next question."""
        self._replay = None

    def _from_snapshot(self, store: Reading, end: End) -> Replay:
        length = self._known.length
        if length and [record.hash for record in store.read(length - 1, limit=1)] != [self._known.head]:
            raise LedgerCorruptError(length - 1, _GONE)
        snapshot = store.snapshot()
        if snapshot is None and end.chain.length:
            raise LedgerCorruptError(
                0, "the snapshot of what was spent is gone; `sfumato ledger migrate` makes another"
            )
        replay = None if snapshot is None else decode_snapshot(snapshot, self._key)
        self.snapshot_length = 0 if replay is None else replay.chain.length
        return replay or Replay()


_GONE: Final = "it was there before and is gone, or is another"


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
                raise LedgerCorruptError(length - 1, _GONE)
            records = records[1:]
        if not records:
            return
        for record in records:
            if replay.chain.length == until:
                return
            replay.follow(record, about)
