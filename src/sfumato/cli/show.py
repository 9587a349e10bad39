"""Output on the terminal: consoles, tables, progress bars, notes on stderr, and text of others made harmless."""

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

_FORMULAS: Final = ("=", "+", "-", "@")
_WIDE: Final = 200  # columns of piped output, whose lines should not wrap


def console() -> Console:
    """A console on the current stdout, without automatic colors and without markup from data."""
    return Console(highlight=False, markup=False, emoji=False)


def wide_console() -> Console:
    """A console like `console()`, whose piped lines wrap late."""
    out = console()
    return out if out.is_terminal else Console(highlight=False, markup=False, emoji=False, width=_WIDE)


def table(header: Sequence[str], rows: Iterable[Sequence[str]], *, left: int = 1) -> Table:
    """A table whose first `left` columns are text and whose others are numbers."""
    shown = Table(box=SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for index, name in enumerate(header):
        shown.add_column(Text(name), justify="left" if index < left else "right")
    for row in rows:
        shown.add_row(*map(Text, row))
    return shown


def note(text: str) -> None:
    """Print a note on stderr, so that stdout has the answer alone."""
    typer.echo(f"note: {text}", err=True)


def printable(text: str) -> str:
    r"""Text of others for a terminal: characters that control it, or hide or reverse other text, are escaped.

    Example:
        >>> printable("ann\x1b[2J")
        'ann\\x1b[2J'
    """
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)


def cell(text: str) -> str:
    """Text of others for a CSV file, which a spreadsheet does not take for a formula.

    Example:
        >>> cell("=1+1")
        "'=1+1"
    """
    shown = printable(text)
    return f"'{shown}" if shown.startswith(_FORMULAS) else shown


def counted(number: int, one: str, several: str = "") -> str:
    """A number with its noun, singular or plural.

    Example:
        >>> counted(1, "file"), counted(2, "entry", "entries")
        ('1 file', '2 entries')
    """
    return f"{number:,} {one if number == 1 else several or f'{one}s'}"


@contextmanager
def progress() -> Iterator[Progress]:
    """Progress bars on stderr, which vanish at the end; none if stderr is not a terminal."""
    error = Console(file=sys.stderr)
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed:,}"), TimeElapsedColumn())
    with Progress(*columns, console=error, transient=True, disable=not error.is_terminal) as bars:
        yield bars
