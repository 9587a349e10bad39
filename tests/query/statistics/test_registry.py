"""The registry knows every statistic and every output that there is, each once."""

import gc
import inspect
import pkgutil
from dataclasses import is_dataclass
from importlib import import_module

import pytest

from sfumato.query import statistics
from sfumato.query.sql.parsing import FUNCTIONS
from sfumato.query.statistics.measurements import Output
from sfumato.query.statistics.registry import OUTPUTS, SPELLINGS, STATISTICS
from sfumato.query.statistics.statistic import Statistic


def classes(base):
    """The concrete classes of the modules of statistics, by name."""
    gc.collect()  # dataclasses with slots are made twice
    modules = [
        import_module(f"{statistics.__name__}.{module.name}") for module in pkgutil.iter_modules(statistics.__path__)
    ]
    found = {one for module in modules for one in vars(module).values() if isinstance(one, type)}
    return {one for one in found if issubclass(one, base) and not inspect.isabstract(one) and is_dataclass(one)}


@pytest.mark.parametrize(("listed", "base"), [(STATISTICS, Statistic), (OUTPUTS, Output)])
def test_every_class_is_listed_once(listed, base):
    assert set(listed) == classes(base)
    assert len(set(listed)) == len(listed)


def test_no_function_of_sql_means_two_statistics():
    names = [name for _, spelling in SPELLINGS for name in spelling.names]
    assert len(set(names)) == len(names)
    assert set(names) <= set(FUNCTIONS)
    nodes = [spelling.node for _, spelling in SPELLINGS]
    assert len(set(nodes)) == len(nodes)


def test_every_spelling_can_be_read_in_some_way():
    assert all(spelling.read or spelling.ordered for _, spelling in SPELLINGS)
