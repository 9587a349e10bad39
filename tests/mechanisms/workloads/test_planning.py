"""Plans: never worse than separate queries, near the bounds, and what they choose."""

import numpy as np
import pytest
from tests.mechanisms.workloads.brute_force import ONE_ROW

from sfumato.errors import ParameterError
from sfumato.mechanisms.workloads.optimal import optimal_factor
from sfumato.mechanisms.workloads.planning import plan_workload, tree
from sfumato.mechanisms.workloads.queries import KINDS, LinearQueries, Subsets, marginals, query_gram
from sfumato.mechanisms.workloads.sensitivity import CellSensitivity
from sfumato.privacy.neighbors import REPLACE_ONE

SEVERAL = CellSensitivity(l0=5, linf=2, is_nonnegative=True)


def some(rng, size):
    queries = [np.flatnonzero(rng.random(size) < 0.5).tolist() or [0] for _ in range(rng.integers(1, 4))]
    return Subsets(queries if size > 1 else queries[:1])


def random_workload(rng, columns):
    def queries():
        kinds = {name: [*KINDS, some(rng, size)][rng.integers(0, 5)] for name, size in columns.items()}
        return LinearQueries({name: kind for name, kind in kinds.items() if kind != "total"}, weight=rng.integers(1, 9))

    return [queries() for _ in range(rng.integers(1, 6))]


@pytest.mark.parametrize("objective", ["total", "largest"])
@pytest.mark.parametrize("noise", ["gaussian", "laplace"])
@pytest.mark.parametrize("unit", [ONE_ROW, SEVERAL], ids=["one row", "several"])
def test_no_plan_is_worse_than_separate_queries(unit, noise, objective):
    rng = np.random.default_rng(6)
    for _ in range(15):
        columns = {name: int(rng.integers(1, 7)) for name in "abc"[: rng.integers(1, 4)]}
        plan = plan_workload(columns, random_workload(rng, columns), unit=unit, noise=noise, objective=objective)
        assert plan.error <= plan.plain_error
        assert (plan.strategy.name == "plain") == (plan.error == plan.plain_error)


@pytest.mark.parametrize("cells", [4, 32, 200])
@pytest.mark.parametrize("kinds", [("cells", "prefix"), ("prefix",), ("ranges",)], ids="+".join)
def test_one_column_is_within_a_hundredth_of_the_least_possible_variance(kinds, cells):
    plan = plan_workload({"x": cells}, [LinearQueries({"x": kind}) for kind in kinds], unit=ONE_ROW)
    bound = optimal_factor(sum(query_gram(kind, cells) for kind in kinds)).lower_bound
    assert bound * (1 - 1e-9) <= plan.error <= 1.01 * bound
    assert plan.strategy.name == "product"


def test_products_are_as_good_as_the_product_of_the_best():
    plan = plan_workload({"day": 30, "sex": 2}, [LinearQueries({"day": "prefix", "sex": "cells"})], unit=ONE_ROW)
    assert plan.error <= 1.01 * 2 * optimal_factor(query_gram("prefix", 30)).lower_bound


def test_mixed_workloads_gain_from_both():
    columns = {"day": 20, "job": 8, "sex": 2}
    workload = [
        LinearQueries({"day": "prefix"}),
        LinearQueries({"day": "prefix", "sex": "cells"}),
        *marginals(columns, ways=2),
        LinearQueries({}),
    ]
    plan = plan_workload(columns, workload, unit=ONE_ROW)
    assert plan.error <= 0.3 * plan.plain_error
    assert plan.strategy.name in {"residual", "residual and product"}


def test_long_columns_are_read_in_blocks():
    plan = plan_workload({"x": 2000, "y": 2}, [LinearQueries({"x": "prefix", "y": "cells"})], unit=ONE_ROW)
    assert plan.error < plan.plain_error / 100


def test_the_largest_variance_of_marginals_is_less_than_with_the_least_total():
    columns = {"a": 9, "b": 16, "c": 7}
    workload = [*marginals(columns, ways=1), *marginals(columns, ways=2)]
    plans = [plan_workload(columns, workload, unit=ONE_ROW, objective=objective) for objective in ("total", "largest")]
    largest = [
        plan.error
        if plan is plans[1]
        else max(plan.strategy.variances(group, kinds).max() for group, kinds in enumerate(plan.kinds))
        * sum(
            each.multiplier**2 * np.prod([p.bounds.diagonal[1] for p in each.components])
            for each in plan.strategy.measurements
        )
        for plan in plans
    ]
    assert largest[1] < 0.9 * largest[0]
    assert largest[1] < plans[1].plain_error


