"""The public face: what `sfumato.__all__` lists is there, explained, and everything that is public."""

import ast
import builtins
import inspect
from types import SimpleNamespace

import pytest
from tests.meta.repository import SOURCE, tree

import sfumato


def exported():
    """The names that the package lists, and those of builtins, which a star leaves alone."""
    listed = list(getattr(sfumato, "__all__", ()))
    return listed + [name for name in dir(sfumato) if hasattr(builtins, name)]


def test_a_star_takes_no_builtin_away():
    assert [name for name in sfumato.__all__ if hasattr(builtins, name)] == []
    assert set(exported()) - set(sfumato.__all__) == {"max", "min", "open", "sum"}


def test_there_are_exports():
    assert exported(), "sfumato.__all__ must list the public names"


def test_every_export_is_named_once():
    assert len(exported()) == len(set(exported()))  # ruff keeps them sorted


def unexplained(module, exports):
    """Names of a module that have no docstring; one that does not resolve is an error."""
    return [f"{module.__name__}.{export}" for export in exports if not inspect.getdoc(getattr(module, export))]


def test_every_export_resolves_and_has_a_docstring():
    assert unexplained(sfumato, exported()) == []


def test_completion_in_a_notebook_shows_every_export():
    assert set(exported()) <= set(dir(sfumato))


def test_everything_public_is_exported():
    assert set(exported()) == {"__version__", *sfumato._HOMES, *sfumato._PACKAGES}


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = sfumato.no_such_name


def test_every_name_of_a_package_resolves_and_has_a_docstring():
    for package in ("accounting", "audit", "attacks", "geo", "learn", "local", "mechanisms", "streams", "synth"):
        module = getattr(sfumato, package)
        assert sorted(set(module.__all__)) == sorted(module.__all__), package
        assert set(module.__all__) <= set(dir(module)), package
        assert unexplained(module, module.__all__) == []


def test_a_name_without_a_docstring_is_seen():
    module = SimpleNamespace(__name__="sfumato.bare", lost=lambda: None, said=exported)
    assert unexplained(module, ["lost", "said"]) == ["sfumato.bare.lost"]


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
