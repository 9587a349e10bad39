"""The page on audits shows what really runs and what it really prints, but for figures and the words of findings."""

import os
import re
import shlex
import sys
from pathlib import Path

import pytest
from tests.cli.commands import run
from tests.meta.repository import ROOT

PAGE = (ROOT / "docs" / "how-to" / "audit.md").read_text("utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
VARIES = re.compile(r"(?<=^privacy violation \()(.*?\)): .*|(?<=lower bound: ε ≥ )\S+", re.MULTILINE)


def steps():
    """Each piece of Python, and each command, with what is shown below it."""
    for number, (language, text) in enumerate(BLOCKS):
        if language == "python":
            after, shown = BLOCKS[number + 1] if number + 1 < len(BLOCKS) else ("", "")
            is_output = after == "" and not shown.startswith(("$", "{"))
            yield "python", text, shown if is_output else ""
        elif text.startswith("$ "):
            line, _, shown = text.removeprefix("$ ").partition("\n")
            yield "command", line, shown


def alike(text):
    return [
        VARIES.sub(lambda found: found.group(1) or "#", line.rstrip()) for line in text.splitlines() if line.strip()
    ]


def python(code, names, capsys):
    exec(compile(code, "audit.md", "exec"), names)  # noqa: S102 # the page's own code
    return capsys.readouterr().out


def command(line):
    name, *arguments = shlex.split(line)
    assert name == "sfumato"
    result = run(*arguments)
    assert result.exit_code == ("privacy violation" in result.stdout), result.output
    return result.stdout + result.stderr


@pytest.mark.statistical
def test_what_the_page_shows_runs_in_order_and_prints_what_it_shows(tmp_path, monkeypatch, capsys):
    """What is refuted is refuted with a chance above 1 - 1e-6, what is not has a type-I error of 1e-6."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    names, kinds = {}, []
    for kind, text, shown in steps():
        printed = python(text, names, capsys) if kind == "python" else command(text)
        assert alike(printed) == alike(shown), text
        kinds.append(kind)
    assert (kinds.count("python"), kinds.count("command")) == (4, 5)
    sys.modules.pop("mine", None)


def test_the_page_names_every_command_and_says_what_a_pass_proves():
    assert all(f"sfumato audit {name}" in PAGE for name in ("mechanism", "sql", "callable", "command"))
    assert "A pass proves nothing" in PAGE
