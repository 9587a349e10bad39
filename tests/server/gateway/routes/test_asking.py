"""What the routes of queries say: cost, error, made-up rows, answers that come later, and what stored answers say."""

import time

import pytest
from tests.server.running import COUNT

from sfumato.privacy.codec import decode_budget
from sfumato.privacy.guarantees import PureDP
from sfumato.server.gateway.routes.asking import _seconds

CLINIC = "/datasets/clinic"
ASK = {"sql": COUNT, "epsilon": "0.25"}


@pytest.fixture
def ann(beside):
    with beside.client("ann") as client:
        yield client


def everything_spent(beside):
    return beside.gateway.ledger.spent("clinic")


def test_43_an_estimate_says_cost_and_error_and_spends_nothing(beside, ann):
    """Catalogue 43: with the same numbers as the receipt of the answer has."""
    before = everything_spent(beside)
    estimate = ann.post(f"{CLINIC}/estimate", json=ASK).json()
    assert everything_spent(beside) == before
    assert estimate["epsilon"] == "0.25"
    assert decode_budget(estimate["cost"]) == PureDP("0.25")
    ((error,),) = estimate["errors"]
    assert (error["column"], error["half_width"] > 0, "COUNT" in estimate["explain"].upper()) == ("n", True, True)
    target = ann.post(f"{CLINIC}/estimate", json={"sql": COUNT, "error": {"n": 100}}).json()
    assert target["errors"][0][0]["half_width"] <= 100
    batch = ann.post(f"{CLINIC}/estimate", json={"queries": [{"sql": COUNT}, {"sql": COUNT}], "epsilon": 1}).json()
    assert len(batch["errors"]) == 2


def test_43_a_dry_run_is_made_up_and_spends_nothing(beside, ann):
    """Catalogue 43."""
    before = everything_spent(beside)
    tried = ann.post(f"{CLINIC}/dry-run", json=ASK)
    assert (tried.json()["made_up"], len(tried.json()["releases"])) == (True, 1)
    assert everything_spent(beside) == before


def test_43_neither_needs_a_worker(ann, monkeypatch):
    """Catalogue 43: no process that has data is spoken to."""

    def refuse(*_, **__):
        raise AssertionError("the worker was spoken to")

    monkeypatch.setattr("sfumato.server.work.channel.Client", refuse)
    for path in ("/estimate", "/dry-run"):
        assert ann.post(f"{CLINIC}{path}", json=ASK).status_code == 200


def test_stored_answers_say_more_at_no_cost(beside, ann):
    assert ann.post(f"{CLINIC}/ask", json=ASK).status_code == 200
    before = everything_spent(beside)
    found = ann.post(f"{CLINIC}/from-releases", json={"sql": "SELECT COUNT(*) AS n FROM clinic WHERE sex = 'f'"})
    assert found.status_code == 200, found.text
    assert found.json()["releases"][0]["receipt"]["question"]
    assert everything_spent(beside) == before
    with beside.client("bob") as bob:
        assert bob.post(f"{CLINIC}/from-releases", json={"sql": "SELECT AVG(age) AS a FROM clinic"}).status_code == 422


@pytest.mark.parametrize(
    ("prefer", "seconds"),
    [
        (None, None), ("respond-async", 0.0), ("wait=5", 5.0), ("respond-async, wait=10", 10.0),
        ("return=minimal", None), ("wait=x", None), ("wait=-1", None), ("wait=9999999999", 999_999.0),
    ],
)  # fmt: skip
def test_a_wait_is_what_is_preferred(prefer, seconds):
    assert _seconds(prefer) == seconds


def test_an_answer_that_takes_long_is_fetched_later_by_whoever_asked(beside, ann, fresh):
    sql = fresh()
    accepted = ann.post(f"{CLINIC}/ask", json={"sql": sql, "epsilon": 1}, headers={"Prefer": "respond-async"})
    assert accepted.status_code in {200, 202}
    if accepted.status_code == 202:
        where = accepted.headers["Location"].removeprefix("/v1")
        with beside.client("bob") as bob:
            assert bob.get(where).status_code == 404
        for _ in range(500):
            answer = ann.get(where).json()
            if answer["stage"] != "waiting":
                break
        assert answer["stage"] == "answered"
        again = ann.post(f"{CLINIC}/ask", json={"sql": sql, "epsilon": 1}).json()
        assert answer["releases"] == again["releases"]


def test_an_owner_who_is_an_analyst_too_does_not_ask(beside):
    """An estimate tells nothing of rows, so they may have that."""
    with beside.client("both") as both:
        assert both.post(f"{CLINIC}/estimate", json=ASK).status_code == 200
        refused = both.post(f"{CLINIC}/ask", json=ASK)
    assert refused.status_code == 403
    assert "owners see no answers" in refused.json()["detail"]


SUMS = ", ".join(f"SUM(age + {each}) AS s{each}" for each in range(3_000))
JOINS = " ".join(f"JOIN clinic AS a{number} ON a{number}.age = a0.age" for number in range(1, 1_000))
BOMBS = {
    "a thousand joins": f"SELECT COUNT(*) AS n FROM clinic AS a0 {JOINS}",
    "ten thousand terms": f"SELECT SUM({'+'.join(['age'] * 10_000)}) AS n FROM clinic",
    "three thousand columns": f"SELECT {SUMS} FROM clinic",
    "eight million groups": "SELECT age, sex, town, age+1 AS b, age+2 AS c, COUNT(*) AS n FROM clinic"
    " GROUP BY age, sex, town, age+1, age+2",
}


@pytest.mark.parametrize("sql", BOMBS.values(), ids=BOMBS)
def test_62_a_query_that_would_take_for_ever_is_refused_before_anybody_waits_for_it(beside, ann, sql):
    """Catalogue 62: for nothing, and others are answered meanwhile."""
    before, began = everything_spent(beside), time.monotonic()
    assert {
        ann.post(f"{CLINIC}{path}", json={"sql": sql, "epsilon": 1}).status_code for path in ("/estimate", "/ask")
    } == {422}
    assert time.monotonic() - began < 20
    assert everything_spent(beside) == before
