"""What a test finds does not depend on which other files are collected: its examples are the same."""

import sys
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.internal.conjecture.providers import CONSTANTS_CACHE, HypothesisProvider
from hypothesis.internal.constants_ast import Constants
from tests.examples_drawn import POOL, draw_the_same_whatever_is_imported
from tests.expressions_of import expressions

from sfumato.query.model.kinds import Kind

LITERALS = [1_234_577, 987.125, "a literal"]


def drawn(*, profile="same"):
    """What a test draws that runs now, many of them from the pool of constants."""
    found = []

    @settings(settings.get_profile(profile))
    @given(st.lists(st.integers() | st.floats() | st.text(), min_size=5))
    def draws(values):
        found.append([repr(value) for value in values])

    draws()
    return found


def is_drawn(literal, examples):
    return any(repr(literal) in values for values in examples)


@pytest.fixture
def of_a_local_module(tmp_path, monkeypatch):
    """A module of sources, as collecting another file would import it."""
    path = tmp_path / "collected_beside.py"
    path.write_text(f"LITERALS = {LITERALS * 2}", encoding="utf-8")
    module = ModuleType(path.stem)
    module.__file__ = str(path)
    return lambda: monkeypatch.setitem(sys.modules, path.stem, module)


@pytest.fixture
def drawing_the_same(monkeypatch):
    """As in every run but those of `make soak`."""
    monkeypatch.setattr(HypothesisProvider, POOL, vars(HypothesisProvider)[POOL])
    draw_the_same_whatever_is_imported()


def test_the_whole_suite_draws_so_where_it_draws_the_same_each_time():
    assert isinstance(vars(HypothesisProvider)[POOL], Constants) == settings().derandomize


@pytest.mark.usefixtures("drawing_the_same")
@pytest.mark.parametrize("profile", ["same", "mutants"])
def test_the_same_examples_are_drawn_whatever_is_imported_meanwhile(profile, of_a_local_module):
    before = drawn(profile=profile)
    of_a_local_module()
    assert drawn(profile=profile) == before


@pytest.mark.usefixtures("drawing_the_same")
def test_literals_of_local_modules_would_be_drawn_otherwise(monkeypatch):
    before = drawn()
    integer, number, string = LITERALS
    monkeypatch.setattr(HypothesisProvider, POOL, Constants(integers={integer}, floats={number}, strings={string}))
    CONSTANTS_CACHE.cache.clear()
    after = drawn()
    CONSTANTS_CACHE.cache.clear()
    assert not any(is_drawn(literal, before) for literal in LITERALS)
    assert all(is_drawn(literal, after) for literal in LITERALS)


def test_the_same_expressions_are_drawn_wherever_in_memory_their_makers_lie():
    def drawn_expressions():
        found = []

        @settings(settings.get_profile("same"), max_examples=40)
        @given(expressions(Kind.FLOAT, depth=2))
        def draws(expression):
            found.append(repr(expression))

        draws()
        return found

    before = drawn_expressions()
    in_the_way = [lambda: None for _ in range(1_001)][::2]  # every second place is free again
    assert drawn_expressions() == before
    assert len(in_the_way) == 501


def test_a_hypothesis_that_looks_elsewhere_is_noticed(monkeypatch):
    monkeypatch.delattr(HypothesisProvider, POOL)
    with pytest.raises(AssertionError, match="find what its examples depend on"):
        draw_the_same_whatever_is_imported()
