"""Does the audit find the known faults of other libraries, and nothing in what is right?

Each library answers from an environment of its own, over a pipe; one that `make peers` did not set up is not heard. The
exit code is 1 if a known fault was not found, a control raised an alarm, or a trial broke down.

Usage: python benchmarks/court/bench_court.py [--peer opendp] [--case forest] [--factor 1] [--sources]
"""

import argparse
import resource
import sys
from dataclasses import dataclass
from math import isfinite
from typing import Any

import cases_diffprivlib
import cases_dp_accounting
import cases_opendp
import cases_pipelinedp
import cases_smartnoise
import cases_textbooks
from docket import DOCKET, TEXTBOOK, Case, command, python_of, samples_scaled

from sfumato.audit import TESTERS, AuditReport, Verdict
from sfumato.audit.reports.commands import Command
from sfumato.errors import SfumatoError

DOCKETS = (
    cases_opendp,
    cases_diffprivlib,
    cases_pipelinedp,
    cases_smartnoise,
    cases_dp_accounting,
    cases_textbooks,
)
HEAD = "| case | claimed | found | evidence | runs | CPU s | event |\n|---|---|---|---|---|---|---|"
_SHOWN = 160
_UNSUPPORTED = "unsupported:"  # how a finding about an accountant says that a library has no such event


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What came out of one case; no report, but an error, where the trial broke down."""

    case: Case
    claim: str
    report: AuditReport | None
    error: str
    seconds: float

    @property
    def verdict(self) -> Verdict | None:
        """The gravest finding."""
        if self.report is None:
            return None
        return self.report.found[0].verdict if self.report.found else Verdict.NOTHING_FOUND

    @property
    def is_as_expected(self) -> bool:
        """Whether the court itself is right."""
        return self.verdict is self.case.expects


def tried(entry: Case, stated: Any) -> Judgement:
    """One case, in a process that is started for it."""
    start = cpu()
    report, error = None, ""
    try:
        if isinstance(entry.asks, str):
            with Command(command(entry.peer, entry.asks)) as mechanism:
                report = entry.trial(mechanism, stated)
        else:
            report = entry.trial(entry.asks, stated)
    except SfumatoError as broken:
        error = str(broken)
    if report is not None and (doubts := doubtful(report)):
        report, error = None, doubts
    claim = entry.trial.claim or str(report.events[0].claim if report is not None else stated)
    return Judgement(case=entry, claim=claim, report=report, error=error, seconds=cpu() - start)


def cpu() -> float:
    """Seconds of processors, of this process and of those that have ended."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(used.ru_utime + used.ru_stime for used in both)


def doubtful(report: AuditReport) -> str:
    """Questions to an accountant that ended in an error: a trial without them is none."""
    unchecked = (text for finding in report.accounting for text in finding.unchecked)
    return "; ".join(text for text in unchecked if not text.startswith(_UNSUPPORTED))


def said(peer: str, asks: str) -> Any:
    """What a peer says of itself."""
    with Command(command(peer, asks)) as mechanism:
        return mechanism(None, 1)[0]


def evidence(report: AuditReport) -> tuple[str, int, str]:
    """A figure, how many runs, and an event in words."""
    if report.events:
        strongest = max(report.events, key=lambda finding: finding.epsilon_lower_bound)
        bound = strongest.epsilon_lower_bound
        runs = sum(finding.samples for finding in report.events) // len(TESTERS)
        event = strongest.event if report.violations else str(report.found[0]) if report.found else ""
        return f"ε ≥ {bound:.2f}" if isfinite(bound) and bound > 0 else "", runs, event
    if report.sensitivities:
        finding = report.sensitivities[0]
        words = finding.pair if len(finding.pair) <= _SHOWN else finding.pair.rpartition(" (")[2].rstrip(")")
        return f"moves by {finding.largest}", 2 * finding.checks, words
    checks = sum(finding.checks for finding in report.accounting)
    broken = [f"{finding.law}: {finding.broken[0]}" for finding in report.accounting_bugs]
    asked = sum(finding.checks > 0 for finding in report.accounting)  # a library may have no event for the others
    return f"{len(broken)} of {asked} laws broken", checks, broken[-1] if broken else ""


def row(judged: Judgement) -> str:
    if judged.report is None:
        cells = [judged.case.name, judged.claim, "the trial broke down", "", "", f"{judged.seconds:.0f}", judged.error]
    else:
        figure, runs, event = evidence(judged.report)
        short = event if len(event) <= _SHOWN else f"{event[:_SHOWN]}…"
        found = str(judged.verdict) if judged.is_as_expected else f"*{judged.verdict}*, expected {judged.case.expects}"
        cells = [judged.case.name, judged.claim, found, figure, f"{runs:,}", f"{judged.seconds:.0f}", short]
    return f"| {' | '.join(cell.replace('|', '¦') for cell in cells)} |"


def hear(peer: str, entries: list[Case], *, with_sources: bool) -> list[Judgement]:
    """All cases of one peer, each printed as it is judged."""
    versions, stated = "in this process", {}
    if peer != TEXTBOOK:
        versions = said(peer, "versions")
        stated = said(peer, "claims") if any(not entry.trial.claim for entry in entries) else {}
    print(f"\n### {peer}: {versions}\n\n{HEAD}", flush=True)
    judged = []
    for entry in entries:
        judged.append(tried(entry, stated.get(entry.asks)))
        print(row(judged[-1]), flush=True)
    if with_sources:
        print("\n" + "\n".join(f"- {entry.name}: {entry.source}" for entry in entries))
    return judged


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    peers = list(dict.fromkeys(entry.peer for entry in DOCKET))
    parser.add_argument("--peer", choices=peers, help="only this one")
    parser.add_argument("--case", default="", help="only those whose name has this in it")
    parser.add_argument("--factor", type=float, default=1, help="so many times as many runs")
    parser.add_argument("--sources", action="store_true", help="say where claims come from")
    options = parser.parse_args()
    docket = [entry for entry in samples_scaled(DOCKET, options.factor) if options.case.lower() in entry.name.lower()]
    judged: list[Judgement] = []
    for peer in peers if options.peer is None else [options.peer]:
        entries = [entry for entry in docket if entry.peer == peer]
        if peer != TEXTBOOK and not python_of(peer).exists():
            print(f"\n{peer}: not heard: make peers")
        elif entries:
            judged += hear(peer, entries, with_sources=options.sources)
    wrong = [entry.case.name for entry in judged if not entry.is_as_expected]
    faults = sum(entry.case.expects is not Verdict.NOTHING_FOUND for entry in judged)
    print(f"\n{faults} known faults and {len(judged) - faults} controls; not as expected: {', '.join(wrong) or 'none'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
