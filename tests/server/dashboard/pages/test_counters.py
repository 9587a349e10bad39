"""The page of a counter shows its band and its latest steps to readers, and goes on looking."""

import json
import re
from html import unescape

import pytest
from tests.server.dashboard.browsing import words

from sfumato.mechanisms import BinaryTree
from sfumato.privacy.guarantees import PureDP
from sfumato.server.dashboard.pages.counters import band, rows
from sfumato.streams import Counter, EventCount, StreamSession
from sfumato.streams.counting.published import read_published


@pytest.fixture
def shops(tmp_path):
    """The file of a counter of two shops."""
    with StreamSession("shops", budget=PureDP(1)) as account:
        visits = Counter(
            session=account, mechanism=BinaryTree, horizon=8, epsilon=1, measure=EventCount(("north <1>", "south"))
        )
        visits.add_many(keys=["south"] * 9_000)
        visits.publish(tmp_path / "shops.jsonl")
        visits.tick(5)
    return tmp_path / "shops.jsonl"


@pytest.fixture
def shown(beside, monkeypatch, shops):
    """The server shows it too."""
    counters = beside.gateway.curator.counters
    monkeypatch.setitem(counters, "shops", counters["entries"].model_copy(update={"releases": str(shops)}))


def test_counters_are_listed_with_a_link_for_their_readers(visitor):
    ann, cem = visitor("ann"), visitor("cem")
    assert 'href="/counters"' in ann.get("/").text
    assert 'href="/counters/exits"' in ann.get("/counters").text
    page = cem.get("/counters")
    assert 'href="/counters/exits"' not in page.text
    assert "for its readers, whom operators name" in words(page)


def test_a_counter_is_a_chart_and_a_table_that_go_on(visitor):
    page = visitor("ann").get("/counters/entries")
    text = words(page)
    assert "Steps so far: 33 of 40." in text
    assert "All steps together cost ε 1" in text
    chart = json.loads(unescape(re.search(r'data-chart="([^"]*)"', page.text)[1]))
    assert (chart["kind"], chart["is_time"], len(chart["points"])) == ("band", False, 33)
    assert page.text.count("<tr><td") == 14
    assert 'hx-trigger="every 5s"' in page.text
    (stop,) = re.findall(r'id="looks" href="([^"]*)"', page.text)
    assert "hx-trigger" not in visitor("ann").get(f"/counters/entries{unescape(stop)}").text


@pytest.mark.usefixtures("shown")
def test_one_number_of_several_is_shown(visitor):
    ann = visitor("ann")
    first = ann.get("/counters/shops")
    assert "<option selected>north &lt;1&gt;</option>" in first.text
    south = ann.get("/counters/shops?label=south")
    assert "<option selected>south</option>" in south.text
    assert json.loads(unescape(re.search(r'data-chart="([^"]*)"', south.text)[1]))["points"][-1][1] > 5_000


def test_a_counter_without_a_step_and_one_of_others(visitor):
    assert "Nothing to show yet" in words(visitor("ann").get("/counters/exits"))
    assert visitor("cem").get("/counters/exits").status_code == 403
    assert visitor("ann").get("/counters/nothing").status_code == 404
    german = visitor("ann", **{"Accept-Language": "de"}).get("/counters/entries")
    assert "Schritte bisher: 33 von 40." in words(german)


def test_a_band_is_as_wide_as_the_errors_and_one_step_is_no_line(shops):
    found = read_published(shops)
    points = band(found, 1)["points"]
    for (step, value, low, high), own in zip(points, found.steps, strict=True):
        assert (step, value) == (own.step, own.values[1])
        assert (value - low, high - value) == pytest.approx((own.half_width, own.half_width))
    assert band(read_published(shops, most=1)) is None
    assert [row["step"] for row in rows(found)] == [5, 4, 3, 2, 1]
