"""Budgets are shown as a tree with a history, and owners change them; larger ones with a second person."""

import itertools
from html import unescape

from tests.server.dashboard.browsing import words

NUMBERS = itertools.count()


def test_owners_see_all_accounts_and_analysts_their_own(visitor):
    assert {"ann", "bob", "both"} <= set(words(visitor("olga").get("/datasets/clinic/budgets")).split())
    page = words(visitor("ann").get("/datasets/clinic/budgets"))
    assert "bob" not in page
    assert "What remained of clinic/ann" in page
    assert "Open an account" not in page


def test_the_history_of_an_account_is_a_chart_and_a_table(visitor, beside, fresh):
    beside.client("ann").post("/datasets/clinic/ask", json={"sql": fresh(), "epsilon": "0.25"})
    text = unescape(visitor("ann").get("/datasets/clinic/budgets?account=clinic/ann").text)
    assert '"kind": "steps"' in text
    assert "<table" in text.partition('"kind": "steps"')[2]


def test_an_owner_opens_changes_and_closes_an_account(visitor, beside):
    name, olga, ledger = f"team{next(NUMBERS)}", visitor("olga"), beside.gateway.ledger
    assert (
        olga.post("/datasets/clinic/budgets/open", name=name, epsilon="2", delta="", window="month").status_code == 303
    )
    account = f"clinic/{name}"
    assert str(ledger.budget(account)) == "ε 2"
    assert olga.post("/datasets/clinic/budgets/change", account=account, epsilon="1", reason="less").status_code == 303
    assert str(ledger.budget(account)) == "ε 1"
    assert olga.post("/datasets/clinic/budgets/close", account=account, reason="").status_code == 422
    assert olga.post("/datasets/clinic/budgets/close", account=account, reason="over").status_code == 303
    assert ledger.is_closed(account)


def test_a_larger_budget_waits_for_another_owner(visitor, beside):
    olga, omar, name = visitor("olga"), visitor("omar"), f"team{next(NUMBERS)}"
    olga.post("/datasets/visits/budgets/open", name=name, epsilon="1")
    account = f"visits/{name}"
    olga.post("/datasets/visits/budgets/change", account=account, epsilon="3", reason="a <b>second</b> study")
    assert str(beside.gateway.ledger.budget(account)) == "ε 1"
    own = olga.get("/datasets/visits/budgets")
    assert "Another owner has to decide" in words(own)
    assert "<b>second" not in own.text
    assert "waits for a second owner" in words(omar.get("/"))
    text = omar.get("/datasets/visits/budgets").text
    approval = text.rpartition('name="approval" value="')[2].partition('"')[0]
    assert omar.post("/datasets/visits/budgets/decide", approval=approval, decision="grant").status_code == 303
    assert str(beside.gateway.ledger.budget(account)) == "ε 3"


def test_owners_give_and_take_roles(visitor, beside):
    olga = visitor("olga")
    assert olga.post("/datasets/clinic/people", name="cem", role="auditor").status_code == 303
    assert "cem auditor" in words(olga.get("/datasets/clinic/people"))
    assert visitor("ann").get("/datasets/clinic/people").status_code == 403
    assert beside.gateway.people.grants("cem")
    assert olga.post("/datasets/clinic/people", name="cem", role="auditor", revoke="yes").status_code == 303
    assert not beside.gateway.people.grants("cem")
    assert olga.post("/datasets/clinic/people", name="cem", role="king").status_code == 422


def test_a_budget_that_is_none_is_refused(visitor):
    olga = visitor("olga")
    for fields in ({"epsilon": "many"}, {"epsilon": "-1"}, {"epsilon": ""}, {"epsilon": "1", "rho": "1"}):
        assert olga.post("/datasets/clinic/budgets/open", name="x", **fields).status_code == 422
