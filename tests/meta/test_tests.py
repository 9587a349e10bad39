"""Tests mirror the source: whoever reads src/sfumato/x/y.py finds tests/x/test_y.py."""

import ast
import re

import pytest
from tests.meta.repository import ROOT, SOURCE, modules, name, texts, tree

WITHOUT = {
    "accounting/accountant.py": "a role: its contract is tests/accounting/contract.py, which every accountant inherits",
    "accounting/profiles/profile.py": "a role and a pair of it: every profile is tested by assert_is_a_profile",
    "version.py": "one constant, which the command line's tests print",
}

OF_NO_PACKAGE = {
    "attacks_on_ledgers": "adversaries who want more than their budget, and what they may break",
    "attacks_on_questions": "adversaries who ask whole sessions and know no module",
    "attacks_through_curators": "the attacks, against whole sessions",
    "audits_of_everything": "audits of all that releases anything",
    "examples": "the scripts in examples/",
    "meta": "the project itself",
    "mutations": "the suite itself",
    "query/worked": "whole questions, each with an answer worked out by other means",
}


def mirrored():
    return [path for path in modules() if path.stem not in {"__init__", "__main__"} and inside(path) not in WITHOUT]


def inside(path):
    return path.relative_to(SOURCE).as_posix()


def twin(path):
    return ROOT / "tests" / path.relative_to(SOURCE).with_name(f"test_{path.name}")


def files_of_tests():
    """Files of tests, however deep they lie."""
    return [path for path in texts() if path.is_relative_to(ROOT / "tests") and path.match("test_*.py")]


def functions_that_test(module):
    return [
        node
        for node in ast.walk(module)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
    ]


@pytest.mark.parametrize("path", mirrored(), ids=name)
def test_every_module_has_its_tests(path):
    assert twin(path).is_file(), f"{name(path)} must have {name(twin(path))}"


def test_every_folder_of_tests_is_of_a_package_or_says_what_it_is_of():
    folders = {path.parent.relative_to(ROOT / "tests").as_posix() for path in files_of_tests()}
    assert sorted(folder for folder in folders - set(OF_NO_PACKAGE) if not (SOURCE / folder).is_dir()) == []
    assert sorted(set(OF_NO_PACKAGE) - folders) == []


@pytest.mark.parametrize("entry", sorted(WITHOUT))
def test_an_exception_is_of_a_module_that_exists_and_has_no_tests(entry):
    assert (SOURCE / entry).is_file()
    assert not twin(SOURCE / entry).exists()


@pytest.mark.parametrize("path", files_of_tests(), ids=name)
def test_a_test_file_has_tests_and_none_is_skipped(path):
    inherited = any(isinstance(node, ast.ClassDef) and node.bases for node in tree(path).body)
    assert functions_that_test(tree(path)) or inherited
    assert re.search(r"pytest\.(mark\.)?skip\b", texts()[path]) is None
