"""Strategies come back from JSON as they were, and whatever is no strategy is refused."""

import json
from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.mechanisms.workloads.brute_force import ONE_ROW
from tests.mechanisms.workloads.test_components import COMPONENTS

from sfumato.errors import ParameterError, SfumatoError
from sfumato.mechanisms.workloads.blocks import blocked_component
from sfumato.mechanisms.workloads.codec import LARGEST_ENTRY, decode_strategy, encode_strategy
from sfumato.mechanisms.workloads.components import Direct
from sfumato.mechanisms.workloads.optimal import MOST_CELLS
from sfumato.mechanisms.workloads.planning import plan_workload, squared_sensitivity
from sfumato.mechanisms.workloads.queries import KINDS, LinearQueries, Subsets, marginals
from sfumato.mechanisms.workloads.sensitivity import (
    CellSensitivity,
    Measurement,
    l0_sensitivity,
    l1_sensitivity,
)
from sfumato.mechanisms.workloads.strategies import Strategy

SEVERAL = CellSensitivity(l0=5, linf=2, is_nonnegative=False)
SOME = Subsets([(0, 3), (1,), (4, 5, 11)])
WORKLOADS = {
    "marginals": (marginals(["age", "job", "sex"], ways=2), "gaussian"),
    "prefix sums": ([LinearQueries({"age": "prefix", "sex": "cells"}), LinearQueries({"age": "prefix"})], "gaussian"),
    "around a total": ([LinearQueries({"age": "prefix"}), LinearQueries({"job": "cells"})], "gaussian"),
    "subsets": ([LinearQueries({"age": SOME}), LinearQueries({"age": "cells"})], "gaussian"),
    "subsets by themselves": ([LinearQueries({"age": SOME})], "laplace"),
    "ranges": ([LinearQueries({"age": "ranges"})], "gaussian"),
    "trees": ([LinearQueries({"age": "ranges"})], "laplace"),
    "each by itself": ([LinearQueries({"job": "cells"}), LinearQueries({"age": "ranges"}, weight=9)], "laplace"),
}


def planned(name):
    workload, noise = WORKLOADS[name]
    return plan_workload({"age": 12, "job": 5, "sex": 2}, workload, unit=ONE_ROW, noise=noise)


def of_one(component):
    """A strategy that measures one column so."""
    measured = Measurement(multiplier=3, components=(component,))
    return Strategy(name="of one", measurements=(measured,), sources=((0,),), is_orthogonal=False)


STRATEGIES = {
    **{name: planned(name).strategy for name in WORKLOADS},
    **{name: of_one(component) for name, component in COMPONENTS.items()},
    **{kind: of_one(Direct(kind, 6)) for kind in KINDS},
    "subsets of one": of_one(Direct(SOME, 12)),
    "many blocks": of_one(blocked_component(1100, (("prefix", 1.0),))),
}


@pytest.mark.parametrize("strategy", STRATEGIES.values(), ids=STRATEGIES)
def test_a_strategy_comes_back_with_all_that_it_measures(strategy):
    document = encode_strategy(strategy)
    again = decode_strategy(json.loads(json.dumps(document)))
    assert encode_strategy(again) == document
    assert (again.name, again.sources, again.is_orthogonal) == (strategy.name, strategy.sources, strategy.is_orthogonal)
    for unit in (ONE_ROW, SEVERAL):
        assert squared_sensitivity(again, unit) == squared_sensitivity(strategy, unit)
        for sensitivity in (l0_sensitivity, l1_sensitivity):
            assert sensitivity(again.measurements, unit) == sensitivity(strategy.measurements, unit)
    for before, after in zip(strategy.measurements, again.measurements, strict=True):
        assert after.multiplier == before.multiplier
        for first, second in zip(before.components, after.components, strict=True):
            counts = np.arange(2 * first.cells).reshape(2, first.cells)
            assert second.measure(counts, 1).tolist() == first.measure(counts, 1).tolist()


@pytest.mark.parametrize("name", WORKLOADS)
def test_answers_of_a_strategy_that_came_back_have_the_same_variances(name):
    plan = planned(name)
    again = decode_strategy(encode_strategy(plan.strategy))
    for group, kinds in enumerate(plan.kinds):
        assert again.variances(group, kinds).tolist() == plan.strategy.variances(group, kinds).tolist()


def test_a_component_of_many_measurements_is_written_once():
    document = encode_strategy(STRATEGIES["marginals"])
    assert len(document["components"]) < len(document["measurements"])
    assert sorted(one[0] for one in document["components"]) == ["residual"] * 3 + ["total"] * 3


MATRIX = ["dense", [[2, -2], [1, -1]], True]
UPPER, LOWER = ["dense", [[1, 0], [0, 1]], False], MATRIX


def document(*components, **changes):
    measured = [[1, [place]] for place in range(len(components))]
    return {
        "version": 1, "name": "made up", "components": list(components), "measurements": measured,
        "sources": [[place] for place in range(len(components))], "orthogonal": False, **changes,
    }  # fmt: skip


