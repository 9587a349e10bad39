"""The parts of an audit's page, each kind of finding in a table of its own; no markup is made here."""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from sfumato.audit.core.findings import AuditReport, Finding, Verdict
from sfumato.audit.core.reading import as_float
from sfumato.plots.audits import lower_bounds, p_values

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A figure, what it shows in a line, and that again for who does not see it."""

    figure: "Figure"
    caption: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One finding."""

    cells: tuple[str, ...]
    is_found: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """All findings of one kind."""

    heading: str
    words: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    pictures: tuple[Picture, ...] = ()
    numeric: frozenset[str] = frozenset(
        ("test", "ε at least", "δ at least", "runs", "type-I error", "p-value", "checks", "claimed", "largest")
    )

    @property
    def found(self) -> int:
        """How many rows found something."""
        return sum(row.is_found for row in self.rows)


Cells: TypeAlias = tuple[str, ...]


def sections_of(report: AuditReport) -> tuple[Section, ...]:
    """A section for each kind of test that was made."""
    made = (_events(report), _repeats(report), _sensitivities(report), _accounting(report), _laws(report))
    return tuple(section for section in made if section.rows)


def _events(report: AuditReport) -> Section:
    rows = [
        (
            finding.tester,
            finding.pair,
            finding.event,
            _bound(finding.epsilon_lower_bound),
            f"{finding.delta_lower_bound:.2g}",
            f"{finding.samples:,}",
            f"{finding.significance:.1e}",
        )
        for finding in report.events
    ]
    return Section(
        heading="Privacy violations: events that are too much likelier on one neighbor",
        words="Each test looked for an event in one half of the runs, and tested it on the other half. ε at least is "
        "what the mechanism has at the claimed δ, and δ at least at the claimed ε, each but for the type-I error.",
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
            figure=lower_bounds(bounds, claimed=claimed, title="Lower bounds on ε beside the claim"),
            caption=f"What each test proved ε to be at least; a point above the dashed line at {claimed:g} refutes the "
            "claim, and points below it confirm nothing.",
        )
        for claimed, bounds in by_claim.items()
        if math.isfinite(claimed)
    )


def _repeats(report: AuditReport) -> Section:
    rows = [
        (finding.pair, f"{finding.p_value:.1e}", f"{finding.samples:,}", f"{finding.significance:.1e}")
        for finding in report.repeats
    ]
    return Section(
        heading="Reproducible noise: the same runs given twice",
        words="Whoever knows how noise was seeded can subtract it. The database was asked twice for the same runs.",
        columns=("test", "neighbors", "p-value", "runs", "type-I error", "verdict"),
        rows=_numbered(rows, report.repeats),
    )


def _sensitivities(report: AuditReport) -> Section:
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
    return Section(
        heading="Sensitivity bugs: neighbors that move an exact answer too far",
        words="Compared without noise, in exact arithmetic. The neighbors shown are those that moved it farthest.",
        columns=("test", "function", "norm", "claimed", "largest", "neighbors", "checks", "verdict"),
        rows=_numbered(rows, report.sensitivities),
    )


def _accounting(report: AuditReport) -> Section:
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
    return Section(
        heading="Accounting bugs: laws of composition that an accountant breaks",
        words="A counterexample is certain, and needs no statistics. A law that was kept here may break elsewhere.",
        columns=("test", "accountant", "law", "counterexamples", "not checked", "checks", "verdict"),
        rows=_numbered(rows, report.accounting),
    )


def _laws(report: AuditReport) -> Section:
    rows = [
        (finding.law, f"{finding.p_value:.1e}", f"{finding.samples:,}", f"{finding.significance:.1e}")
        for finding in report.laws
    ]
    pictures: tuple[Picture, ...] = ()
    if rows:
        level = report.laws[0].significance
        drawn = p_values([law.p_value for law in report.laws], level=level, title="p-values of the declared laws")
        caption = f"A point below the dashed line at {level:.1e} is noise that does not follow its declared law."
        pictures = (Picture(figure=drawn, caption=caption),)
    return Section(
        heading="Calibration bugs: noise that does not follow its declared law",
        words="Another verdict than a privacy violation: noise may be wrong long before any event shows that ε is "
        "exceeded, and it may be wrong without harm to privacy.",
        columns=("test", "law", "p-value", "runs", "type-I error", "verdict"),
        rows=_numbered(rows, report.laws),
        pictures=pictures,
    )


def _numbered(rows: Sequence[Cells], findings: Sequence[Finding]) -> tuple[Row, ...]:
    return tuple(
        Row(
            cells=(str(number), *cells, "nothing checked" if cells[-1] == "0" else str(finding.verdict)),
            is_found=finding.verdict is not Verdict.NOTHING_FOUND,
        )
        for number, (cells, finding) in enumerate(zip(rows, findings, strict=True), start=1)
    )


def _bound(value: float) -> str:
    return f"{value:.3f}" if math.isfinite(value) else "no bound" if value < 0 else "∞"


def _unchecked(reasons: tuple[str, ...]) -> str:
    """Events without a price in one list, and then what else went wrong."""
    prefix = "no price for "
    unpriced = ", ".join(reason.removeprefix(prefix) for reason in reasons if reason.startswith(prefix))
    others = [reason for reason in reasons if not reason.startswith(prefix)]
    return "; ".join([*([prefix + unpriced] if unpriced else []), *others]) or "nothing"
