"""`sfumato ledger checkpoint | migrate | rotate-key | sweep`: keeping a ledger safe, moving it, and tidying up."""

import time
from pathlib import Path
from typing import Final

import typer

from sfumato.cli.ledger.bars import progress
from sfumato.cli.ledger.texts import counted, printable
from sfumato.ledger.core.entry import Committed
from sfumato.ledger.keeping.attachments import attachments_in, removed
from sfumato.ledger.keeping.checkpoints import CheckpointFile, encode_checkpoint
from sfumato.ledger.keeping.sinks import send
from sfumato.ledger.locations import open_ledger, place_of
from sfumato.ledger.migration import migrate
from sfumato.ledger.reading.history import time_text
from sfumato.ledger.rotation import declare_all_spent, rotate_key

_DAY: Final = 24 * 60 * 60  # a question that takes longer loses its file


def checkpoint(location: str, *, to: str | None, command: str | None) -> None:
    """Note how far the ledger is, where it is looked for or in a file."""
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
    """Copy a ledger to another place, verified."""
    with progress() as bars:
        step = bars.add_task("entries", total=None)
        found = migrate(
            source, destination, is_unsealed=is_unsealed, heard=lambda length: bars.update(step, completed=length)
        )  # fmt: skip
    copied = f"{counted(found.length, 'entry', 'entries')} and {counted(found.attachments, 'file')} of large answers"
    typer.echo(f"{copied}, copied and verified; head {found.head}")
    typer.echo(f"Its key is beside it: {place_of(destination).key}. Keep a copy of it, and let nobody else read it.")
    if is_unsealed:
        typer.echo("No seal covered the old entries. Whoever could write them could have lowered what was spent, and")
        typer.echo("this cannot be known now: compare the output of `sfumato ledger show` with what you know.")
    typer.echo("Use the new place from now on. The old ledger has ended, and grants nothing any more.")


def rotate(location: str, *, is_lost: bool, reason: str) -> None:
    """Seal a ledger with another key; if the old one is lost, its accounts grant nothing any more."""
    if is_lost:
        for account in declare_all_spent(location, reason=reason):
            typer.echo(printable(f"{account}: closed, as nobody knows what is left of it"))
    else:
        rotate_key(location)
    typer.echo(f"The ledger is sealed with the new key {place_of(location).key}. Back it up, apart from the ledger.")
    typer.echo("Processes that had the ledger open have to open it again. Copies with the old key are not refused")
    typer.echo("by the copies themselves, so remove them.")


def sweep(location: str, *, is_sure: bool) -> None:
    """Remove files that no answer names, once they are a day old; or list them."""
    with open_ledger(location, must_exist=True) as ledger:
        old = ledger.attachments.older_than(time.time() - _DAY)  # before the entries are read: a new answer has a file
        named = {
            attachment.name
            for entry in ledger.entries()
            if isinstance(entry, Committed)
            for attachment in attachments_in(entry.answer)
        }
    nobodys = [path for path in old if path.name not in named]
    if is_sure:
        typer.echo(f"{counted(removed(nobodys), 'file')} removed")
        return
    for path in nobodys:
        typer.echo(path)
    typer.echo(f"{counted(len(nobodys), 'file')} that no answer names; --yes removes them")
