"""Documents hold: citations have their entry, errors their page, guarantees their proof, and links their target."""

import ast
import inspect
import re
import runpy
import sys

import pytest
from tests.meta.repository import ROOT, SOURCE, documents, modules, name, texts, tree

import sfumato as sf
from sfumato import errors, mechanisms
from sfumato.privacy.events import DiscreteLaplaceEvent
from sfumato.query import statistics
from sfumato.query.functions import Function
from sfumato.query.handles import ColumnHandle
from sfumato.query.sql.grammar import FUNCTIONS

KEY = re.compile(r"\[([A-Z][A-Za-z]*\d\d[a-z]?)\]")
ENTRY = re.compile(r"^- \*\*\[([^\]]+)\]\*\* ", re.MULTILINE)
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.MULTILINE | re.DOTALL)
GUARANTEE = re.compile(r"^\s*(\*\*Guarantee\*\*|Guarantee:)", re.MULTILINE)
BIBLIOGRAPHY = ROOT / "docs" / "bibliography.md"
ERRORS = ROOT / "docs" / "reference" / "errors.md"
SQL = ROOT / "docs" / "reference" / "sql.md"
IMAGES = ROOT / "docs" / "images"
PROVED_PACKAGES = ("mechanisms", "noise", "accounting", "query", "engines", "ledger", "session", "audit")


def cited():
    folders = ("src", "proofs", "docs")
    return {
        (key, name(path))
        for path, text in texts().items()
        if path.relative_to(ROOT).parts[0] in folders and path != BIBLIOGRAPHY
        for key in KEY.findall(text)
    }


def error_classes():
    return sorted(
        label for label, value in vars(errors).items() if inspect.isclass(value) and value.__module__ == errors.__name__
    )


def guarantee_bearing():
    """Modules of which a docstring states a guarantee."""
    candidates = (path for path in modules() if path.relative_to(SOURCE).parts[0] in PROVED_PACKAGES)
    return [path for path in candidates if any(GUARANTEE.search(text) for text in docstrings(path))]


def docstrings(path):
    kinds = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    return [ast.get_docstring(node) or "" for node in ast.walk(tree(path)) if isinstance(node, kinds)]


def note(path):
    return ROOT / "proofs" / path.relative_to(SOURCE).with_suffix(".md")


def is_proved(path):
    """A module has a note of its own, or a note of its package names it as code that it proves."""
    notes = [text for at, text in documents().items() if at.parent == note(path).parent]
    return note(path).is_file() or any(
        f"`{path.name}`" in text.partition("\n\n")[2].partition("\n\n")[0] for text in notes
    )


def links(text):
    for plain, image in LINK.findall(CODE.sub("", text)):
        if not re.match(r"[a-z]+:", plain or image):
            yield plain or image


def anchors(text):
    """Headings as the addresses that hosts of Markdown make of them."""
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in HEADING.findall(text)}


def is_broken(link, path):
    target, _, anchor = link.partition("#")
    file = (path.parent / target).resolve() if target else path
    return not file.exists() or (anchor != "" and file.suffix == ".md" and anchor not in anchors(documents()[file]))


def test_every_citation_has_its_entry():
    entries = set(ENTRY.findall(texts()[BIBLIOGRAPHY]))
    assert sorted((key, path) for key, path in cited() if key not in entries) == []


def test_entries_are_sorted_named_once_and_of_the_form_of_a_key():
    entries = ENTRY.findall(texts()[BIBLIOGRAPHY])
    assert entries == sorted(set(entries), key=str.lower)
    assert all(KEY.fullmatch(f"[{entry}]") for entry in entries)


def test_every_entry_is_cited():
    assert sorted(set(ENTRY.findall(texts()[BIBLIOGRAPHY])) - {key for key, _ in cited()}) == []


def test_the_page_of_errors_has_every_error_and_no_other():
    headings = re.findall(r"^#+ `(\w+)`$", texts()[ERRORS], re.MULTILINE)
    assert sorted(headings) == error_classes()


@pytest.mark.parametrize("path", guarantee_bearing(), ids=name)
def test_every_module_that_states_a_guarantee_has_a_proof(path):
    assert is_proved(path), f"{name(path)} must have {name(note(path))}, or be named as code in a note beside it"


def test_every_proof_is_of_a_module():
    notes = [path for path in documents() if path.is_relative_to(ROOT / "proofs") and path.name != "README.md"]
    modules_of = {path: SOURCE / path.relative_to(ROOT / "proofs").with_suffix(".py") for path in notes}
    assert [name(path) for path, module in modules_of.items() if not module.exists()] == []


