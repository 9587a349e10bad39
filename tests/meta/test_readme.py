"""The README shows what really runs: its first Python blocks, one after the other, on Adult."""

import ast
import re

import pytest
from tests.meta.repository import ROOT

import sfumato as sf

README = (ROOT / "README.md").read_text("utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```\n(?:^```\n(.*?)^```)?", README, re.MULTILINE | re.DOTALL)
"""Code, and what it shows, if that is shown below."""


@pytest.fixture
def ran(tmp_path, monkeypatch):
    """The names that the first blocks leave, and what the last line of each gives."""
    monkeypatch.chdir(tmp_path)
    names = {}
    names["shown"] = [value_of(code, names) for code, _ in BLOCKS[:3]]
    yield names
    names["people"].close()


def value_of(code, names):
    """Runs the README's own code, as a notebook does."""
    *before, last = ast.parse(code).body
    exec(compile(ast.Module(before, []), "README.md", "exec"), names)  # noqa: S102 # the README's own code
    return eval(compile(ast.Expression(last.value), "README.md", "eval"), names)  # noqa: S307 # the same


def without_figures(text):
    """Text with every digit alike: figures of noise differ from run to run."""
    return re.sub(r"\d", "0", text).strip()


def test_the_blocks_of_the_readme_run_and_spend_what_they_say(ran):
    assert ran["people"].spent == sf.PureDP("0.4")
    assert "ε 0.6" in repr(ran["people"])


def test_the_answers_of_the_readme_look_as_it_shows_them(ran):
    for (_, shown), release in zip(BLOCKS[:2], ran["shown"][:2], strict=True):
        assert without_figures(repr(release)) == without_figures(shown)


def test_the_question_of_the_readme_has_the_error_it_shows(ran):
    sql = "SELECT sex, COUNT(*) AS n, AVG(hours_per_week) AS hours FROM people GROUP BY sex"
    assert ", ".join(map(str, ran["people"].query(sql).error(epsilon="0.2"))) in README
