"""The page says what was claimed and found, that a pass proves nothing, and runs nothing that audited code wrote."""

import re
import sys
from dataclasses import replace
from fractions import Fraction
from html.parser import HTMLParser
from xml.dom import minidom

import numpy as np
import pytest
from tests.audit.core.test_findings import FITTING, FRESH, MISFIT, QUIET, REPEATED, VIOLATION

from sfumato.audit.auditor import audit
from sfumato.audit.core.findings import CAVEAT, AccountingFinding, AuditReport, SensitivityFinding
from sfumato.audit.core.roles import NeighborPair
from sfumato.audit.reports.page import page, save_page, sections_of
from sfumato.errors import ParameterError
from sfumato.privacy.guarantees import ApproxDP

RNG = np.random.default_rng(3)
EVIL = "<script>alert('$x$')</script>"
VOID = {"meta", "br", "link"}


KEPT = AccountingFinding(accountant="ours", law="order", broken=(), checks=5)
BROKEN = replace(KEPT, broken=("ε = 1 and 2",), unchecked=("unsupported: ZCDPEvent",))
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


@pytest.fixture(scope="module")
def every_kind():
    """Drawn where it is looked at: whoever only collects this file loads nothing that draws."""
    return page(EVERYTHING, outputs=([1, 2, 3], [2, 3, 4]))


