"""Files, functions and folders that a reader holds in mind: neither too large nor too small."""

import ast
from collections import Counter, defaultdict

from tests.meta.repository import SOURCE, inside, modules, nodes, offenders, text, tree

MAX_LINES_OF_A_FILE = 500
USUAL_LINES_OF_A_FILE = 400
MIN_LINES_OF_A_FILE = 60
MIN_LINES_FOR_ONE_SIBLING = 100
"""A file that one sibling alone imports is read together with it, so it must be larger to stand alone."""
MAX_LINES_OF_A_BODY = 50
MAX_FILES_OF_A_FOLDER = 15
MAX_FILES_WITH_A_PREFIX = 2
MAX_SINGLE_USE_HELPERS = 25
"""Private functions of one line that are called in one place, which could be that line."""

LONG = {
    "streams/counting/counter.py": "one object, whose arguments and methods say what they promise in most of its lines",
}
"""Files of more than 400 lines, with the reason."""

SMALL = {
    "__main__.py": "the program of `python -m sfumato`",
    "version.py": "the version, which the build reads without importing the package",
    "datasets/draws.py": "seeded draws of every made-up table",
    "learn/ordering/planner.py": "a program of its own, which gateways start",
    "privacy/secret.py": "the one type that hides a value computed from rows, which 29 files import",
    "query/model/kinds.py": "kinds of values, below all other files of queries, which 59 files import",
    "server/work/preloaded.py": "runs when it is imported, which only the server of forks does",
    "server/dashboard/pages/learning.py": "pages of one subject; their texts are in the catalog",
    "server/dashboard/pages/maps.py": "the same",
    "server/gateway/routes/maps.py": "routes of one subject",
    "server/identity/migrations/second.py": "one revision a file, as a revision is never edited",
    "server/identity/migrations/third.py": "one revision a file, as a revision is never edited",
    "query/statistics/registry.py": "the list of all statistics, which grows by one line with each",
}
"""Files of fewer than 60 lines, with the reason."""

FOR_ONE_SIBLING = {
    "synth/methods/mwem.py": "a method with a paper of its own, of which a plan knows the name",
    "accounting/renyi/selection.py": "one theorem with its proof",
    "engines/sql/expressions/dates.py": "calendar arithmetic, which no other function of values uses",
    "geo/locations/levels.py": "levels in words, which people choose by; the others take numbers",
    "learn/clusters/starts.py": "geometry of public numbers, which knows nothing of steps and noise",
    "local/parties/trusted_sum.py": "a role of its own, which takes the place of a secure sum",
    "mechanisms/continual/convolution.py": "exact arithmetic of arrays, which knows nothing of counters",
    "query/statistics/deviations.py": "one statistic a file; the registry lists it",
    "query/statistics/vectors.py": "one statistic a file; the registry lists it",
    "streams/counting/records.py": "what is written of a counter, which later versions have to read",
    "synth/flows/urn.py": "a sampler, which knows nothing of flows",
    "session/wire/declared.py": "types of fields, which know nothing of texts",
}
"""Files of fewer than 100 lines that one file of their folder alone imports, with the reason."""

PREFIXES = {
    "noise/laws/discrete": "discrete Cauchy, Gaussian and Laplace are the names of distributions",
}
"""Prefixes that three files of a folder share, with the reason why they are no folder."""

NAMED_TWICE = {}
"""Public classes of one name in several files, with the reason."""


def files():
    """Every Python file of the package but those that make a folder a package."""
    return [path for path in modules() if path.stem != "__init__"]


def lines_of(path):
    return len(text(path).splitlines())


def long_file(content):
    lines = len(content.splitlines())
    return [f"{lines} lines"] if lines > MAX_LINES_OF_A_FILE else []


def body_lines(function):
    """From the first statement after the docstring to the last line."""
    statements = function.body[1:] if ast.get_docstring(function, clean=False) is not None else function.body
    return function.end_lineno - statements[0].lineno + 1 if statements else 0


def long_functions(found):
    return [
        f"{node.name}: {body_lines(node)} lines"
        for node in found
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and body_lines(node) > MAX_LINES_OF_A_BODY
    ]


def imports():
    """The files that import each file, by their dotted names."""
    known = {dotted(path): path for path in files()}
    importers = defaultdict(set)
    for name, path in known.items():
        for node in nodes(path):
            if isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    whole = f"{node.module}.{alias.name}"
                    importers[whole if whole in known else node.module].add(name)
    return {known[name]: found - {name} for name, found in importers.items() if name in known}


