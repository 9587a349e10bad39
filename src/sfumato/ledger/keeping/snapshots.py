"""What a replay has found, as sealed text: a ledger of a million entries opens without reading all of them.

A snapshot says of which chain it is the state, by length and last hash. Only the ledger's key makes its seal, so that
it is as hard to forge as a state in memory; whoever does not trust the key computes everything anew (`verify`).
"""

import json
from dataclasses import astuple
from typing import Any, Final

from sfumato.errors import LedgerCorruptError, ParameterError
from sfumato.ledger.core.account import AccountState, Charged
from sfumato.ledger.core.codec import (
    decode_amounts,
    decode_entry,
    decode_part,
    encode_amounts,
    encode_entry,
    encode_part,
)
from sfumato.ledger.core.entry import Opened
from sfumato.ledger.core.journal import Chain
from sfumato.ledger.core.replay import OpenRequest, Replay
from sfumato.ledger.core.tallies import PartitionTally, Tally
from sfumato.ledger.keeping.key import LedgerKey
from sfumato.privacy.codec import Json, decode_budget, encode_budget
from sfumato.privacy.neighbors import NeighboringRelation

VERSION: Final = 4
_PURPOSE: Final = "snapshot"


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
        "lifetime": _tally(state.lifetime),
        "recent": [[one.at, encode_amounts(one.price), encode_part(one.part)] for one in state.recent],
    }


def _decode_account(document: Any) -> AccountState:
    opened = decode_entry(document["opened"])
    if not isinstance(opened, Opened):
        raise ParameterError("opened", "a document", "must be an account")
    relation = opened.neighboring_relation
    state = AccountState(
        opened=opened, budget=decode_budget(document["budget"]), path=tuple(document["path"]),
        lifetime=_decode_tally(document["lifetime"], relation), within=Tally(relation), is_closed=document["closed"],
        is_suspended=document["suspended"], acknowledged=document["acknowledged"],
        tables=document["tables"], beside=tuple(document["beside"]),
    )  # fmt: skip
    for at, price, part in document["recent"]:
        charged = Charged(at, decode_amounts(price), decode_part(part))
        state.recent.append(charged)
        state.within.add(charged.price, charged.part)
    return state


def _tally(tally: Tally) -> Json:
    return {
        "outside": encode_amounts(tally.outside),
        "partitions": {
            name: [partition.max_parts_per_unit, {part: encode_amounts(sums) for part, sums in partition.sums.items()}]
            for name, partition in tally.partitions.items()
        },
    }


def _decode_tally(document: Any, relation: NeighboringRelation) -> Tally:
    partitions = {
        name: PartitionTally(most, {part: decode_amounts(sums) for part, sums in parts.items()})
        for name, (most, parts) in document["partitions"].items()
    }
    return Tally(relation, decode_amounts(document["outside"]), partitions)
