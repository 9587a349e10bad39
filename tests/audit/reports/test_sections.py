"""Each kind of finding has a table of its own, and a kind that was not tested has none."""

from dataclasses import replace
from fractions import Fraction

from tests.audit.core.test_findings import FITTING, FRESH, MISFIT, QUIET, REPEATED, VIOLATION

from sfumato.audit.core.findings import AccountingFinding, AuditReport, SensitivityFinding
from sfumato.audit.reports.sections import sections_of
from sfumato.privacy.guarantees import ApproxDP

KEPT = AccountingFinding(accountant="ours", law="order", broken=(), checks=5)
BROKEN = replace(KEPT, broken=("ε = 1 and 2",), unchecked=("no price for ZCDPEvent",))
EXCEEDED = SensitivityFinding(
    function="a sum",
    norm="l1",
    claimed=Fraction(1),
    largest=Fraction(7),
    pair="(7,) and ()",
    is_exceeded=True,
    checks=9,
)
EVERYTHING = AuditReport(
    (QUIET, VIOLATION), (FITTING, MISFIT), (FRESH, REPEATED), accounting=(KEPT, BROKEN), sensitivities=(EXCEEDED,)
)


def kinds(report):
    return {section.heading.split(":")[0]: section for section in sections_of(report)}


def test_every_kind_is_apart():
    found = kinds(EVERYTHING)
    assert {kind: section.found for kind, section in found.items()} == {
        "Privacy violations": 1,
        "Reproducible noise": 1,
        "Sensitivity bugs": 1,
        "Accounting bugs": 1,
        "Calibration bugs": 1,
    }
    assert [len(section.rows) for section in found.values()] == [2, 2, 1, 2, 2]


def test_a_kind_without_tests_has_no_table():
    assert list(kinds(AuditReport((QUIET,), ()))) == ["Privacy violations"]
    assert sections_of(AuditReport((), ())) == ()


def test_every_row_has_a_cell_for_each_column():
    for section in sections_of(EVERYTHING):
        assert {len(row.cells) for row in section.rows} == {len(section.columns)}
        assert [row.cells[0] for row in section.rows] == [str(at + 1) for at in range(len(section.rows))]


def test_a_row_of_events_tells_tester_pair_event_bounds_samples_and_significance():
    _, row = kinds(EVERYTHING)["Privacy violations"].rows
    assert row.cells == (
        "2", "event search", "the first unit is removed", "the answer ≥ 3", "1.500", "0", "100", "1.0e-06",
        "privacy violation",
    )  # fmt: skip
    assert row.is_found


def test_a_test_that_could_say_nothing_has_no_bound():
    silent = replace(QUIET, epsilon_lower_bound=-float("inf"))
    (section,) = sections_of(AuditReport((silent,), ()))
    assert section.rows[0].cells[4] == "no bound"


def test_a_law_that_was_never_checked_is_not_said_to_be_kept():
    (section,) = sections_of(AuditReport((), (), accounting=(replace(KEPT, checks=0),)))
    assert section.rows[0].cells[-1] == "nothing checked"
    assert not section.rows[0].is_found


def test_each_claim_has_a_picture_of_its_bounds():
    other = replace(QUIET, claim=ApproxDP(3, 0))
    events, laws = sections_of(AuditReport((QUIET, other), (FITTING,)))
    assert [picture.caption.split("dashed line at ")[1].split()[0] for picture in events.pictures] == ["1", "3"]
    assert len(laws.pictures) == 1


def test_what_was_not_checked_is_one_list():
    unchecked = ("no price for A", "ValueError: no", "no price for B")
    (section,) = sections_of(AuditReport((), (), accounting=(replace(KEPT, unchecked=unchecked), KEPT)))
    assert [row.cells[4] for row in section.rows] == ["no price for A, B; ValueError: no", "nothing"]
