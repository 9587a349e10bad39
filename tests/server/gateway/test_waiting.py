"""Queries that take long: joined by whoever asks the same under the same key, and asked for again after an end."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest
from tests.server.running import COUNT, Beside

from sfumato.errors import EngineError, ForbiddenError, UnavailableError
from sfumato.server.gateway.answering import Ask, AskRequest
from sfumato.server.identity.people import Grant, Role

PATH = "/datasets/clinic/ask"


@pytest.fixture
def held(strict, monkeypatch):
    """A gateway whose answers are held back until it is told to go on."""
    beside, goes_on, answered = strict(seconds_to_answer=0.05, concurrent_per_person=4), Event(), []
    answer = beside.gateway.shown.answer

    def late(asking):
        answered.append(asking)
        goes_on.wait(20)
        return answer(asking)

    monkeypatch.setattr(beside.gateway.shown, "answer", late)
    yield beside, goes_on, answered
    goes_on.set()


def ask(client, sql, key=None, epsilon="0.5"):
    headers = {} if key is None else {"Idempotency-Key": key}
    return client.post(PATH, json={"sql": sql, "epsilon": epsilon}, headers=headers)


def settled(client, location):
    for _ in range(1_000):
        answer = client.get(location.removeprefix("/v1"))
        if answer.json().get("stage") != "waiting":
            return answer
    raise TimeoutError


def test_sent_again_under_its_key_it_is_joined_and_charged_once(held, fresh):
    beside, goes_on, answered = held
    sql, before = fresh(), beside.gateway.ledger.spent("clinic/ann").epsilon
    with beside.client("ann") as ann:
        first, again = ask(ann, sql, "w1"), ask(ann, sql, "w1")
        assert [first.status_code, again.status_code] == [202, 202]
        assert ann.get(first.headers["Location"].removeprefix("/v1")).json() == {
            "id": first.json()["id"], "stage": "waiting"
        }  # fmt: skip
        goes_on.set()
        answers = [settled(ann, one.headers["Location"]).json() for one in (first, again)]
    assert answers[0]["releases"] == answers[1]["releases"]
    assert len(answered) == 1
    assert str(beside.gateway.ledger.spent("clinic/ann").epsilon - before) == "1/2"


def test_whoever_waits_for_the_same_takes_a_place_too(strict, monkeypatch, fresh):
    """Else one person sends the same a hundred times, and has all threads wait."""
    beside, goes_on = strict(seconds_to_answer=10, concurrent_per_person=3), Event()
    answer, sql = beside.gateway.shown.answer, fresh()
    monkeypatch.setattr(beside.gateway.shown, "answer", lambda asking: (goes_on.wait(20), answer(asking))[1])
    with ThreadPoolExecutor(8) as threads, beside.client("ann") as ann, beside.client("cem") as cem:
        sent = [threads.submit(ask, ann, sql, "w2") for _ in range(8)]
        assert cem.get("/me").status_code == 200
        while sum(one.done() for one in sent) < 5:
            goes_on.wait(0.01)
        goes_on.set()
        found = sorted(one.result().status_code for one in sent)
    assert found == [200] * 3 + [429] * 5
    assert beside.gateway.places.count() == 0


def test_whoever_lost_the_role_does_not_have_it_asked_again(curator, fresh):
    """A name of a query is no right to ask it: neither without the role nor on another account."""
    beside = Beside(curator, seconds_to_answer=0)
    people, keys = beside.gateway.people, beside.gateway.keys
    people.add("fay")
    people.grant("fay", Grant("clinic", Role.ANALYST, "clinic/bob"))
    with beside.client(token=keys.make("fay").token) as fay:
        sql = fresh()
        beside.gateway.waiting.answered = lambda *_, **__: None  # as if it took long, and this process then ended
        kept = ask(fay, sql).headers["Location"].removeprefix("/v1")
        before = beside.gateway.ledger.spent("clinic").epsilon
        people.grant("fay", Grant("clinic", Role.ANALYST, "clinic/ann"))
        assert fay.get(kept).status_code == 404
        people.revoke("fay", "clinic")
        assert fay.get(kept).status_code == 404
        people.grant("fay", Grant("clinic", Role.AUDITOR))
        assert fay.get(kept).status_code == 403
        assert beside.gateway.ledger.spent("clinic").epsilon == before
        people.grant("fay", Grant("clinic", Role.ANALYST, "clinic/bob"))
        assert settled(fay, kept).json()["stage"] == "answered"
    beside.stop()


def test_another_gateway_goes_on_where_one_ended(curator, held, fresh):
    """It asks again under the same key; nothing is charged twice."""
    beside, goes_on, _ = held
    before = beside.gateway.ledger.spent("clinic/ann").epsilon
    with beside.client("ann") as ann, curator.client("ann") as elsewhere:
        where = ask(ann, fresh(), "w3").headers["Location"]
        found = settled(elsewhere, where).json()
        assert found["stage"] == "answered"
        goes_on.set()
        assert settled(ann, where).json()["releases"] == found["releases"]
    assert str(beside.gateway.ledger.spent("clinic/ann").epsilon - before) == "1/2"


@pytest.mark.parametrize(
    ("error", "status", "name"),
    [
        (EngineError("duckdb", "answered"), 503, "EngineError"), (UnavailableError(), 503, "UnavailableError"),
        (ForbiddenError("ask", "x"), 403, "ForbiddenError"), (TimeoutError("canary"), 500, "InternalError"),
        (ValueError("canary"), 500, "InternalError"),
    ],
    ids=repr,
)  # fmt: skip
def test_what_fails_gives_its_place_back_and_says_why_at_once_and_later(strict, monkeypatch, error, status, name):
    def fail(_):
        raise error

    beside = strict()
    monkeypatch.setattr(beside.gateway.shown, "answer", fail)
    with beside.client("ann") as ann:
        answer = ask(ann, COUNT, "w4", epsilon="0.123")
        assert (answer.status_code, answer.json()["error"]) == (status, name)
        assert "canary" not in answer.text
        monkeypatch.setattr(beside.gateway.waiting, "answered", lambda *_, **__: None)
        later = ann.get(ask(ann, COUNT, "w4", epsilon="0.123").headers["Location"].removeprefix("/v1"))
        assert (later.json().get("problem") or later.json())["error"] == name
    assert beside.gateway.places.count() == 0


def test_a_gateway_that_ends_refuses_and_keeps_no_place(strict):
    beside = strict()
    beside.gateway.waiting.close()
    own = {"dataset": "clinic", "account": "clinic/ann", "person": "ann", "key": "ann:w5"}
    asking = AskRequest(**own, ask=Ask(sql=COUNT, epsilon=1))
    with pytest.raises(UnavailableError):
        beside.gateway.waiting.answered(asking, seconds=1)
    assert beside.gateway.places.count() == 0


def test_of_queries_that_ended_only_the_latest_are_known(strict, monkeypatch):
    beside, waiting = (opened := strict()), opened.gateway.waiting
    monkeypatch.setattr("sfumato.server.gateway.waiting._MOST_ENDED", 3)
    with beside.client("ann") as ann:
        for number in range(8):
            assert ask(ann, COUNT, f"w6{number}", epsilon="0.111").status_code == 200
    assert len(waiting._running) <= 4
