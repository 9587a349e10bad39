"""The page that says which test holds each item of the catalogue of attacks names tests that are there."""

import ast
import re
import unicodedata

import pytest
from tests.meta.repository import ROOT, modules, text

PAGE = (ROOT / "docs" / "reference" / "test-catalogue.md").read_text("utf-8")
ROWS = {int(number): said for number, said in re.findall(r"^\| (\d+) \| [^|]+ \| ([^|]+) \|$", PAGE, re.MULTILINE)}
NAMED = re.compile(r"`([\w/]+\.py)::(test_\w+)`")
FORBIDDEN = {"pickle", "cPickle", "dill", "shelve", "marshal", "yaml", "cloudpickle", "eval", "exec"}
WORDS = re.compile(rf"\b(?:{'|'.join(sorted(FORBIDDEN))})\b")


def test_every_number_has_a_row_and_every_row_a_test_or_a_reason():
    assert list(ROWS) == [*range(27, 81), *range(84, 89)]
    assert [number for number, said in ROWS.items() if not NAMED.findall(said) and not said.strip().endswith(".")] == []


@pytest.mark.parametrize("number", ROWS)
def test_the_tests_that_a_row_names_exist(number):
    missing = [
        f"{path}::{name}"
        for path, name in NAMED.findall(ROWS[number])
        if not (ROOT / "tests" / path).is_file() or f"def {name}(" not in (ROOT / "tests" / path).read_text("utf-8")
    ]
    assert missing == []


def forbidden(source):
    """What a source imports or calls that is forbidden; one without such a word, as Python reads it, is not parsed."""
    return FORBIDDEN.intersection(imported(source)) if WORDS.search(unicodedata.normalize("NFKC", source)) else set()


def imported(source):
    """The packages that a module imports, and the functions that it calls by name."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.partition(".")[0]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield node.func.id


def test_65_nothing_that_is_read_can_run():
    """Catalogue 65: no module unpickles, evaluates or reads YAML."""
    found = {path: forbidden(text(path)) for path in modules()}
    assert {path: names for path, names in found.items() if names} == {}
    for source in ("import pickle\neval('1')", "import pickle\n\uff45val('1')"):  # of which Python makes the same
        assert forbidden(source) == {"pickle", "eval"}


def test_79_what_is_installed_is_pinned_by_its_hash():
    """Catalogue 79: each requirement of each list names a version and at least one hash."""
    for name in ("core", "test"):
        text = (ROOT / "requirements" / f"{name}.txt").read_text("utf-8").replace("\\\n", " ")
        lines = [line for line in text.splitlines() if line.strip() and not line.strip().startswith(("#", "-"))]
        assert lines
        assert [line for line in lines if "==" not in line or "--hash=sha256:" not in line] == []
