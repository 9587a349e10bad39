"""Answers have an address that stays, errors in words, and files of several kinds; texts in them are never run."""

import io
import json
import zipfile
from dataclasses import replace
from html import unescape

import pytest
from tests.server.dashboard.browsing import words
from tests.session.opened import opened

from sfumato.learn import StandardScaler
from sfumato.server.dashboard.pages.results import excel, shown_release
from sfumato.server.gateway.fitting import FitEntry, model_document
from sfumato.session.releases.documents import decode_release

HOSTILE = "</script><img src=x onerror=alert(1)>"


def asked(beside, sql, *, person="ann", epsilon="0.5"):
    answer = beside.client(person).post("/datasets/clinic/ask", json={"sql": sql, "epsilon": epsilon})
    assert answer.status_code == 200, answer.text
    return answer.json()["ids"][0]


def test_an_answer_is_a_table_a_chart_and_a_receipt(visitor, beside):
    name = asked(beside, "SELECT town, COUNT(*) AS n FROM clinic GROUP BY town")
    page = visitor("ann").get(f"/releases/{name}")
    shown = words(page)
    for part in ("Basel", "±", "Receipt", "It cost ε 0.5", "with a probability of 95%", name):
        assert part in shown, part
    assert '"kind": "intervals"' in unescape(page.text)


def test_noise_larger_than_the_signal_is_said(visitor, beside):
    empty = [f"SELECT COUNT(*) AS n FROM clinic WHERE age > {years}" for years in range(1000, 1006)]
    names = [asked(beside, sql, epsilon="0.01") for sql in empty]  # one of twenty has more noise than its error bar
    assert any("mostly noise" in words(visitor("ann").get(f"/releases/{name}")) for name in names)
    name = asked(beside, "SELECT COUNT(*) AS n FROM clinic WHERE age < 1000", epsilon="10")
    assert "mostly noise" not in words(visitor("ann").get(f"/releases/{name}"))


@pytest.mark.parametrize(
    ("form", "begins"), [("csv", b'"town"'), ("xlsx", b"PK"), ("parquet", b"PAR1"), ("json", b"{")]
)
def test_an_answer_is_fetched_as_a_file(visitor, beside, form, begins):
    name = asked(beside, "SELECT town, COUNT(*) AS n FROM clinic GROUP BY town")
    found = visitor("ann").get(f"/releases/{name}/answer.{form}")
    assert found.status_code == 200
    assert found.content.startswith(begins)
    assert f"{name}.{form}" in found.headers["content-disposition"]


def test_a_model_has_its_receipt_and_no_table(visitor, beside):
    people = opened()
    rows = people.training_set("SELECT age FROM people")
    found = rows.fit(StandardScaler(epsilon=1).plan(rows))
    document = model_document(found, FitEntry(estimator="StandardScaler"))
    shown = shown_release(json.loads(document))
    assert (shown["is_model"], shown["rows"], shown["receipt"]["guarantee"]["epsilon"]) == (True, [], "1")
    kept = beside.gateway.releases.keep(
        document, dataset="clinic", account="clinic/ann", principal="ann", question_hash="x", shown_key="a model"
    )
    page = words(visitor("ann").get(f"/releases/{kept.id}"))
    assert "a fitted model" in page
    assert "noisy moments" in page


def test_a_workbook_has_no_formula(beside):
    name = asked(beside, "SELECT town, COUNT(*) AS n FROM clinic GROUP BY town")
    book = excel(decode_release(beside.client("ann").get(f"/releases/{name}").json()))
    with zipfile.ZipFile(io.BytesIO(book)) as opened:
        sheet = opened.read("xl/worksheets/sheet1.xml")
        assert b"=SUM(A1)" in opened.read("xl/sharedStrings.xml")
    assert b"<f>" not in sheet


def test_a_workbook_keeps_all_digits_of_whole_numbers(beside):
    found = decode_release(
        beside.client("ann").get(f"/releases/{asked(beside, 'SELECT COUNT(*) AS n FROM clinic')}").json()
    )
    ((estimate,),) = found.estimates
    large = replace(found, estimates=((replace(estimate, value=2**53 + 1),),))
    with zipfile.ZipFile(io.BytesIO(excel(large))) as opened:
        assert str(2**53 + 1).encode() in opened.read("xl/sharedStrings.xml")


def test_others_see_neither_answers_nor_files(visitor, beside, fresh):
    name = asked(beside, fresh())
    for person in ("bob", "olga", "admin"):
        other = visitor(person)
        for path in (f"/releases/{name}", f"/releases/{name}/answer.csv", f"/releases/{name}/answer.xlsx"):
            assert other.get(path).status_code == 404
        assert name not in other.get("/releases").text


def test_the_registry_finds_answers_by_their_query(visitor, beside):
    name = asked(beside, "SELECT COUNT(*) AS findme FROM clinic WHERE age < 7")
    ann = visitor("ann")
    assert name in ann.get("/releases?find=FINDME").text
    assert name not in ann.get("/releases?find=other").text


def test_names_in_queries_stay_text(visitor, beside):
    name = asked(beside, f'SELECT sex, COUNT(*) AS "{HOSTILE}" FROM clinic GROUP BY sex')
    ann = visitor("ann")
    for path in (f"/releases/{name}", f"/releases/batch?ids={name}", "/releases", f"/releases?find={HOSTILE}"):
        text = ann.get(path).text
        assert "<img src=x" not in text
        assert "&lt;img src=x" in text


def test_an_unknown_name_is_an_error_page(visitor):
    assert visitor("ann").get("/releases/nothing").status_code == 404