def test_documents_of_this_test_are_read():
    for one in (
        ["cells", 2],
        MATRIX,
        ["blocks", 4, UPPER, LOWER, [1, 2]],
        ["direct", 5, "ranges"],
        ["direct", 5, [[0, 4], [2]]],
    ):
        assert encode_strategy(decode_strategy(document(one))) == document(one)


REFUSED = {
    "nothing": None,
    "no document": "strategy",
    "another version": document(["cells", 2], version=2),
    "a truth for a version": document(["cells", 2]) | {"version": None},
    "more than a strategy": document(["cells", 2], sensitivity=1),
    "less": {"version": 1},
    "an unknown component": document(["sketch", 2]),
    "a component of nothing": document([]),
    "no cells": document(["cells", 0]),
    "half a cell": document(["cells", 1.5]),
    "a truth for a size": document(["cells", True]),
    "a column without end": document(["cells", 1 << 63]),
    "an unknown kind": document(["direct", 2, "suffix"]),
    "a kind that cannot be looked up": document(["direct", 2, ["cells"]]),
    "subsets of nothing": document(["direct", 3, [[]]]),
    "subsets out of order": document(["direct", 3, [[2, 0]]]),
    "subsets of values that are not there": document(["direct", 3, [[0, 3]]]),
    "subsets of a column that is too long": document(["direct", 1 << 40, [[0, 1]]]),
    "a matrix of fractions": document(["dense", [[0.5]], False]),
    "a matrix of texts": document(["dense", [["1"]], False]),
    "rows of different lengths": document(["dense", [[1, 2], [3]], False]),
    "a row for a matrix": document(["dense", [1, 2], False]),
    "an empty matrix": document(["dense", [[]], False]),
    "a matrix that cannot be inverted": document(["dense", [[0, 0], [0, 0]], False]),
    "an entry that is too large": document(["dense", [[LARGEST_ENTRY + 1]], False]),
    "an entry beyond 64 bits": document(["dense", [[1 << 64]], False]),
    "too many columns": document(["dense", [[1] * (MOST_CELLS + 1)], False]),
    "a matrix that is not centered": document(["dense", [[2, -1], [1, -1]], True]),
    "a word for a truth": document(["dense", [[1]], "no"]),
    "blocks of other components": document(["blocks", 4, UPPER, ["cells", 2], [1, 2]]),
    "blocks of what sees the total": document(["blocks", 4, UPPER, UPPER, [1, 2]]),
    "blocks without room": document(["blocks", 5, UPPER, LOWER, [1, 2]]),
    "a block's multiplier of 0": document(["blocks", 4, UPPER, LOWER, [0, 2]]),
    "a negative multiplier": document(["cells", 2], measurements=[[-1, [0]]]),
    "a multiplier of one half": document(["cells", 2], measurements=[[0.5, [0]]]),
    "a place that is not there": document(["cells", 2], measurements=[[1, [1]]]),
    "a place from the end": document(["cells", 2], measurements=[[1, [-1]]]),
    "a source from the end": document(["cells", 2], sources=[[-1]]),
    "a component that nothing uses": document(["cells", 2], ["total", 2], measurements=[[1, [0]]]),
    "what sees the same, as orthogonal": document(["cells", 2], ["total", 2], orthogonal=True),
    "what is measured twice, as orthogonal": document(["cells", 2], measurements=[[1, [0]], [1, [0]]], orthogonal=True),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_strategy_is_refused(name):
    with pytest.raises(ParameterError):
        decode_strategy(REFUSED[name])


def test_total_and_what_it_does_not_see_are_orthogonal():
    for rest in (["residual", 2], MATRIX):
        assert decode_strategy(document(["total", 2], rest, orthogonal=True)).is_orthogonal
    with pytest.raises(ParameterError):
        decode_strategy(document(["total", 2], ["residual", 2], ["cells", 2], orthogonal=True))
    with pytest.raises(ParameterError):
        decode_strategy(document(["residual", 2], MATRIX, orthogonal=True))


def test_a_component_without_a_stored_name_is_not_written():
    with pytest.raises(ParameterError, match="stored name"):
        encode_strategy(of_one("sketch"))


VALUES = st.sampled_from([None, True, 0, -1, 1, 2, 1.5, 1 << 70, "", "cells", [], [[]], {}, [1], ["total", 2], MATRIX])


@given(st.sampled_from(sorted(STRATEGIES)).filter(lambda name: name != "many blocks"), st.data())
@settings(max_examples=150, deadline=None)
def test_a_document_with_something_else_in_it_is_refused_or_is_another_strategy(name, data):
    changed = deepcopy(encode_strategy(STRATEGIES[name]))
    inner = changed
    while True:
        keys = sorted(inner) if isinstance(inner, dict) else list(range(len(inner)))
        key = data.draw(st.sampled_from(keys))
        if not isinstance(inner[key], dict | list) or not inner[key] or data.draw(st.booleans()):
            break
        inner = inner[key]
    inner[key] = data.draw(VALUES)
    try:
        again = decode_strategy(changed)
    except SfumatoError:
        return
    assert encode_strategy(again) == changed
    assert squared_sensitivity(again, SEVERAL) > 0
