"""The pages on the server show what really runs, and what it really prints, but for ids, keys and noise."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time

import httpx
import pytest
from tests.cli.commands import run
from tests.meta.repository import ROOT

FOLDER = ROOT / "docs" / "how-to" / "server"
INDEX = (FOLDER / "README.md").read_text("utf-8")
PAGES = re.findall(r"^\| \d+ \| \[.*\]\((\w+\.md)\) \|$", INDEX, re.MULTILINE)
SECONDS = 60
VARIES = re.compile(r"sfk_[\w…]+|\b[0-9a-f]{16}\b")
BLOCKS = [
    block
    for page in PAGES
    for block in re.findall(r"^```(\w*)\n(.*?)^```", (FOLDER / page).read_text("utf-8"), re.MULTILINE | re.DOTALL)
]


class Terminal:
    """Runs what the pages show, one block after the other, in a folder of its own.

    What a command printed last stands for the keys and ids that the page shows after it.
    """

    def __init__(self, folder, monkeypatch, capsys):
        self._folder, self._monkeypatch, self._capsys = folder, monkeypatch, capsys
        self._names, self._known, self._server, self._url = {}, {}, None, ""

    def python(self, code):
        exec(compile(code, "page.md", "exec"), self._names)  # noqa: S102 # the pages' own code
        file = self._folder / "curator.toml"
        file.write_text(file.read_text().replace(":8000", ":0"))
        return self._capsys.readouterr().out

    def command(self, line):
        for shown, real in sorted(self._known.items(), key=lambda pair: -len(pair[0])):
            line = line.replace(shown, real)
        match shlex.split(line):
            case ["sfumato", "serve", *arguments, "&"]:
                return self._serve(arguments)
            case ["sfumato", *arguments]:
                result = run(*[self._expanded(each) for each in arguments])
                return result.stdout + result.stderr
            case ["export", setting]:
                name, value = setting.split("=", 1)
                self._monkeypatch.setenv(name, self._url if name == "URL" else self._expanded(value))
            case ["api", path, key, *options]:
                return self._api(path, self._expanded(key), options)
            case ["api()", *_]:
                pass
            case other:
                raise AssertionError(other)
        return ""

    def learn(self, shown, printed):
        """Ids and keys on the page stand for those that were printed."""
        self._known.update(zip(VARIES.findall(shown), VARIES.findall(printed), strict=False))

    def stop(self):
        if self._server is not None:
            self._server.send_signal(signal.SIGTERM)
            self._server.communicate(timeout=SECONDS)

    def _serve(self, arguments):
        command = [sys.executable, "-m", "sfumato", "serve", *arguments]
        self._server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        printed = self._server.stdout.readline()
        self._url = printed.split()[-1]
        end = time.monotonic() + SECONDS
        while not self._is_ready() and time.monotonic() < end:
            time.sleep(0.05)
        return printed.replace(self._url, "http://127.0.0.1:8000")

    def _is_ready(self):
        try:
            return httpx.get(f"{self._url}/v1/ready", timeout=SECONDS).status_code == 200
        except httpx.TransportError:
            return False

    def _api(self, path, key, options):
        body = options[options.index("-d") + 1] if "-d" in options else None
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        method = "GET" if body is None else "POST"
        return httpx.request(method, f"{self._url}/v1/{path}", content=body, headers=headers, timeout=SECONDS).text

    def _expanded(self, text):
        return re.sub(r"\$(\w+)", lambda name: os.environ[name[1]], text)


def steps():
    """Each piece of Python, and each command, with what is shown below it."""
    for number, (language, text) in enumerate(BLOCKS):
        if language == "python":
            after, shown = BLOCKS[number + 1] if number + 1 < len(BLOCKS) else ("", "$")
            yield "python", text, shown if after == "" and not shown.startswith("$") else ""
        for line, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", text, re.MULTILINE):
            yield "command", line, shown


def alike(text):
    return [VARIES.sub("#", line.rstrip()) for line in text.splitlines() if line.strip()]


@pytest.fixture
def terminal(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    made = Terminal(tmp_path, monkeypatch, capsys)
    yield made
    made.stop()


def test_the_index_names_every_page():
    assert all(f"({path.name})" in INDEX for path in FOLDER.iterdir() if path.name != "README.md")


def test_what_the_pages_show_runs_in_order_and_prints_what_they_show(terminal):
    assert len([kind for kind, _, _ in steps() if kind == "command"]) > 25
    for kind, text, shown in steps():
        printed = getattr(terminal, kind)(text)
        terminal.learn(shown, printed)
        if shown:
            assert alike(printed) == alike(shown), text
        elif text.startswith("api "):
            assert "urn:sfumato:error" not in json.dumps(json.loads(printed)), printed
