"""Shares of the budget: the closed form against numeric minimization, and strategies against their matrices."""

from itertools import combinations
from math import prod, sqrt

import numpy as np
import pytest
from scipy.optimize import minimize
from tests.mechanisms.workloads.brute_force import ONE_ROW, strategy_matrix, workload_matrices

from sfumato.mechanisms.workloads.planning import plan_workload
from sfumato.mechanisms.workloads.queries import LinearQueries, marginals
from sfumato.mechanisms.workloads.strategies import best_shares, plain_strategy

ADULT = {"workclass": 9, "education": 16, "marital": 7, "occupation": 15, "sex": 2}


def svd_bound_of_marginals(columns, workload):
    """(Σ singular values)²/cells, from the eigenvalues of WᵀW, one for each set of columns [LM13]."""
    sizes = dict(columns)
    named = [set(dict(queries.kinds)) for queries in workload]
    total = 0.0
    for count in range(len(sizes) + 1):
        for chosen in map(set, combinations(sizes, count)):
            eigenvalue = sum(
                float(queries.weight) * prod(sizes[name] for name in sizes if name not in names)
                for queries, names in zip(workload, named, strict=True)
                if chosen <= names
            )
            total += sqrt(eigenvalue) * prod(sizes[name] - 1 for name in chosen)
    return total**2 / prod(sizes.values())


def numeric_minimum(terms, costs, weights, objective):
    def error(logs):
        shares = np.exp(logs) / (np.exp(logs) @ costs)
        variances = weights * (terms / shares).sum(axis=1)
        return (
            variances.sum()
            if objective == "total"
            else np.log(np.exp(30 * variances / variances.max()).sum()) / 30 * variances.max()
        )

    return minimize(error, np.zeros(len(costs)), method="Nelder-Mead", options={"maxiter": 4000, "xatol": 1e-6}).fun


@pytest.mark.parametrize("seed", range(4))
def test_shares_are_the_best(seed):
    rng = np.random.default_rng(seed)
    terms, costs, weights = rng.uniform(0, 5, (3, 4)), rng.uniform(0.5, 9, 4), rng.uniform(0.5, 2, 3)
    shares = best_shares(terms, costs, weights, "total")
    assert shares @ costs == pytest.approx(1)
    assert weights @ (terms / shares).sum(axis=1) == pytest.approx(numeric_minimum(terms, costs, weights, "total"))


@pytest.mark.parametrize("seed", range(6))
def test_the_largest_variance_is_within_a_thousandth_of_the_least_possible(seed):
    rng = np.random.default_rng(seed)
    terms, costs, weights = rng.uniform(0, 5, (3, 4)), rng.uniform(0.5, 9, 4), rng.uniform(0.5, 2, 3)
    shares = best_shares(terms, costs, weights, "largest")
    found = (weights * (terms / shares).sum(axis=1)).max()
    assert shares @ costs == pytest.approx(1)
    for other in np.random.default_rng(seed + 100).dirichlet(np.ones(4), 5000) / costs:
        assert found <= 1.002 * (weights * (terms / np.maximum(other, 1e-12)).sum(axis=1)).max()


def test_the_bound_of_marginals_is_that_of_the_matrix():
    columns = {"a": 3, "b": 2, "c": 4}
    workload = [*marginals(columns, ways=2), *marginals(columns, ways=1, weight=5)]
    plan = plan_workload(columns, workload, unit=ONE_ROW)
    rows = [matrix * sqrt(queries.weight) for matrix, queries in zip(workload_matrices(plan), workload, strict=True)]
    bound = np.linalg.svd(np.vstack(rows), compute_uv=False).sum() ** 2 / 24
    assert svd_bound_of_marginals(columns, workload) == pytest.approx(bound)


@pytest.mark.parametrize("ways", [(1,), (2,), (3,), (0, 1, 2), (1, 3)], ids=str)
def test_marginals_have_the_least_possible_variance(ways):
    workload = [queries for way in ways for queries in marginals(ADULT, ways=way, weight=1 + way)]
    plan = plan_workload(ADULT, workload, unit=ONE_ROW)
    bound = svd_bound_of_marginals(ADULT, workload)
    assert bound * (1 - 1e-9) <= plan.error <= 1.001 * bound


def test_variances_of_a_strategy_are_those_of_its_matrix():
    columns = {"a": 3, "b": 4, "c": 2}
    workload = [
        LinearQueries({"a": "prefix", "c": "cells"}),
        *marginals(columns, ways=2),
        LinearQueries({"b": "ranges"}),
    ]
    plan = plan_workload(columns, workload, unit=ONE_ROW)
    inverse = np.linalg.pinv(strategy_matrix(plan.strategy.measurements).astype(float))
    assert plan.strategy.is_orthogonal
    for group, (kinds, matrix) in enumerate(zip(plan.kinds, workload_matrices(plan), strict=True)):
        expected = ((matrix @ inverse) ** 2).sum(axis=1)
        assert plan.strategy.variances(group, kinds).ravel() == pytest.approx(expected)
        assert plan.strategy.total_variance(group, kinds) == pytest.approx(expected.sum())


@pytest.mark.parametrize("columns", [ADULT, {"a": 3, "b": 1, "c": 4}], ids=["adult", "one value"])
def test_the_measurements_of_an_orthogonal_strategy_see_nothing_in_common(columns):
    small = {name: min(size, 3) for name, size in columns.items()}
    strategy = plan_workload(small, marginals(small, ways=2), unit=ONE_ROW).strategy
    assert strategy.name == "residual"
    for first, second in combinations(strategy.measurements, 2):
        assert not (strategy_matrix([first]) @ strategy_matrix([second]).T).any()


@pytest.mark.parametrize("objective", ["total", "largest"])
@pytest.mark.parametrize("noise", ["gaussian", "laplace"])
def test_separate_queries_share_the_budget_in_the_best_way(noise, objective):
    kinds, weights = [("total",), ("cells",), ("prefix",)], (7.0, 1.0, 2.0)
    strategy = plain_strategy(kinds, [6], weights, unit=ONE_ROW, noise=noise, objective=objective)
    costs, counts = np.array([1, 1, 6]), np.array([1, 6, 6])
    multipliers = np.array([each.multiplier for each in strategy.measurements])

    def error(sizes):
        variances = np.array(weights) / sizes**2 * (counts if objective == "total" else 1)
        cost = (sizes * costs).sum() ** 2 if noise == "laplace" else (sizes**2 * costs).sum()
        return cost * (variances.sum() if objective == "total" else variances.max())

    rng = np.random.default_rng(4)
    assert all(error(multipliers) <= error(multipliers * rng.uniform(0.7, 1.4, 3)) * 1.001 for _ in range(500))
