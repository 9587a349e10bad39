"""Text on the terminal: one console, plain tables, notes on stderr."""

from collections.abc import Iterable, Sequence

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text


def console() -> Console:
    """A console on stdout as it is now, that guesses no colors and reads no markup from data."""
    return Console(highlight=False, markup=False, emoji=False)


def table(header: Sequence[str], rows: Iterable[Sequence[str]], *, left: int = 1) -> Table:
    """A table whose first `left` columns are words, and whose others are figures."""
    shown = Table(box=SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for index, name in enumerate(header):
        shown.add_column(Text(name), justify="left" if index < left else "right")
    for row in rows:
        shown.add_row(*map(Text, row))
    return shown


def note(text: str) -> None:
    """A remark beside the answer, on stderr, so that the answer alone can be piped on."""
    typer.echo(f"note: {text}", err=True)
