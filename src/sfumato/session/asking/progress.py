"""A line on the error stream that grows while something long goes on; it tells only of what is released anyway."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def told(what: str, *, shown: bool) -> Iterator[Callable[[int], None]]:
    """Give a function that hears how many more there are.

    Args:
        what: What is counted.
        shown: Whether anything is shown.
    """
    if not shown:
        yield lambda _: None
        return
    from rich.console import Console  # loaded when it is shown
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn  # the same

    columns = (SpinnerColumn(), TextColumn("{task.completed:,} {task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(file=sys.stderr)) as bar:
        task = bar.add_task(what, total=None)
        yield lambda more: bar.update(task, advance=more)
