"""Keeps a replay in step with a store, from a verified snapshot on and up to the last seal.

A snapshot is what a replay has found, as sealed text: a ledger of a million entries opens without reading all of them.
It says of which chain it is the state, by length and last hash. Only the ledger's key makes its seal, so that it is as
hard to forge as a state in memory; whoever does not trust the key computes everything anew (`verify`).
"""

import json
from collections.abc import Callable
from dataclasses import astuple
from typing import Any, Final

from sfumato.errors import LedgerCorruptError, ParameterError
from sfumato.ledger.core.account import AccountState, Charged, PartitionedSpending, PartitionSpending
from sfumato.ledger.core.codec import (
    decode_amounts,
    decode_entry,
    decode_part,
    encode_amounts,
    encode_entry,
    encode_part,
)
from sfumato.ledger.core.entry import Entry, Opened
from sfumato.ledger.core.replay import Replay
from sfumato.ledger.core.reservations import OpenRequest
from sfumato.ledger.core.store import Chain, ReadableStore, Record, StoreEnd
from sfumato.ledger.keeping.key import LedgerKey
from sfumato.ledger.keeping.seals import UNWRITTEN, Seal, seal_of
from sfumato.privacy.codec import Json, decode_budget, encode_budget
from sfumato.privacy.neighbors import NeighboringRelation

VERSION: Final = 4
PAGE: Final = 10_000
_PURPOSE: Final = "snapshot"
_GONE: Final = "it was read before and is missing, or was changed"


class Follower:
    """What a process knows of a ledger; what is spent comes from the store alone, its own appends included.

    Args:
        key: By which the seal and the snapshot are known to be true.
    """

    def __init__(self, key: LedgerKey) -> None:
        self._key = key
        self._replay: Replay | None = None
        self._known = Chain()
        self._end: StoreEnd | None = None
        self._seal = UNWRITTEN
        self.snapshot_length = 0

    def caught_up(self, store: ReadableStore) -> Replay:
        """The replay of all records that are there now, which the seal of the last batch covers.

        Raises:
            LedgerCorruptError: A record does not follow or is not sealed, what was there before is gone, or the key is
                not the ledger's.
        """
        end, known = self._sealed_end(store), self._replay
        # Taken out while it changes: whatever interrupts, a replay that is half done is dropped, never used.
        replay, self._replay = known or self._from_snapshot(store, end), None
        if known is None and replay.chain.length > end.chain.length:  # others wrote on before the snapshot was read
            end = self._sealed_end(store)
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

    def wrote(self, end: StoreEnd, seal: Seal) -> None:
        """The store ends with what this process has just sealed and kept, so the seal need not be verified again."""
        self._end, self._seal = end, seal

    def forget(self) -> None:
        """The replay is not what the store holds: begin anew with the next query."""
        self._replay = None

    def _sealed_end(self, store: ReadableStore) -> StoreEnd:
        """Where the store ends; the seal may be another although the entries are the same: the key may be."""
        end = store.end()
        if end != self._end:
            self._end, self._seal = None, seal_of(end, self._key)
            self._end = end
        return end

    def _from_snapshot(self, store: ReadableStore, end: StoreEnd) -> Replay:
        length = self._known.length
        if length and [record.hash for record in store.read(length - 1, limit=1)] != [self._known.head]:
            raise LedgerCorruptError(length - 1, _GONE)
        snapshot = store.snapshot()
        if snapshot is None and end.chain.length:
            raise LedgerCorruptError(
                0, "the snapshot of what was spent is missing; `sfumato ledger migrate` makes a new one"
            )
        replay = None if snapshot is None else decode_snapshot(snapshot, self._key)
        self.snapshot_length = 0 if replay is None else replay.chain.length
        return replay or Replay()


def follow(
    store: ReadableStore,
    replay: Replay,
    about: Callable[[Record, Entry], None] | None = None,
    *,
    until: int | None = None,
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


def encode_snapshot(replay: Replay, key: LedgerKey) -> str:
    """The state of a replay as text with its seal."""
    document = {
        "version": VERSION, "length": replay.chain.length, "head": replay.chain.head, "at": replay.at,
        "accounts": [_account(state) for state in replay.accounts.values()],
        "open": [[name, *astuple(request)] for name, request in replay.open_requests.items()],
        "lineage": replay.lineage, "units": replay.units, "moved": replay.moved_to,
    }  # fmt: skip
    text = json.dumps(document, sort_keys=True, separators=(",", ":"))
    return f"{key.seal(_PURPOSE, text)} {text}"


def decode_snapshot(snapshot: str, key: LedgerKey) -> Replay | None:
    """The replay of a snapshot; None for one of another version, which is then made anew from the entries.

    Raises:
        LedgerCorruptError: Its seal is not by this key.
    """
    seal, _, text = snapshot.partition(" ")
    if not key.verifies(seal, _PURPOSE, text):
        requirement = "the snapshot there is damaged, or sealed by another key than the ledger's own"
        raise LedgerCorruptError(0, requirement)
    document = json.loads(text)
    if document["version"] != VERSION:
        return None
    replay = Replay()
    replay.chain = Chain(length=document["length"], head=document["head"])
    replay.at = document["at"]
    replay.accounts = {state.opened.account: state for state in map(_decode_account, document["accounts"])}
    for name, *facts in document["open"]:  # in order: who asked first is asked first
        replay.begin(name, OpenRequest(*facts))
    replay.lineage, replay.units, replay.moved_to = document["lineage"], document["units"], document["moved"]
    return replay


def _account(state: AccountState) -> Json:
    return {
        "opened": encode_entry(state.opened),
        "budget": encode_budget(state.budget),
        "path": list(state.path),
        "closed": state.is_closed,
        "suspended": state.is_suspended,
        "acknowledged": state.acknowledged,
        "tables": dict(state.tables),
        "beside": list(state.beside),
        "lifetime": _spending(state.lifetime),
        "recent": [[one.at, encode_amounts(one.price), encode_part(one.part)] for one in state.recent],
    }


def _decode_account(document: Any) -> AccountState:
    opened = decode_entry(document["opened"])
    if not isinstance(opened, Opened):
        raise ParameterError("opened", "a document", "must be an account")
    relation = opened.neighboring_relation
    state = AccountState(
        opened=opened, budget=decode_budget(document["budget"]), path=tuple(document["path"]),
        lifetime=_decode_spending(document["lifetime"], relation), within=PartitionedSpending(relation),
        is_closed=document["closed"],
        is_suspended=document["suspended"], acknowledged=document["acknowledged"],
        tables=document["tables"], beside=tuple(document["beside"]),
    )  # fmt: skip
    for at, price, part in document["recent"]:
        charged = Charged(at, decode_amounts(price), decode_part(part))
        state.recent.append(charged)
        state.within.add(charged.price, charged.part)
    return state


def _spending(spent: PartitionedSpending) -> Json:
    return {
        "outside": encode_amounts(spent.outside),
        "partitions": {
            name: [partition.max_parts_per_unit, {part: encode_amounts(sums) for part, sums in partition.sums.items()}]
            for name, partition in spent.partitions.items()
        },
    }


def _decode_spending(document: Any, relation: NeighboringRelation) -> PartitionedSpending:
    partitions = {
        name: PartitionSpending(most, {part: decode_amounts(sums) for part, sums in parts.items()})
        for name, (most, parts) in document["partitions"].items()
    }
    return PartitionedSpending(relation, decode_amounts(document["outside"]), partitions)
