"""From one store to another: the same records under the same key, verified at both ends."""

import os
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Final, TypeAlias

from sfumato.errors import LedgerCorruptError, LedgerError
from sfumato.ledger.core.codec import decode_entry, encode_entry
from sfumato.ledger.core.entry import Committed, Entry, Moved
from sfumato.ledger.core.replay import Replay
from sfumato.ledger.core.store import Chain, LedgerStore, ReadableStore, Record, StoreBatch, WriteTransaction
from sfumato.ledger.core.windows import SystemClock
from sfumato.ledger.keeping.attachments import Attachment, Attachments, attachments_in
from sfumato.ledger.keeping.checkpoints import require_not_older
from sfumato.ledger.keeping.key import LedgerKey, announce, key_in, new_key, settle
from sfumato.ledger.keeping.seals import seal_of
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.locations import LedgerPlace, key_of, open_ledger, place_of
from sfumato.ledger.reading.verification import StrictReplay
from sfumato.ledger.rotation import rewritten

Heard: TypeAlias = Callable[[int], object]
"""Is told how many records were copied so far."""

_PAGE: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Migrated:
    """What is at the destination now, and was verified there.

    Attributes:
        length: How many entries.
        head: The hash of the last.
        attachments: How many files of large answers.
    """

    length: int
    head: str
    attachments: int


def migrate(
    source: str | os.PathLike[str],
    destination: str | os.PathLike[str],
    *,
    is_unsealed: bool = False,
    heard: Heard = lambda _: None,
) -> Migrated:
    """Copy a ledger to another place, where it goes on. The old one ends with that, and grants nothing any more.

    The key goes with it, as it seals what is in the entries: fingerprints of data, and checkpoints. Index entries, the
    snapshot and the seal are made anew. Records are kept at once or not at all, so whatever fails can be tried again.

    **Guarantee**: what is at the destination is what the source's key sealed; if that is unsealed, what its entries
    say, which anybody may have written who could write the source. The source is ended once the destination is on the
    disk; who is killed in between calls this again, which then ends the source alone.

    Args:
        source: Where the ledger is.
        destination: Where it is to be; with nothing in it.
        is_unsealed: Whether entries are taken that no seal covers, such as those of versions that sealed no batch; for
            the owner, who has to know that nobody else could write them.
        heard: Is told how many records were copied so far.

    Raises:
        LedgerCorruptError: The source does not verify, or the destination does not afterwards.
        LedgerError: The destination holds a ledger, or something of another one; or a file is gone.
        ParameterError: A location does not last, or is of no kind known here.
    """
    here, there = place_of(source), place_of(destination)
    with closing(here.open_store(must_exist=True, is_upgraded=is_unsealed)) as old:
        old.check()
        key = _key_of_source(here, old, is_unsealed=is_unsealed)
        files = _Files(here.attachments, there.attachments)
        _require_fit(there, key)
        with closing(there.open_store(must_exist=False)) as new:
            # All is there already if somebody was killed between the end of the copy and that of the source.
            is_copied = (
                here.beside != there.beside and new.end().chain.length > 0 and new.end().chain == old.end().chain
            )
            if not is_copied:
                _require_empty(there, new)
            for record in _records(old):  # large files first, and not while both stores wait
                files.copy(decode_entry(record.text))
            with old.transaction() as transaction:
                _require_whole(here, transaction, key, is_unsealed=is_unsealed)
                chain = (
                    new.end().chain
                    if is_copied
                    else _copied(
                        transaction, there, new, key, files, heard, Replay() if is_unsealed else StrictReplay()
                    )
                )
                _end(transaction, here, there, key, is_unsealed=is_unsealed)
    settle(there.key)
    with open_ledger(source, must_exist=True) as ended:
        ended.checkpoint()  # a copy of before is refused
    with open_ledger(destination, must_exist=True) as moved:
        _require_same(moved, chain, is_strict=not is_unsealed)
        moved.checkpoint()
    return Migrated(length=chain.length, head=chain.head, attachments=len(files.done))


