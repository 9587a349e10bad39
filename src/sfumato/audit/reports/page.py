"""An audit as one page of HTML: what was claimed, what was found, and that a pass proves nothing.

The page needs nothing but itself: no script, no other file, no network. Everything that came from audited code is
escaped, because outputs may say anything.
"""

import re
from collections import Counter
from html import escape
from importlib import import_module, resources
from io import StringIO
from itertools import count
from os import PathLike
from pathlib import Path
from types import ModuleType, NoneType
from typing import Any, Final

import numpy as np

from sfumato.audit.core.columns import Columns, Outputs, columns
from sfumato.audit.core.findings import CAVEAT, AuditReport
from sfumato.audit.core.reading import ANSWER, WHOLE
from sfumato.audit.reports.sections import Picture, sections_of
from sfumato.errors import ParameterError
from sfumato.numeric.arguments import listed, of_kind, path_of
from sfumato.plots.audits import outputs_of_both, words_of_both
from sfumato.version import __version__

_MOST_WORDS: Final = 12
_LONGEST: Final = 40
_REFERENCE: Final = re.compile(r'(\bid="|url\(#|href="#)')


def page(
    report: AuditReport,
    *,
    title: str = "An audit",
    claim: str | None = None,
    audited: str | None = None,
    outputs: tuple[Outputs, Outputs] | None = None,
    notes: tuple[str, ...] = (),
) -> str:
    """A report as a self-contained page, with its kinds of findings apart and the caveat on every one.

    Args:
        report: What `audit` found; findings of `check_accountant` and `check_sensitivity` may be put into it.
        title: Of the page.
        claim: What was claimed, in words; None takes it from the tests.
        audited: What was audited, in words, such as a question or a command.
        outputs: On the database and on the neighbour of the strongest event, to be drawn beside each other.
        notes: What else a reader should know.

    Raises:
        ParameterError: jinja2 or matplotlib is missing, or a parameter is something else.

    Example:
        >>> "proves nothing" in page(AuditReport((), ()), title="Nothing was tried")
        True
    """
    of_kind(report, "report", AuditReport, "an AuditReport, as audit(...) gives it")
    for name, words in (("title", title), ("claim", claim), ("audited", audited)):
        of_kind(words, name, str if name == "title" else (str, NoneType), "text")
    notes = tuple(of_kind(note, "notes", str, "texts") for note in listed(notes, "notes", of="texts"))
    both = None if outputs is None else listed(outputs, "outputs", of="the outputs on two databases")
    if both is not None and len(both) != 2:  # noqa: PLR2004 # neighbors
        raise ParameterError("outputs", outputs, "must be the outputs on two databases")
    engine, markup, _ = (_needed(name) for name in ("jinja2", "markupsafe", "matplotlib"))
    drawn = count(1)
    environment = engine.Environment(
        autoescape=True, undefined=engine.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["svg"] = lambda picture: markup.Markup(_svg(picture, prefix=f"picture-{next(drawn)}-"))
    template = environment.from_string(resources.files("sfumato.audit").joinpath("page.html").read_text("utf-8"))
    return str(
        template.render(
            title=title,
            version=__version__,
            report=report,
            verdict=_verdict(report),
            meaning=_meaning(report),
            facts=_facts(report, claim=claim, audited=audited, notes=notes),
            beside=None if both is None else _beside(*both, report=report),
            sections=sections_of(report),
            unread=tuple(dict.fromkeys(words for finding in report.events for words in finding.unread)),
            caveat=CAVEAT,
            zip=zip,
        )
    )


def save_page(report: AuditReport, path: str | PathLike[str], **words: Any) -> Path:
    """Write `page` to a file; missing folders are made.

    Args:
        report: As for `page`.
        path: Ends in .html.
        **words: The other arguments of `page`.

    Raises:
        ParameterError: The path ends otherwise, or as `page`.

    Example:
        >>> from tempfile import mkdtemp
        >>> save_page(AuditReport((), ()), f"{mkdtemp()}/audit.html").name
        'audit.html'
    """
    path = path_of(path, "path")
    if path.suffix != ".html":
        raise ParameterError("path", str(path), "must end in .html")
    text = page(report, **words)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", errors="replace")  # a description may hold half a character
    return path


def _needed(name: str) -> ModuleType:
    try:
        return import_module(name)
    except ImportError:
        requirement = "is needed for pages of audits; run: pip install jinja2 matplotlib"
        raise ParameterError(name, None, requirement) from None


def _verdict(report: AuditReport) -> str:
    kinds = {
        "privacy violations": report.violations,
        "reproducible noise": report.reproducible,
        "sensitivity bugs": report.sensitivity_bugs,
        "accounting bugs": report.accounting_bugs,
        "calibration bugs": report.calibration_bugs,
    }
    found = ", ".join(f"{words} ({len(findings)})" for words, findings in kinds.items() if findings)
    return f"Found: {found}." if found else "Nothing was found, which proves nothing."


def _meaning(report: AuditReport) -> list[str]:
    """What each kind that was found means, or what it means that none was."""
    said = {
        "The claimed guarantee is refuted: outputs on two neighbors contradict it.": report.violations,
        "The same noise came twice. Whoever knows how it was seeded subtracts it, so no ε holds.": report.reproducible,
        "Noise for the claimed sensitivity is too small for the neighbors shown.": report.sensitivity_bugs,
        "The accountant breaks a law, so what it says of a budget cannot be relied on.": report.accounting_bugs,
        "Noise does not follow its declared law. That is not yet a violation of privacy, and may become one.": (
            report.calibration_bugs
        ),
    }
    lines = [line for line, findings in said.items() if findings]
    return [*lines, "Where a test found nothing, that proves nothing."] if lines else [CAVEAT]


def _facts(
    report: AuditReport, *, claim: str | None, audited: str | None, notes: tuple[str, ...]
) -> list[tuple[str, str]]:
    claims = dict.fromkeys(f"({finding.claim})-differential privacy" for finding in report.events)
    facts = [("audited", audited), ("claimed", claim or "; ".join(claims) or "no ε"), ("tried", report.tests)]
    if report.events:
        facts.append(("runs on each pair", f"{min(finding.samples for finding in report.events):,} or more"))
    return [(name, words) for name, words in (*facts, *(("note", note) for note in notes)) if words]


def _beside(here: Outputs, there: Outputs, *, report: AuditReport) -> Picture:
    """Outputs on both neighbours: numbers as a histogram, and anything else as the texts that came most often."""
    strongest = max(report.events, key=lambda finding: finding.epsilon_lower_bound, default=None)
    caption = "Outputs on the database and on its neighbor"
    caption += f". The strongest event: {strongest.event} ({strongest.pair})." if strongest else "."
    sides = columns(here), columns(there)
    first, second = (side.number(ANSWER) for side in sides)
    if all(len(side) and np.isfinite(side).all() for side in (first, second)):
        return Picture(figure=outputs_of_both(first, second, title="Outputs on both neighbors"), caption=caption)
    return Picture(figure=words_of_both(_shares(*sides), title="Outputs on both neighbors"), caption=caption)


def _shares(here: Columns, there: Columns) -> dict[str, tuple[float, float]]:
    times = Counter(here.text(WHOLE)), Counter(there.text(WHOLE))
    most = [text for text, _ in (times[0] + times[1]).most_common(_MOST_WORDS)]
    return {
        f"{at}. {_shortened(text)}": (times[0][text] / max(len(here), 1), times[1][text] / max(len(there), 1))
        for at, text in enumerate(most, start=1)
    }


def _shortened(text: str) -> str:
    shown = "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text)
    return shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}…"


def _svg(picture: Picture, *, prefix: str) -> str:
    """A figure as an element of the page, with names of its own and its caption for who does not see it."""
    from matplotlib import rc_context  # noqa: PLC0415 # an extra

    file = StringIO()
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "sfumato", "font.family": "sans-serif"}):
        picture.figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    drawing = file.getvalue()
    drawing = _REFERENCE.sub(rf"\g<1>{prefix}", drawing[drawing.index("<svg") :])
    name = f"{prefix}name"
    start, rest = drawing.split(">", 1)
    return f'{start} role="img" aria-labelledby="{name}"><title id="{name}">{escape(picture.caption)}</title>{rest}'
