"""The project speaks of itself alone: no path of the machine it was written on, and nothing left for later."""

import re

from tests.meta.repository import SOURCE, offenders, texts

MACHINE_PATH = re.compile(r"(?<![\w.~$}])/(root|home|work|tmp/w)/")
UNFINISHED = re.compile(r"\braise NotImplementedError\b|\bTODO\b|\bFIXME\b")  # the system's own may be caught


def test_no_file_names_a_path_of_one_machine():
    assert offenders((path, MACHINE_PATH.findall(text)) for path, text in texts().items()) == []


def test_no_source_is_unfinished():
    sources = {path: text for path, text in texts().items() if path.is_relative_to(SOURCE)}
    assert offenders((path, UNFINISHED.findall(text)) for path, text in sources.items()) == []


def test_a_path_of_a_machine_is_seen():
    for folder in ("root", "home", "work", "tmp/w"):
        assert MACHINE_PATH.search(f"open('/{folder}/x.csv')"), folder
        assert not MACHINE_PATH.search(f"https://example.org/{folder}/x.csv"), folder


def test_only_what_is_raised_is_unfinished():
    assert UNFINISHED.search("raise NotImplementedError")
    assert not UNFINISHED.search("except NotImplementedError:")
