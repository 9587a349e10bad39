"""`sfumato ledger verify`: everything computed anew, and every file of an answer looked at."""

import math
import os
from collections.abc import Collection
from contextlib import closing
from typing import Final

from rich.console import Console
from rich.progress import Progress

from sfumato.cli.ledger.bars import progress
from sfumato.cli.ledger.outlook import clock_lines
from sfumato.cli.ledger.texts import console, counted
from sfumato.ledger.core.entry import Committed, Entry
from sfumato.ledger.keeping.attachments import Attachment, Attachments, attachments_in
from sfumato.ledger.locations import Place, open_ledger, place_of
from sfumato.ledger.reading.history import Standstills
from sfumato.ledger.reading.verification import audited

_CHAIN: Final = "hash chain intact, every charge was allowed"


def verify(location: str) -> None:
    """Check every entry and every file, and print the length and the end of the chain."""
    out, place = console(), place_of(location)
    if not os.path.lexists(place.key):
        _audit(place, out)
        return
    with open_ledger(location, must_exist=True) as ledger:
        with progress() as bar:
            step = bar.add_task("entries", total=len(ledger))
            heard = _Heard()
            chain = ledger.verify(lambda length: bar.update(step, completed=length), about=heard.take)
            bar.update(step, completed=chain.length)
            named = _verified_files(ledger.attachments, bar, heard.files)
        clock = tuple(clock_lines(ledger, heard.standstills.found))
        nobodys = [path for path in ledger.attachments.older_than(math.inf) if path.name not in named]
    entries = counted(chain.length, "entry", "entries")
    out.print(f"{entries}: {_CHAIN}; the ledger's key sealed all of them")
    out.print(f"head {chain.head}", soft_wrap=True)
    out.print(f"{counted(len(named), 'file')} of large answers, as written")
    for path in nobodys:
        out.print(f"no entry names {path}", soft_wrap=True)
    for line in clock:
        out.print(line, soft_wrap=True)
    out.print("Note length and head elsewhere, or write a checkpoint: a ledger that later has fewer entries was cut.")


def _audit(place: Place, out: Console) -> None:
    """Check all that whoever does not have the key can check, and say what that is not."""
    with closing(place.open_store(must_exist=True)) as store, progress() as bar:
        step = bar.add_task("entries", total=None)
        chain = audited(store, lambda length: bar.update(step, completed=length))
    out.print(f"{counted(chain.length, 'entry', 'entries')}: {_CHAIN}")
    out.print(f"head {chain.head}", soft_wrap=True)
    out.print(f"not checked, as the key {place.key} is not there:", soft_wrap=True)
    out.print("  that the ledger wrote these entries: whoever may write the store could have made all of them")
    out.print("  that none are missing at the end: compare length and head with those noted elsewhere")
    out.print("  that stored answers, pointers and the snapshot are the ledger's own")


class _Heard:
    """What else is wanted of the entries, heard on the one way through them."""

    def __init__(self) -> None:
        self.standstills = Standstills()
        self.files: dict[Attachment, None] = {}  # in the order of their entries

    def take(self, entry: Entry) -> None:
        self.standstills.take(entry)
        if isinstance(entry, Committed):
            self.files.update(dict.fromkeys(attachments_in(entry.answer)))


def _verified_files(files: Attachments, bar: Progress, named: Collection[Attachment]) -> set[str]:
    """The names of all files that answers name, each of which is there and unchanged."""
    step = bar.add_task("files", total=len(named))
    paths = set[str]()
    for attachment in named:
        paths.add(files.path(attachment).name)
        bar.advance(step)
    return paths
