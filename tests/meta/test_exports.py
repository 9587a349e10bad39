"""The public face: what `sfumato.__all__` lists is there, explained, and everything that is public."""

import ast
import inspect

import pytest
from tests.meta.repository import SOURCE, tree

import sfumato


def exported():
    return list(getattr(sfumato, "__all__", ()))


def test_there_are_exports():
    assert exported(), "sfumato.__all__ must list the public names"


def test_every_export_is_named_once():
    assert len(exported()) == len(set(exported()))  # ruff keeps them sorted


@pytest.mark.parametrize("export", exported())
def test_every_export_resolves_and_has_a_docstring(export):
    assert inspect.getdoc(getattr(sfumato, export)), f"sfumato.{export} must say what it is"


def test_completion_in_a_notebook_shows_every_export():
    assert set(exported()) <= set(dir(sfumato))


def test_everything_public_is_exported():
    assert set(exported()) == {"__version__", *sfumato._HOMES, *sfumato._PACKAGES}


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = sfumato.no_such_name


@pytest.mark.parametrize("package", ["accounting", "audit", "attacks", "mechanisms"])
def test_every_name_of_a_package_resolves_and_has_a_docstring(package):
    module = getattr(sfumato, package)
    assert sorted(set(module.__all__)) == sorted(module.__all__)
    assert set(module.__all__) <= set(dir(module))
    for export in module.__all__:
        assert inspect.getdoc(getattr(module, export)), f"sfumato.{package}.{export} must say what it is"


def test_every_mechanism_is_exported():
    modules = [path for path in (SOURCE / "mechanisms").glob("*.py") if path.stem != "__init__"]
    classes = {
        node.name
        for path in modules
        for node in tree(path).body
        if isinstance(node, ast.ClassDef)
        and {"event", "release"} <= {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
    }
    assert classes <= {*sfumato.mechanisms.__all__, "PartitionSelection"}, "a role shared by strategies is no mechanism"
    assert set(sfumato.mechanisms.__all__) == set(sfumato.mechanisms._HOMES)


def test_an_unknown_mechanism_is_an_attribute_error():
    with pytest.raises(AttributeError, match="Laplce"):
        _ = sfumato.mechanisms.Laplce
