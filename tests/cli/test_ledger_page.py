"""The pages on the ledger show what really runs and what it really prints, except times and hashes."""

import re
import shlex
import subprocess

import pytest
from tests.cli.commands import run
from tests.ledger import postgres_ledgers
from tests.meta.repository import ROOT

FOLDER = ROOT / "docs" / "how-to" / "ledger"
INDEX = (FOLDER / "README.md").read_text("utf-8")
PAGES = re.findall(r"^\| \d+ \| \[.*\]\((\w+\.md)\) \|$", INDEX, re.MULTILINE)
"""The pages in the order in which their commands run."""
BLOCKS = [
    block
    for page in PAGES
    for block in re.findall(r"^```(\w*)\n(.*?)^```", (FOLDER / page).read_text("utf-8"), re.MULTILINE | re.DOTALL)
]
SERVER = "postgresql://keeper@db.example.org/books?ledger=hospital"
VARIES = re.compile(r"[0-9a-f]{64}|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ|\b[0-9a-f]{12}\b")


class Terminal:
    """Runs what the pages show, one block after the other, in a folder of its own."""

    def __init__(self, monkeypatch, capsys):
        self._names, self._monkeypatch, self._capsys = {}, monkeypatch, capsys
        self._server = postgres_ledgers.location("hospital")

    def python(self, code):
        exec(compile(code, "page.md", "exec"), self._names)  # noqa: S102 # the pages' own code
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


def test_the_index_lists_every_page():
    assert sorted([*PAGES, "README.md"]) == sorted(path.name for path in FOLDER.iterdir())


def test_what_the_pages_show_runs_in_order_and_prints_what_they_show(terminal):
    assert len([kind for kind, _, _ in steps() if kind == "command"]) > 15
    for kind, text, shown in steps():
        assert alike(getattr(terminal, kind)(text)) == alike(shown), text
