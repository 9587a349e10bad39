"""What is shown of an answer is kept byte for byte: for whom it was paid by, of what it asked, and no more."""

import json
from fractions import Fraction

import pytest
from tests.server.gateway.planned import PlannerHere
from tests.server.running import COUNT, Beside

from sfumato.noise.entropy import random_bytes
from sfumato.server.config import LimitsEntry
from sfumato.server.gateway.answering import Ask, AskRequest, asked_in
from sfumato.server.gateway.desks import Errand
from sfumato.server.identity.people import Grant, Role

ASK = "/datasets/clinic/ask"


def ask(client, sql, epsilon="0.25", *, key=None, path=ASK, **rest):
    headers = {} if key is None else {"Idempotency-Key": key}
    return client.post(path, json={"sql": sql, "epsilon": epsilon, **rest}, headers=headers)


def spent(beside, account):
    return Fraction(beside.gateway.ledger.spent(account).epsilon)


@pytest.fixture
def ann(beside):
    with beside.client("ann") as client:
        yield client


@pytest.fixture
def bob(beside):
    with beside.client("bob") as client:
        yield client


def test_45_the_same_query_gets_the_same_bytes_and_is_charged_once(curator, beside, ann, fresh):
    """Catalogue 45: also without spaces, by another gateway of the same server, and by one that has just started."""
    sql, before = fresh(), spent(beside, "clinic/ann")
    first, again = ask(ann, sql), ask(ann, sql)
    spaced = json.dumps({"epsilon": "0.25", "sql": sql}, indent=4)
    spelled = ann.post(ASK, content=spaced, headers={"Content-Type": "application/json"})
    with curator.client("ann") as elsewhere:
        other = ask(elsewhere, sql)
    started = Beside(curator)
    with started.client("ann") as later:
        restarted = ask(later, sql)
    started.stop()
    assert {answer.content for answer in (first, again, spelled, other, restarted)} == {first.content}
    assert [first.headers["Sfumato-Reused"], again.headers["Sfumato-Reused"]] == ["false", "true"]
    assert restarted.headers["Sfumato-Reused"] == "true"
    assert spent(beside, "clinic/ann") - before == Fraction("0.25")


def test_48_nobody_gets_the_answer_of_another_account(beside, ann, bob, fresh):
    """Catalogue 48: another account pays, gets other noise, and hears nothing of who asked before."""
    sql, before = fresh(), spent(beside, "clinic/bob")
    mine, theirs = ask(ann, sql), ask(bob, sql)
    assert theirs.headers["Sfumato-Reused"] == "false"
    assert spent(beside, "clinic/bob") - before == Fraction("0.25")
    assert mine.json()["ids"] != theirs.json()["ids"]
    noise = [answer.json()["releases"][0]["groups"] for answer in (mine, theirs)]
    assert noise[0] != noise[1] or mine.content != theirs.content
    assert bob.get(mine.headers["Location"].removeprefix("/v1")).status_code == 404


def test_46_another_spelling_is_free_or_is_charged(beside, ann, fresh):
    """Catalogue 46: with the same meaning it is the same answer under its own text."""
    sql, before = fresh(), spent(beside, "clinic/ann")
    first, spelled = ask(ann, sql), ask(ann, sql.replace("COUNT(*)", "count( * )").replace("<>", " <> "))
    assert spent(beside, "clinic/ann") - before == Fraction("0.25")
    assert first.json()["releases"][0]["groups"] == spelled.json()["releases"][0]["groups"]


@pytest.mark.parametrize(
    "changed",
    [
        {"epsilon": "0.5"}, {"mechanism": "gaussian", "delta": "1e-6"}, {"confidence": "0.9"}, {"intervals": True},
        {"size": 100}, {"sql": "SELECT COUNT(*) AS n FROM clinic WHERE age < 7"},
    ],
    ids=str,
)  # fmt: skip
def test_47_whatever_an_answer_depends_on_tells_two_apart(ann, changed):
    """Catalogue 47: also at the place where answers are at hand."""
    asked = {"sql": "SELECT QUANTILE(age, 0.5) AS m, COUNT(*) AS n FROM clinic", "epsilon": "0.3"}
    if "mechanism" in changed or "size" in changed or "sql" in changed:
        asked["sql"] = "SELECT AVG(age) AS m FROM clinic"
    for _ in range(2):
        first, other = (ann.post(ASK, json=body) for body in (asked, asked | changed))
        assert (first.status_code, other.status_code) == (200, 200), other.text
        assert first.content != other.content


