"""Sensitivities of whole-number strategies: by brute force over all changes by a unit on small domains."""

import numpy as np
import pytest
from tests.mechanisms.workloads.brute_force import ONE_ROW, changes, random_measurements, strategy_matrix

from sfumato.errors import ParameterError
from sfumato.mechanisms.workloads.components import Cells, Total
from sfumato.mechanisms.workloads.planning import plan_workload, squared_sensitivity
from sfumato.mechanisms.workloads.queries import LinearQueries, marginals
from sfumato.mechanisms.workloads.sensitivity import (
    CellSensitivity,
    Measurement,
    l0_sensitivity,
    l1_sensitivity,
    l2_sensitivity_squared,
)
from sfumato.privacy.neighbors import REPLACE_ONE

UNITS = {
    "one row": ONE_ROW,
    "a value": CellSensitivity(l0=1, linf=3, is_nonnegative=False),
    "two rows": CellSensitivity(l0=2, linf=2, l1=2, is_nonnegative=True),
    "three cells": CellSensitivity(l0=3, linf=1, is_nonnegative=True),
    "two values": CellSensitivity(l0=2, linf=2, l2_squared=5, is_nonnegative=False),
    "one row replaced": CellSensitivity(l0=1, linf=1, is_nonnegative=True, neighboring_relation=REPLACE_ONE),
    "two rows replaced": CellSensitivity(l0=2, linf=1, is_nonnegative=True, neighboring_relation=REPLACE_ONE),
    "a value replaced": CellSensitivity(l0=1, linf=2, is_nonnegative=False, neighboring_relation=REPLACE_ONE),
}
WORKLOADS = {
    "marginals": ({"a": 3, "b": 2, "c": 2}, marginals(["a", "b", "c"], ways=2)),
    "prefix sums": ({"a": 6}, [LinearQueries({"a": "prefix"}), LinearQueries({"a": "cells"}, weight=3)]),
    "both": ({"a": 4, "b": 3}, [LinearQueries({"a": "prefix"}), LinearQueries({"a": "ranges", "b": "cells"})]),
    "totals too": ({"a": 4, "b": 3}, [LinearQueries({"b": "cells"}), LinearQueries({"a": "prefix"}, weight=9)]),
}


def brute_force(matrix, unit):
    """How much one unit changes the measured numbers at most: l0, l1, the square of l2."""
    changed = [matrix @ change for change in changes(unit, matrix.shape[1])]
    return (
        max(int((numbers != 0).sum()) for numbers in changed),
        max(int(np.abs(numbers).sum()) for numbers in changed),
        max(int((numbers**2).sum()) for numbers in changed),
    )


@pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS)
def test_no_unit_changes_the_measured_numbers_more(unit):
    rng = np.random.default_rng(8)
    for _ in range(20):
        measurements = random_measurements(rng, rng.choice([1, 2, 3], size=2))
        l0, l1, l2_squared = brute_force(strategy_matrix(measurements), unit)
        assert l0 <= l0_sensitivity(measurements, unit)
        assert l1 <= l1_sensitivity(measurements, unit)
        assert l2_squared <= l2_sensitivity_squared(measurements, unit)


@pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS)
@pytest.mark.parametrize("name", WORKLOADS)
def test_no_unit_changes_a_planned_strategy_more(name, unit):
    columns, workload = WORKLOADS[name]
    for noise in ("gaussian", "laplace"):
        plan = plan_workload(columns, workload, unit=unit, noise=noise)
        measurements = plan.strategy.measurements
        l0, l1, l2_squared = brute_force(strategy_matrix(measurements), unit)
        assert l0 <= l0_sensitivity(measurements, unit)
        assert l1 <= l1_sensitivity(measurements, unit)
        assert l2_squared <= squared_sensitivity(plan.strategy, unit)


@pytest.mark.parametrize("linf", [1, 3])
@pytest.mark.parametrize("name", WORKLOADS)
def test_one_row_changes_the_measured_numbers_exactly_as_much(name, linf):
    columns, workload = WORKLOADS[name]
    unit = CellSensitivity(l0=1, linf=linf, is_nonnegative=True)
    plan = plan_workload(columns, workload, unit=unit)
    matrix = strategy_matrix(plan.strategy.measurements).astype(object)
    assert squared_sensitivity(plan.strategy, unit) == linf**2 * (matrix**2).sum(axis=0).max()
    assert l1_sensitivity(plan.strategy.measurements, unit) >= linf * np.abs(matrix).sum(axis=0).max()


def test_one_replaced_row_changes_the_total_and_cells_exactly_as_much():
    unit = UNITS["one row replaced"]
    total, cells = (Measurement(multiplier=3, components=(component,)) for component in (Total(5), Cells(5)))
    assert l2_sensitivity_squared([cells], unit) == 2 * 9
    assert l2_sensitivity_squared([total], unit) == 9  # it may be in no cell before or after


def test_many_cells_are_bounded_by_eigenvalues():
    unit = CellSensitivity(l0=100, linf=1, is_nonnegative=True)
    cells = plan_workload({"a": 500}, [LinearQueries({"a": "cells"})], unit=unit)
    assert squared_sensitivity(cells.strategy, unit) == 100
    total = plan_workload({"a": 500}, [LinearQueries({})], unit=unit)
    assert squared_sensitivity(total.strategy, unit) == 100**2


def test_what_was_not_stated_is_the_most_that_follows():
    unit = CellSensitivity(l0=4, linf=3, l1=5, is_nonnegative=True)
    assert (unit.l1, unit.l2_squared) == (5, 15)
    assert CellSensitivity(l0=4, linf=9, l1=5, is_nonnegative=True).l2_squared == 25
    assert CellSensitivity(l0=1, linf=1, l1=9, l2_squared=9, is_nonnegative=True) == ONE_ROW


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"l0": 0}, "l0"),
        ({"linf": 1.5}, "linf"),
        ({"l1": 0}, "l1"),
        ({"l2_squared": -1}, "l2_squared"),
        ({"is_nonnegative": "no"}, "is_nonnegative"),
        ({"neighboring_relation": "add"}, "neighboring_relation"),
    ],
    ids=str,
)
def test_what_is_no_sensitivity_is_refused(wrong, named):
    with pytest.raises(ParameterError, match=named):
        CellSensitivity(**{"l0": 1, "linf": 1, "is_nonnegative": True} | wrong)
    with pytest.raises(ParameterError, match="measurements"):
        l2_sensitivity_squared([], ONE_ROW)
