"""`sfumato ledger verify | checkpoint | migrate | rotate-key | sweep`: keep a ledger safe, and move it."""

import math
import os
import time
from collections.abc import Collection
from contextlib import closing
from pathlib import Path
from typing import Final

import typer
from rich.console import Console
from rich.progress import Progress

from sfumato.cli.ledger.show import clock_lines
from sfumato.cli.show import counted, printable, progress, wide_console
from sfumato.ledger.core.entry import Committed, Entry
from sfumato.ledger.keeping.attachments import Attachment, Attachments, attachments_in, removed
from sfumato.ledger.keeping.checkpoint_files import CheckpointFile
from sfumato.ledger.keeping.checkpoints import encode_checkpoint
from sfumato.ledger.keeping.key import holds_secret
from sfumato.ledger.keeping.noting import send
from sfumato.ledger.locations import LedgerPlace, open_ledger, place_of
from sfumato.ledger.migration import migrate
from sfumato.ledger.reading.history import Standstills, time_text
from sfumato.ledger.reading.verification import audited
from sfumato.ledger.rotation import declare_all_spent, rotate_key

_CHAIN: Final = "hash chain intact; every charge was allowed"
_DAY: Final = 24 * 60 * 60  # seconds; a query that takes longer loses its file


def verify(location: str) -> None:
    """Check every entry and every file, and print the length and the head of the chain."""
    out, place = wide_console(), place_of(location)
    if not os.path.lexists(place.key):
        _audit(place, out)
        return
    with open_ledger(location, must_exist=True) as ledger:
        with progress() as bar:
            step = bar.add_task("entries", total=len(ledger))
            seen = _Seen()
            chain = ledger.verify(lambda length: bar.update(step, completed=length), about=seen.take)
            bar.update(step, completed=chain.length)
            named = _verified_files(ledger.attachments, bar, seen.files)
        clock = tuple(clock_lines(ledger, seen.standstills.found))
        unnamed = [path for path in ledger.attachments.older_than(math.inf) if path.name not in named]
    entries = counted(chain.length, "entry", "entries")
    out.print(f"{entries}: {_CHAIN}; all are sealed with the ledger's key")
    out.print(f"head {chain.head}", soft_wrap=True)
    out.print(f"{counted(len(named), 'file')} of large answers, unchanged")
    for path in unnamed:
        out.print(f"no entry names {path}", soft_wrap=True)
    for line in clock:
        out.print(line, soft_wrap=True)
    out.print("Record length and head elsewhere, or write a checkpoint, to notice entries that are removed later.")


def _audit(place: LedgerPlace, out: Console) -> None:
    """Check what can be checked without the key, and list the rest."""
    with closing(place.open_store(must_exist=True)) as store, progress() as bar:
        step = bar.add_task("entries", total=None)
        chain = audited(store, lambda length: bar.update(step, completed=length))
    out.print(f"{counted(chain.length, 'entry', 'entries')}: {_CHAIN}")
    out.print(f"head {chain.head}", soft_wrap=True)
    out.print(f"not checked, because the key {place.key} is missing:", soft_wrap=True)
    out.print("  who wrote the entries: anybody who can write the store could have made all of them")
    out.print("  whether entries are missing at the end: compare length and head with a record elsewhere")
    out.print("  whether stored answers, index entries and the snapshot were written by the ledger")


class _Seen:
    """Standstills of the clock and files of answers, collected in one pass over the entries."""

    def __init__(self) -> None:
        self.standstills = Standstills()
        self.files: dict[Attachment, None] = {}  # in the order of their entries

    def take(self, entry: Entry) -> None:
        self.standstills.take(entry)
        if isinstance(entry, Committed):
            self.files.update(dict.fromkeys(attachments_in(entry.answer)))


def _verified_files(files: Attachments, bar: Progress, named: Collection[Attachment]) -> set[str]:
    """The names of all files that answers name; each exists and is unchanged."""
    step = bar.add_task("files", total=len(named))
    paths = set[str]()
    for attachment in named:
        paths.add(files.path(attachment).name)
        bar.advance(step)
    return paths


def checkpoint(location: str, *, to: str | None, command: str | None) -> None:
    """Write a checkpoint, at its usual place or into a file."""
    with open_ledger(location, must_exist=True) as ledger:
        found = ledger.checkpoint()
    if to is not None and "://" in to:
        send(to, f"{encode_checkpoint(found)}\n")
    elif to is not None:
        CheckpointFile(Path(to)).write(found)
    if command is not None:
        send(command, f"{encode_checkpoint(found)}\n")
    typer.echo(f"{counted(found.length, 'entry', 'entries')} up to {time_text(found.at)}, head {found.head}")


def move(source: str, destination: str, *, is_unsealed: bool) -> None:
    """Copy a ledger to another place, and verify the copy."""
    with progress() as bars:
        step = bars.add_task("entries", total=None)
        found = migrate(
            source, destination, is_unsealed=is_unsealed, heard=lambda length: bars.update(step, completed=length)
        )  # fmt: skip
    copied = f"{counted(found.length, 'entry', 'entries')} and {counted(found.attachments, 'file')} of large answers"
    typer.echo(f"{copied}, copied and verified; head {found.head}")
    file = place_of(destination).key
    if holds_secret(file):
        typer.echo(f"Its key is {file}. Back it up, and let nobody else read it.")
    else:
        typer.echo(f"Its key is given as before; {file} has its name.")
    if is_unsealed:
        typer.echo("The old entries had no seal, so anybody who could write them could have lowered the spending.")
        typer.echo("Compare the output of `sfumato ledger show` with your own records.")
    typer.echo("Use the new place from now on. The old ledger is closed and refuses all charges.")


def rotate(location: str, *, is_lost: bool, reason: str) -> None:
    """Seal a ledger with a new key; if the old one is lost, close all accounts."""
    if is_lost:
        for account in declare_all_spent(location, reason=reason):
            typer.echo(printable(f"{account}: closed, because its remaining budget cannot be proved"))
    else:
        rotate_key(location)
    file = place_of(location).key
    if holds_secret(file):
        typer.echo(f"The ledger is sealed with the new key {file}. Back it up, apart from the ledger.")
    else:
        typer.echo(f"The ledger is sealed with the new key that was given; {file} has its name.")
    typer.echo("Reopen the ledger in every process that had it open. Remove copies with the old key: they still work.")


def sweep(location: str, *, is_sure: bool) -> None:
    """Remove, or list, files that no answer names and that are a day old."""
    with open_ledger(location, must_exist=True) as ledger:
        old = ledger.attachments.older_than(time.time() - _DAY)  # before the entries are read: a new answer has a file
        named = {
            attachment.name
            for entry in ledger.entries()
            if isinstance(entry, Committed)
            for attachment in attachments_in(entry.answer)
        }
    unnamed = [path for path in old if path.name not in named]
    if is_sure:
        typer.echo(f"{counted(removed(unnamed), 'file')} removed")
        return
    for path in unnamed:
        typer.echo(path)
    typer.echo(f"{counted(len(unnamed), 'file')} that no answer names; --yes removes them")