@pytest.mark.parametrize("path", documents(), ids=name)
def test_every_relative_link_leads_somewhere(path):
    assert [link for link in links(documents()[path]) if is_broken(link, path)] == []


def test_a_broken_link_is_seen(tmp_path):
    page = tmp_path / "page.md"
    assert is_broken("nowhere.md", page)
    assert not is_broken("https://example.org", page) or list(links("[x](https://example.org)")) == []
    assert list(links("[x](a.md#b) `[y](c.md)` ![z](d.png)")) == ["a.md#b", "d.png"]


def test_anchors_are_those_of_headings():
    assert anchors("# One, two\n\n## `Three` & four") == {"one-two", "three--four"}


def test_the_page_of_mechanisms_has_every_mechanism():
    page = (ROOT / "docs" / "reference" / "mechanisms.md").read_text("utf-8")
    named = {name for name in mechanisms.__all__ if hasattr(getattr(mechanisms, name), "release")}
    assert sorted(name for name in named - {"Mechanism", "AdditiveMechanism"} if f"`{name}`" not in page) == []


def test_the_examples_of_the_page_of_mechanisms_run_and_give_what_they_say():
    page = (ROOT / "docs" / "reference" / "mechanisms.md").read_text("utf-8")
    names: dict = {}
    for block in re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL):
        exec(block, names)  # noqa: S102 # the page's own examples
    assert names["count"].accuracy("0.95") == 30
    assert names["count"].event == DiscreteLaplaceEvent(10)
    assert not names["report"].is_refuted


@pytest.mark.parametrize("function", Function)
def test_the_page_of_sql_has_every_function_by_the_name_that_errors_call_it(function):
    assert re.search(rf"^\| `.* \| {function.value} \|$", texts()[SQL], re.MULTILINE)


@pytest.mark.parametrize("function", sorted(FUNCTIONS))
def test_the_page_of_sql_has_every_function_that_the_grammar_knows(function):
    assert re.search(rf"`[^`]*\b{function}\b[^`]*`", texts()[SQL])


def statistics_of_frames():
    made = (value for value in vars(statistics).values() if inspect.isfunction(value))
    return sorted(value.__name__ for value in made if value.__module__ == statistics.__name__ and value.__doc__)


@pytest.mark.parametrize("page", ["reference/sql.md", "how-to/questions.md"])
@pytest.mark.parametrize("statistic", statistics_of_frames())
def test_the_pages_about_questions_have_every_statistic(statistic, page):
    assert f"`sf.{statistic}(" in (ROOT / "docs" / page).read_text("utf-8")


def of_handles():
    """The public methods and properties of computed columns, each by its name."""
    return sorted({label for kind in ColumnHandle.__mro__ for label in vars(kind) if not label.startswith("_")})


@pytest.mark.parametrize("method", sorted(set(of_handles()) - {"expression", "facts", "of", "made", "call"}))
def test_the_page_of_sql_has_every_function_of_columns_in_python(method):
    assert re.search(rf"`[xdt]\.{method}\b", texts()[SQL])


@pytest.mark.parametrize("function", ["coalesce", "constant", "greatest", "least", "when"])
def test_the_page_of_sql_has_every_function_of_several_columns(function):
    assert f"`sf.{function}(" in texts()[SQL]


@pytest.mark.parametrize("label", [label for label in sf.__all__ if not label.startswith("__")])
def test_every_public_name_is_in_the_docs(label):
    shown = (ROOT / "README.md", ROOT / "docs")
    pages = [text for path, text in documents().items() if any(path.is_relative_to(place) for place in shown)]
    assert any(re.search(rf"\b(sf|sfumato)\.{label}\b", page) for page in pages)


def test_there_are_statistics():
    assert {"count", "mean", "vector_sum"} <= set(statistics_of_frames())


def test_the_pictures_of_the_docs_are_those_that_their_script_draws(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["draw.py", str(tmp_path)])
    runpy.run_path(str(IMAGES / "draw.py"), run_name="__main__")
    drawn = {path.name for path in tmp_path.iterdir()}
    assert len(capsys.readouterr().out.split()) == len(drawn)
    of_the_demo = {"age_histogram.png"}
    assert drawn | of_the_demo == {path.name for path in IMAGES.glob("*.png")}
