"""Budgets: what each person sees of the tree, what owners change, and what needs a second one of them."""

from concurrent.futures import ThreadPoolExecutor

import pytest

BUDGET = {"epsilon": 1, "delta": "1e-6"}
LARGER = {"epsilon": 2, "delta": "1e-6"}


@pytest.fixture
def olga(beside):
    with beside.client("olga") as client:
        yield client


@pytest.fixture
def omar(beside):
    with beside.client("omar") as client:
        yield client


def opened(client, dataset, name, budget=BUDGET):
    made = client.post(f"/datasets/{dataset}/accounts", json={"name": name, "budget": budget})
    assert made.status_code == 201, made.text
    return f"/datasets/{dataset}/accounts/{name}"


def test_an_owner_opens_a_tree_and_everybody_sees_their_part(beside, olga):
    opened(olga, "clinic", "cardio")
    made = olga.get(opened(olga, "clinic", "cardio/lea")).json()
    assert (made["name"], made["state"], made["window"]) == ("clinic/cardio/lea", "open", None)
    assert olga.get(opened(olga, "clinic", "cardio/lea")).json() == made  # again, nothing happens
    with beside.client("ann") as ann, beside.client("aude") as aude:
        assert [one["name"] for one in ann.get("/datasets/clinic/accounts").json()] == ["clinic/ann"]
        everything = {one["name"] for one in aude.get("/datasets/clinic/accounts").json()}
        assert {"clinic", "clinic/ann", "clinic/cardio", "clinic/cardio/lea"} <= everything
        assert not any(name.startswith("visits") for name in everything)
        for path in ("cardio", "bob", "nobody"):
            hidden = ann.get(f"/datasets/clinic/accounts/{path}")
            assert (hidden.status_code, hidden.json()["error"]) == (404, "NotFoundError")
        assert ann.get("/datasets/clinic/accounts/ann/history").json()["account"] == "clinic/ann"
        assert ann.get("/datasets/clinic/accounts/history").status_code == 404
        assert aude.get("/datasets/clinic/accounts/history").json()["points"]


@pytest.mark.parametrize(
    "name",
    ["", "/", "a//b", "a/", "a b", "a\n", "é'", "none/ann", "x" * 151, "history", "ann/history", "budget", "ann/close"],
)
def test_names_of_accounts_are_such_that_addresses_can_have(olga, name):
    refused = olga.post("/datasets/clinic/accounts", json={"name": name, "budget": BUDGET})
    assert refused.status_code == (404 if name == "none/ann" else 422), refused.text


@pytest.mark.parametrize(
    "budget", [{}, {"epsilon": -1}, {"epsilon": 1, "rho": 1}, {"epsilon": "x"}, {"epsilon": 1e300, "x": 1}]
)
def test_a_budget_that_is_none_is_refused(olga, budget):
    assert olga.post("/datasets/clinic/accounts", json={"name": "never", "budget": budget}).status_code == 422


def test_an_account_that_is_open_with_another_budget_stays_as_it_is(olga):
    path = opened(olga, "clinic", "same")
    other = olga.post("/datasets/clinic/accounts", json={"name": "same", "budget": LARGER})
    assert other.status_code in {409, 422}, other.text
    assert olga.get(path).json()["budget"]["epsilon"] in {1, "1"}


def test_73_a_budget_changes_with_a_reason(beside, olga):
    """Catalogue 73: by an owner alone, and it is written down."""
    path = opened(olga, "clinic", "lia")
    assert olga.post(f"{path}/budget", json={"budget": LARGER}).status_code == 422
    assert olga.post(f"{path}/budget", json={"budget": LARGER, "reason": " \x00"}).status_code == 422
    changed = olga.post(f"{path}/budget", json={"budget": LARGER, "reason": "more\nqueries"})
    assert changed.json()["budget"]["epsilon"] in {2, "2"}
    assert (beside.acts()[-1].person, str(beside.acts()[-1].action)) == ("olga", "change_budget")
    with beside.client("ann") as ann, beside.client("admin") as admin:
        assert ann.post(f"{path}/budget", json={"budget": LARGER, "reason": "x"}).status_code == 403
        assert admin.post(f"{path}/budget", json={"budget": LARGER, "reason": "x"}).status_code == 404


def test_73_the_budget_of_the_dataset_itself_changes_as_others_do(olga):
    """Catalogue 73: its account stays, and cannot be closed."""
    before = olga.get("/datasets/clinic/accounts").json()[0]["budget"]
    wanted = {"epsilon": before["epsilon"], "delta": before["delta"]}
    more = olga.post("/datasets/clinic/accounts/budget", json={"budget": wanted | {"epsilon": 7_777}, "reason": "x"})
    assert (more.status_code, more.json()["name"], more.json()["budget"]["epsilon"]) == (200, "clinic", "7777")
    again = olga.post("/datasets/clinic/accounts/budget", json={"budget": wanted, "reason": "x"})
    assert again.json()["budget"] == before
    for path in ("accounts/close", "accounts//close"):
        assert olga.post(f"/datasets/clinic/{path}", json={"reason": "x"}).status_code in {404, 405}


