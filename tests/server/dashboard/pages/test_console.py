"""The console tells cost and error for free, spends once for each form, and asks before it spends much."""

import re

import pytest
from tests.meta.repository import ROOT
from tests.server.dashboard.browsing import words

from sfumato.server.dashboard.pages.console import STEPS, Wanted, words_of

KINDS = {"table": "Tabelle", "function": "Funktion", "keyword": "Schlüsselwort"}
QUERY = "/datasets/clinic/query"


def spent(beside, account="clinic/ann"):
    return beside.gateway.ledger.spent(account)


def test_an_estimate_and_a_dry_run_cost_nothing(visitor, beside, fresh):
    ann, before = visitor("ann"), spent(beside)
    page = words(ann.post(QUERY, sql=fresh(), way="epsilon", epsilon="0.5", action="estimate"))
    assert "Running it costs ε 0.5" in page
    assert "n ± 6" in page
    page = words(ann.post(QUERY, sql=fresh(), way="epsilon", epsilon="0.5", action="dry-run"))
    assert "They say nothing about the data." in page
    assert spent(beside) == before


def test_a_part_of_the_page_is_enough_for_a_script(visitor, fresh):
    ann = visitor("ann", **{"HX-Request": "true"})
    part = ann.post(QUERY, sql=fresh(), way="slider", step="0")
    assert "Running it costs ε 0.01" in words(part)
    assert "<html" not in part.text
    wrong = ann.post(QUERY, sql="SELECT nothing FROM clinic")
    assert wrong.status_code == 200
    assert "Nothing was spent" in words(wrong)


def test_a_target_error_becomes_a_cost(visitor, fresh):
    page = words(visitor("ann").post(QUERY, sql=fresh(), way="error", target="6", column=""))
    assert re.search(r"n ± [0-6]\b", page)
    page = words(visitor("ann").post(QUERY, sql=fresh(), way="error", target="", column=""))
    assert "say how large the error may be" in page


@pytest.mark.parametrize(
    "number", ["9" * 5_000, "-1", "1e999999", "NaN", "١٢", "0x10", "1/0"], ids=lambda one: one[:10]
)
@pytest.mark.parametrize("field", ["epsilon", "target", "step"])
def test_whatever_a_number_is_the_form_comes_back(visitor, beside, fresh, field, number):
    before, way = spent(beside), {"epsilon": "epsilon", "target": "error", "step": "slider"}[field]
    page = visitor("ann").post(QUERY, sql=fresh(), way=way, action="estimate", **{field: number})
    assert page.status_code in {200, 422}
    assert spent(beside) == before


def test_run_spends_once_however_often_the_form_is_sent(visitor, beside, fresh):
    ann, before, form = (
        visitor("ann"),
        spent(beside),
        {"sql": fresh(), "way": "epsilon", "epsilon": "0.125", "key": "page1"},
    )
    first, again = (ann.post(QUERY, action="run", **form) for _ in range(2))
    assert first.status_code == again.status_code == 303
    assert again.headers["location"].startswith(first.headers["location"])
    assert spent(beside).epsilon - before.epsilon == 0.125
    assert "0.125" in words(ann.get(first.headers["location"]))
    assert "It cost nothing now" in words(ann.get(again.headers["location"]))


def test_much_is_spent_only_when_it_was_confirmed(visitor, beside, fresh):
    ann, before, form = (
        visitor("ann"),
        spent(beside),
        {"sql": fresh(), "way": "epsilon", "epsilon": "300", "key": "page2"},
    )
    page = ann.post(QUERY, action="run", **form)
    assert "What is spent does not come back." in words(page)
    assert spent(beside) == before
    assert ann.post(QUERY, action="run", confirmed="yes", **form).status_code == 303
    assert spent(beside).epsilon - before.epsilon == 300


def test_more_than_remains_is_refused_and_the_query_stays_in_the_form(visitor, fresh):
    sql = fresh()
    page = visitor("ann").post(QUERY, sql=sql, way="epsilon", epsilon="2000", confirmed="yes", action="run")
    assert page.status_code == 422
    assert sql.replace("<>", "&lt;&gt;") in page.text
    assert "budget" in words(page)


def test_several_queries_are_answered_as_a_batch(visitor, fresh):
    ann = visitor("ann")
    page = ann.post(QUERY, sql=f"{fresh()};\n{fresh()};", way="epsilon", epsilon="0.5", action="run")
    assert page.headers["location"].startswith("/releases/batch?ids=")
    assert ann.get(page.headers["location"]).text.count("answer.csv") == 2


@pytest.mark.parametrize("person", ["olga", "aude"])
def test_who_has_no_account_is_told_so_and_may_not_ask(visitor, person, fresh):
    page = visitor(person).get(QUERY)
    assert "You have no account on this dataset" in words(page)
    page = visitor(person).post(QUERY, sql=fresh(), action="run")
    assert "not allowed" in words(page)


def test_queries_are_parted_by_semicolons_at_the_ends_of_lines():
    def parted(text):
        return Wanted(text=text, way="slider", step=0, epsilon="", target="", column="", key="").queries

    assert parted("SELECT ';' AS a") == ["SELECT ';' AS a"]
    assert parted(" a ;\n b;\n\n") == ["a", "b"]
    assert parted(";") == parted("") == []


def test_what_no_form_has_is_taken_for_its_default(visitor, fresh):
    page = words(visitor("ann").post(QUERY, sql=fresh(), way="other", step="99999"))
    assert f"Running it costs ε {STEPS[3]}" in page


def test_a_form_keeps_its_key(visitor, fresh):
    page = visitor("ann").post(QUERY, sql=fresh(), key="kept-key")
    assert 'name="key" value="kept-key"' in page.text
    first, second = (visitor("ann").get(QUERY).text for _ in range(2))
    assert first.partition('name="key" value="')[2][:32] != second.partition('name="key" value="')[2][:32]


def test_words_of_the_schema_are_suggested_first_and_written_as_a_query_has_them():
    columns = [{"name": "Age", "type": "integer"}, {"name": "town", "type": "text"}]
    facts = {"tables": [{"name": "clinic", "columns": columns}], "views": {'old "ones"': "SELECT 1"}}
    found = words_of(facts, KINDS)
    assert found[:4] == [
        ('"Age"', "clinic · integer"), ("town", "clinic · text"), ("clinic", "Tabelle"), ('"old ""ones"""', "Tabelle"),
    ]  # fmt: skip
    assert ("COUNT(", "Funktion") in found
    assert ("GROUP BY", "Schlüsselwort") in found
    assert len(dict(found)) == len(found)


def test_every_function_that_is_suggested_is_one_of_the_queries():
    page = (ROOT / "docs" / "reference" / "sql.md").read_text("utf-8")
    found = [word.rstrip("(") for word, kind in words_of({"tables": [], "views": {}}, KINDS) if kind == "Funktion"]
    assert len(found) > 50
    assert [name for name in found if name not in page] == []
