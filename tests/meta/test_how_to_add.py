"""The pages on adding things name files that exist, and their examples run and print what they show."""

import re
import shutil
import subprocess
import sys

import pytest
from tests.meta.repository import ROOT, SOURCE, offenders, text

FOLDER = ROOT / "docs" / "how-to" / "add"
PAGES = sorted(path for path in FOLDER.glob("*.md") if path.name != "README.md")
STATISTIC = FOLDER / "statistic.md"
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
@pytest.mark.parametrize("page", [page for page in PAGES if page != STATISTIC], ids=lambda page: page.stem)
def test_the_examples_of_a_page_run_and_print_what_they_show(page, tmp_path, monkeypatch, capsys):
    """Audits and attacks in them err with a probability of 1e-6."""
    monkeypatch.chdir(tmp_path)
    names: dict = {"__name__": "page"}
    blocks = BLOCK.findall(text(page))
    assert blocks
    for code, shown in blocks:
        exec(compile(code, page.name, "exec"), names)  # noqa: S102 # the page's own code
        assert capsys.readouterr().out.strip() == shown.strip()


def test_a_statistic_is_one_file_and_its_place_in_the_registry(tmp_path):
    """The page's class is put into a copy of the package, whose SQL then has it."""
    (file, _), (code, shown) = BLOCK.findall(text(STATISTIC))
    package = tmp_path / "sfumato"
    shutil.copytree(SOURCE, package, ignore=shutil.ignore_patterns("__pycache__"))
    named, name = (
        re.search(r"^# src/sfumato/(\S+)\.py$", file, re.MULTILINE)[1],
        re.search(r"^class (\w+)", file, re.MULTILINE)[1],
    )
    (package / f"{named}.py").write_text(file, "utf-8")
    registry = package / "query" / "statistics" / "registry.py"
    before, start, after = registry.read_text("utf-8").partition("STATISTICS: Final[tuple[type[Statistic], ...]] = (")
    assert start
    imported = f"from sfumato.{named.replace('/', '.')} import {name}\n\n"
    registry.write_text(f"{before}{imported}{start}{name}, {after}", "utf-8")
    ran = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=False
    )
    assert ran.stderr == ""
    assert ran.stdout.strip() == shown.strip()
