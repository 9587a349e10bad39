"""The log shows acts, the latest first, with the state of their chain, to whoever may read them."""

import csv
import io

from tests.server.dashboard.browsing import words

from sfumato.server.identity.acts import ActChain, ActLog


def test_owners_and_auditors_see_what_was_done_with_their_datasets(visitor, beside, fresh):
    beside.client("ann").post("/datasets/clinic/ask", json={"sql": fresh(), "epsilon": "0.1"})
    beside.acts()
    for person in ("olga", "aude"):
        page = words(visitor(person).get("/log"))
        assert "The chain is whole" in page
        assert "ask clinic" in page
        assert "sign_in" not in page.partition("Outcome")[2]


def test_analysts_and_strangers_see_none(visitor):
    for person in ("ann", "cem"):
        assert "Owners, auditors and administrators may read the log." in words(visitor(person).get("/log"))
        assert visitor(person).get("/log/acts.csv").status_code == 403


def test_acts_are_found_by_person_action_and_page(visitor, beside):
    visitor("cem")
    beside.acts()
    admin = visitor("admin")
    shown = words(admin.get("/log?person=cem")).partition("Outcome")[2]
    assert "cem" in shown
    assert "olga" not in shown
    assert "sign_in" in words(admin.get("/log?action=sign_in")).partition("Outcome")[2]
    assert "No acts match." in words(admin.get("/log?person=nobody"))
    assert admin.get("/log?before=3&reads=yes").text.count('class="n">') <= 3


def test_a_broken_chain_is_said_first(visitor, monkeypatch):
    monkeypatch.setattr(ActLog, "verify", lambda _: ActChain(length=6, head="0" * 64, broken=7))
    assert "The chain is broken at act 7." in words(visitor("admin").get("/log"))


def test_all_acts_are_fetched_as_a_file(visitor, beside):
    beside.acts()
    found = visitor("admin").get("/log/acts.csv")
    rows = list(csv.DictReader(io.StringIO(found.text)))
    assert [int(row["number"]) for row in rows] == list(range(1, len(rows) + 1))
    assert {"person", "action", "hash"} <= set(rows[0])
