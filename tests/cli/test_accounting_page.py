"""The page on accounting shows what really runs and what it really prints, to a thousandth."""

import re
import shlex

import pytest
from tests.cli.commands import run
from tests.meta.repository import ROOT

PAGE = (ROOT / "docs" / "how-to" / "accounting.md").read_text("utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e-\d+)?")


def assert_alike(shown, printed):
    assert NUMBER.sub("#", shown.strip()) == NUMBER.sub("#", printed.strip())
    figures = ([float(number) for number in NUMBER.findall(text)] for text in (shown, printed))
    for one, other in zip(*figures, strict=True):
        assert one == pytest.approx(other, rel=1e-3)


def test_the_python_of_the_page_prints_what_it_shows(capsys):
    names = {}
    shown = [BLOCKS[number + 1] for number, (language, _) in enumerate(BLOCKS) if language == "python"]
    for (language, output), code in zip(shown, (code for kind, code in BLOCKS if kind == "python"), strict=True):
        assert language == ""
        exec(compile(code, "accounting.md", "exec"), names)  # noqa: S102 # the page's own code
        assert_alike(output, capsys.readouterr().out)


def test_the_commands_of_the_page_print_what_it_shows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (releases,) = (text for language, text in BLOCKS if language == "json")
    (tmp_path / "releases.json").write_text(releases, "utf-8")
    sessions = re.findall(r"^\$ sfumato (.*)\n((?:(?!\$ |```).*\n)*)", PAGE, re.MULTILINE)
    assert len(sessions) == 4
    for command, output in sessions:
        assert_alike(output, run(*shlex.split(command)).stdout)
