"""Nobody can choose the noise: nothing that releases takes a seed or a generator, reads one, or ships one."""

import ast
import subprocess
import sys
import zipfile

import pytest
from tests.meta.repository import ROOT, SOURCE, inside, modules, nodes, offenders

RELEASES_NOTHING = {
    "attacks": "adversaries simulate",
    "audit": "samples are judged, never shown",
    "cli/synth": "a seed is passed on to rows that are made of released counts",
    "datasets": "public tables and invented people, the same for every reader",
    "synth/generalization/table.py": "rows are made of counts that were released, and of nothing else",
    "synth/models": "the same",
    "synth/reports/exact": "an owner compares rows in their own hands; nothing of it is released",
    "synth/relational/tables.py": "rows are made of counts that were released",
    "synth/synthetic.py": "rows are made of counts that were released",
}
SEEDS = {"seed", "seeds", "rng", "random_state", "random_seed", "generator", "bit_generator"}
SOURCES = {"random", "secrets", "os.urandom", "ssl.RAND_bytes", "numpy.random", "np.random"}
LAST_WORDS = {source.rpartition(".")[2] for source in SOURCES}
ENTROPY = "noise/entropy.py"
ENVIRONMENT = {"environ", "environb", "getenv", "getenvb"}
STAND_INS = ("replay", "fake", "fixed", "deterministic", "stub", "mock", "seeded")


def package(path):
    return path.relative_to(SOURCE).parts[0]


def releasing_modules():
    folders = tuple(one if one.endswith(".py") else f"{one}/" for one in RELEASES_NOTHING)
    return [path for path in modules() if not inside(path).startswith(folders)]


def seeded(syntax):
    """Parameters of functions and fields of classes, public or private, whose name is that of a seed."""
    found = []
    for node in syntax:
        match node:
            case ast.arguments():
                names = [arg.arg for arg in (*node.posonlyargs, *node.args, *node.kwonlyargs)]
            case ast.ClassDef():
                names = [field.target.id for field in node.body if is_field(field)]
            case _:
                continue
        found += [label for label in names if label.strip("_") in SEEDS]
    return found


def is_field(statement):
    return isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name)


def sources_read(syntax):
    """Generators of the standard library, the system and NumPy that a module imports or names."""
    found = set()
    for node in syntax:
        match node:
            case ast.Import():
                found |= {alias.name for alias in node.names}
            case ast.ImportFrom(module=str(origin)):
                found |= {origin, *(f"{origin}.{alias.name}" for alias in node.names)}
            case ast.Attribute(attr=str(label)) if label in LAST_WORDS:
                found.add(ast.unparse(node))
    return found & SOURCES


def environment_read(syntax):
    """Names by which a module reaches the environment."""
    found = []
    for node in syntax:
        match node:
            case ast.Attribute(attr=str(label)):
                found += [label] if label in ENVIRONMENT else []
            case ast.ImportFrom():
                found += [alias.name for alias in node.names if alias.name in ENVIRONMENT]
    return found


def stand_ins(syntax):
    """Definitions that sound like noise that can be foretold."""
    defined = [node.name for node in syntax if isinstance(node, ast.ClassDef | ast.FunctionDef)]
    return [label for label in defined if any(word in label.lower() for word in STAND_INS)]


def syntax_of(source):
    return list(ast.walk(ast.parse(source)))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Every Python file of the wheel as it is built from this tree."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    with zipfile.ZipFile(built) as archive:
        return {path: archive.read(path) for path in archive.namelist() if path.endswith(".py")}


def test_what_is_excepted_exists():
    places = {one: SOURCE / (one if one.endswith(".py") else f"{one}/__init__.py") for one in RELEASES_NOTHING}
    assert [one for one, path in places.items() if not path.is_file()] == []


def test_every_other_package_is_looked_at():
    assert {"noise", "mechanisms", "session", "engines", "ledger"} <= {package(path) for path in releasing_modules()}


def test_nothing_that_releases_takes_a_seed():
    assert offenders((path, seeded(nodes(path))) for path in releasing_modules()) == []


def test_entropy_is_read_in_one_module():
    others = [path for path in releasing_modules() if inside(path) != ENTROPY]
    assert offenders((path, sources_read(nodes(path))) for path in others) == []


def test_entropy_comes_from_the_system_alone():
    assert sources_read(nodes(SOURCE / ENTROPY)) == {"ssl.RAND_bytes", "os.urandom"}


def test_no_environment_variable_reaches_the_noise():
    looked_at = [path for path in modules() if package(path) in {"noise", "mechanisms"}]
    assert offenders((path, environment_read(nodes(path))) for path in looked_at) == []


def test_no_noise_can_be_foretold():
    looked_at = [path for path in modules() if package(path) == "noise"]
    assert offenders((path, stand_ins(nodes(path))) for path in looked_at) == []


def test_the_wheel_holds_the_package_as_it_is_here_and_nothing_else(wheel):
    """So what holds of the sources, on entropy and what stands in for it, holds of what is shipped."""
    here = {f"sfumato/{inside(path)}": path for path in modules()}
    assert sorted(wheel.keys() ^ here.keys()) == []
    assert [path for path, content in wheel.items() if content != here[path].read_bytes()] == []


def test_a_seed_is_seen():
    for source in ("def draw(n, *, seed=0): ...", "def draw(rng, /): ...", "class Noise:\n    random_state: int = 0"):
        assert len(seeded(syntax_of(source))) == 1, source


def test_another_source_is_seen():
    imports = ("import random", "import secrets", "from os import urandom", "from numpy import random")
    for source in (*imports, "np.random.default_rng()"):
        assert sources_read(syntax_of(source)), source


def test_a_look_at_the_environment_is_seen():
    for source in ("import os\nos.environ['X']", "from os import getenv", "os.getenv('X')"):
        assert environment_read(syntax_of(source)), source


def test_a_stand_in_is_seen():
    assert stand_ins(syntax_of("class ReplayEntropy: ...\ndef words(): ...")) == ["ReplayEntropy"]
