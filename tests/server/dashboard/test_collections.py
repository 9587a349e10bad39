"""Pages of collections show estimates to readers, as a chart and a table, and what they cost to everybody."""

import time
from datetime import UTC, datetime
from html import unescape

from tests.server.dashboard.browsing import words
from tests.server.running import PROTOCOLS

from sfumato.server.dashboard.collections import intervals


def send(beside, name, values):
    body = b"".join(map(bytes, PROTOCOLS[name].client().report_many(values)))
    headers = {
        "Idempotency-Key": f"{datetime.now(UTC):%Y-%m-%d}.of-a-page-{time.perf_counter_ns()}",
        "Content-Type": "application/octet-stream",
    }
    answer = beside.client("cem").post(f"/collections/{name}/reports", content=body, headers=headers)
    assert answer.json()["accepted"] == len(values)


def test_all_collections_are_listed_with_their_cost(visitor):
    ann = visitor("ann")
    assert 'href="/collections"' in ann.get("/").text
    page = words(ann.get("/collections"))
    assert "drinks direct 1" in page
    assert "votes public rappor" in page


def test_estimates_are_a_chart_and_a_table_that_grow(visitor, beside):
    ann = visitor("ann")
    counts = []
    for _ in range(2):
        send(beside, "drinks", ["tea"] * 40)
        page = ann.get("/collections/drinks")
        counts.append(int(words(page).partition("Reports so far: ")[2].partition(".")[0].replace("\u202f", "")))
    assert counts[1] == counts[0] + 40
    text = unescape(page.text)
    assert '"kind": "intervals"' in text
    assert "coffee" in text.partition("<table")[2]
    assert 'hx-trigger="every 30s"' in text


def test_values_are_chosen_where_there_are_any_texts(visitor, beside):
    send(beside, "votes", ["yes"] * 40)
    ann = visitor("ann")
    assert "values are missing" in words(ann.get("/collections/votes"))
    assert "maybe" in ann.get("/collections/votes?values=yes%0Amaybe").text.partition("<table")[2]


def test_whoever_is_no_reader_sees_no_estimates(visitor, beside):
    send(beside, "votes", ["yes"] * 2)
    page = visitor("cem").get("/collections/votes?values=yes%0Ano")
    assert "for the readers of this collection" in words(page)
    assert "<table" not in page.text
    assert visitor("cem").get("/collections/nothing").status_code == 404


def test_one_row_and_rows_without_intervals_are_no_picture():
    row = {"value": "tea", "fraction": 0.5, "low": 0.1, "high": 0.9}
    assert intervals([row]) is intervals([]) is intervals([{"value": "tea"}] * 2) is intervals([row] * 61) is None
    assert len(intervals([row] * 60)["points"]) == 60
