"""Documents hold: citations have their entry, errors their page, guarantees their proof, and links their target."""

import ast
import inspect
import re
import runpy
import sys
import tomllib

import pytest
from tests.meta.repository import ROOT, SOURCE, documents, modules, name, nodes, offenders, text, texts

import sfumato as sf
from sfumato import errors, mechanisms
from sfumato.privacy.events import DiscreteLaplaceEvent
from sfumato.query.handles.columns import ColumnExpression
from sfumato.query.model.functions import Function
from sfumato.query.sql.parsing import FUNCTIONS

KEY = re.compile(r"\[([A-Z][A-Za-z]*\d\d[a-z]?)\]")
ENTRY = re.compile(r"^- \*\*\[([^\]]+)\]\*\* ", re.MULTILINE)
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.MULTILINE | re.DOTALL)
GUARANTEE = re.compile(r"^\s*(\*\*Guarantee\*\*|Guarantee:)", re.MULTILINE)
HINT = re.compile(r"pip install (.*)")
PACKAGE = re.compile(r"[A-Za-z][\w-]*(\[[\w,]+\])?")
BIBLIOGRAPHY = ROOT / "docs" / "bibliography.md"
ERRORS = ROOT / "docs" / "reference" / "errors.md"
LEARNING = ROOT / "docs" / "reference" / "learning.md"
LOCAL = ROOT / "docs" / "reference" / "local.md"
PLACES = ROOT / "docs" / "reference" / "places.md"
MECHANISMS = ROOT / "docs" / "reference" / "mechanisms.md"
SYNTHETIC = ROOT / "docs" / "reference" / "synthetic.md"
SQL = ROOT / "docs" / "reference" / "sql.md"
IMAGES = ROOT / "docs" / "images"
PROVED_PACKAGES = (
    "mechanisms", "noise", "accounting", "query", "engines", "ledger", "session", "audit", "local", "geo", "synth",
)  # fmt: skip


def cited():
    folders = ("src", "proofs", "docs")
    return {
        (key, name(path))
        for path, content in texts().items()
        if path.relative_to(ROOT).parts[0] in folders and path != BIBLIOGRAPHY
        for key in KEY.findall(content)
    }


def error_classes():
    return sorted(
        label for label, value in vars(errors).items() if inspect.isclass(value) and value.__module__ == errors.__name__
    )


def guarantee_bearing():
    """Modules of which a docstring states a guarantee."""
    candidates = (path for path in modules() if path.relative_to(SOURCE).parts[0] in PROVED_PACKAGES)
    return [path for path in candidates if any(GUARANTEE.search(said) for said in docstrings(path))]


def docstrings(path):
    kinds = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    return [ast.get_docstring(node) or "" for node in nodes(path) if isinstance(node, kinds)]


def note(path):
    return ROOT / "proofs" / path.relative_to(SOURCE).with_suffix(".md")


def is_proved(path):
    """A module has a note of its own, or a note of its package names it as code that it proves."""
    package, own = ROOT / "proofs" / path.relative_to(SOURCE).parts[0], note(path).parent
    notes = {at: text.partition("\n\n")[2].partition("\n\n")[0] for at, text in documents().items()}
    return note(path).is_file() or any(
        f"`{path.name if at.parent == own else f'{path.parent.name}/{path.name}'}`" in code
        for at, code in notes.items()
        if package in at.parents
    )


def links(content):
    for plain, image in LINK.findall(CODE.sub("", content)):
        if not re.match(r"[a-z]+:", plain or image):
            yield plain or image


def anchors(content):
    """Headings as the addresses that hosts of Markdown make of them."""
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in HEADING.findall(content)}


def is_broken(link, path):
    target, _, anchor = link.partition("#")
    file = (path.parent / target).resolve() if target else path
    return not file.exists() or (anchor != "" and file.suffix == ".md" and anchor not in anchors(documents()[file]))


