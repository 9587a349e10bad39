"""Pages of collections show estimates to readers, as a chart and a table, and what they cost to everybody."""

import math
import re
import time
from datetime import UTC, datetime
from html import unescape

import pytest
from tests.server.dashboard.browsing import words
from tests.server.running import PROTOCOLS

from sfumato.server.dashboard.pages.collections import _rows, epsilon_text, growth, intervals, table


def send(beside, name, values):
    body = b"".join(map(bytes, PROTOCOLS[name].client().report_many(values)))
    headers = {
        "Idempotency-Key": f"{datetime.now(UTC):%Y-%m-%d}.of-a-page-{time.perf_counter_ns()}",
        "Content-Type": "application/octet-stream",
    }
    answer = beside.client("cem").post(f"/collections/{name}/reports", content=body, headers=headers)
    assert answer.json()["accepted"] == len(values)


def whole(text):
    """A number on a page, whose thousands have a space between them."""
    return int("".join(text.split()))


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
        send(beside, "drinks", ["tea"] * 1_000)
        page = ann.get("/collections/drinks")
        counts.append(whole(words(page).partition("Reports so far: ")[2].partition(".")[0]))
    assert counts[1] == counts[0] + 1_000
    text = unescape(page.text)
    assert '"kind": "intervals"' in text
    assert "coffee" in text.partition("<table")[2]
    assert 'hx-trigger="every 30s"' in text


def test_values_are_chosen_where_there_are_any_texts(visitor, beside):
    send(beside, "votes", ["yes"] * 40)
    ann = visitor("ann")
    assert "values are missing" in words(ann.get("/collections/votes"))
    assert "maybe" in ann.get("/collections/votes?values=yes%0Amaybe").text.partition("<table")[2]


def test_what_is_missing_is_said(visitor, beside):
    send(beside, "drinks", ["tea"] * 2)
    ann = visitor("ann")
    assert "One of these values is none of this collection" in words(ann.get("/collections/drinks?values=wine"))
    assert why_empty("drinks", reports=0) == "no_reports"
    german = words(visitor("ann", **{"Accept-Language": "de"}).get("/collections/drinks"))
    assert "Standardfehler von bis" in german


def why_empty(name, *, reports):
    """Why a collection without reports has no estimates; that is known before anybody is asked."""
    rows, why = _rows(None, {"name": name, "may_read_estimates": True, "reports": reports}, "")
    assert rows == []
    return why


def test_the_page_stops_looking_and_begins_again(visitor, beside):
    send(beside, "drinks", ["tea"] * 2)
    ann = visitor("ann")
    (stop,) = re.findall(r'href="(\?[^"]*still=yes)"', ann.get("/collections/drinks?values=tea%0Acoffee").text)
    still = ann.get(f"/collections/drinks{unescape(stop)}")
    assert 'hx-trigger="every' not in still.text
    assert "tea\ncoffee</textarea>" in still.text
    (go_on,) = re.findall(r'id="looks" href="([^"]*)"', still.text)
    assert 'hx-trigger="every 30s"' in ann.get(f"/collections/drinks{unescape(go_on)}").text


def test_intervals_are_said_to_shrink_as_they_do(visitor, beside):
    send(beside, "drinks", ["tea"] * 300)  # four times as many have a space between their thousands
    page = words(visitor("ann").get("/collections/drinks"))
    now, reports, then = re.search(r"is ± ([\d.]+) now\. .*, ([\d ]+), it would be about ± ([\d.]+)\.", page).groups()
    shown = beside.client("ann").get("/collections/drinks/estimate").json()
    widest = max(row["high"] - row["low"] for row in shown["estimates"]) / 2
    assert abs(float(now) - widest) < 1e-3
    assert abs(float(then) - widest / 2) < 1e-3
    assert whole(reports) == 4 * shown["reports"]


def test_columns_have_as_many_decimals_as_the_standard_error_is_known_to():
    rows = [
        {"value": "a", "fraction": 0.5, "standard_error": 0.00123, "low": -0.25, "high": 1234.5, "p_value": 0.00001},
        {"value": "b", "fraction": 0.0, "standard_error": 0.5, "low": 0.0, "high": 0.1, "p_value": 0.25},
    ]
    shown = table(rows)
    assert shown["rows"] == [
        ["a", "0.5000", "0.0012", "\u22120.2500", "1\u202f234.5000", "< 0.0001"],
        ["b", "0.0000", "0.5000", "0.0000", "0.1000", "0.2500"],
    ]
    assert [column["is_number"] for column in shown["columns"]] == [False] + [True] * 5
    assert table([]) is growth([], 5) is growth([{"number": 1, "fraction": 0.5}], 5) is None
    (odd,) = table([{"odd_one": 0.25}])["columns"]
    assert not odd["is_known"]
    assert table([{"number": 0.5, "fraction": 0.25, "standard_error": 0.0}])["rows"] == [["0.5000", "0.2500", "0.0000"]]


def test_epsilon_is_never_shown_smaller_than_it_is():
    for epsilon in (0.1, 1.0, 1.07425, 0.33333333, 2.00001, math.log(3), 9.99999):
        assert float(epsilon_text(epsilon)) >= epsilon
        assert float(epsilon_text(epsilon)) - epsilon < 1.1e-4


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


def test_texts_that_nothing_tells_apart_have_no_intervals():
    same = {"value": "tea", "fraction": 0.5, "standard_error": None, "low": None, "high": None}
    known = {"value": "beer", "fraction": 0.25, "standard_error": 0.01, "low": 0.2, "high": 0.3}
    assert growth([same], 100) is None
    assert growth([same, known], 100)["now"] == pytest.approx(0.05)
    assert intervals([same, known]) is None
    assert [point[0] for point in intervals([same, known, known])["points"]] == ["beer", "beer"]
    assert table([same])["rows"][0][2:] == [None, None, None]
