"""A report on synthetic rows as one page of HTML: what it is, tables and pictures.

The page needs nothing but itself: no script, no other file, no network. All values are escaped.
"""

from dataclasses import dataclass
from importlib import resources
from os import PathLike
from pathlib import Path
from typing import Final

from sfumato.audit.reports.template import Picture, filled
from sfumato.errors import ParameterError
from sfumato.numeric.arguments import path_of
from sfumato.version import __version__

CAVEAT: Final = (
    "How far synthetic rows are from the closest real row, or how many are alike, is no guarantee of privacy: only the "
    "noise that they were made with is, and the ε and δ that were charged for it."
)
"""What every report says of distances to the closest record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSection:
    """A part of a page.

    Attributes:
        heading: Its heading.
        words: What is in it.
        columns: The heads of its table.
        rows: The cells of its table.
        pictures: What is drawn above the table.
    """

    heading: str
    words: str
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    pictures: tuple[Picture, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportPage:
    """A page.

    Attributes:
        title: Its title.
        label: What kind of report it is and who may see it, in a few words.
        words: The same in a sentence or two.
        is_secret: Whether only the owner may see it.
        facts: Names of facts, each with what it is.
        sections: The parts.

    Example:
        >>> page = ReportPage(title="Rows", label="Private", words="Anybody may see it.", is_secret=False)
        >>> "no guarantee" in page.html()
        True
    """

    title: str
    label: str
    words: str
    is_secret: bool
    facts: tuple[tuple[str, str], ...] = ()
    sections: tuple[TableSection, ...] = ()

    def html(self) -> str:
        """The page as text.

        Raises:
            ParameterError: jinja2 or matplotlib is missing.
        """
        template = resources.files("sfumato.synth.reports").joinpath("page.html").read_text("utf-8")
        return filled(template, page=self, caveat=CAVEAT, version=__version__)

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the page; missing folders are made.

        Raises:
            ParameterError: The path does not end in .html, or jinja2 or matplotlib is missing.
        """
        target = path_of(path, "path")
        if target.suffix != ".html":
            raise ParameterError("path", str(target), "must end in .html")
        text = self.html()
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8", errors="replace")  # a value may hold half a character
        return target
