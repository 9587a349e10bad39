"""Reports keep privacy violations and calibration bugs apart, and say that a pass proves nothing."""

from dataclasses import replace
from fractions import Fraction

import pytest

from sfumato.audit.core.findings import (
    CAVEAT,
    AccountingFinding,
    AuditReport,
    EventFinding,
    LawFinding,
    RepeatFinding,
    SensitivityFinding,
    Verdict,
)
from sfumato.audit.core.roles import NeighborPair
from sfumato.audit.noiseless import check_sensitivity
from sfumato.errors import ParameterError
from sfumato.privacy.guarantees import ApproxDP

QUIET = EventFinding(
    tester="event search",
    pair="the first unit is removed",
    event="the answer ≥ 3",
    claim=ApproxDP(1, 0),
    epsilon_lower_bound=0.9,
    samples=100,
    significance=1e-6,
)
VIOLATION = replace(QUIET, epsilon_lower_bound=1.5)
FITTING = LawFinding(law="Laplace of scale 1", p_value=0.3, samples=100, significance=1e-6)
FRESH = RepeatFinding(pair="the first unit is removed", p_value=1.0, samples=100, significance=1e-6)
REPEATED = replace(FRESH, p_value=1e-9)
MISFIT = replace(FITTING, p_value=1e-9)


def test_a_lower_bound_above_the_claim_is_a_violation():
    assert VIOLATION.verdict is Verdict.PRIVACY_VIOLATION
    assert QUIET.verdict is Verdict.NOTHING_FOUND


def test_a_bound_equal_to_the_claim_refutes_nothing():
    assert replace(QUIET, epsilon_lower_bound=1.0).verdict is Verdict.NOTHING_FOUND


def test_a_wrong_law_is_a_calibration_bug():
    assert MISFIT.verdict is Verdict.CALIBRATION_BUG
    assert FITTING.verdict is Verdict.NOTHING_FOUND


def test_the_two_kinds_are_counted_apart():
    report = AuditReport((QUIET, VIOLATION), (FITTING, MISFIT))
    assert report.violations == (VIOLATION,)
    assert report.calibration_bugs == (MISFIT,)
    assert report.is_refuted


def test_either_kind_alone_refutes():
    assert AuditReport((VIOLATION,), ()).is_refuted
    assert AuditReport((), (MISFIT,)).is_refuted


def test_a_pass_says_that_it_proves_nothing():
    report = AuditReport((QUIET,), (FITTING,))
    assert not report.is_refuted
    assert CAVEAT in str(report)


def test_a_report_shows_event_bound_claim_samples_and_significance():
    text = str(AuditReport((VIOLATION,), (MISFIT,)))
    for words in ("privacy violation", "the answer ≥ 3", "1.500", "ε 1", "100 runs", "1.0e-06", "calibration bug"):
        assert words in text


def test_noise_that_comes_twice_is_a_verdict_of_its_own():
    assert FRESH.verdict is Verdict.NOTHING_FOUND
    report = AuditReport((QUIET,), (), (FRESH, REPEATED))
    assert report.reproducible == (REPEATED,)
    assert report.violations == report.calibration_bugs == ()
    assert report.is_refuted
    assert "reproducible noise" in str(report)


def test_a_pass_shows_runs_the_largest_bound_and_what_was_not_read():
    report = AuditReport((QUIET, replace(QUIET, epsilon_lower_bound=0.95, unread=("column 7",))), (FITTING,), (FRESH,))
    for words in ("1 repetition test", "runs on each pair: 100", "ε ≥ 0.950", "not read: column 7"):
        assert words in str(report)


def test_a_lower_bound_on_delta_above_the_claim_is_a_violation():
    claimed = replace(QUIET, claim=ApproxDP(1, "0.25"), delta_lower_bound=0.25)
    assert claimed.verdict is Verdict.NOTHING_FOUND
    assert replace(claimed, delta_lower_bound=0.26).verdict is Verdict.PRIVACY_VIOLATION
    assert "δ ≥ 2.6e-01" in str(replace(claimed, delta_lower_bound=0.26))


def test_accountants_and_sensitivities_have_verdicts_of_their_own():
    kept = AccountingFinding(accountant="ours", law="order", broken=(), checks=5)
    broken = replace(kept, broken=("a", "b", "c", "d"))
    exceeded = SensitivityFinding(
        function="a sum", norm="l1", claimed=Fraction(1), largest=Fraction(7), pair="x", is_exceeded=True, checks=9
    )
    report = AuditReport((QUIET,), (), accounting=(kept, broken), sensitivities=(exceeded,))
    assert (report.accounting_bugs, report.sensitivity_bugs) == ((broken,), (exceeded,))
    assert report.violations == report.calibration_bugs == report.reproducible == ()
    assert report.found == (exceeded, broken)
    for words in (
        "accounting bug (ours): “order”: 4 counterexamples: a; b; c; …",
        "2 accounting tests",
        "l1 sensitivity ≥ 7",
    ):
        assert words in str(report)
    assert not AuditReport((), (), accounting=(kept,)).is_refuted
    assert AuditReport((), (), sensitivities=(exceeded,)).is_refuted


def test_a_report_holds_findings_each_in_the_place_of_its_kind():
    assert AuditReport([QUIET], [FITTING]).events == (QUIET,)
    for name, value in (("events", 3), ("events", (FITTING,)), ("laws", ("no finding",)), ("accounting", (QUIET,))):
        with pytest.raises(ParameterError, match=f"^{name} = "):
            AuditReport(**{"events": (), "laws": ()} | {name: value})


def test_a_sensitivity_beyond_the_floats_can_be_read():
    finding = check_sensitivity(lambda exact: exact, [NeighborPair(0, 10**400, "far")], claimed=10**390, norm="l1")
    assert "l1 sensitivity ≥ inf, claimed inf" in str(finding)