def test_parameters_are_part_of_what_is_asked(beside, ann):
    before = spent(beside, "clinic/ann")
    answers = [ask(ann, "SELECT COUNT(*) AS n FROM clinic WHERE age < $1", parameters=[age]) for age in (20, 30, 20)]
    assert [answer.status_code for answer in answers] == [200] * 3
    assert answers[0].content == answers[2].content != answers[1].content
    assert spent(beside, "clinic/ann") - before == Fraction("0.5")


def test_41_a_key_is_for_one_query_of_one_person(beside, ann, bob, fresh):
    """Catalogue 41: the same bytes again; another query under it is refused, whether or not its answer is at hand."""
    sql, other, known, before = fresh(), fresh(), fresh(), spent(beside, "clinic/ann")
    first, again = ask(ann, sql, key="k1"), ask(ann, sql, key="k1")
    assert first.content == again.content
    ask(ann, known)
    ask(ann, known)
    for sent in (other, known):
        conflict = ask(ann, sent, key="k1")
        assert (conflict.status_code, conflict.json()["error"]) == (409, "ReservationError")
    assert spent(beside, "clinic/ann") - before == Fraction("0.5")
    assert ask(bob, other, key="k1").status_code == 200


def test_41_two_people_on_one_account_have_keys_of_their_own(beside, fresh):
    """Catalogue 41: whoever guesses another's key learns nothing by it."""
    people, keys = beside.gateway.people, beside.gateway.keys
    people.add("dan")
    people.grant("dan", Grant("clinic", Role.ANALYST, "clinic/ann"))
    with beside.client("ann") as ann, beside.client(token=keys.make("dan").token) as dan:
        assert ask(ann, fresh(), key="k2").status_code == 200
        assert ask(dan, fresh(), key="k2").status_code == 200


def test_a_grant_that_is_taken_away_takes_what_is_at_hand_away(beside, fresh):
    people, keys, sql = beside.gateway.people, beside.gateway.keys, fresh()
    people.add("eva")
    people.grant("eva", Grant("clinic", Role.ANALYST, "clinic/bob"))
    with beside.client(token=keys.make("eva").token) as eva:
        first = ask(eva, sql)
        assert ask(eva, sql).content == first.content
        people.revoke("eva", "clinic")
        release = first.headers["Location"].removeprefix("/v1")
        assert [ask(eva, sql).status_code, eva.get(release).status_code] == [404, 404]
        people.grant("eva", Grant("clinic", Role.AUDITOR))
        assert [ask(eva, sql).status_code, eva.get(release).status_code] == [403, 404]


def test_49_another_version_of_the_data_is_asked_anew(beside, ann, fresh):
    """Catalogue 49, 47: what is at hand is of one version; the one before comes back with it."""
    sql, before = fresh(), spent(beside, "clinic/ann")
    with beside.client("olga") as olga:
        now = olga.get("/datasets/clinic").json()["data_version"]
        answers = [ask(ann, sql), ask(ann, sql)]
        for version in ("49", now):
            published = olga.post("/datasets/clinic/versions", json={"data_version": version})
            assert published.json()["data_version"] == version, published.text
            answers.append(ask(ann, sql))
    assert [answer.headers["Sfumato-Reused"] for answer in answers] == ["false", "true", "false", "true"]
    assert answers[0].content == answers[1].content == answers[3].content != answers[2].content
    assert answers[2].json()["releases"][0]["receipt"]["data_version"] == "49"
    assert spent(beside, "clinic/ann") - before == Fraction("0.5")


