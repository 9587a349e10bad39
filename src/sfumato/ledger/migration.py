"""From one store to another: the same records under the same key, verified at both ends."""

import os
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from sfumato.errors import LedgerCorruptError, LedgerError
from sfumato.ledger.attachments import Attachment, Attachments, attachments_in
from sfumato.ledger.entry import Committed, Entry
from sfumato.ledger.journal import Chain
from sfumato.ledger.key import LedgerKey, key_in
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.locations import Place, open_ledger, place_of
from sfumato.ledger.store import Batch, LedgerStore, Reading
from sfumato.ledger.verification import StrictReplay
from sfumato.ledger.whole_files import draft_of

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
    source: str | os.PathLike[str], destination: str | os.PathLike[str], *, heard: Heard = lambda _: None
) -> Migrated:
    """Copy a ledger to another place, where it goes on. The old one is left as it is, and must not be used any more.

    The key goes with it, as it seals what is in the entries: fingerprints of data, and checkpoints. Pointers and the
    snapshot are made anew. Records are kept at once or not at all, so whatever fails can be tried again.

    Args:
        source: Where the ledger is.
        destination: Where it is to be; with nothing in it.
        heard: Is told how many records were copied so far.

    Raises:
        LedgerCorruptError: The source does not verify, or the destination does not afterwards.
        LedgerError: The destination holds a ledger, or something of another one; or a file is gone.
        ParameterError: A location does not last, or is of no kind known here.
    """
    here, there = place_of(source), place_of(destination)
    with open_ledger(source, must_exist=True) as ledger:
        key, files = ledger.key, _Files(ledger.attachments, there.attachments)
        _require_fit(there, key)
        with closing(there.open_store(must_exist=False)) as new:
            _require_empty(there, new)
            _give_key(there.key, key)
            for entry in ledger.entries():  # large files first, and not while both stores wait
                files.copy(entry)
            with closing(here.open_store(must_exist=True)) as old:
                old.check()
                with old.turn() as turn:
                    chain = _copied(turn, new, files, heard)
    with open_ledger(destination, must_exist=True) as moved:
        _require_same(moved, chain)
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


def _copied(old: Reading, new: LedgerStore, files: _Files, heard: Heard) -> Chain:
    """All records, each decided anew, while nobody can append to the old store; in one turn of the new one."""
    replay = StrictReplay()
    with new.turn() as turn:
        while records := old.read(replay.chain.length, limit=_PAGE):
            for record in records:
                replay.follow(record, lambda _, entry: files.copy(entry))
            turn.append(Batch(records=records))
            heard(replay.chain.length)
    return replay.chain


def _require_fit(there: Place, key: LedgerKey) -> None:
    """Refuse a place beside which the key or the checkpoint of another ledger lies."""
    there.checkpoint().read(key)
    if there.key.exists() and key_in(there.key, must_exist=True) != key:
        raise LedgerError(str(there.key), "is the key of another ledger; choose a place with nothing beside it")


def _require_empty(there: Place, store: LedgerStore) -> None:
    if store.read(0, limit=1):
        raise LedgerError(str(there.beside), "holds a ledger already; choose a place with nothing in it")


def _give_key(path: Path, key: LedgerKey) -> None:
    if path.exists():
        return
    try:
        with draft_of(path, f"{key.secret.hex()}\n".encode()) as draft:
            os.link(draft, path)
    except OSError as error:
        raise LedgerError(str(path), "the key cannot be copied there; name an existing folder") from error


def _require_same(moved: Ledger, chain: Chain) -> None:
    if moved.verify() != chain:
        raise LedgerCorruptError(chain.length, "the copy has another end than what was copied; remove it, begin anew")
