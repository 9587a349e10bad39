"""Tests mirror the source: whoever reads src/sfumato/x/y.py finds tests/x/test_y.py."""

import re

from tests.meta.repository import ROOT, SOURCE, inside, modules, name, offenders, text, texts

WITHOUT = {
    "version.py": "one constant, which the command line's tests print",
}

OF_NO_PACKAGE = {
    "acceptance": "statements that somebody wrote who had not seen the code",
    "attacks_on_ledgers": "adversaries who want more than their budget, and what they may break",
    "attacks_on_questions": "adversaries who ask whole sessions and know no module",
    "attacks_on_servers": "clients who race, kill, time and load whole servers over HTTP",
    "attacks_through_curators": "the attacks, against whole sessions",
    "audits_of_everything": "audits of all that releases anything",
    "examples": "the scripts in examples/",
    "meta": "the project itself",
    "mutations": "the suite itself",
    "query/worked": "whole questions, each with an answer worked out by other means",
}

TEST = re.compile(r"^ *(async )?def test_", re.MULTILINE)
INHERITS = re.compile(r"^class \w+\([^)]", re.MULTILINE)
SKIPPED = re.compile(r"pytest\.(mark\.)?skip\b")


def mirrored():
    return [path for path in modules() if path.stem not in {"__init__", "__main__"} and inside(path) not in WITHOUT]


def twin(path):
    return ROOT / "tests" / path.relative_to(SOURCE).with_name(f"test_{path.name}")


def files_of_tests():
    """Files of tests, however deep they lie."""
    return [path for path in texts() if path.is_relative_to(ROOT / "tests") and path.match("test_*.py")]


def without_use(content):
    """What is wrong with a file of tests: none of its own or inherited, or some that are skipped."""
    has_tests = TEST.search(content) or INHERITS.search(content)
    return [*([] if has_tests else ["has no tests"]), *(["skips tests"] if SKIPPED.search(content) else [])]


def test_every_module_has_its_tests():
    wanted = {path: twin(path) for path in mirrored()}
    assert offenders((path, [f"must have {name(file)}"]) for path, file in wanted.items() if not file.is_file()) == []


def test_every_folder_of_tests_is_of_a_package_or_says_what_it_is_of():
    folders = {path.parent.relative_to(ROOT / "tests").as_posix() for path in files_of_tests()}
    assert sorted(folder for folder in folders - set(OF_NO_PACKAGE) if not (SOURCE / folder).is_dir()) == []
    assert sorted(set(OF_NO_PACKAGE) - folders) == []


def test_exceptions_are_of_modules_that_exist_and_have_no_tests():
    assert [entry for entry in WITHOUT if not (SOURCE / entry).is_file() or twin(SOURCE / entry).exists()] == []


def test_every_file_of_tests_has_some_and_none_is_skipped():
    assert offenders((path, without_use(text(path))) for path in files_of_tests()) == []


def test_a_file_without_tests_and_a_skipped_test_are_seen():
    assert without_use("def helper(): ...\nclass TestNothing: ...\n") == ["has no tests"]
    assert without_use("class TestIt(Contract): ...\n") == []
    assert without_use("class TestIt:\n    async def test_it(self): ...\n") == []
    for skip in ("mark.skip", "mark.skip(reason='later')", "skip('later')"):
        assert without_use(f"def test_it(): ...\npytest.{skip}") == ["skips tests"]
