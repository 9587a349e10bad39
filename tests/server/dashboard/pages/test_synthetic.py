"""Synthetic data are shown beside private answers alone, to their readers, with words on what is what."""

import json
import re

import pytest
from tests.server.dashboard.browsing import words
from tests.server.running import CANARY, TWINS

from sfumato.query.statistics.estimates import AnswerValue
from sfumato.server.dashboard.pages.synthetic import beside as chart_of
from sfumato.server.dashboard.pages.synthetic import rows
from sfumato.server.gateway.routes.synthetic import OwnAnswer
from sfumato.synth.published import read_synthetic

SEX, TOWN, PAIR = 1, 2, 3


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    file = tmp_path_factory.mktemp("twins") / "twins.json"
    file.write_text(TWINS, "utf-8")
    return read_synthetic(file)


def chart(page):
    """What the chart of a page draws."""
    (written,) = re.findall(r'data-chart="([^"]*)"', page.text)
    return json.loads(written.replace("&#34;", '"').replace("&lt;", "<").replace("&gt;", ">").replace("&#39;", "'"))


def ask(beside, person, sql, epsilon):
    asked = {"sql": sql, "epsilon": epsilon}
    return beside.client(person).post("/datasets/clinic/ask", json=asked).json()["ids"][0]


def test_synthetic_data_are_listed_with_a_link_for_their_readers(visitor):
    ann, cem = visitor("ann"), visitor("cem")
    assert 'href="/synthetic"' in ann.get("/").text
    assert 'href="/synthetic/lost"' in ann.get("/synthetic").text
    assert 'href="/synthetic/lost"' not in cem.get("/synthetic").text


def test_whoever_is_no_reader_sees_nothing(visitor):
    assert visitor("cem").get("/synthetic/lost").status_code == 403
    assert visitor("cem").get("/synthetic/nothing").status_code == 404


def test_the_page_says_what_is_what(visitor):
    page = visitor("cem").get(f"/synthetic/twins?counts={SEX}")
    text = words(page)
    for part in (
        "ε 2, δ 1e-06", "Nothing here is exact", "no guarantee of privacy", "Your account has no answer",
        "synthetic data by mst of: SELECT age, sex, town FROM clinic",
    ):  # fmt: skip
        assert part in text
    assert "NULL 6.81 −2 ± 14" in text


def test_each_number_of_a_page_is_one_that_was_published(visitor):
    """Exact counts of the clinic are 200 and 100, 75 of each town, and 50 and 25 of each pair."""
    document = json.loads(TWINS)
    for place, marginal in enumerate(document["marginals"]):
        page = visitor("cem").get(f"/synthetic/twins?counts={place}")
        drawn = chart(page)["points"]
        assert [point[1] for point in drawn] == marginal["synthetic"]
        width = marginal["half_width"]
        assert [point[2] for point in drawn] == [[[n, n - width, n + width]] for n in marginal["measured"]]
        cells = re.findall(r'<td class="n">([^<]*)', page.text)
        assert len(cells) == 2 * len(marginal["measured"])
        assert {"200", "100", "75", "50", "25"}.isdisjoint(map(str.strip, cells)) or 75 in marginal["measured"]
        assert CANARY not in page.text


def test_own_answers_stand_beside_with_a_link(visitor, beside):
    ann = visitor("ann")
    before = beside.gateway.ledger.spent("clinic/ann")
    id_ = ask(beside, "ann", "SELECT town, COUNT(*) AS n FROM clinic WHERE 1 = 1 GROUP BY town", "1.5")
    paid = beside.gateway.ledger.spent("clinic/ann")
    assert paid != before
    page = ann.get(f"/synthetic/twins?counts={TOWN}")
    assert f'href="/releases/{id_}"' in page.text
    answer = ann.client.get(f"/releases/{id_}/answer.json").json()
    (value, low, high, _) = answer["estimates"][0][0]
    basel = {point[0]: point[2] for point in chart(page)["points"]}["Basel"]
    assert basel[1] == [value, low, high]
    assert "not asked" in words(page)  # of missing towns
    assert beside.gateway.ledger.spent("clinic/ann") == paid
    other = visitor("cem").get(f"/synthetic/twins?counts={TOWN}")
    assert id_ not in other.text


def test_the_latest_answers_are_shown_and_what_is_missing_is_not_zero(found):
    town = found.marginals[TOWN]
    counts = {("Basel",): AnswerValue(value=7, low=5, high=9), ("Delft",): AnswerValue(value=None, low=None, high=None)}
    answer = OwnAnswer(release="1", confidence=0.95, data_version="1", counts=counts)
    listed = rows(found, town, [answer])
    assert [row["answers"] for row in listed] == [[(7.0, 5.0, 9.0)], [None], [None], [None], [None]]
    assert listed[-1]["labels"] == ["NULL"]
    assert chart_of(listed[:1]) is None


def test_rare_values_that_count_as_one_have_no_answer_beside(found):
    age = found.marginals[0]
    listed = rows(found, age, [])
    assert [row["labels"] for row in listed][:2] == [["0 – 20"], ["21 – 41"]]


@pytest.mark.parametrize("asked", ["99", "-1", "x", "1e3", "", "\ud800"])
def test_what_is_no_number_of_counts_shows_the_first(visitor, asked):
    page = visitor("cem").client.get("/synthetic/twins", params={"counts": asked.encode("utf-8", "surrogatepass")})
    assert "<h2>age</h2>" in page.text


def test_what_cannot_be_shown_is_said(visitor, beside, tmp_path, monkeypatch):
    ann = visitor("ann")
    assert "is missing, or is none" in words(ann.get("/synthetic/lost"))
    file = tmp_path / "lost.json"
    file.write_text(TWINS.replace('"f", "m", null', '"<b>", "m", null'))
    lost = beside.gateway.curator.synthetic["lost"].model_copy(update={"releases": str(file)})
    monkeypatch.setitem(beside.gateway.curator.synthetic, "lost", lost)
    page = ann.get(f"/synthetic/lost?counts={SEX}")
    assert "<b>" not in page.text
    assert "&lt;b&gt;" in page.text