def packages_named(content):
    """What hints say to install, up to the first word that is no name of a package."""
    found = []
    for hint in HINT.findall(content):
        for word in hint.split():
            if not PACKAGE.fullmatch(bare := word.strip("`\"'(),;|")):
                break
            found.append(bare.partition("[")[0])
            if word != bare:
                break
    return found


def packages_declared():
    """The names of all packages that the project depends on, always or with an extra or in its tests."""
    project = tomllib.loads(text(ROOT / "pyproject.toml"))
    extras, groups = project["project"]["optional-dependencies"], project["dependency-groups"]
    lists = (project["project"]["dependencies"], *extras.values(), *groups.values())
    return {re.split(r"[^\w.-]", requirement)[0] for listed in lists for requirement in listed}


def test_hints_name_packages_that_are_on_the_index_and_not_this_one():
    """Whoever registered this name there would run code on the machines of curators."""
    named = {(package, name(path)) for path, content in texts().items() for package in packages_named(content)}
    assert len(named) > 5
    offending = {(package, path) for package, path in named if package not in packages_declared()}
    assert not offending
    said = "pip install"
    assert packages_named(f'run: {said} "sfumato[plots]" first') == ["sfumato"]
    assert packages_named(f"`{said} .` here\n{said} -r x\n{said} jinja2 matplotlib") == ["jinja2", "matplotlib"]


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


def test_every_module_that_states_a_guarantee_has_a_proof():
    unproved = [path for path in guarantee_bearing() if not is_proved(path)]
    wanted = "must have {}, or be named as code in a note beside it"
    assert offenders((path, [wanted.format(name(note(path)))]) for path in unproved) == []


def test_a_module_without_a_proof_is_seen():
    assert len(guarantee_bearing()) > 50
    assert not is_proved(SOURCE / "mechanisms" / "unproved.py")


def test_every_proof_is_of_a_module():
    notes = [path for path in documents() if path.is_relative_to(ROOT / "proofs") and path.name != "README.md"]
    modules_of = {path: SOURCE / path.relative_to(ROOT / "proofs").with_suffix(".py") for path in notes}
    without = [
        path for path, module in modules_of.items() if not module.exists() and not module.with_suffix(".js").exists()
    ]
    assert list(map(name, without)) == []


def test_every_relative_link_leads_somewhere():
    broken = {path: [link for link in links(page) if is_broken(link, path)] for path, page in documents().items()}
    assert offenders(broken.items()) == []


def test_a_broken_link_is_seen(tmp_path):
    page = tmp_path / "page.md"
    assert is_broken("nowhere.md", page)
    assert not is_broken("https://example.org", page) or list(links("[x](https://example.org)")) == []
    assert list(links("[x](a.md#b) `[y](c.md)` ![z](d.png)")) == ["a.md#b", "d.png"]


def test_anchors_are_those_of_headings():
    assert anchors("# One, two\n\n## `Three` & four") == {"one-two", "three--four"}


def without_row(page, named, row):
    """Names that a page nowhere has in the form of one of its rows."""
    return sorted(label for label in named if not re.search(row.format(re.escape(label)), page, re.MULTILINE))


def test_a_name_that_a_page_lacks_is_seen():
    assert without_row("| `f(x)` | one |", ["one", "on", "two"], r"^\| `.* \| {} \|$") == ["on", "two"]


def test_the_page_of_mechanisms_has_every_mechanism():
    named = {label for label in mechanisms.__all__ if hasattr(getattr(mechanisms, label), "release")}
    assert without_row(text(MECHANISMS), named - {"Mechanism", "AdditiveMechanism"}, "`{}`") == []


def left_by_examples(page):
    """The names that the examples of a page leave, run one after the other."""
    names: dict = {}
    for block in re.findall(r"^```python\n(.*?)^```", text(page), re.MULTILINE | re.DOTALL):
        exec(block, names)  # noqa: S102 # the page's own examples
    return names


