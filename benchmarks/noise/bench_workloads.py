"""How much variance do planned workloads need, beside the least possible, separate queries, and other splits?

Figures are exact and of public facts: total variance over all answers, for noise of 1 per unit of L2 sensitivity
(ρ = 1/2) or a Laplace scale of 1 per unit of L1 sensitivity (ε = 1). No data and no randomness is involved.
"""

import time
from itertools import combinations
from math import prod, sqrt

import numpy as np

from sfumato.mechanisms import CellSensitivity, LinearQueries, marginals, plan_workload
from sfumato.mechanisms.workloads.optimal import optimal_factor
from sfumato.mechanisms.workloads.queries import query_gram

ADULT = {"workclass": 9, "education": 16, "marital": 7, "occupation": 15, "sex": 2}
ONE_ROW = CellSensitivity(l0=1, linf=1, is_nonnegative=True)
TREE_BRANCHING = 2


def svd_bound_of_marginals(columns: dict[str, int], ways: int) -> float:
    """(Σ singular values)²/cells of all marginals of so many columns."""
    total = 0.0
    for count in range(ways + 1):
        for chosen in combinations(columns, count):
            rest = [size for name, size in columns.items() if name not in chosen]
            eigenvalue = sum(prod(rest) / prod(more) for more in combinations(rest, ways - count))
            total += sqrt(eigenvalue) * prod(columns[name] - 1 for name in chosen)
    return total**2 / prod(columns.values())


def show(title: str, least: float, found: dict[str, float]) -> None:
    """Total variances, beside the least possible and beside the last, which is the plan's."""
    print(f"\n{title}\n  {'least possible (bound)':<52}{least:>16,.1f}")
    for name, variance in found.items():
        print(f"  {name:<52}{variance:>16,.1f}{variance / least:>9.3f} of the bound")


def of_marginals() -> None:
    for ways in (1, 2, 3):
        workload = marginals(ADULT, ways=ways)
        start = time.process_time()
        plan = plan_workload(ADULT, workload, unit=ONE_ROW)
        seconds = time.process_time() - start
        counts = [prod(ADULT[name] for name, _ in queries.kinds) for queries in workload]
        found = {
            "each marginal an equal part of ρ (Tumult, OpenDP)": len(workload) * float(sum(counts)),
            "each marginal its best part of ρ": plan.plain_error,
            "all cells, added up": len(workload) * float(prod(ADULT.values())),
            f"plan: {plan.strategy.name}, {1e3 * seconds:.0f} ms": plan.error,
        }
        show(f"All {ways}-way marginals of five Adult columns, ρ = 1/2", svd_bound_of_marginals(ADULT, ways), found)


def of_one_column() -> None:
    for cells in (64, 256, 1024):
        workload = [LinearQueries({"x": "cells"}), LinearQueries({"x": "prefix"})]
        start = time.process_time()
        plan = plan_workload({"x": cells}, workload, unit=ONE_ROW)
        seconds = time.process_time() - start
        gram = query_gram("cells", cells) + query_gram("prefix", cells)
        levels = cells.bit_length()
        tree = hierarchical_variance(cells)
        found = {
            "half of ρ for the histogram, half for prefix sums": 2.0 * cells + 2.0 * cells**2,
            "each its best part of ρ": plan.plain_error,
            "the histogram, added up": cells + cells * (cells + 1) / 2,
            f"a binary tree of {levels} levels, least squares": tree,
            f"plan: {plan.strategy.name}, {seconds:.2f} s": plan.error,
        }
        show(f"A histogram of {cells} cells and its prefix sums, ρ = 1/2", optimal_factor(gram).lower_bound, found)


def hierarchical_variance(cells: int) -> float:
    """Of the binary tree of sums, with the same noise at every node, fitted by least squares."""
    level, rows = 1, []
    while level <= cells:
        rows.append(np.kron(np.eye(level), np.ones(cells // level)))
        level *= TREE_BRANCHING
    matrix = np.vstack(rows)
    gram = query_gram("cells", cells) + query_gram("prefix", cells)
    return float(len(rows) * np.trace(gram @ np.linalg.inv(matrix.T @ matrix)))


def of_mixtures() -> None:
    columns = {"month": 36, "region": 12, "sex": 2}
    workload = [
        LinearQueries({"month": "prefix", "region": "cells"}),
        LinearQueries({"month": "cells"}),
        LinearQueries({"region": "cells", "sex": "cells"}),
        LinearQueries({"month": "prefix", "sex": "cells"}),
        LinearQueries({}),
    ]
    print("\nMonths with running totals, regions and sex: variance of the plan beside separate queries at their best")
    for name, unit in {
        "one row": ONE_ROW,
        "three cells": CellSensitivity(l0=3, linf=1, is_nonnegative=True),
        "thirty cells": CellSensitivity(l0=30, linf=1, is_nonnegative=True),
    }.items():
        for noise in ("gaussian", "laplace"):
            plan = plan_workload(columns, workload, unit=unit, noise=noise)
            print(f"  {name:<14}{noise:<10}{plan.strategy.name:<24}{plan.error / plan.plain_error:>7.3f}")


def main() -> None:
    of_marginals()
    of_one_column()
    of_mixtures()


if __name__ == "__main__":
    main()
