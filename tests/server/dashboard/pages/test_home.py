"""The first page says about how many queries remain; a dataset's page says all that is public, and owners act there."""

from tests.server.dashboard.browsing import words

from sfumato.privacy.events import PureEvent
from sfumato.privacy.guarantees import PureDP
from sfumato.server.identity.people import Action


def test_home_says_what_remains_in_queries_and_in_epsilon(visitor, beside, fresh):
    bob = visitor("bob")
    assert beside.client("bob").post("/datasets/clinic/ask", json={"sql": fresh(), "epsilon": "0.5"}).status_code == 200
    page = words(bob.get("/"))
    assert "more queries like your last one, which cost ε 0.5" in page
    assert "clinic/bob" in page
    assert "of ε 900" in page


def test_home_shows_no_dataset_without_a_role(visitor):
    page = words(visitor("cem").get("/"))
    assert "You have no role on a dataset yet" in page
    assert "clinic" not in page


def test_the_page_of_a_dataset_has_schema_limits_and_label(visitor):
    page = words(visitor("ann").get("/datasets/visits"))
    for part in (
        "from 0 to 60",
        "at most 3 rows a unit",
        "Privacy label",
        "one patient",
        "ε 1 000".replace(" ", "\u202f", 1).replace("ε\u202f", "ε "),
    ):
        assert part in page, part
    assert "Publish new data" not in page


def test_owners_and_nobody_else_publish_and_acknowledge(visitor, beside):
    olga, ann = visitor("olga"), visitor("ann")
    assert "Publish new data" in words(olga.get("/datasets/clinic"))
    assert ann.post("/datasets/clinic/versions", data_version="9").status_code == 403
    page = olga.post("/datasets/clinic/acknowledgments", reason="nothing happened")
    assert page.status_code == 422
    assert "is not suspended" in words(page)
    assert any(act.action is Action.ACKNOWLEDGE and act.person == "olga" for act in beside.acts())


def test_a_suspended_dataset_is_an_alert_that_its_owner_acknowledges(visitor, beside):
    ledger, olga = beside.gateway.ledger, visitor("olga")
    ledger.suspend_account(
        ledger.reserve("visits", event=PureEvent("0.001"), charge=PureDP("0.001"), question="5f3a")
    )  # fmt: skip
    try:
        assert "visits is suspended" in words(olga.get("/"))
        assert "Acknowledge and resume" in words(olga.get("/datasets/visits"))
        assert olga.post("/datasets/visits/acknowledgments", reason="the disk was full").status_code == 303
        assert not ledger.is_suspended("visits")
    finally:
        if ledger.is_suspended("visits"):
            ledger.resume_account("visits", reason="a test")
    assert "acknowledged failures, one bit each" in words(olga.get("/datasets/visits"))