def test_a_batch_is_answered_together_and_again(beside, ann, fresh):
    queries, before = [{"sql": fresh()}, {"sql": COUNT}, {"sql": fresh()}], spent(beside, "clinic/ann")
    first, again = (ann.post(ASK, json={"queries": queries, "epsilon": "0.75"}) for _ in range(2))
    assert first.content == again.content
    assert len(first.json()["releases"]) == len(first.json()["ids"]) == 3
    assert spent(beside, "clinic/ann") - before == Fraction("0.75")


def test_a_target_error_is_what_it_costs(beside, ann, fresh):
    sql, before = fresh(), spent(beside, "clinic/ann")
    answer = ann.post(ASK, json={"sql": sql, "error": {"n": 20}})
    assert answer.status_code == 200, answer.text
    assert answer.json()["releases"][0]["receipt"]["request"]
    assert 0 < spent(beside, "clinic/ann") - before < 1


SAYS_TOO_LITTLE_OR_TOO_MUCH = [
    {}, {"sql": COUNT}, {"sql": COUNT, "plan": "x", "epsilon": 1}, {"queries": [], "epsilon": 1},
    {"queries": [{}], "epsilon": 1}, {"sql": COUNT, "epsilon": 1, "error": {"n": 1}}, {"plan": "x", "epsilon": 1},
    {"queries": [{"sql": COUNT}], "error": {"n": 1}}, {"sql": COUNT, "epsilon": "-1"}, {"sql": COUNT, "epsilon": "x"},
    {"sql": COUNT, "epsilon": "1e5000"}, {"sql": COUNT, "epsilon": "nan"},
    {"sql": COUNT, "epsilon": 1, "confidence": 2}, {"sql": COUNT, "epsilon": 1, "size": -1},
    {"sql": COUNT, "epsilon": 1, "delta": "2"}, {"sql": COUNT, "epsilon": 1, "size": 10**300},
    {"sql": COUNT, "epsilon": 1, "parameters": [[]]}, {"sql": COUNT, "error": {"n": "nothing"}},
    {"sql": COUNT, "error": {"nobody": 1}}, {"sql": "x" * 100_001, "epsilon": 1}, {"sql": "", "epsilon": 1},
    {"plan": "{}", "epsilon": 1, "parameters": [1]}, {"sql": "SELECT 1; SELECT 2", "epsilon": 1},
    {"sql": "SELECT \x00", "epsilon": 1}, {"sql": "(" * 10_000 + ")" * 10_000, "epsilon": 1},
]  # fmt: skip


@pytest.mark.parametrize("body", SAYS_TOO_LITTLE_OR_TOO_MUCH, ids=lambda body: json.dumps(body)[:60])
def test_42_what_means_nothing_is_refused_and_costs_nothing(beside, ann, body):
    """Catalogue 42: before data is touched, and with what would help."""
    before = spent(beside, "clinic/ann")
    answer = ann.post(ASK, json=body)
    if "size" in body and answer.status_code == 200:
        return
    assert answer.status_code == 422, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert len(answer.content) < 10_000
    assert spent(beside, "clinic/ann") == before


def test_questions_are_made_of_a_request(beside):
    served, datasets = beside.gateway.datasets.served("clinic"), beside.gateway.datasets
    view = datasets.view(served, "clinic/ann", Errand(datasets.line("clinic")))
    asked = asked_in(Ask(queries=[{"sql": COUNT}, {"sql": COUNT}], epsilon="0.1"), view, LimitsEntry())
    assert (asked.is_batch, len(asked.questions), asked.epsilon()) == (True, 2, "0.1")


def test_what_is_at_hand_takes_so_much_room(beside, ann, fresh, monkeypatch):
    from sfumato.server.gateway import answering

    monkeypatch.setattr(answering, "_MOST_KEPT", 2)
    asked = [fresh() for _ in range(4)]
    for sql in asked:
        ask(ann, sql)
    shown, own = beside.gateway.shown, {"dataset": "clinic", "account": "clinic/ann", "person": "ann", "key": "ann:x"}
    found = [shown.find(AskRequest(**own, ask=Ask(sql=sql, epsilon="0.25"))) for sql in asked]
    assert [one is not None for one in found] == [False, False, True, True]
    assert shown._bytes == sum(len(one.body) for one in shown._known.values())


