"""`sfumato serve --demo`, as somebody tries it: one question by curl's way gets one stored answer, charged once."""

import re
from contextlib import ExitStack
from fractions import Fraction
from pathlib import Path

import httpx
import pytest
from tests.server.demonstrated import SECONDS, demo

QUESTION = {"sql": "SELECT sex, COUNT(*) AS n FROM adult GROUP BY sex", "epsilon": "0.1"}


@pytest.fixture
def client():
    """Clients with the keys that it prints."""
    with ExitStack() as opened:

        def made(person):
            headers = {"Authorization": f"Bearer {demo().keys[person]}"}
            return opened.enter_context(httpx.Client(base_url=f"{demo().url}/v1", headers=headers, timeout=SECONDS))

        yield made


def spent(ann):
    (account,) = ann.get("/datasets/adult/accounts").json()
    return Fraction(account["spent"]["epsilon"])


def test_it_prints_an_address_keys_and_three_lines_to_try():
    shown = demo().shown
    assert len(re.findall(r"sfk_[0-9a-f]{16}_[0-9a-f]{64}\n", shown)) == 4
    assert [word in shown for word in ("curl -s", "sf.connect", "sfumato query --url")] == [True] * 3


def test_a_question_gets_the_same_bytes_again_and_is_charged_once(client):
    ann = client("ann")
    before = spent(ann)
    first = ann.post("/datasets/adult/ask", json=QUESTION)
    again = ann.post("/datasets/adult/ask", json=QUESTION, headers={"Idempotency-Key": "again"})
    assert (first.status_code, again.status_code) == (200, 200)
    assert first.content == again.content
    assert again.headers["sfumato-reused"] == "true"
    assert spent(ann) - before == Fraction(1, 10)


def test_an_owner_and_strangers_get_no_answer(client):
    assert client("olga").post("/datasets/adult/ask", json=QUESTION).status_code == 403
    assert client("admin").post("/datasets/adult/ask", json=QUESTION).status_code == 404
    stranger = client("ann")
    stranger.headers["Authorization"] = "Bearer sfk_nobody"
    assert stranger.post("/datasets/adult/ask", json=QUESTION).status_code == 401


def children_of(process):
    """The processes below one, by their numbers."""
    found = []
    for task in Path(f"/proc/{process}/task").iterdir():
        for child in (task / "children").read_text().split():
            found += [int(child), *children_of(int(child))]
    return found


def test_the_gateway_has_loaded_neither_duckdb_nor_arrow(client):
    ann = client("ann")
    for route in ("estimate", "dry-run", "ask"):
        assert ann.post(f"/datasets/adult/{route}", json=QUESTION).status_code == 200
    (release,) = ann.post("/datasets/adult/ask", json=QUESTION).json()["ids"]
    for form in ("json", "csv", "arrow", "parquet"):
        assert ann.get(f"/releases/{release}", params={"format": form}).status_code == 200
    commands = {each: Path(f"/proc/{each}/cmdline").read_text() for each in children_of(demo().process.pid)}
    (gateway,) = (each for each, command in commands.items() if "gateway" in command)
    loaded = Path(f"/proc/{gateway}/maps").read_text()
    assert "numpy" in loaded
    assert not re.search("duckdb|arrow", loaded)
    others = [each for each in commands if "forkserver" in commands[each]]
    assert any("duckdb" in Path(f"/proc/{each}/maps").read_text() for each in others)
