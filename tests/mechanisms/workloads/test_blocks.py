"""Blocks for long columns: nearly as good as the best strategy, with limits that hold; see also `test_components`."""

import numpy as np
import pytest

from sfumato.mechanisms.workloads.blocks import blocked_component
from sfumato.mechanisms.workloads.optimal import optimal_component
from sfumato.mechanisms.workloads.queries import query_gram

WEIGHTS = (("cells", 1.0), ("prefix", 1.0), ("total", 5.0))


def svd_bound_of_prefix_sums(cells):
    """From the singular values 1/(2·sin((2i − 1)π/(4n + 2))) of the triangle of ones."""
    singular = 0.5 / np.sin((2 * np.arange(1, cells + 1) - 1) * np.pi / (4 * cells + 2))
    return singular.sum() ** 2 / cells


def total_variance(component, weights):
    return component.bounds.diagonal[1] * sum(w * component.variances(kind).sum() for kind, w in weights)


def test_the_bound_is_that_of_the_matrix():
    values = np.sqrt(np.linalg.eigvalsh(query_gram("prefix", 30)))
    assert svd_bound_of_prefix_sums(30) == pytest.approx(values.sum() ** 2 / 30)


@pytest.mark.parametrize("cells", [1100, 5000])
def test_blocks_are_near_the_bound(cells):
    weights = (("prefix", 1.0),)
    assert total_variance(blocked_component(cells, weights), weights) <= 1.4 * svd_bound_of_prefix_sums(cells)


def test_blocks_are_little_worse_than_the_best_strategy_where_both_are_possible():
    weights = (("cells", 1.0), ("prefix", 1.0))
    best = total_variance(optimal_component(600, weights, is_centered=False), weights)
    assert best <= total_variance(blocked_component(600, weights), weights) <= 1.25 * best


def test_no_cell_changes_the_measured_numbers_more_than_the_limits():
    component = blocked_component(700, WEIGHTS)
    matrix = component.measure(np.eye(700, dtype=np.int64), 0)
    assert (matrix**2).sum(axis=0).max() <= component.bounds.diagonal[1] <= 1.001 * (matrix**2).sum(axis=0).max()
    assert np.abs(matrix).sum(axis=0).max() <= component.bounds.l1
    assert len(matrix) == component.measured


def test_without_noise_every_answer_is_exact():
    component = blocked_component(700, WEIGHTS)
    counts = np.random.default_rng(1).integers(0, 100, 700)
    measured = component.measure(counts, 0).astype(float)
    assert component.recover("cells", measured, 0) == pytest.approx(counts, abs=1e-6)
    assert component.recover("prefix", measured, 0) == pytest.approx(np.cumsum(counts), abs=1e-6)
    assert component.recover("total", measured, 0) == pytest.approx([counts.sum()], abs=1e-6)
