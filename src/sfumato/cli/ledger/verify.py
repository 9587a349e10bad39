"""`sfumato ledger verify`: everything computed anew, and every file of an answer looked at."""

import math

from rich.progress import Progress

from sfumato.cli.ledger.bars import progress
from sfumato.cli.ledger.texts import console, counted
from sfumato.ledger.attachments import attachments_in
from sfumato.ledger.entry import Committed
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.locations import open_ledger


def verify(location: str) -> None:
    """Check every entry and every file, and print the length and the end of the chain."""
    out = console()
    with open_ledger(location, must_exist=True) as ledger:
        with progress() as bar:
            step = bar.add_task("entries", total=len(ledger))
            chain = ledger.verify(lambda length: bar.update(step, completed=length))
            bar.update(step, completed=chain.length)
            named = _verified_files(ledger, bar, chain.length)
        nobodys = [path for path in ledger.attachments.older_than(math.inf) if path.name not in named]
    entries = counted(chain.length, "entry", "entries")
    out.print(f"{entries}, each of them follows from the one before, and was rightly granted")
    out.print(f"head {chain.head}", soft_wrap=True)
    out.print(f"{counted(len(named), 'file')} of large answers, as written")
    for path in nobodys:
        out.print(f"no entry names {path}", soft_wrap=True)
    out.print("Note length and head elsewhere, or write a checkpoint: a ledger that later has fewer entries was cut.")


def _verified_files(ledger: Ledger, bar: Progress, length: int) -> set[str]:
    """The names of all files that answers name, each of which is there and unchanged."""
    step, named = bar.add_task("files", total=length), set[str]()
    for entry in ledger.entries():
        for attachment in attachments_in(entry.answer) if isinstance(entry, Committed) else ():
            named.add(ledger.attachments.path(attachment).name)
        bar.advance(step)
    return named
