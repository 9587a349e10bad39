"""An audit as one page of HTML: the claim, a section with a table for each kind of finding, and the caveat.

The page needs nothing but itself: no script, no other file, no network. Everything that came from audited code is
escaped, because outputs may say anything.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from os import PathLike
from pathlib import Path
from types import NoneType
from typing import Any, Final, TypeAlias

import numpy as np

from sfumato.audit.core.findings import CAVEAT, AuditReport, Finding, Verdict
from sfumato.audit.core.outputs import ANSWER, WHOLE, Columns, Outputs, as_float, columns
from sfumato.audit.reports.template import Picture, filled
from sfumato.errors import ParameterError
from sfumato.numeric.arguments import listed, of_kind, path_of
from sfumato.plots.audits import lower_bounds, outputs_of_both, p_values, words_of_both
from sfumato.version import __version__

_MOST_WORDS: Final = 12
_LONGEST: Final = 40
Cells: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingRow:
    """One finding."""

    cells: tuple[str, ...]
    is_found: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportSection:
    """All findings of one kind."""

    heading: str
    words: str
    columns: tuple[str, ...]
    rows: tuple[FindingRow, ...]
    pictures: tuple[Picture, ...] = ()
    numeric: frozenset[str] = frozenset(
        ("test", "ε at least", "δ at least", "runs", "type-I error", "p-value", "checks", "claimed", "largest")
    )

    @property
    def found(self) -> int:
        """How many rows found something."""
        return sum(row.is_found for row in self.rows)


def page(
    report: AuditReport,
    *,
    title: str = "Privacy audit",
    claim: str | None = None,
    audited: str | None = None,
    outputs: tuple[Outputs, Outputs] | None = None,
    notes: tuple[str, ...] = (),
) -> str:
    """A report as a self-contained HTML page: each kind of finding in its own section, and the caveat.

    Args:
        report: The report of `audit`, to which findings of other checks may be added.
        title: The title of the page.
        claim: The claim in words; None takes it from the tests.
        audited: The audited query, mechanism or command, in words.
        outputs: Outputs on the two databases of the strongest event, to draw beside each other.
        notes: More facts for the reader.

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
    return filled(
        resources.files("sfumato.audit").joinpath("page.html").read_text("utf-8"),
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


def save_page(report: AuditReport, path: str | PathLike[str], **words: Any) -> Path:
    """Write `page` to a file; missing folders are made.

    Args:
        report: The report of `audit`.
        path: The file, which ends in .html.
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


def _verdict(report: AuditReport) -> str:
    kinds = {
        "privacy violations": report.violations,
        "reproducible noise": report.reproducible,
        "sensitivity bugs": report.sensitivity_bugs,
        "accounting bugs": report.accounting_bugs,
        "calibration bugs": report.calibration_bugs,
    }
    found = ", ".join(f"{words} ({len(findings)})" for words, findings in kinds.items() if findings)
    return f"Found: {found}." if found else "Nothing was found. That proves nothing."


def _meaning(report: AuditReport) -> list[str]:
    """What each kind of finding means, or what it means that there are none."""
    said = {
        "The claimed guarantee is refuted: outputs on two neighbors contradict it.": report.violations,
        "The same noise was drawn twice. Whoever knows its seed can subtract it, so no ε holds.": report.reproducible,
        "The claimed sensitivity, and so the noise, is too small for the neighbors shown.": report.sensitivity_bugs,
        "The accountant violates a property of sound ones, so its costs cannot be trusted.": report.accounting_bugs,
        "Noise does not follow its declared distribution. That need not violate privacy, but may.": (
            report.calibration_bugs
        ),
    }
    lines = [line for line, findings in said.items() if findings]
    return [*lines, "A test that found nothing proves nothing."] if lines else [CAVEAT]


def _facts(
    report: AuditReport, *, claim: str | None, audited: str | None, notes: tuple[str, ...]
) -> list[tuple[str, str]]:
    claims = dict.fromkeys(f"({finding.claim})-differential privacy" for finding in report.events)
    facts = [("audited", audited), ("claimed", claim or "; ".join(claims) or "no ε"), ("tests", report.tests)]
    if report.events:
        facts.append(("runs on each pair", f"{min(finding.samples for finding in report.events):,} or more"))
    return [(name, words) for name, words in (*facts, *(("note", note) for note in notes)) if words]


def _beside(here: Outputs, there: Outputs, *, report: AuditReport) -> Picture:
    """Outputs on both neighbors: numbers as a histogram, and anything else as the texts that came most often."""
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


def sections_of(report: AuditReport) -> tuple[ReportSection, ...]:
    """A section for each kind of test that was made."""
    made = (_events(report), _repeats(report), _sensitivities(report), _accounting(report), _laws(report))
    return tuple(section for section in made if section.rows)


def _events(report: AuditReport) -> ReportSection:
    rows = [
        (
            finding.tester,
            finding.pair,
            finding.event,
            f"{least:.3f}" if math.isfinite(least) else "no bound" if least < 0 else "∞",
            f"{finding.delta_lower_bound:.2g}",
            f"{finding.samples:,}",
            f"{finding.significance:.1e}",
        )
        for finding in report.events
        for least in [finding.epsilon_lower_bound]
    ]
    return ReportSection(
        heading="Privacy violations: events that are likelier on one neighbor than the claim allows",
        words="Each test looked for an event in one half of the runs, and tested it on the other half. Columns “ε at "
        "least” and “δ at least” are lower bounds: on ε at the claimed δ, and on δ at the claimed ε.",
        columns=("test", "tester", "neighbors", "event", "ε at least", "δ at least", "runs", "type-I error", "verdict"),
        rows=_numbered(rows, report.events),
        pictures=_bound_pictures(report),
    )


def _bound_pictures(report: AuditReport) -> tuple[Picture, ...]:
    by_claim: dict[float, dict[str, list[tuple[int, float]]]] = defaultdict(lambda: defaultdict(list))
    for number, finding in enumerate(report.events, start=1):
        by_claim[float(finding.claim.epsilon)][finding.tester].append((number, finding.epsilon_lower_bound))
    return tuple(
        Picture(
            figure=lower_bounds(bounds, claimed=claimed, title=_bounds_title(bounds, claimed)),
            caption=f"Each test's lower bound on ε. A point above the dashed line at {claimed:g} refutes the claim; "
            "points below it confirm nothing.",
        )
        for claimed, bounds in by_claim.items()
        if math.isfinite(claimed)
    )


def _bounds_title(bounds: Mapping[str, Sequence[tuple[int, float]]], claimed: float) -> str:
    every = [bound for found in bounds.values() for _, bound in found]
    refuting = sum(bound > claimed for bound in every)
    return f"{refuting or 'None'} of {len(every)} tests refute{'s' if refuting == 1 else ''} the claim ε ≤ {claimed:g}"


def _repeats(report: AuditReport) -> ReportSection:
    rows = [
        (finding.pair, f"{finding.p_value:.1e}", f"{finding.samples:,}", f"{finding.significance:.1e}")
        for finding in report.repeats
    ]
    return ReportSection(
        heading="Reproducible noise: two calls gave the same outputs",
        words="Each database was run twice. Whoever knows the seed of reproducible noise can subtract it.",
        columns=("test", "neighbors", "p-value", "runs", "type-I error", "verdict"),
        rows=_numbered(rows, report.repeats),
    )


def _sensitivities(report: AuditReport) -> ReportSection:
    rows = [
        (
            finding.function,
            finding.norm,
            f"{as_float(finding.claimed):.6g}",
            f"{as_float(finding.largest):.6g}",
            finding.pair,
            f"{finding.checks:,}",
        )
        for finding in report.sensitivities
    ]
    return ReportSection(
        heading="Sensitivity bugs: neighbors whose exact answers differ by more than claimed",
        words="Answers were compared without noise, in exact arithmetic. The neighbors shown differ most.",
        columns=("test", "function", "norm", "claimed", "largest", "neighbors", "checks", "verdict"),
        rows=_numbered(rows, report.sensitivities),
    )


def _accounting(report: AuditReport) -> ReportSection:
    rows = [
        (
            finding.accountant,
            finding.law,
            "; ".join(finding.broken) or "none",
            _unchecked(finding.unchecked),
            f"{finding.checks:,}",
        )
        for finding in report.accounting
    ]
    return ReportSection(
        heading="Accounting bugs: properties of every sound accountant that this one violates",
        words="A counterexample is certain, without statistics. A property that held here may fail for other events.",
        columns=("test", "accountant", "property", "counterexamples", "not checked", "checks", "verdict"),
        rows=_numbered(rows, report.accounting),
    )


def _laws(report: AuditReport) -> ReportSection:
    rows = [
        (finding.law, f"{finding.p_value:.1e}", f"{finding.samples:,}", f"{finding.significance:.1e}")
        for finding in report.laws
    ]
    pictures: tuple[Picture, ...] = ()
    if rows:
        level, failed = report.laws[0].significance, len(report.calibration_bugs)
        drawn = p_values(
            [law.p_value for law in report.laws],
            level=level,
            title=f"{failed} of {len(rows)} noise distributions fail their test",
        )
        caption = (
            f"Noise with a p-value below the dashed line at {level:.1e} does not follow its declared distribution."
        )
        pictures = (Picture(figure=drawn, caption=caption),)
    return ReportSection(
        heading="Calibration bugs: noise that does not follow its declared distribution",
        words="A calibration bug is not a privacy violation: wrong noise may be harmless, and it shows long before any "
        "event proves that ε is exceeded.",
        columns=("test", "distribution", "p-value", "runs", "type-I error", "verdict"),
        rows=_numbered(rows, report.laws),
        pictures=pictures,
    )


def _numbered(rows: Sequence[Cells], findings: Sequence[Finding]) -> tuple[FindingRow, ...]:
    return tuple(
        FindingRow(
            cells=(str(number), *cells, "nothing checked" if cells[-1] == "0" else str(finding.verdict)),
            is_found=finding.verdict is not Verdict.NOTHING_FOUND,
        )
        for number, (cells, finding) in enumerate(zip(rows, findings, strict=True), start=1)
    )


def _unchecked(reasons: tuple[str, ...]) -> str:
    """Unsupported events in one list, and then other failures."""
    prefix = "unsupported: "
    unsupported = ", ".join(reason.removeprefix(prefix) for reason in reasons if reason.startswith(prefix))
    others = [reason for reason in reasons if not reason.startswith(prefix)]
    return "; ".join([*([prefix + unsupported] if unsupported else []), *others]) or "nothing"
