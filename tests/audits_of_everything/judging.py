"""A case: a mechanism, two neighbors that are among the worst, and what was charged; and what audits make of it.

Each case has a chance of 1e-6 of being refuted if its claim is true. So all together have one below a thousandth, as
there are fewer than a thousand.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tests.sizes import FULL_SIZE

from sfumato.audit.auditor import TESTERS
from sfumato.audit.core.findings import AuditReport
from sfumato.audit.core.roles import NeighborPair
from sfumato.audit.core.runs import check_repeats, run_on
from sfumato.privacy.guarantees import ApproxDP

RUNS = 300_000 if FULL_SIZE else 10_000
"""Runs on both databases of a case together, divided by its own `fewer`, and no more than `MOST`."""

MOST = 100_000

ALPHA = 1e-6
HALF = Fraction(1, 2)


@dataclass(frozen=True, kw_only=True)
class Case:
    """What is audited.

    Attributes:
        mechanism: Makes it, anew for each audit; called with a database and a count it gives so many outputs.
        pair: The two databases.
        claim: What the mechanism says of itself; None for what its `charged` says after all runs.
        share: The part of the claimed ε that the same outputs refute, so that they are seen to have power; None where
            these neighbors are not bad enough, which `why` explains.
        fewer: So many times fewer runs, where each of them takes long.
        why: Why there is no share.
    """

    mechanism: Callable[[], Any]
    pair: tuple[Any, Any]
    claim: ApproxDP | None = None
    share: Fraction | None = HALF
    fewer: int = 1
    why: str = ""


@dataclass(frozen=True, kw_only=True)
class Judged:
    """What was found against the claim, and against a share of it."""

    claim: ApproxDP
    report: AuditReport
    less: AuditReport | None

    @property
    def bound(self) -> float:
        """The largest lower bound of ε that any test gave."""
        reports = (self.report,) if self.less is None else (self.report, self.less)
        return max(finding.epsilon_lower_bound for report in reports for finding in report.events)

    def assert_true(self) -> None:
        """The claim stands, and a share of it does not."""
        assert not self.report.is_refuted, str(self.report)
        assert self.less is None or self.less.violations, f"no power: {self.less}"


def judged(case: Case, *, runs: int = RUNS) -> Judged:
    """An audit of a case. The claim and its share are tested on the same outputs."""
    mechanism, samples = case.mechanism(), min(runs // case.fewer, MOST) // 2
    pair = NeighborPair(*case.pair, "neighbours that are among the worst")
    each = ALPHA / (len(TESTERS) + 1)
    repeats = check_repeats(pair, mechanism, samples=samples, significance=each)
    seen = run_on(pair, mechanism, samples=samples)
    claim = mechanism.charged if case.claim is None else case.claim

    def report(claimed: ApproxDP) -> AuditReport:
        return AuditReport(tuple(tester(seen, claim=claimed, significance=each) for tester in TESTERS), (), (repeats,))

    return Judged(claim=claim, report=report(claim), less=_less(case, claim, report))


def _less(case: Case, claim: ApproxDP, report: Callable[[ApproxDP], AuditReport]) -> AuditReport | None:
    """What is found against the share, or half of it where runs are few; nothing is tried where they are fewer yet."""
    if case.share is None or (case.fewer > 1 and not FULL_SIZE):
        return None
    return report(ApproxDP(claim.epsilon * case.share * (1 if FULL_SIZE else HALF), claim.delta))