def test_laplace_noise_takes_trees_for_prefix_sums_and_cells_for_overlapping_marginals():
    prefix = plan_workload({"x": 200}, [LinearQueries({"x": "prefix"})], unit=ONE_ROW, noise="laplace")
    assert prefix.strategy.name == "trees"
    assert (
        prefix.error
        < plan_workload({"x": 200}, [LinearQueries({"x": "cells"})], unit=ONE_ROW, noise="laplace").error * 100
    )
    columns = {"a": 2, "b": 2, "c": 2, "d": 2}
    assert plan_workload(columns, marginals(columns, ways=3), unit=ONE_ROW, noise="laplace").strategy.name == "cells"
    wide = {"a": 50, "b": 60, "c": 70}
    assert plan_workload(wide, marginals(wide, ways=1), unit=ONE_ROW, noise="laplace").strategy.name == "plain"


def test_a_single_query_is_measured_plainly():
    for noise in ("gaussian", "laplace"):
        plan = plan_workload({"x": 9}, [LinearQueries({"x": "cells"})], unit=ONE_ROW, noise=noise)
        assert (plan.strategy.name, plan.error) == ("plain", plan.plain_error)


def test_units_of_many_cells_are_planned_for():
    many = CellSensitivity(l0=50, linf=1, is_nonnegative=True)
    columns = {"a": 9, "b": 16}
    workload = [*marginals(columns, ways=1), *marginals(columns, ways=2)]
    assert plan_workload(columns, workload, unit=many).strategy.name == "cells"
    assert plan_workload(columns, workload, unit=ONE_ROW).strategy.name == "residual"


def test_vast_domains_are_planned_without_counting_their_cells():
    columns = {f"c{place}": 10 for place in range(40)}
    for unit in (ONE_ROW, CellSensitivity(l0=10**6, linf=1, is_nonnegative=True)):
        plan = plan_workload(columns, marginals(columns, ways=1), unit=unit)
        assert plan.strategy.size <= 1 + 400
    assert plan_workload(columns, marginals(columns, ways=1), unit=ONE_ROW).strategy.name == "residual"


def test_the_tables_are_the_smallest_that_are_needed():
    columns = {"a": 3, "b": 4, "c": 5}
    assert plan_workload(columns, marginals(columns, ways=2), unit=ONE_ROW).tables == (
        ("a", "b"),
        ("a", "c"),
        ("b", "c"),
    )
    assert plan_workload(columns, [LinearQueries({})], unit=ONE_ROW).tables == ((),)
    assert plan_workload(columns, [LinearQueries({"b": "prefix"})], unit=ONE_ROW).tables == (("b",),)


def test_replacement_is_planned_for():
    replaced = CellSensitivity(l0=1, linf=1, is_nonnegative=True, neighboring_relation=REPLACE_ONE)
    plan = plan_workload({"x": 16}, [LinearQueries({"x": "prefix"})], unit=replaced)
    once = plan_workload({"x": 16}, [LinearQueries({"x": "prefix"})], unit=ONE_ROW)
    assert once.error < plan.error <= 2 * once.error * (1 + 1e-9)


@pytest.mark.parametrize(("cells", "branching"), [(1, 2), (2, 2), (7, 2), (9, 3), (10, 4), (5, 8)])
def test_a_tree_divides_down_to_single_cells(cells, branching):
    matrix = tree(cells, branching)
    assert matrix[0].tolist() == [1] * cells
    assert {tuple(row) for row in np.eye(cells, dtype=int)} <= {tuple(row) for row in matrix}
    assert np.linalg.matrix_rank(matrix) == cells
    assert all(np.flatnonzero(np.diff(np.pad(row, 1))).size == 2 for row in matrix)


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"columns": {}}, "workload"),
        ({"columns": {"a": 0}}, "columns"),
        ({"columns": {1: 2}}, "columns"),
        ({"columns": [("a", 2)]}, "columns"),
        ({"workload": []}, "workload"),
        ({"workload": ["a"]}, "workload"),
        ({"workload": [LinearQueries({"z": "cells"})]}, "workload"),
        ({"columns": {"a": 5000}, "workload": [LinearQueries({"a": "ranges"})]}, "1,024"),
        ({"columns": {"a": 2**21}, "workload": [LinearQueries({"a": "prefix"})]}, "1,048,576"),
        ({"noise": "cauchy"}, "noise"),
        ({"objective": "median"}, "objective"),
        ({"unit": 1}, "unit"),
    ],
    ids=str,
)
def test_what_is_no_problem_is_refused(wrong, named):
    parameters = {"columns": {"a": 2}, "workload": [LinearQueries({"a": "cells"})], "unit": ONE_ROW} | wrong
    with pytest.raises(ParameterError, match=named):
        plan_workload(parameters.pop("columns"), parameters.pop("workload"), **parameters)