def test_73_a_larger_budget_needs_a_second_owner(beside, olga, omar):
    """Catalogue 73: whoever asked does not decide, and what was decided stays."""
    path = opened(olga, "visits", "mia")
    smaller = olga.post(f"{path}/budget", json={"budget": {"epsilon": "0.5", "delta": "1e-6"}, "reason": "less"})
    assert smaller.status_code == 200
    asked = olga.post(f"{path}/budget", json={"budget": LARGER, "reason": "more"})
    assert asked.status_code == 202
    where = asked.headers["Location"].removeprefix("/v1")
    assert olga.get(path).json()["budget"]["epsilon"] in {0.5, "1/2", "0.5"}
    with beside.client("ann") as ann, beside.client("cem") as cem, beside.client("admin") as admin:
        assert [one.post(where, json={"granted": True}).status_code for one in (ann, cem, admin)] == [403, 404, 404]
        assert ann.get("/approvals").json() == []
    assert olga.post(where, json={"granted": True}).status_code == 403
    assert omar.post(where, json={"granted": 1}).status_code == 422
    assert asked.json()["approval"] in {one["id"] for one in omar.get("/approvals").json()}
    assert omar.post(where, json={"granted": True}).json()["state"] == "granted"
    assert olga.get(path).json()["budget"]["epsilon"] in {2, "2"}
    assert omar.post(where, json={"granted": False}).status_code == 422
    assert omar.post("/approvals/none", json={"granted": True}).text.replace("none", "x") != ""


def test_73_what_is_refused_changes_nothing(olga, omar):
    """Catalogue 73."""
    path = opened(olga, "visits", "nia")
    where = olga.post(f"{path}/budget", json={"budget": LARGER, "reason": "more"}).headers["Location"]
    assert omar.post(where.removeprefix("/v1"), json={"granted": False}).json()["state"] == "refused"
    assert olga.get(path).json()["budget"]["epsilon"] in {1, "1"}


def test_of_many_decisions_at_once_one_counts(beside, olga):
    """Granted and refused at the same moment, it is one of both, and the budget is what was decided."""
    path = opened(olga, "visits", "race")
    where = (
        olga.post(f"{path}/budget", json={"budget": LARGER, "reason": "more"}).headers["Location"].removeprefix("/v1")
    )
    with beside.client("omar") as omar, ThreadPoolExecutor(8) as threads:
        wanted = [True, False] * 4
        answers = list(threads.map(lambda granted: omar.post(where, json={"granted": granted}), wanted))
    states = {answer.json().get("state") for answer in answers if answer.status_code == 200}
    assert len(states) == 1
    assert olga.get(path).json()["budget"]["epsilon"] in ({2, "2"} if states == {"granted"} else {1, "1"})


def test_a_decision_whose_change_was_cut_off_is_made_by_deciding_again(beside, olga, omar, monkeypatch):
    """A gateway may end between a decision and the change."""
    path = opened(olga, "visits", "cut")
    where = (
        olga.post(f"{path}/budget", json={"budget": LARGER, "reason": "more"}).headers["Location"].removeprefix("/v1")
    )

    def end(*_, **__):
        raise OSError

    with monkeypatch.context() as patched:
        patched.setattr(beside.gateway.ledger, "change_budget", end)
        assert omar.post(where, json={"granted": True}).status_code == 500
    assert olga.get(path).json()["budget"]["epsilon"] in {1, "1"}
    assert omar.post(where, json={"granted": True}).json()["state"] == "granted"
    assert olga.get(path).json()["budget"]["epsilon"] in {2, "2"}


def test_a_closed_account_is_charged_no_more(beside, olga, fresh):
    from sfumato.server.identity.people import Grant, Role

    path = opened(olga, "clinic", "ora")
    beside.gateway.people.add("ora")
    beside.gateway.people.grant("ora", Grant("clinic", Role.ANALYST, "clinic/ora"))
    with beside.client(token=beside.gateway.keys.make("ora").token) as ora:
        asked = {"sql": fresh(), "epsilon": "0.1"}
        first = ora.post("/datasets/clinic/ask", json=asked)
        assert olga.post(f"{path}/close", json={"reason": "done"}).json()["state"] == "closed"
        assert ora.post("/datasets/clinic/ask", json=asked).content == first.content
        refused = ora.post("/datasets/clinic/ask", json={"sql": fresh(), "epsilon": "0.1"})
        assert refused.status_code in {402, 409, 503}, refused.text
        too_much = ora.post("/datasets/clinic/estimate", json=asked)
        assert too_much.status_code == 200
