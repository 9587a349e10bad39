"""Routes of federations: who may open one, see it and send to it, and what is refused."""

import pytest

BODY = {
    "name": "trial", "parties": ["ann", "bob", "cem"], "rounds": 2, "least": 2, "seconds": 600.0,
    "message_characters": 2_000, "plan": {"clip": "1"},
}  # fmt: skip
KEYS = {"round": 0, "attempt": 0, "phase": "keys"}
BODY_BYTES = 4_000


@pytest.fixture
def opened(strict):
    """A gateway with a federation, which is removed afterwards."""
    gateway = strict(body_bytes=BODY_BYTES)
    with gateway.client("admin") as admin:
        assert admin.post("/federations", json=BODY).status_code == 201
        yield gateway
        assert admin.delete("/federations/trial").status_code == 204


def send(gateway, person, message="one", **place):
    with gateway.client(person) as client:
        return client.post("/federations/trial/messages", json={**KEYS, **place, "message": message})


def shown(gateway, person, path=""):
    with gateway.client(person) as client:
        return client.get(f"/federations{path}")


def test_owners_send_and_see_each_others_messages_once_all_are_there(opened):
    for person in ("ann", "bob"):
        assert send(opened, person, f"of {person}").json() == {"taken": True, **KEYS}
    query = "/trial/messages?round=0&attempt=0&phase=keys"
    assert shown(opened, "ann", query).json() == {"messages": None, **KEYS}
    assert send(opened, "cem", "of cem").json()["phase"] == "boxes"
    found = shown(opened, "ann", query).json()
    assert found["messages"] == {"0": "of ann", "1": "of bob", "2": "of cem"}
    assert shown(opened, "ann", "/trial").json() == {
        **{name: BODY[name] for name in BODY}, "party": 0, "sent": ["keys"], **KEYS, "phase": "boxes",
    }  # fmt: skip
    for phase in ("boxes", "numbers", "agreed", "revealed"):
        assert [send(opened, person, phase=phase).json()["taken"] for person in BODY["parties"]] == [True] * 3
    with opened.client("bob") as bob:
        body = {"round": 0, "result": "a sum"}
        assert [bob.post("/federations/trial/results", json=body).json()["taken"] for _ in range(2)] == [True, True]
        other = bob.post("/federations/trial/results", json={**body, "result": "another"})
    assert (other.status_code, other.json()["fields"]["name"]) == (422, "result")
    assert shown(opened, "cem", "/trial/results/0").json() == {"result": "a sum"}
    assert shown(opened, "cem", "/trial/results/1").json() == {"result": None}


def test_another_message_in_its_place_is_refused_and_a_late_one_not_taken(opened):
    assert send(opened, "ann").json()["taken"]
    assert send(opened, "ann").json()["taken"]
    other = send(opened, "ann", "another")
    assert (other.status_code, other.json()["error"]) == (422, "ParameterError")
    assert "another" not in other.json()["detail"].replace("another one", "")
    for place in ({"phase": "numbers"}, {"round": 1}, {"attempt": 7}):
        assert send(opened, "bob", **place).json() == {"taken": False, **KEYS}


def test_messages_are_bounded(opened):
    assert send(opened, "ann", "x" * 2_001).status_code == 422
    assert send(opened, "ann", "x" * 5_000).status_code == 413
    assert send(opened, "ann", "ünicode").status_code == 422
    assert send(opened, "ann", "x" * 2_000).json()["taken"]


@pytest.mark.parametrize("person", ["olga", "aude", "both"])
def test_for_strangers_there_is_none(opened, person):
    query = "/trial/messages?round=0&attempt=0&phase=keys"
    answers = [shown(opened, person, path) for path in ("/trial", query, "/trial/results/0")]
    answers.append(send(opened, person))
    with opened.client(person) as client:
        answers.append(client.post("/federations/trial/results", json={"round": 0, "result": "x"}))
    assert [answer.status_code for answer in answers] == [404] * 5
    nothing = shown(opened, person, "/nothing")
    assert answers[0].text.replace("trial", "nothing") == nothing.text
    assert "trial" not in shown(opened, person).json()
    assert "trial" in shown(opened, "ann").json()


def test_admins_see_how_far_it_is_and_no_messages(opened):
    assert shown(opened, "admin", "/trial").json()["party"] is None
    assert "trial" in shown(opened, "admin").json()
    assert shown(opened, "admin", "/trial/messages?round=0&attempt=0&phase=keys").status_code == 404
    assert shown(opened, "admin", "/trial/results/0").status_code == 404


def test_only_admins_open_and_remove(opened):
    with opened.client("ann") as ann:
        assert ann.post("/federations", json={**BODY, "name": "own"}).status_code == 403
        assert ann.delete("/federations/trial").status_code == 403


@pytest.mark.parametrize(
    ("wrong", "status"),
    [
        ({"parties": ["ann", "ann", "bob"]}, 422), ({"parties": ["ann", "nobody"]}, 404), ({"least": 4}, 422),
        ({"rounds": 3}, 422), ({"message_characters": BODY_BYTES}, 422), ({"plan": {"a": "x" * 30_000}}, 413),
        ({"seconds": 0}, 422), ({"name": "a b"}, 422), ({"more": 1}, 422),
    ],
    ids=str,
)  # fmt: skip
def test_terms_that_mean_nothing_are_refused(opened, wrong, status):
    with opened.client("admin") as admin:
        assert admin.post("/federations", json=BODY).status_code == 201  # the same again
        assert admin.post("/federations", json={**BODY, **wrong}).status_code == status


def test_a_key_needs_the_scope_of_reports(opened):
    with opened.client("ann") as ann:
        token = ann.post("/keys", json={"name": "reads", "scopes": ["read"]}).json()["token"]
    with opened.client(token=token) as reader:
        assert reader.get("/federations/trial").status_code == 200
        assert reader.post("/federations/trial/messages", json={**KEYS, "message": "x"}).status_code == 403


def test_acts_name_the_federation(opened):
    send(opened, "ann")
    acts = [(act.person, str(act.action), act.target) for act in opened.acts()]
    assert ("ann", "take_part", "trial") in acts
    assert ("admin", "manage_federations", "trial") in acts
