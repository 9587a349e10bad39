"""The best strategy of one column: near its lower bound, no worse than others, and as good after rounding."""

import numpy as np
import pytest

from sfumato.mechanisms.workloads.components import Cells, Direct, Residual
from sfumato.mechanisms.workloads.optimal import COLUMN_LENGTH, optimal_component, optimal_factor, rounded
from sfumato.mechanisms.workloads.planning import tree
from sfumato.mechanisms.workloads.queries import KINDS, query_gram

GRAMS = {
    "prefix": query_gram("prefix", 48),
    "ranges": query_gram("ranges", 33),
    "cells": query_gram("cells", 9),
    "cells and prefix": query_gram("cells", 64) + query_gram("prefix", 64),
    "one cell counts much": np.diag([1e6, 1, 1, 1, 1.0]),
    "one cell": query_gram("prefix", 1),
}


def total_variance(component, kinds):
    """For noise of variance 1 per unit of sensitivity."""
    return component.bounds.diagonal[1] * sum(component.variances(kind).sum() for kind in kinds)


def svd_bound(gram):
    """No strategy has a smaller total variance [LM13]."""
    return np.sqrt(np.clip(np.linalg.eigvalsh(gram), 0, None)).sum() ** 2 / len(gram)


@pytest.mark.parametrize("gram", GRAMS.values(), ids=GRAMS)
def test_the_total_variance_is_that_of_the_matrix_and_near_the_lower_bound(gram):
    factor = optimal_factor(gram)
    strategy = factor.matrix.T @ factor.matrix
    assert np.diagonal(strategy).max() == pytest.approx(1)
    assert np.trace(gram @ np.linalg.inv(strategy)) == pytest.approx(factor.total)
    assert svd_bound(gram) * (1 - 1e-9) <= factor.lower_bound <= factor.total <= 1.0011 * factor.lower_bound


@pytest.mark.parametrize("seed", range(5))
def test_no_other_strategy_is_below_the_lower_bound(seed):
    gram = GRAMS["cells and prefix"]
    bound = optimal_factor(gram).lower_bound
    rng = np.random.default_rng(seed)
    others = [rng.normal(size=(80, 64)), np.eye(64) + rng.uniform(0, 0.2, (64, 64)), tree(64, 2 + seed), np.eye(64)]
    for other in others:
        strategy = other.T @ other
        assert np.diagonal(strategy).max() * np.trace(gram @ np.linalg.inv(strategy)) >= bound


@pytest.mark.parametrize("cells", [2, 3, 16, 100])
@pytest.mark.parametrize("kinds", [("prefix",), ("ranges",), ("cells", "prefix")], ids="+".join)
def test_whole_numbers_are_as_good(kinds, cells):
    bound = optimal_factor(sum(query_gram(kind, cells) for kind in kinds)).lower_bound
    component = optimal_component(cells, tuple((kind, 1.0) for kind in kinds), is_centered=False)
    assert total_variance(component, kinds) <= 1.005 * bound
    assert component.bounds.diagonal[1] == pytest.approx(COLUMN_LENGTH**2, rel=0.003)


@pytest.mark.parametrize("kind", KINDS[1:])
def test_centered_strategies_are_the_best_for_what_differs_from_the_mean(kind):
    component = optimal_component(24, ((kind, 1.0),), is_centered=True)
    project = np.eye(24) - 1 / 24
    bound = optimal_factor(project @ query_gram(kind, 24) @ project, is_centered=True).lower_bound
    assert not component.matrix.sum(axis=1).any()
    assert bound * (1 - 1e-6) <= total_variance(component, [kind]) <= 1.005 * bound
    assert total_variance(component, [kind]) <= 1.005 * total_variance(Residual(24), [kind])


def test_a_histogram_with_its_prefix_sums_beats_what_is_simple():
    kinds = ("cells", "prefix")
    found = total_variance(optimal_component(64, tuple((kind, 1.0) for kind in kinds), is_centered=False), kinds)
    assert found < total_variance(Cells(64), kinds) / 3
    assert found < Direct("prefix", 64).bounds.diagonal[1] * 64 / 6


def test_rows_that_add_up_to_zero_do_so_when_they_are_rounded():
    matrix = np.random.default_rng(2).normal(scale=3, size=(40, 7))
    matrix -= matrix.mean(axis=1, keepdims=True)
    whole = rounded(matrix, is_centered=True)
    assert not whole.sum(axis=1).any()
    assert np.abs(whole - matrix).max() < 1
    assert np.abs(rounded(matrix, is_centered=False) - matrix).max() <= 0.5
