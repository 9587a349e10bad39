"""Engines by name: loaded when they are opened, with their options and packages."""

import sys
from importlib.util import find_spec

import pytest

from sfumato.engines.reference.engine import ReferenceEngine
from sfumato.engines.registry import ENGINES, engine_at, open_engine
from sfumato.errors import ParameterError


def test_an_engine_is_called_by_its_name():
    assert isinstance(open_engine("reference", {}, options={}), ReferenceEngine)
    with pytest.raises(ParameterError, match="duckdb, reference"):
        open_engine("oracle", {}, options={})


@pytest.mark.parametrize("engine", ["duckdb", "reference"])
def test_an_option_that_an_engine_does_not_have_is_refused_by_name(engine):
    with pytest.raises(ParameterError, match=f"nosuch.*no option of {engine}"):
        open_engine(engine, {}, options={"nosuch": 1})


def test_an_engine_without_its_packages_says_how_to_get_them(monkeypatch):
    for loaded in [name for name in sys.modules if name.startswith(("sfumato.engines.spark", "pyspark"))]:
        monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(ParameterError, match=r"run: pip install pyspark$"):
        open_engine("spark", {}, options={})


@pytest.mark.parametrize("record", ENGINES.values(), ids=str)
def test_the_home_of_every_engine_is_there(record):
    module, _, name = record.home.partition(":")
    assert find_spec(module) is not None
    assert name.endswith("Engine")


def test_an_address_names_its_engine():
    for record in ENGINES.values():
        assert {engine_at(f"{scheme}:x") for scheme in record.schemes} <= {record.name}
    assert engine_at("people.csv") is None
    assert engine_at(None) is None
    with pytest.raises(ParameterError, match=r"oracle:….*must be a file, or begin with one of: postgresql, postgres"):
        engine_at("oracle://ann:secret@host/people")
