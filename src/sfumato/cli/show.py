"""Text on the terminal: consoles, plain tables, bars, notes on stderr; and words of others that do nothing to it."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
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


_FORMULAS: Final = ("=", "+", "-", "@")
_WIDE: Final = 200  # of what is piped on, where lines are not to be broken


def printable(text: str) -> str:
    r"""Text of others for a terminal: whatever steers it, or hides or turns other text, is written as an escape.

    Example:
        >>> printable("ann\x1b[2J")
        'ann\\x1b[2J'
    """
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)


def cell(text: str) -> str:
    """Text of others for a CSV file: a spreadsheet must not take it for a formula.

    Example:
        >>> cell("=1+1")
        "'=1+1"
    """
    shown = printable(text)
    return f"'{shown}" if shown.startswith(_FORMULAS) else shown


def counted(number: int, one: str, several: str = "") -> str:
    """A number of things, of one or of several.

    Example:
        >>> counted(1, "file"), counted(2, "entry", "entries")
        ('1 file', '2 entries')
    """
    return f"{number:,} {one if number == 1 else several or f'{one}s'}"


def wide_console() -> Console:
    """A console on stdout that reads no markup from data, and breaks few lines that are piped on."""
    out = Console(highlight=False, markup=False, emoji=False)
    return out if out.is_terminal else Console(highlight=False, markup=False, emoji=False, width=_WIDE)


@contextmanager
def progress() -> Iterator[Progress]:
    """Bars that are gone afterwards; none where nobody looks at them."""
    error = Console(file=sys.stderr)
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed:,}"), TimeElapsedColumn())
    with Progress(*columns, console=error, transient=True, disable=not error.is_terminal) as bars:
        yield bars
