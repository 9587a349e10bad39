"""Bars on the error stream, while something long goes on."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn


@contextmanager
def progress() -> Iterator[Progress]:
    """Bars that are gone afterwards; none where nobody looks at them."""
    error = Console(file=sys.stderr)
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed:,}"), TimeElapsedColumn())
    with Progress(*columns, console=error, transient=True, disable=not error.is_terminal) as bars:
        yield bars