class Outline(HTMLParser):
    """Tags with their attributes, headings, and whether all that was opened is closed."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.headings, self.words = [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)
        if self.open and re.fullmatch(r"h\d", self.open[-1]):
            self.headings.append((self.open[-1], data))

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())


def test_a_pass_says_plainly_that_it_proves_nothing():
    text = Outline(page(AuditReport((QUIET,), (FITTING,)))).text
    assert "Nothing was found. That proves nothing." in text
    assert text.count(CAVEAT) == 2
    assert "refuted" not in text


def test_what_was_found_is_said_by_kind(every_kind):
    text = Outline(every_kind).text
    for words in (
        "privacy violations (1), reproducible noise (1), sensitivity bugs (1), accounting bugs (1), calibration",
        "The claimed guarantee is refuted",
        "Noise does not follow its declared distribution. That need not violate privacy",
        CAVEAT,
    ):
        assert words in text


def test_a_calibration_bug_alone_is_not_said_to_refute_the_claim():
    text = Outline(page(AuditReport((QUIET,), (MISFIT,)))).text
    assert "calibration bugs (1)" in text
    assert "guarantee is refuted" not in text


def test_claim_question_notes_and_reach_are_stated():
    report = AuditReport((replace(VIOLATION, unread=("column 7",)),), ())
    text = Outline(page(report, audited="SELECT COUNT(*) FROM t", notes=("on a Tuesday",))).text
    for words in (
        "(ε 1, δ 0)-differential privacy",
        "SELECT COUNT(*)",
        "on a Tuesday",
        "1 event test, 0 repetition tests",
        "column 7",
    ):
        assert words in text
    assert "ε-DP by the month" in page(report, claim="ε-DP by the month")


def test_the_page_needs_nothing_but_itself(every_kind):
    outline = Outline(every_kind)
    for tag, attributes in outline.tags:
        assert tag not in {"script", "link", "iframe", "object", "embed", "img", "base", "form"}
        assert not any(name.startswith("on") for name in attributes)
        for name in ("src", "href", "xlink:href"):
            assert attributes.get(name, "#").startswith("#")
    assert "@import" not in every_kind
    assert "url(http" not in every_kind


def test_what_outputs_say_is_never_markup():
    def mechanism(exact, runs):
        return [EVIL if chance < 0.5 + 0.4 * exact else f"</svg><b>{EVIL}" for chance in RNG.random(runs)]

    pair = NeighborPair(0, 1, f"<i>{EVIL}</i>")
    report = audit(mechanism, [pair], epsilon="0.1", samples=1000)
    assert report.violations
    outputs = (mechanism(0, 50), mechanism(1, 50))
    text = page(report, title=EVIL, claim=EVIL, audited=EVIL, notes=(EVIL,), outputs=outputs)
    outline = Outline(text)
    assert "<script" not in text
    assert {"i", "b", "script"}.isdisjoint(tag for tag, _ in outline.tags)
    assert outline.text.count("alert(") > 8


def test_headings_tables_and_pictures_can_be_read_aloud(every_kind):
    text, outline = every_kind, Outline(every_kind)
    assert [level for level, _ in outline.headings].count("h1") == 1
    assert {level for level, _ in outline.headings} == {"h1", "h2"}
    assert ("html", {"lang": "en"}) in outline.tags
    assert all(attributes.get("scope") == "col" for tag, attributes in outline.tags if tag == "th")
    assert text.count("<caption>") == text.count("<table>") == 5
    names = [attributes["id"] for _, attributes in outline.tags if "id" in attributes]
    assert len(names) == len(set(names))
    pictures = [attributes for tag, attributes in outline.tags if tag == "svg"]
    assert len(pictures) == 3
    for picture in pictures:
        assert picture["role"] == "img"
        assert picture["aria-labelledby"] in names
    for labelled in re.findall(r'aria-labelledby="([^"]+)"', text):
        assert labelled in names


def test_references_inside_of_pictures_are_kept(every_kind):
    for drawing in re.findall(r"<svg.*?</svg>", every_kind, re.DOTALL):
        minidom.parseString(drawing)  # noqa: S318 # our own
        names = set(re.findall(r'\bid="([^"]+)"', drawing))
        assert set(re.findall(r'(?:url\(|href=")#([^")]+)', drawing)) <= names


@pytest.mark.parametrize(
    "outputs",
    [
        ([1.5] * 9, [2] * 9),
        (RNG.laplace(size=500), RNG.laplace(size=500)),
        (["a", None] * 5, [{"b": 1}] * 9),
        ([float("nan")] * 9, [1] * 9),
        (["$\\frac{"] * 9, ["\x00\x1b$" * 30] * 9),
        ([1], []),
    ],
    ids=["few numbers", "many numbers", "mixed", "NaN", "formulas", "one side empty"],
)
def test_outputs_of_any_kind_are_drawn(outputs):
    text = page(AuditReport((VIOLATION,), ()), outputs=outputs)
    assert "Outputs on both neighbors" in text
    assert "The strongest event: the answer ≥ 3" in text


def test_a_page_is_the_same_each_time(every_kind):
    assert page(EVERYTHING, outputs=([1, 2, 3], [2, 3, 4])) == every_kind


def test_a_page_is_saved_as_html_only(tmp_path):
    path = save_page(AuditReport((), ()), tmp_path / "new" / "audit.html", title="Saved")
    assert "<title>Saved</title>" in path.read_text(encoding="utf-8")
    with pytest.raises(ParameterError, match="html"):
        save_page(AuditReport((), ()), tmp_path / "audit.pdf")


@pytest.mark.parametrize("missing", ["jinja2", "matplotlib"])
def test_a_missing_extra_is_named(missing, monkeypatch):
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ParameterError, match=r"run: pip install jinja2 matplotlib$") as caught:
        page(AuditReport((), ()))
    assert missing in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value"), [("report", None), ("title", None), ("claim", 3), ("notes", "abc"), ("outputs", [[1]])]
)
def test_what_is_of_another_kind_is_refused_by_name(name, value):
    with pytest.raises(ParameterError, match=f"^{name} = "):
        page(**{"report": AuditReport((), ()), name: value})


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
    unchecked = ("unsupported: A", "ValueError: no", "unsupported: B")
    (section,) = sections_of(AuditReport((), (), accounting=(replace(KEPT, unchecked=unchecked), KEPT)))
    assert [row.cells[4] for row in section.rows] == ["unsupported: A, B; ValueError: no", "nothing"]
