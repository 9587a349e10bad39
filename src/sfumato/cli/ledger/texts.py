"""Names and reasons of others, written so that they can do nothing to a terminal or to a spreadsheet."""

from typing import Final

from rich.console import Console

_FORMULAS: Final = ("=", "+", "-", "@")
_WIDTH: Final = 200  # of what is piped on, where lines are not to be broken


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


def console() -> Console:
    """A console on stdout that reads no markup from data, and breaks few lines that are piped on."""
    out = Console(highlight=False, markup=False, emoji=False)
    return out if out.is_terminal else Console(highlight=False, markup=False, emoji=False, width=_WIDTH)
