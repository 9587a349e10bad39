"""Pages of reports: one file, no network, everything escaped, and a caveat on each."""

import pytest

from sfumato.audit.reports.template import Picture
from sfumato.errors import ParameterError
from sfumato.plots.synthetic import scores_beside
from sfumato.synth.reports.page import CAVEAT, ReportPage, TableSection


def page(**changed):
    figure = scores_beside(["one"], {"synthetic": [0.5]}, title="Distances", y_label="TVD")
    section = TableSection(
        heading="<b>All</b>", words="What it is.", columns=("measure", "TVD"), rows=(("<i>mean</i>", "0.5"),),
        pictures=(Picture(figure=figure, caption="Bars & marks"),),
    )  # fmt: skip
    given = {
        "title": "Rows <script>", "label": "Private", "words": "For all.", "is_secret": False,
        "facts": (("rows", "7"),), "sections": (section,),
    }  # fmt: skip
    return ReportPage(**given | changed)


def test_a_page_has_all_that_it_was_given_and_escapes_it():
    text = page().html()
    for words in ("&lt;b&gt;All", "&lt;i&gt;mean", "Rows &lt;script&gt;", "Bars &amp; marks", "<svg", "<dd>7</dd>"):
        assert words in text
    assert "<script" not in text
    assert not any(f'{name}="http' in text for name in ("src", "href", "xlink:href"))
    assert "default-src 'none'" in text


def test_every_page_has_its_label_and_says_that_distances_to_records_guarantee_nothing():
    assert "closest real row" in CAVEAT
    for is_secret, label in ((True, "label secret"), (False, "label")):
        text = page(is_secret=is_secret, sections=()).html()
        assert "no guarantee of privacy" in text
        assert f'<section class="{label}" aria-label="who may see it">\n<strong>Private</strong>' in text


def test_a_page_is_written_where_it_is_wanted(tmp_path):
    written = page(sections=())
    path = written.save(tmp_path / "new" / "report.html")
    assert path.read_text(encoding="utf-8") == written.html()
    with pytest.raises(ParameterError, match=r"\.html"):
        written.save(tmp_path / "report.pdf")
