"""Nobody can choose the noise: nothing that releases takes a seed or a generator, reads one, or ships one."""

import ast
import subprocess
import sys
import zipfile

import pytest
from tests.meta.repository import ROOT, SOURCE, modules, name, tree

RELEASES_NOTHING = {
    "attacks": "adversaries simulate",
    "audit": "samples are judged, never shown",
    "datasets": "public tables and invented people, the same for every reader",
}
SEEDS = {"seed", "seeds", "rng", "random_state", "random_seed", "generator", "bit_generator"}
SOURCES = {"random", "secrets", "os.urandom", "ssl.RAND_bytes", "numpy.random", "np.random"}
ENTROPY = "noise/entropy.py"
ENVIRONMENT = {"environ", "environb", "getenv", "getenvb"}
STAND_INS = ("replay", "fake", "fixed", "deterministic", "stub", "mock", "seeded")


def package(path):
    return path.relative_to(SOURCE).parts[0]


def releasing_modules():
    return [path for path in modules() if package(path) not in RELEASES_NOTHING]


def inside(path):
    return path.relative_to(SOURCE).as_posix()


def seeded(module):
    """Parameters of functions and fields of classes, public or private, whose name is that of a seed."""
    found = []
    for node in ast.walk(module):
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


def sources_read(module):
    """Generators of the standard library, the system and NumPy that a module imports or names."""
    found = set()
    for node in ast.walk(module):
        match node:
            case ast.Import():
                found |= {alias.name for alias in node.names}
            case ast.ImportFrom(module=str(origin)):
                found |= {origin, *(f"{origin}.{alias.name}" for alias in node.names)}
            case ast.Attribute():
                found.add(ast.unparse(node))
    return found & SOURCES


def reads_environment(module):
    return any(
        (isinstance(node, ast.Attribute) and node.attr in ENVIRONMENT)
        or (isinstance(node, ast.ImportFrom) and ENVIRONMENT & {alias.name for alias in node.names})
        for node in ast.walk(module)
    )


def stand_ins(module):
    """Definitions that sound like noise that can be foretold."""
    defined = [node.name for node in ast.walk(module) if isinstance(node, ast.ClassDef | ast.FunctionDef)]
    return [label for label in defined if any(word in label.lower() for word in STAND_INS)]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Every Python file of the wheel as it is built from this tree, parsed."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    with zipfile.ZipFile(built) as archive:
        return {path: ast.parse(archive.read(path)) for path in archive.namelist() if path.endswith(".py")}


@pytest.mark.parametrize("folder", sorted(RELEASES_NOTHING))
def test_what_is_excepted_exists(folder):
    assert (SOURCE / folder / "__init__.py").is_file()


def test_every_other_package_is_looked_at():
    assert {"noise", "mechanisms", "session", "engines", "ledger"} <= {package(path) for path in releasing_modules()}


@pytest.mark.parametrize("path", releasing_modules(), ids=name)
def test_nothing_that_releases_takes_a_seed(path):
    assert seeded(tree(path)) == []


@pytest.mark.parametrize("path", releasing_modules(), ids=name)
def test_entropy_is_read_in_one_module(path):
    assert inside(path) == ENTROPY or sources_read(tree(path)) == set()


def test_entropy_comes_from_the_system_alone():
    assert sources_read(tree(SOURCE / ENTROPY)) == {"ssl.RAND_bytes", "os.urandom"}


@pytest.mark.parametrize("path", [path for path in modules() if package(path) in {"noise", "mechanisms"}], ids=name)
def test_no_environment_variable_reaches_the_noise(path):
    assert not reads_environment(tree(path))


def test_the_wheel_holds_the_package_and_nothing_else(wheel):
    assert {path.partition("/")[0] for path in wheel} == {"sfumato"}
    assert {path.removeprefix("sfumato/") for path in wheel} == {inside(path) for path in modules()}


def test_the_wheel_has_one_source_of_entropy_and_no_stand_in_for_it(wheel):
    releasing = {path: module for path, module in wheel.items() if path.split("/")[1] not in RELEASES_NOTHING}
    assert [path for path, module in releasing.items() if sources_read(module)] == [f"sfumato/{ENTROPY}"]
    noise = [module for path, module in wheel.items() if path.startswith("sfumato/noise/")]
    assert [label for module in noise for label in stand_ins(module)] == []


@pytest.mark.parametrize(
    "source", ["def draw(n, *, seed=0): ...", "def draw(rng, /): ...", "class Noise:\n    random_state: int = 0"]
)
def test_a_seed_is_seen(source):
    assert len(seeded(ast.parse(source))) == 1


@pytest.mark.parametrize(
    "source",
    [
        "import random",
        "import secrets",
        "from os import urandom",
        "from numpy import random",
        "np.random.default_rng()",
    ],
)
def test_another_source_is_seen(source):
    assert sources_read(ast.parse(source))


@pytest.mark.parametrize("source", ["import os\nos.environ['X']", "from os import getenv", "os.getenv('X')"])
def test_a_look_at_the_environment_is_seen(source):
    assert reads_environment(ast.parse(source))


def test_a_stand_in_is_seen():
    assert stand_ins(ast.parse("class ReplayEntropy: ...\ndef words(): ...")) == ["ReplayEntropy"]
