"""The page on collecting reports shows what really runs; estimates, which are random, have their form alone."""

import re
import shlex

import numpy as np
import pytest
from tests.cli.commands import run
from tests.meta.repository import ROOT

PAGE = (ROOT / "docs" / "how-to" / "local.md").read_text("utf-8")
SESSIONS = re.findall(r"^\$ sfumato (.*)\n((?:(?!\$ |```).*\n)*)", PAGE, re.MULTILINE)
NUMBER = re.compile(r"\d\.\d{4}")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    drinks = np.repeat(["tea", "coffee", "water"], [5000, 3000, 2000])
    (tmp_path / "answers.csv").write_text("drink\n" + "\n".join(drinks) + "\n", "utf-8")
    return tmp_path


def lines(text):
    return [line for line in NUMBER.sub("#", text).splitlines() if line.strip()]


@pytest.mark.usefixtures("folder")
def test_the_commands_of_the_page_print_what_it_shows():
    assert len(SESSIONS) == 4
    for command, shown in SESSIONS:
        result = run(*shlex.split(command))
        assert result.exit_code == 0, result.output
        assert lines(result.stdout) == lines(shown)
    names = {}
    for code in re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL):
        exec(compile(code, "local.md", "exec"), names)  # noqa: S102 # the page's own code
    assert len(bytes(names["survey"].client().report("tea"))) == 6


def test_the_standard_error_of_the_page_is_that_of_its_variance():
    (n_var,) = re.findall(r"n·Var (\d\.\d+)", SESSIONS[0][1])
    assert f"√({n_var}/10,000) = {100 * (float(n_var) / 10_000) ** 0.5:.1f} percentage points" in PAGE
