"""A ledger of a million entries: how soon it answers what is left, and finds one answer of half a million."""

import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from itertools import accumulate
from pathlib import Path

from charging import BUDGET, CHARGE, EVENT, LEVELS, open_accounts

from sfumato.accounting.adaptive.amounts import Amounts
from sfumato.ledger.core.codec import encode_entry
from sfumato.ledger.core.entry import Committed, Reserved
from sfumato.ledger.core.replay import Replay
from sfumato.ledger.core.store import Chain, IndexEntry, Record, StoreBatch
from sfumato.ledger.keeping.follower import encode_snapshot
from sfumato.ledger.keeping.key import LedgerKey
from sfumato.ledger.keeping.seals import answer_name, encode_seal, first_name, index_entry_to, seal_of
from sfumato.ledger.locations import open_ledger
from sfumato.ledger.stores.sqlite import SQLiteStore
from sfumato.ledger.writes import SNAPSHOT_EVERY
from sfumato.privacy.guarantees import PureDP

ENTRIES, AT_ONCE = 10**6, 20_000
ACCOUNT = LEVELS[-1]
ANSWER = {"columns": {"n": [6472]}, "errors": {"n": ["30"]}}
PRICE = Amounts((("epsilon", CHARGE.epsilon), ("delta", CHARGE.delta)))
HOLE = "the number of the question"


def build(path: Path, *, entries: int = ENTRIES) -> None:
    """Write what a `Ledger` writes that answers questions: texts, chain, pointers, seals and a snapshot, but at once.

    The snapshot is as old as one ever is.
    """
    with open_ledger(path) as ledger:
        open_accounts(ledger)
        key, replay = ledger.key, Replay()
        for record in ledger.records():
            replay.follow(record)
    with closing(SQLiteStore(path)) as store:
        seal = seal_of(store.end(), key)
        for batch in _batches(replay, key, (entries - replay.chain.length) // 2):
            seal = replace(seal, chain=_end_of(batch), index=seal.index.plus(batch.index_entries))
            with store.transaction() as transaction:
                transaction.append(replace(batch, seal=encode_seal(seal, key)))


def _batches(replay: Replay, key: LedgerKey, questions: int) -> Iterator[StoreBatch]:
    """All questions, and the snapshot before the last of them."""
    latest = (SNAPSHOT_EVERY - 1) // 2
    counts = [AT_ONCE // 2] * ((questions - latest) // (AT_ONCE // 2))
    counts += [questions - latest - sum(counts), latest]
    for start, count in zip(accumulate(counts, initial=0), counts, strict=False):
        batch = _answered(replay, key, range(start, start + count))
        for name in LEVELS:
            replay.accounts[name].lifetime.add(PRICE.times(count), None)  # as replaying them one by one would
        yield batch if count == latest else replace(batch, snapshot=encode_snapshot(replay, key))


def _end_of(batch: StoreBatch) -> Chain:
    """The chain after a batch."""
    last = batch.records[-1]
    return Chain(length=last.index + 1, head=last.hash)


def _answered(replay: Replay, key: LedgerKey, numbers: range) -> StoreBatch:
    records: list[Record] = []
    index_entries: list[IndexEntry] = []
    asked = Reserved(account=ACCOUNT, request=HOLE, question=HOLE, event=EVENT, charge=CHARGE, at=replay.at)
    answered = Committed(account=ACCOUNT, request=HOLE, key=HOLE, answer=ANSWER, at=replay.at)
    texts = (encode_entry(asked), encode_entry(answered))
    for number in numbers:
        for text in texts:
            records.append(replay.chain.link(text.replace(HOLE, _name(number))))
            replay.chain = Chain(length=replay.chain.length + 1, head=records[-1].hash)
        names = (answer_name(ACCOUNT, _name(number)), first_name(ACCOUNT, _name(number)))
        index_entries.extend(index_entry_to(records[-1], name, key) for name in names)
    return StoreBatch(records=tuple(records), index_entries=tuple(index_entries))


def _name(number: int) -> str:
    return f"{number:032x}"


def ask(path: Path) -> tuple[float, float]:
    """Seconds to open it and say what is left; then to find an answer."""
    start = time.perf_counter()
    with open_ledger(path, must_exist=True) as ledger:
        left = ledger.remaining(ACCOUNT)
        opened = time.perf_counter()
        answer = ledger.answer(ACCOUNT, _name(ENTRIES // 4))
        found = time.perf_counter()
    assert answer == ANSWER
    assert left == PureDP(BUDGET - (ENTRIES - len(LEVELS)) // 2 * CHARGE.epsilon)
    return opened - start, found - opened
