"""The public face: what `sfumato.__all__` lists is there, explained, and everything that is public."""

import inspect

import pytest

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
