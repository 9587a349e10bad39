"""The pages on adding things name files that exist, and their examples run and print what they show."""

import re

import pytest
from tests.meta.repository import ROOT, offenders, text

FOLDER = ROOT / "docs" / "how-to" / "add"
PAGES = sorted(path for path in FOLDER.glob("*.md") if path.name != "README.md")
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n^```\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"`((?:src|tests|proofs|docs|benchmarks|examples)/[\w./-]*)`")
"""A file or folder of the project; those with <a part to choose> are none."""


def missing(page):
    return [named for named in NAMED.findall(page) if not (ROOT / named).exists()]


def test_the_index_lists_every_page():
    listed = re.findall(r"\]\((\w+\.md)\)", text(FOLDER / "README.md"))
    assert sorted(listed) == [page.name for page in PAGES]


def test_every_file_that_a_page_names_exists():
    assert offenders((page, missing(text(page))) for page in PAGES) == []
    assert missing("`src/sfumato/nowhere.py` and `tests/<kind>/x.py`") == ["src/sfumato/nowhere.py"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_page_lists_files_in_order(page):
    rows = re.findall(r"^\| (\d+) \| ", text(page), re.MULTILINE)
    assert rows == [str(number) for number in range(1, len(rows) + 1)]
    assert len(rows) > 2


@pytest.mark.statistical
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_examples_of_a_page_run_and_print_what_they_show(page, tmp_path, monkeypatch, capsys):
    """Audits and attacks in them err with a probability of 1e-6."""
    monkeypatch.chdir(tmp_path)
    names: dict = {"__name__": "page"}
    blocks = BLOCK.findall(text(page))
    assert blocks
    for code, shown in blocks:
        exec(compile(code, page.name, "exec"), names)  # noqa: S102 # the page's own code
        assert capsys.readouterr().out.strip() == shown.strip()
