"""Another key for a ledger: because the old one may be known to others, because it is lost, or in another place."""

import os
from contextlib import closing
from typing import Final

from sfumato.errors import LedgerError, ParameterError
from sfumato.ledger.core.codec import encode_entry
from sfumato.ledger.core.entry import Closed, Entry
from sfumato.ledger.core.replay import Replay
from sfumato.ledger.core.store import IndexEntry, Record, StoreBatch, WriteTransaction
from sfumato.ledger.core.windows import SystemClock
from sfumato.ledger.keeping.follower import Follower, encode_snapshot, follow
from sfumato.ledger.keeping.key import LedgerKey, announce, new_key, settle
from sfumato.ledger.keeping.seals import IndexDigest, Seal, encode_seal, index_entry_to, names_of
from sfumato.ledger.locations import open_ledger, place_of
from sfumato.ledger.reading.verification import StrictReplay

_PAGE: Final = 1_000


def rotate_key(location: str | os.PathLike[str]) -> LedgerKey:
    """Seal a ledger with another key from now on; whoever has the old one can forge nothing any more.

    Entries and stored answers stay as they are. Fingerprints of data go on with the secret that the ledger had first.
    Processes that have the ledger open refuse it at once, and have to open it again. If a secret store gives keys, the
    new one is the one that it gives besides the old one.

    Raises:
        LedgerError: There is no such ledger, or its key is gone.
        LedgerCorruptError: It does not verify: a ledger is never sealed anew unless the key that it has made its seal.
    """
    place = place_of(location)
    with open_ledger(location, must_exist=True) as ledger:
        old, new = ledger.key, new_key(ledger.key)
        ledger.verify()
    with closing(place.open_store(must_exist=True)) as store, store.transaction() as transaction:
        follower = Follower(old)
        follower.caught_up(transaction)
        announce(place.key, new)
        rewritten(transaction, Replay(), new, checkpoint=follower.seal.checkpoint)
    open_ledger(location, must_exist=True).close()  # which gives the key its place, and seals the checkpoint
    return new


def declare_all_spent(location: str | os.PathLike[str], *, reason: str) -> tuple[str, ...]:
    """Go on with a ledger whose key is lost: all accounts are closed, for ever, and a new key seals that.

    Without the key nobody can tell who wrote the entries, so what is left of a budget is not known. Nothing is granted
    to any of these accounts again. What data they were about is not recognized any more.

    Returns:
        The accounts that were closed.

    Raises:
        LedgerError: There is no such ledger, or its key is there.
        LedgerCorruptError: Its entries do not follow each other, or were never to be granted.
        ParameterError: There is no reason.
    """
    if not reason.strip():
        raise ParameterError("reason", reason, "is missing: say how the key was lost; the ledger records it")
    place = place_of(location)
    if os.path.lexists(place.key):
        raise LedgerError(str(place.key), "exists; only a lost key closes all accounts. Leave --lost out")
    new = new_key()
    with closing(place.open_store(must_exist=True)) as store:
        store.check()
        with store.transaction() as transaction:
            closed = _closed(transaction, reason)
            announce(place.key, new)
            rewritten(transaction, Replay(), new)
    settle(place.key)
    with open_ledger(location, must_exist=True, ignoring_checkpoint=True) as ledger:
        place.checkpoint().write(ledger.checkpoint(), although_shorter=True)
    return closed


def rewritten(transaction: WriteTransaction, replay: Replay, key: LedgerKey, *, checkpoint: str | None = None) -> Seal:
    """Seal all that is in a store with a key: index entries, snapshot, and the end; in the transaction that there is.

    Args:
        transaction: Of the store.
        replay: Has followed nothing yet; follows all records.
        key: The key that the ledger has from now on.
        checkpoint: Where it notes how far it is.

    Raises:
        LedgerCorruptError: A record does not follow.
    """
    index_entries, index, taken = list[IndexEntry](), IndexDigest(), set[str]()

    def about(record: Record, entry: Entry) -> None:
        for name in names_of(entry, replay):
            if name not in taken:
                taken.add(name)
                index_entries.append(index_entry_to(record, name, key))

    follow(transaction, replay, about)
    transaction.append(StoreBatch(is_reindexed=True))
    for start in range(0, len(index_entries), _PAGE):
        page = tuple(index_entries[start : start + _PAGE])
        transaction.append(StoreBatch(index_entries=page))
        index = index.plus(page)
    seal = Seal(chain=replay.chain, index=index, checkpoint=checkpoint)
    transaction.append(StoreBatch(snapshot=encode_snapshot(replay, key), seal=encode_seal(seal, key)))
    return seal


def _closed(transaction: WriteTransaction, reason: str) -> tuple[str, ...]:
    replay = StrictReplay()
    follow(transaction, replay)
    at = max(replay.at, SystemClock()())
    accounts = tuple(name for name, state in replay.accounts.items() if not state.is_closed)
    for name in accounts:
        record = replay.chain.link(encode_entry(Closed(account=name, reason=reason, at=at)))
        replay.follow(record)
        transaction.append(StoreBatch(records=(record,)))
    return accounts
