"""Releases that were shown: listed and fetched again by whom they were shown to, in several formats, at no cost."""

import csv
import io
import json
import subprocess

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.server.running import CANARY

from sfumato.server.gateway.routes import releases as module

TOWNS = "SELECT town, COUNT(*) AS n FROM clinic GROUP BY town"


@pytest.fixture
def ann(beside):
    with beside.client("ann") as client:
        yield client


@pytest.fixture
def shown(ann):
    answer = ann.post("/datasets/clinic/ask", json={"sql": TOWNS, "epsilon": 1})
    return answer, answer.headers["Location"].removeprefix("/v1")


def test_a_release_is_the_same_bytes_as_in_the_answer(ann, shown):
    answer, where = shown
    fetched = ann.get(where)
    assert fetched.content in answer.content
    assert fetched.json() == answer.json()["releases"][0]
    assert CANARY not in fetched.text


def test_64_formulas_are_none_in_csv_and_every_format_is_a_file(ann, shown):
    """Catalogue 64: no browser shows it, and no spreadsheet computes it."""
    _, where = shown
    fetched = {name: ann.get(f"{where}?format={name}") for name in ("csv", "arrow", "parquet", "json")}
    assert {answer.status_code for answer in fetched.values()} == {200}
    rows = list(csv.reader(io.StringIO(fetched["csv"].text)))
    assert len(rows) == 5
    assert not any(cell.startswith(("=", "+", "@")) for row in rows for cell in row)
    tables = [
        pa.ipc.open_stream(fetched["arrow"].content).read_all(), pq.read_table(io.BytesIO(fetched["parquet"].content))
    ]  # fmt: skip
    assert tables[0].equals(tables[1])
    assert sorted(tables[0]["town"].to_pylist()) == ["=SUM(A1)", "Basel", "Delft", "Porto"]
    for name in ("csv", "arrow", "parquet"):
        assert fetched[name].headers["content-disposition"].startswith('attachment; filename="')
        assert fetched[name].headers["x-content-type-options"] == "nosniff"
    assert ann.get(f"{where}?format=xlsx").status_code == 422


def test_they_are_listed_in_the_order_in_which_they_were_shown(beside, ann, fresh):
    asked = [
        ann.post("/datasets/clinic/ask", json={"sql": fresh(), "epsilon": "0.01"}).json()["ids"][0] for _ in range(3)
    ]
    listed = [one["id"] for one in ann.get("/releases?dataset=clinic&limit=1000").json()]
    assert listed[-3:] == asked
    after = ann.get(f"/releases?dataset=clinic&after={asked[0]}").json()
    assert [one["id"] for one in after] == asked[1:]
    assert {one["account"] for one in after} == {"clinic/ann"}
    with beside.client("bob") as bob:
        assert bob.get(f"/releases?dataset=clinic&after={asked[0]}").status_code == 404
        assert not {one["id"] for one in bob.get("/releases?dataset=clinic&limit=1000").json()} & set(asked)
    assert [ann.get(f"/releases?dataset=clinic&limit={limit}").status_code for limit in (0, 1_001)] == [422, 422]


def test_what_was_shown_to_others_is_as_what_does_not_exist(beside, shown):
    _, where = shown
    for person in ("bob", "olga", "omar", "aude", "admin", "cem", "both"):
        with beside.client(person) as client:
            hidden, none = client.get(where), client.get(f"/releases/{'0' * 16}")
            assert (hidden.status_code, none.status_code) == (404, 404), person
            assert hidden.text.replace(where.rpartition("/")[2], "0" * 16) == none.text
            assert hidden.headers == none.headers


def test_a_conversion_that_hangs_or_fails_gives_its_place_back(ann, shown, monkeypatch):
    _, where = shown

    def hang(*_, **__):
        raise subprocess.TimeoutExpired("x", 1)

    def fail(command, **_):
        return subprocess.CompletedProcess(command, 1, b"", b"canary")

    for stand_in, status in ((hang, 503), (fail, 422), (hang, 503), (fail, 422)):
        with monkeypatch.context() as patched:
            patched.setattr(module.subprocess, "run", stand_in)
            answer = ann.get(f"{where}?format=arrow")
        assert (answer.status_code, "canary" in answer.text) == (status, False)
    assert ann.get(f"{where}?format=arrow").status_code == 200


def test_a_document_that_was_kept_is_what_it_was(beside, shown):
    answer, where = shown
    kept = beside.gateway.releases.get(where.rpartition("/")[2])
    assert json.loads(kept.document) == answer.json()["releases"][0]
    assert (kept.account, kept.principal) == ("clinic/ann", "ann")
