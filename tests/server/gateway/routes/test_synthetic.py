"""Readers of synthetic data get what was released of them, and see beside it what their own account was shown."""

import json
from fractions import Fraction

import pytest
from tests.server.running import CANARY, TWINS

import sfumato as sf
from sfumato.server.gateway.access import Caller
from sfumato.server.gateway.routes.synthetic import own_answers, saved

BUDGET = sf.ApproxDP(100_000, "1e-3")
HOSTILE = {
    "nothing": "", "half": "{", "a list": "[]", "an object": "{}", "a map": '{"type": "FeatureCollection"}',
    "no text": "\ud800", "deep": "[" * 100_000, "of another version": TWINS.replace('"version": 1', '"version": 2'),
    "an exact column more": TWINS.replace('"reason"', '"exact": [200, 100], "reason"', 1),
    "numbers that nobody counts": TWINS.replace('"stddev": ', '"stddev": 1e999', 1),
}  # fmt: skip


def ask(beside, person, sql, epsilon="50"):
    with beside.client(person) as client:
        answer = client.post("/datasets/clinic/ask", json={"sql": sql, "epsilon": epsilon})
    assert answer.status_code == 200, answer.text
    return answer.json()["ids"][0]


@pytest.fixture
def answers_of(beside):
    """What somebody sees beside a marginal of some columns."""

    def seen(person, *columns):
        who = Caller(beside.gateway, beside.keys[person], "127.0.0.1")
        who.sign_in()
        found = saved(who, "twins")
        (marginal,) = (one for one in found.marginals if one.columns == columns)
        return own_answers(who, "twins", marginal, most=50)

    return seen


def test_what_is_published_is_shown_to_its_readers(beside):
    with beside.client("cem") as cem:
        assert cem.get("/synthetic").json() == [
            {"name": "twins", "may_read": True}, {"name": "lost", "may_read": False},
        ]  # fmt: skip
        assert cem.get("/synthetic/twins").json() == json.loads(TWINS)


def test_whoever_is_no_reader_sees_nothing(beside):
    with beside.client("cem") as cem:
        assert cem.get("/synthetic/lost").status_code == 403
        assert cem.get("/synthetic/nothing").status_code == 404
    with beside.client() as nobody:
        assert nobody.get("/synthetic/twins").status_code == 401


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE)
def test_what_was_not_published_is_unavailable(beside, tmp_path, monkeypatch, content):
    file = tmp_path / "lost.json"
    file.write_bytes(content.encode("utf-8", "surrogatepass"))
    lost = beside.gateway.curator.synthetic["lost"].model_copy(update={"releases": str(file)})
    monkeypatch.setitem(beside.gateway.curator.synthetic, "lost", lost)
    with beside.client("ann") as ann:
        answer = ann.get("/synthetic/lost")
    assert answer.status_code == 503
    assert str(tmp_path) not in answer.text


def test_own_answers_count_the_same_rows_by_the_same_columns_alone(beside, answers_of):
    before, spent = answers_of("ann", "town"), beside.gateway.ledger.spent("clinic/ann")
    for other in (
        "SELECT town, COUNT(*) AS n FROM clinic WHERE age > 20 GROUP BY town",
        "SELECT town, COUNT(age) AS n FROM clinic GROUP BY town",
        "SELECT town, 2 * COUNT(*) AS n FROM clinic GROUP BY town",
        "SELECT town, COUNT(*) AS n, SUM(age) AS s FROM clinic GROUP BY town",
        "SELECT town, age, COUNT(*) AS n FROM clinic GROUP BY town, age",
        "SELECT COUNT(*) AS n FROM clinic",
    ):
        ask(beside, "ann", other, "48")
    assert answers_of("ann", "town") == before
    assert beside.gateway.ledger.spent("clinic/ann") != spent
    shown = "SELECT COUNT(*) AS c, town AS sex FROM clinic GROUP BY town ORDER BY c DESC LIMIT 3"
    id_ = ask(beside, "ann", shown, "2")
    spent = beside.gateway.ledger.spent("clinic/ann")
    found, *others = answers_of("ann", "town")
    assert beside.gateway.ledger.spent("clinic/ann") == spent
    assert others == before
    assert (found.release, found.data_version, found.confidence) == (id_, "1", 0.95)
    assert len(found.counts) == 3
    basel = found.counts["Basel",]
    assert abs(basel.value - 75) < 10
    assert basel.low < basel.value < basel.high


