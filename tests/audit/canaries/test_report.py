from dataclasses import replace

from sfumato.audit.canaries.report import GAUSSIAN_SCORES, INDEPENDENCE, NOTHING, CanaryFinding, CanaryReport
from sfumato.audit.core.findings import CAVEAT, Verdict
from sfumato.privacy.guarantees import ApproxDP

CLAIM = ApproxDP(1, "1e-5")
QUIET = CanaryFinding(
    auditor="guesses",
    assumes=NOTHING,
    seen="60 of 100 guesses about 100 canaries right",
    epsilon_lower_bound=0.4,
    claim=CLAIM,
    significance=0.05,
)
LOUD = replace(QUIET, epsilon_lower_bound=3.0)
REPORT = CanaryReport(claim=CLAIM, canaries=100, significance=0.05, assumption_free=(QUIET,))


def test_a_bound_above_the_claim_is_a_violation_and_one_at_it_is_not():
    assert LOUD.verdict is Verdict.PRIVACY_VIOLATION
    assert replace(QUIET, epsilon_lower_bound=1.0).verdict is Verdict.NOTHING_FOUND


def test_what_needs_an_assumption_decides_nothing_unless_it_is_asked():
    independent = replace(REPORT, assumes_independence=(replace(LOUD, assumes=INDEPENDENCE),))
    gaussian = replace(REPORT, assumes_gaussian=(replace(LOUD, assumes=GAUSSIAN_SCORES),))
    for report in (independent, gaussian):
        assert report.verdict is Verdict.NOTHING_FOUND
        assert not report.is_refuted
    assert independent.verdict_assuming(independence=True) is Verdict.PRIVACY_VIOLATION
    assert independent.verdict_assuming(gaussian=True) is Verdict.NOTHING_FOUND
    assert gaussian.verdict_assuming(gaussian=True) is Verdict.PRIVACY_VIOLATION
    assert gaussian.verdict_assuming(independence=True) is Verdict.NOTHING_FOUND


def test_what_needs_none_decides():
    report = replace(REPORT, assumption_free=(QUIET, LOUD))
    assert report.is_refuted
    assert CAVEAT not in str(report)


def test_a_pass_says_that_it_proves_nothing():
    assert CAVEAT in str(REPORT)


def test_the_groups_are_shown_apart_with_what_each_assumes():
    report = replace(
        REPORT,
        assumes_independence=(replace(QUIET, assumes=INDEPENDENCE),),
        assumes_gaussian=(replace(LOUD, assumes=GAUSSIAN_SCORES),),
    )
    text = str(report)
    places = [text.index(words) for words in ("free of assumptions:", "canaries are independent:", "is Gaussian:")]
    assert places == sorted(places)
    for words in (NOTHING, INDEPENDENCE, GAUSSIAN_SCORES, "ε ≥ 0.400", "60 of 100", "5.0e-02", "100 canaries"):
        assert words in text
