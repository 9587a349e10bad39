"""The page on the ledger shows what really runs and what it really prints, but for times and hashes."""

import re
import shlex
import subprocess

import pytest
from tests.cli.commands import run
from tests.ledger import postgres_ledgers
from tests.meta.repository import ROOT

PAGE = (ROOT / "docs" / "how-to" / "ledger.md").read_text("utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
SERVER = "postgresql://keeper@db.example.org/books?ledger=hospital"
VARIES = re.compile(r"[0-9a-f]{64}|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ|\b[0-9a-f]{12}\b")


class Terminal:
    """Runs what the page shows, one block after the other, in a folder of its own."""

    def __init__(self, monkeypatch, capsys):
        self._names, self._monkeypatch, self._capsys = {}, monkeypatch, capsys
        self._server = postgres_ledgers.location("hospital")

    def python(self, code):
        exec(compile(code, "ledger.md", "exec"), self._names)  # noqa: S102 # the page's own code
        return self._capsys.readouterr().out

    def command(self, line):
        match shlex.split(line.replace(SERVER, self._server)):
            case ["sfumato", *arguments]:
                result = run(*arguments)
                return result.stdout + result.stderr
            case ["export", setting]:
                self._monkeypatch.setenv(*setting.split("=", 1))
            case other:
                subprocess.run(other, check=True)
        return ""


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
    for name in ("SFUMATO_LEDGER_FOLDER", "SFUMATO_LEDGER_CHECKPOINT"):
        monkeypatch.setenv(name, "")
    return Terminal(monkeypatch, capsys)


def test_what_the_page_shows_runs_in_order_and_prints_what_it_shows(terminal):
    assert len([kind for kind, _, _ in steps() if kind == "command"]) > 15
    for kind, text, shown in steps():
        assert alike(getattr(terminal, kind)(text)) == alike(shown), text
