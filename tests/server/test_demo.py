"""`sfumato serve --demo`, as somebody tries it: one question by curl's way gets one stored answer, charged once."""

import re
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

QUESTION = {"sql": "SELECT sex, COUNT(*) AS n FROM adult GROUP BY sex", "epsilon": "0.1"}
SECONDS = 60


@pytest.fixture(scope="module")
def demo():
    """The lines that it prints, and its process."""
    command = [sys.executable, "-m", "sfumato", "serve", "--demo", "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    lines, end = [], time.monotonic() + SECONDS
    while not any("sfumato query --url" in line for line in lines) and time.monotonic() < end:
        lines.append(process.stdout.readline())
    yield "".join(lines), process
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=SECONDS)


@pytest.fixture
def client(demo):
    """Clients with the keys that it prints."""
    with ExitStack() as opened:
        shown = demo[0]

        def made(person):
            url = re.search(r"http://127\.0\.0\.1:\d+", shown)[0]
            key = re.search(rf"^  {person} .* (sfk_\w+)$", shown, re.MULTILINE)[1]
            headers = {"Authorization": f"Bearer {key}"}
            return opened.enter_context(httpx.Client(base_url=f"{url}/v1", headers=headers, timeout=SECONDS))

        yield made


def spent(ann):
    (account,) = ann.get("/datasets/adult/accounts").json()
    return account["spent"]["epsilon"]


def test_it_prints_an_address_keys_and_three_lines_to_try(demo):
    shown, _ = demo
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
    assert (before, spent(ann)) == ("0", "1/10")


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


def test_the_gateway_has_loaded_neither_duckdb_nor_arrow(demo, client):
    ann = client("ann")
    for route in ("estimate", "dry-run", "ask"):
        assert ann.post(f"/datasets/adult/{route}", json=QUESTION).status_code == 200
    (release,) = ann.post("/datasets/adult/ask", json=QUESTION).json()["ids"]
    for form in ("json", "csv", "arrow", "parquet"):
        assert ann.get(f"/releases/{release}", params={"format": form}).status_code == 200
    commands = {each: Path(f"/proc/{each}/cmdline").read_text() for each in children_of(demo[1].pid)}
    (gateway,) = (each for each, command in commands.items() if "gateway" in command)
    loaded = Path(f"/proc/{gateway}/maps").read_text()
    assert "numpy" in loaded
    assert not re.search("duckdb|arrow", loaded)
    others = [each for each in commands if "forkserver" in commands[each]]
    assert any("duckdb" in Path(f"/proc/{each}/maps").read_text() for each in others)
