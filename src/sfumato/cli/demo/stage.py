"""Where the demo speaks: sections, sentences and tables on the terminal, pictures in a folder."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.text import Text

from sfumato.cli.show import console, table
from sfumato.session.releases.release import Release


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """What every section speaks through.

    Attributes:
        output: The folder for pictures.
        ledger: The file that remembers what is spent; None forgets it at the end.
        console: The terminal.
    """

    output: Path
    ledger: str | None
    console: Console = field(default_factory=console)

    def section(self, title: str) -> None:
        """A headline."""
        self.console.print()
        self.console.rule(Text(title, style="bold"), align="left", style="dim")

    def say(self, text: str) -> None:
        """A paragraph."""
        self.console.print(text)

    def figures(self, header: Sequence[str], rows: Iterable[Sequence[str]], *, left: int = 1) -> None:
        """A table whose first `left` columns are words, and whose others are figures."""
        self.console.print(table(header, rows, left=left))


def paid(release: Release) -> str:
    """What an answer cost this time."""
    return "nothing, stored answer" if release.reused else str(release.receipt.guarantee)
