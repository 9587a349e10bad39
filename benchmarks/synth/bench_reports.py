"""Synthetic Adult over ε: how near rows come, and how well a model predicts that learned from them, as a picture.

    python benchmarks/synth/bench_reports.py [--seeds 3] [--slow-seeds 1] [--epsilons 0.1,0.3,1,3,10] [--picture FILE]

Tables, columns and measures are those of `bench_tables.py`: 36,842 rows to measure and 12,000 to test, δ = 1e-9. A line
is printed after each run. ``"aim"`` takes longest, and has `--slow-seeds` of them.
"""

import argparse
import time
from itertools import chain
from statistics import mean

import numpy as np
import pyarrow as pa
from bench_tables import BINS, DELTA, MEASURED, adult, auc

import sfumato as sf
from sfumato.synth.reports.exact.distances import distances, groups_of
from sfumato.synth.reports.rows import coded

METHODS = "independent", "mst", "aim"


def split(table, seed):
    """Rows to measure, rows to test, and what draws a bootstrap."""
    random = np.random.default_rng(seed)
    order = random.permutation(len(table))
    return table.take(pa.array(order[:MEASURED])), table.take(pa.array(order[MEASURED:])), random


def measured(attributes, real, made, test):
    """The mean distance of pairs of columns, and the AUC of a model that learned from `made`, on real rows."""
    sizes = {one.name: one.size for one in attributes}
    far = distances(real, made, sizes, groups_of(list(sizes), 2, seed=0))
    return mean(far.values()), auc(made, test)


def run(table, columns, *, seed, method, epsilon):
    """Both of one synthesis."""
    rows, test, _ = split(table, seed)
    session = sf.open(rows, name="adult", columns=columns, budget=sf.ApproxDP(100, "1e-6"))
    query = f"SELECT {', '.join(columns)} FROM adult"
    start = time.process_time()
    made = sf.synth.synthesize(session, query, epsilon=epsilon, delta=DELTA, method=method, bins=BINS)
    drawn = made.rows(MEASURED, seed=seed)
    took = time.process_time() - start
    real, own, held = (coded(part, made.attributes, "rows") for part in (rows, drawn, test))
    found = measured(made.attributes, real, own, held)
    told = f"{took:6.1f} CPU s, TVD {found[0]:.4f}, AUC {found[1]:.4f}"
    print(f"{method:12} ε {epsilon:>4} seed {seed}: {told}", flush=True)
    return found


def floor(table, columns, *, seed):
    """Both of a bootstrap of the rows that are measured."""
    rows, test, random = split(table, seed)
    session = sf.open(rows, name="adult", columns=columns, budget=sf.PureDP(1))
    attributes = session.marginals(f"SELECT {', '.join(columns)} FROM adult", bins=BINS).attributes
    real, held = coded(rows, attributes, "rows"), coded(test, attributes, "rows")
    drawn = random.integers(0, MEASURED, MEASURED)
    return measured(attributes, real, {name: column[drawn] for name, column in real.items()}, held)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--slow-seeds", type=int, default=1)
    parser.add_argument("--epsilons", default="0.1,0.3,1,3,10")
    parser.add_argument("--picture", default="synthetic_over_epsilon.png")
    arguments = parser.parse_args()
    table, columns = adult()
    epsilons = arguments.epsilons.split(",")
    floors = [floor(table, columns, seed=seed) for seed in range(arguments.seeds)]
    lowest = tuple(mean(part) for part in zip(*floors, strict=True))
    print(f"bootstrap: TVD {lowest[0]:.4f}, AUC {lowest[1]:.4f}", flush=True)
    far, areas = {}, {}
    for method in METHODS:
        seeds = range(arguments.slow_seeds if method == "aim" else arguments.seeds)
        found = [
            [run(table, columns, seed=seed, method=method, epsilon=epsilon) for seed in seeds] for epsilon in epsilons
        ]
        far[method] = [[distance for distance, _ in runs] for runs in found]
        areas[method] = [[area for _, area in runs] for runs in found]
        print(f"{method}: {len(list(chain(*found)))} runs", flush=True)
    figure = sf.plots.nearness_over_epsilon([float(one) for one in epsilons], far, areas, floor=lowest)
    print(sf.plots.save(figure, arguments.picture))


if __name__ == "__main__":
    main()