def dotted(path):
    return ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts)


def for_one_sibling():
    """Small files with one importer, which is a file of the same folder."""
    return [
        path
        for path, importers in imports().items()
        if len(importers) == 1
        and lines_of(path) < MIN_LINES_FOR_ONE_SIBLING
        and next(iter(importers)).rpartition(".")[0] == dotted(path).rpartition(".")[0]
    ]


def shared_prefixes(paths):
    """Folders with the first words of names that more files share than may."""
    named = Counter(f"{inside(path.parent)}/{path.stem.partition('_')[0]}" for path in paths)
    return sorted(prefix for prefix, count in named.items() if count > MAX_FILES_WITH_A_PREFIX)


def named_twice(trees):
    """Names of public classes that stand at the top of more than one file."""
    named = Counter(
        node.name
        for module in trees
        for node in module.body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    return sorted(name for name, count in named.items() if count > 1)


def single_use_helpers(module):
    """Private functions of one line, which their file calls in one place."""
    used = Counter(node.id for node in ast.walk(module) if isinstance(node, ast.Name))
    return [
        node.name
        for node in module.body
        if isinstance(node, ast.FunctionDef)
        and node.name.startswith("_")
        and not node.name.startswith("__")
        and used[node.name] <= 1
        and body_lines(node) <= 1
    ]


def unexplained(found, reasons):
    """What was found without a reason, and reasons for what is there no more."""
    found = set(found)
    return sorted(found ^ set(reasons))


def test_no_file_is_too_long():
    assert offenders((path, long_file(text(path))) for path in modules()) == []
    assert unexplained((inside(path) for path in files() if lines_of(path) > USUAL_LINES_OF_A_FILE), LONG) == []


def test_no_file_is_too_small():
    assert unexplained((inside(path) for path in files() if lines_of(path) < MIN_LINES_OF_A_FILE), SMALL) == []


def test_no_small_file_serves_one_sibling_alone():
    assert unexplained(map(inside, for_one_sibling()), FOR_ONE_SIBLING) == []


def test_no_folder_has_too_many_files():
    count = Counter(path.parent for path in files())
    assert {folder: number for folder, number in count.items() if number > MAX_FILES_OF_A_FOLDER} == {}


def test_what_three_files_share_as_a_prefix_is_a_folder():
    assert unexplained(shared_prefixes(files()), PREFIXES) == []


def test_no_public_class_has_the_name_of_another():
    assert unexplained(named_twice(map(tree, files())), NAMED_TWICE) == []


def test_no_function_body_is_too_long():
    assert offenders((path, long_functions(nodes(path))) for path in modules()) == []


def test_few_helpers_could_be_the_line_that_calls_them():
    found = [f"{inside(path)}: {helper}" for path in files() for helper in single_use_helpers(tree(path))]
    assert len(found) <= MAX_SINGLE_USE_HELPERS, "\n".join(found)


def test_a_long_file_is_seen():
    assert long_file("x = 1\n" * 500) == []
    assert long_file("x = 1\n" * 501) == ["501 lines"]


def test_a_body_is_counted_without_its_docstring():
    of_fifty = "def f():\n    '''What it does.'''\n" + "    x = 1\n" * 50
    assert long_functions(ast.walk(ast.parse(of_fifty))) == []
    assert long_functions(ast.walk(ast.parse(of_fifty + "    x = 1\n"))) == ["f: 51 lines"]


def test_names_and_prefixes_that_come_too_often_are_seen():
    one, other = ast.parse("class Law: ...\nclass _Own: ...\n"), ast.parse("class Law: ...\nclass _Own: ...\n")
    assert named_twice([one, other]) == ["Law"]
    paths = [SOURCE / "room" / name for name in ("page.py", "page_of.py", "pages.py", "page_for.py", "other.py")]
    assert shared_prefixes(paths) == ["room/page"]
    assert shared_prefixes(paths[:2]) == []


def test_a_helper_that_could_be_a_line_is_seen():
    used_once = "def _twice(x):\n    '''Doubled.'''\n    return 2 * x\n\n\ndef four():\n    return _twice(2)\n"
    assert single_use_helpers(ast.parse(used_once)) == ["_twice"]
    assert single_use_helpers(ast.parse(used_once + "\n\ndef six():\n    return _twice(3)\n")) == []


def test_a_reason_for_nothing_is_seen_as_well_as_a_lack_of_one():
    assert unexplained(["a.py"], {"a.py": "so"}) == []
    assert unexplained(["a.py"], {"b.py": "so"}) == ["a.py", "b.py"]