def test_what_shows_a_stored_answer_otherwise_is_no_count(beside, answers_of):
    """Its receipt has the text of the query that was charged, which shows counts."""
    id_ = ask(beside, "bob", "SELECT town, COUNT(*) AS n FROM clinic GROUP BY town")
    other = ask(beside, "bob", "SELECT town, 2 * COUNT(*) AS n FROM clinic GROUP BY town")
    assert other != id_
    with beside.client("bob") as bob:
        assert "2 *" not in bob.get(f"/releases/{other}").json()["receipt"]["question"]
    shown = [one.release for one in answers_of("bob", "town")]
    assert id_ in shown
    assert other not in shown


def test_groups_of_two_are_in_the_order_of_the_marginal(beside, answers_of):
    id_ = ask(beside, "ann", "SELECT town AS sex, COUNT(*) AS n, sex AS town FROM clinic GROUP BY town, sex")
    found, *_ = answers_of("ann", "sex", "town")
    assert found.release == id_
    assert set(found.counts) == {(sex, town) for sex in "fm" for town in ("Basel", "Delft", "Porto", "=SUM(A1)")}
    assert abs(found.counts["f", "Basel"].value - 50) < 10


def test_answers_of_others_are_not_shown(beside, answers_of):
    id_ = ask(beside, "bob", "SELECT sex, COUNT(*) AS n FROM clinic GROUP BY sex", "49")
    assert id_ in [one.release for one in answers_of("bob", "sex")]
    assert id_ not in [one.release for one in answers_of("ann", "sex")]
    for person in ("cem", "aude", "olga"):
        assert answers_of(person, "sex") == []


def test_owners_who_are_analysts_see_answers_only_where_they_may_ask(beside, answers_of, monkeypatch):
    ask(beside, "bob", "SELECT sex, COUNT(*) AS n FROM clinic GROUP BY sex", "48")
    kept = beside.gateway.releases.latest("clinic/bob", limit=1)
    monkeypatch.setattr(type(beside.gateway.releases), "latest", lambda *_, **__: kept)
    assert answers_of("both", "sex") == []
    monkeypatch.setattr(beside.gateway.curator.datasets["clinic"], "owners_may_ask", True)
    assert [one.release for one in answers_of("both", "sex")] == [kept[0].id]


def test_without_a_dataset_nothing_is_beside(beside, answers_of, monkeypatch):
    ask(beside, "ann", "SELECT sex, COUNT(*) AS n FROM clinic GROUP BY sex", "47")
    assert answers_of("ann", "sex")
    alone = beside.gateway.curator.synthetic["twins"].model_copy(update={"dataset": None})
    monkeypatch.setitem(beside.gateway.curator.synthetic, "twins", alone)
    assert answers_of("ann", "sex") == []


def test_an_owner_publishes_beside_a_running_server_for_one_budget(beside, tmp_path):
    """The charge is to the account of the dataset, in the ledger of the server; and answers from there match."""
    curator, file = beside.gateway.curator, tmp_path / "twins.json"
    before = beside.gateway.ledger.spent("clinic").epsilon
    with sf.Session(curator.datasets["clinic"].policy, budget=BUDGET, ledger=curator.ledger, must_exist=True) as owner:
        query = "SELECT sex, town FROM clinic"
        made = sf.synth.synthesize(owner, query, epsilon="0.7", delta="1e-9", method="independent")
    made.publish(file)
    assert beside.gateway.ledger.spent("clinic").epsilon - before == Fraction(7, 10)
    assert CANARY not in file.read_text("utf-8")
    questions = [one["questions"] for one in json.loads(file.read_text("utf-8"))["marginals"]]
    assert questions == [one["questions"] for one in json.loads(TWINS)["marginals"][1:3]]


def test_a_text_of_the_data_is_nowhere(beside):
    with beside.client("ann") as ann:
        assert CANARY not in ann.get("/synthetic/twins").text