class _Files:
    """Copies each file that an entry names, once."""

    def __init__(self, source: Attachments, destination: Attachments) -> None:
        self._source, self._destination = source, destination
        self.done: set[Attachment] = set()

    def copy(self, entry: Entry) -> None:
        for attachment in attachments_in(entry.answer) if isinstance(entry, Committed) else ():
            if attachment not in self.done:
                self._destination.adopt(attachment, self._source.path(attachment))
                self.done.add(attachment)


def _copied(
    old: ReadableStore, there: LedgerPlace, new: LedgerStore, key: LedgerKey, files: _Files, heard: Heard,
    replay: Replay,
) -> Chain:  # fmt: skip
    """All records, each decided anew, while nobody can append to the old store; at once in the new one."""
    with new.transaction() as transaction:
        for record in _records(old):
            files.copy(decode_entry(record.text))
            transaction.append(StoreBatch(records=(record,)))
        announce(there.key, key)
        chain = rewritten(transaction, replay, key).chain
        heard(chain.length)
    return chain


def _end(
    transaction: WriteTransaction, here: LedgerPlace, there: LedgerPlace, key: LedgerKey, *, is_unsealed: bool
) -> None:
    """Let a ledger say that it goes on elsewhere, under a seal."""
    end = transaction.end()
    last = [decode_entry(record.text).at for record in transaction.read(end.chain.length - 1)]
    moved = Moved(destination=there.shown, at=max(*last, SystemClock()(), 0))
    record = end.chain.link(encode_entry(moved))
    checkpoint = None if is_unsealed else seal_of(end, key).checkpoint
    transaction.append(StoreBatch(records=(record,)))
    rewritten(transaction, Replay(), key, checkpoint=checkpoint)
    if not os.path.lexists(here.key):
        announce(here.key, key)


def _records(store: ReadableStore) -> Iterator[Record]:
    """All records, each of which follows from the one before."""
    chain = Chain()
    while records := store.read(chain.length, limit=_PAGE):
        for record in records:
            chain = chain.follow(record)
            yield record


def _key_of_source(here: LedgerPlace, old: LedgerStore, *, is_unsealed: bool) -> LedgerKey:
    if is_unsealed and not os.path.lexists(here.key):
        return new_key()
    return key_of(here, old)


def _require_whole(here: LedgerPlace, old: ReadableStore, key: LedgerKey, *, is_unsealed: bool) -> None:
    """Refuse entries that no seal covers, unless the owner says so; and those that are older than their checkpoint."""
    end = old.end()
    if not is_unsealed:
        seal_of(end, key)
    elif end.seal is not None:
        raise LedgerError(str(here.beside), "has seals; leave --unsealed out, so that they are verified")
    elif here.checkpoint().is_of_sealed():
        requirement = "its checkpoint shows that it had seals, and they were removed; restore a good copy"
        raise LedgerCorruptError(max(end.chain.length - 1, 0), requirement)
    noted = here.checkpoint().read(key)
    if noted is not None:
        require_not_older(noted, end.chain.length, lambda index: old.read(index, limit=1)[0].hash)


def _require_fit(there: LedgerPlace, key: LedgerKey) -> None:
    """Refuse a place beside which the key or the checkpoint of another ledger lies."""
    there.checkpoint().read(key)
    if os.path.lexists(there.key) and key_in(there.key) != key:
        raise LedgerError(str(there.key), "is the key of another ledger; choose a place with nothing beside it")


def _require_empty(there: LedgerPlace, store: LedgerStore) -> None:
    if store.read(0, limit=1):
        raise LedgerError(str(there.beside), "contains a ledger already; choose an empty place")


def _require_same(moved: Ledger, chain: Chain, *, is_strict: bool) -> None:
    # An old ledger is read for ever, also where its prices are not those of today.
    if (moved.verify().length if is_strict else len(moved)) != chain.length:
        raise LedgerCorruptError(chain.length, "the copy ends differently than the original; remove it and start again")
