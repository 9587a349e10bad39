"""The project speaks of itself alone: no path of the machine it was written on, and nothing left for later."""

import re

import pytest
from tests.meta.repository import SOURCE, name, texts

MACHINE_PATH = re.compile(r"(?<![\w.~$}])/(root|home|work|tmp/w)/")
UNFINISHED = re.compile(r"\braise NotImplementedError\b|\bTODO\b|\bFIXME\b")  # the system's own may be caught


@pytest.mark.parametrize("path", texts(), ids=name)
def test_no_file_names_a_path_of_one_machine(path):
    assert MACHINE_PATH.findall(texts()[path]) == []


@pytest.mark.parametrize("path", [path for path in texts() if path.is_relative_to(SOURCE)], ids=name)
def test_no_source_is_unfinished(path):
    assert UNFINISHED.findall(texts()[path]) == []


@pytest.mark.parametrize("folder", ["root", "home", "work", "tmp/w"])
def test_a_path_of_a_machine_is_seen(folder):
    assert MACHINE_PATH.search(f"open('/{folder}/x.csv')")
    assert not MACHINE_PATH.search(f"https://example.org/{folder}/x.csv")


@pytest.mark.parametrize(
    ("line", "seen"), [("raise NotImplementedError", True), ("except NotImplementedError:", False)]
)
def test_only_what_is_raised_is_unfinished(line, seen):
    assert bool(UNFINISHED.search(line)) == seen