def test_the_examples_of_the_page_of_models_run_and_give_what_they_say():
    names = left_by_examples(LEARNING)
    assert str(names["votes"].spent) == "ε 0.5"
    assert names["hours"].shape == (2000, 1)


def test_the_examples_of_the_page_of_local_protocols_run_and_give_what_they_say():
    names = left_by_examples(LOCAL)
    assert (round(float(names["homepages"].realized_epsilon), 4), names["device"].responses) == (1.0743, 1)
    assert round(float(names["ledger"].remaining), 6) == 19
    assert len(names["collected"]) == 1


def test_the_examples_of_the_page_of_places_run_and_give_what_they_say(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # they save a map
    names = left_by_examples(PLACES)
    assert names["promise"].loss(200) == 3
    assert str(names["noisy"].snapped_guarantee) == "ε ≈0.00693147 per meter"
    assert names["ward"] in "ABC"


def test_the_examples_of_the_page_of_synthetic_data_run_and_give_what_they_say():
    names = left_by_examples(SYNTHETIC)
    assert names["model"].marginal(["sex", "region"]).shape == (2, 4)
    assert (len(names["rows"]["region"]), set(names["few"]["sex"].tolist())) == (5000, {0})
    assert names["flows"].counts.sum(axis=1).tolist() == [20, 60]
    assert names["apart"].sum() <= 1


def test_the_examples_of_the_page_of_mechanisms_run_and_give_what_they_say():
    names = left_by_examples(MECHANISMS)
    assert names["count"].accuracy("0.95") == 30
    assert names["count"].event == DiscreteLaplaceEvent(10, 1)
    assert not names["report"].is_refuted


def test_the_page_of_sql_has_every_function_by_the_name_that_errors_call_it():
    assert without_row(text(SQL), [function.value for function in Function], r"^\| `.* \| {} \|$") == []


def test_the_page_of_sql_has_every_function_that_the_grammar_knows():
    assert without_row(text(SQL), FUNCTIONS, r"`[^`]*\b{}\b[^`]*`") == []


def statistics_of_frames():
    return sorted(name for name, home in sf._HOMES.items() if home.startswith("query.statistics."))


def test_the_pages_about_questions_have_every_statistic():
    assert {"count", "mean", "vector_sum"} <= set(statistics_of_frames())
    pages = (SQL, ROOT / "docs" / "how-to" / "questions.md")
    assert offenders((page, without_row(text(page), statistics_of_frames(), r"`sf\.{}\(")) for page in pages) == []


def of_handles():
    """The public methods and properties of computed columns, each by its name."""
    return {label for kind in ColumnExpression.__mro__ for label in vars(kind) if not label.startswith("_")}


def test_the_page_of_sql_has_every_function_of_columns_in_python():
    of_users = of_handles() - {"expression", "facts", "of", "made", "call"}
    assert without_row(text(SQL), of_users, r"`[xdt]\.{}\b") == []
    assert without_row(text(SQL), ["coalesce", "constant", "greatest", "least", "when"], r"`sf\.{}\(") == []


def test_every_public_name_is_in_the_docs():
    shown = (ROOT / "README.md", ROOT / "docs")
    pages = "\n".join(page for path, page in documents().items() if any(path.is_relative_to(place) for place in shown))
    public = [label for label in sf.__all__ if not label.startswith("__")]
    assert without_row(pages, public, r"\b(?:sf|sfumato)\.{}\b") == []


@pytest.mark.docs
def test_the_pictures_of_the_docs_are_those_that_their_script_draws(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["draw.py", str(tmp_path)])
    runpy.run_path(str(IMAGES / "draw.py"), run_name="__main__")
    drawn = {path.name for path in tmp_path.iterdir()}
    assert len(capsys.readouterr().out.split()) == len(drawn)
    # of the demo, and of benchmarks that take minutes
    of_others = {"age_histogram.png", "models_over_epsilon.png", "synthetic_over_epsilon.png"}
    assert drawn | of_others == {path.name for path in IMAGES.glob("*.png")}
