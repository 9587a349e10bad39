"""The README shows what really runs: its first Python blocks, one after the other, on Adult."""

import re

import pytest
from tests.meta.repository import ROOT

import sfumato as sf

BLOCKS = re.findall(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE | re.DOTALL)


@pytest.fixture
def ran(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in BLOCKS[:3]:
        exec(compile(block, "README.md", "exec"), names)  # noqa: S102 # the README's own code
    yield names["people"]
    names["people"].close()


def test_the_blocks_of_the_readme_run_and_spend_what_they_say(ran):
    assert ran.spent == sf.PureDP("0.4")
    assert "ε 0.6" in repr(ran)


def test_the_question_of_the_readme_has_the_error_it_shows(ran):
    question = ran.query("SELECT sex, COUNT(*) AS n, AVG(hours_per_week) AS hours FROM people GROUP BY sex")
    assert ", ".join(map(str, question.error(epsilon="0.2"))) in (ROOT / "README.md").read_text("utf-8")
