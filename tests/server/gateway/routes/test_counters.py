"""Readers of a counter see what it has published, page by page; nobody else does, and nothing is charged."""

import pytest


@pytest.fixture
def ann(beside):
    with beside.client("ann") as found:
        yield found


def test_counters_are_listed_and_say_who_may_read_them(beside, ann):
    assert ann.get("/counters").json() == [
        {"name": "entries", "may_read": True}, {"name": "exits", "may_read": True},
    ]  # fmt: skip
    with beside.client("cem") as cem:
        assert [one["may_read"] for one in cem.get("/counters").json()] == [True, False]


def test_a_counter_says_what_all_its_steps_cost(ann):
    shown = ann.get("/counters/entries").json()
    assert (shown["account"], shown["horizon"], shown["last_step"], shown["labels"]) == ("entries", 40, 33, None)
    assert shown["receipt"]["guarantee"]["epsilon"] == "1"


def test_steps_are_read_page_by_page(ann):
    last = ann.get("/counters/entries/releases?limit=2").json()
    assert [one["step"] for one in last["steps"]] == [32, 33]
    assert last["steps"][-1]["values"][0] == pytest.approx(9_000, abs=2_000), "type-I error below 1e-12"
    steps, after = [], 0
    while found := ann.get(f"/counters/entries/releases?after={after}&limit=10").json()["steps"]:
        steps += [one["step"] for one in found]
        after = steps[-1]
    assert steps == list(range(1, 34))
    assert last["steps"][0]["half_width"] > 0


def test_whoever_is_no_reader_sees_nothing(beside):
    with beside.client("cem") as cem:
        for end in ("", "/releases"):
            answer = cem.get(f"/counters/exits{end}")
            assert (answer.status_code, answer.json()["error"]) == (403, "ForbiddenError")
            assert cem.get(f"/counters/nothing{end}").status_code == 404


def test_a_public_counter_is_for_everybody_who_signs_in(beside, monkeypatch):
    counters = beside.gateway.curator.counters
    monkeypatch.setitem(counters, "exits", counters["entries"].model_copy(update={"public": True, "readers": []}))
    with beside.client("cem") as cem:
        assert cem.get("/counters/exits").status_code == 200
    with beside.client() as nobody:
        assert nobody.get("/counters/exits").status_code == 401


def test_a_counter_that_has_published_nothing_is_unavailable(beside, ann):
    answer = ann.get("/counters/exits")
    assert answer.status_code == 503
    assert str(beside.gateway.curator.state.parent) not in answer.text


def test_a_part_that_is_none_is_refused(ann):
    for wrong in ("after=-1", "after=x", "limit=0", "limit=1000000"):
        assert ann.get(f"/counters/entries/releases?{wrong}").status_code == 422
