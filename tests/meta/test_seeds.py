"""Nobody can choose the noise: nothing that releases takes a seed or a generator."""

import ast

import pytest
from tests.meta.repository import SOURCE, modules, name, tree

RELEASING = ("noise", "mechanisms", "session", "engines", "ledger")
SEEDS = {"seed", "rng", "random_state", "generator"}


def releasing_modules():
    return [path for path in modules() if path.relative_to(SOURCE).parts[0] in RELEASING]


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


@pytest.mark.parametrize("package", RELEASING)
def test_every_releasing_package_is_looked_at(package):
    assert (SOURCE / package / "__init__.py").is_file()


@pytest.mark.parametrize("path", releasing_modules(), ids=name)
def test_nothing_that_releases_takes_a_seed(path):
    assert seeded(tree(path)) == []


@pytest.mark.parametrize(
    "source", ["def draw(n, *, seed=0): ...", "def draw(rng, /): ...", "class Noise:\n    random_state: int = 0"]
)
def test_a_seed_is_seen(source):
    assert len(seeded(ast.parse(source))) == 1