# Fits

BAYES = {"estimator": "GaussianNB", "arguments": {"epsilon": "0.5"}, "target": "sex"}
TREES = {"estimator": "RandomForestClassifier", "arguments": {"epsilon": "0.25", "n_estimators": 3}, "target": "sex"}


@pytest.fixture(scope="module")
def planning(curator):
    """A gateway that plans fits in this process."""
    opened = Beside(curator)
    opened.gateway.planner = opened.gateway.shown._planner = PlannerHere()
    yield opened
    opened.stop()


def fit(client, entry, *, sql="SELECT age, sex FROM clinic", key=None, what="ask", **more):
    """The response to a fit; the first one of a process loads for long, and is asked for again under its key."""
    headers = {"Idempotency-Key": key or random_bytes(8).hex()}
    while True:
        found = client.post(f"/datasets/clinic/{what}", json={"sql": sql, "fit": entry, **more}, headers=headers)
        if found.status_code != 202:
            return found


def test_models_are_charged_once_kept_and_shown_to_their_account_alone(curator, planning):
    with planning.client("ann") as ann, planning.client("bob") as bob:
        before, other = spent(planning, "clinic/ann"), spent(planning, "clinic/bob")
        first, again = fit(ann, BAYES, key="fit"), fit(ann, BAYES, key="fit")
        forest, theirs = fit(ann, TREES), fit(bob, BAYES)
        assert [one.status_code for one in (first, again, forest, theirs)] == [200] * 4, first.text
        assert (first.content, again.headers["Sfumato-Reused"]) == (again.content, "true")
        assert spent(planning, "clinic/ann") - before == Fraction("0.75")
        assert spent(planning, "clinic/bob") - other == Fraction("0.5")
        (model,) = first.json()["models"]
        assert model["model"] != theirs.json()["models"][0]["model"]
        assert (model["receipt"]["guarantee"]["epsilon"], model["reused"]) == ("1/2", False)
        assert "trees" in forest.json()["models"][0]["model"]
        kept = first.headers["Location"].removeprefix("/v1")
        assert ann.get(kept).json() == model
        assert (bob.get(kept).status_code, ann.get(f"{kept}?format=csv").status_code) == (404, 422)
        assert kept.rpartition("/")[2] in {one["id"] for one in ann.get("/releases?dataset=clinic&limit=1000").json()}
        assert fit(ann, TREES, key="fit").status_code == 409
    started = Beside(curator)
    started.gateway.planner = started.gateway.shown._planner = planning.gateway.planner
    with started.client("ann") as later:
        assert fit(later, BAYES).content == first.content
    started.stop()


BAD = {
    "no estimator": {"target": "sex"},
    "another class": BAYES | {"estimator": "Gateway"},
    "another argument": BAYES | {"arguments": {"epsilon": 1, "fit": 1}},
    "no epsilon": BAYES | {"arguments": {}},
    "too much": BAYES | {"arguments": {"epsilon": 10**9}},
    "no target": BAYES | {"target": "wage"},
    "another plan": BAYES | {"plan": "0" * 64},
    "unlisted fields": BAYES | {"price": 0},
}


@pytest.mark.parametrize("name", BAD)
def test_bad_fits_are_refused_before_a_charge(planning, name):
    with planning.client("ann") as ann:
        before = spent(planning, "clinic/ann")
        assert fit(ann, BAD[name]).status_code == (402 if name == "too much" else 422)
        assert spent(planning, "clinic/ann") == before


def test_fits_are_estimated_for_nothing_and_have_no_other_answers(planning):
    with planning.client("ann") as ann, planning.client("olga") as olga:
        before = spent(planning, "clinic/ann")
        shown = fit(ann, BAYES, what="estimate").json()
        assert (shown["cost"]["epsilon"], shown["rows_per_unit"]) == ("1/2", 1)
        assert [fit(ann, BAYES, what=what).status_code for what in ("dry-run", "from-releases")] == [422, 422]
        assert fit(ann, BAYES, epsilon=1).status_code == 422
        assert fit(olga, BAYES).status_code == 403
        assert spent(planning, "clinic/ann") == before
