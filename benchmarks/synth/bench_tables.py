"""Synthetic Adult: how near made-up rows come to the table, and what they take.

    python benchmarks/synth/bench_tables.py [--seeds 5] [--epsilons 1] [--methods independent,privbayes,mst,mwem,aim]
        [--tree-limit 10000] [--quantiles]

13 columns (without fnlwgt and education_num, which education says again), 36,842 rows to measure and 12,000 to test,
δ = 1e-9. Each seed draws other rows to measure, other noise and other made-up rows. Beside a bootstrap of the rows that
were measured, which nothing private can be expected to be nearer than. TVD is ½·Σ|p − q| of all pairs of columns.
With a tree limit there are mixtures beyond it. The method "pairs" is of this file: a fifth of the cost is for columns,
the rest for all 78 pairs alike. No tree of these fits into memory.
With --quantiles each method runs once more, with its numbers cut at private quantiles.
"""

import argparse
import resource
import time
from itertools import combinations
from statistics import mean

import numpy as np
import pyarrow as pa
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score

import sfumato as sf
from sfumato.synth.methods import choosing, plan

DELTA = "1e-9"
MEASURED = 36_842
DROPPED = ["fnlwgt", "education_num"]
NUMBERS = {
    "age": sf.integer(17, 90), "capital_gain": sf.integer(0, 99_999), "capital_loss": sf.integer(0, 4_999),
    "hours_per_week": sf.integer(1, 99),
}  # fmt: skip
BINS = {"capital_gain": 100, "capital_loss": 100}
QUANTILES = {"age": 16, "capital_gain": 6, "capital_loss": 4, "hours_per_week": 8}


def adult():
    table = sf.datasets.load_adult("all").drop_columns(DROPPED)
    columns = {
        name: NUMBERS.get(name) or sf.text(values=sorted(set(table[name].to_pylist()))) for name in table.column_names
    }
    return table, columns


def codes(table, attributes):
    """Each column as the numbers of its declared values."""
    found = {}
    for one in attributes:
        places = {}
        found[one.name] = np.array(
            [places.setdefault(value, one.code_of(value)) for value in table[one.name].to_pylist()]
        )
    return found


def distances(attributes, real, made):
    found = []
    sizes = {one.name: one.size for one in attributes}
    for first, second in combinations(sizes, 2):
        shares = []
        for rows in (real, made):
            both = rows[first] * sizes[second] + rows[second]
            shares.append(np.bincount(both, minlength=sizes[first] * sizes[second]) / len(both))
        found.append(np.abs(shares[0] - shares[1]).sum() / 2)
    return mean(found), max(found)


def auc(made, test):
    """Of boosted trees that were fitted to made-up rows, on real ones."""
    rows, truth = (np.stack([part[name] for name in part if name != "income"], axis=1) for part in (made, test))
    if len(set(made["income"])) < 2:
        return 0.5
    model = HistGradientBoostingClassifier(random_state=0).fit(rows, made["income"] == 1)
    return roc_auc_score(test["income"] == 1, model.predict_proba(truth)[:, 1])


def measure_pairs(measuring, names, stated):
    """All pairs of columns, after each column."""
    measuring.measure_and_merge(names, measuring.left / 5, stated.rule)
    cost = measuring.left / (len(names) * (len(names) - 1) // 2)
    for pair in combinations(names, 2):
        measuring.measure(pair, cost)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--epsilons", default="1")
    parser.add_argument("--methods", default="independent,privbayes,mst,mwem,aim")
    parser.add_argument("--tree-limit", type=int)
    parser.add_argument("--quantiles", action="store_true")
    arguments = parser.parse_args()
    plan.METHODS = choosing.METHODS = {**plan.METHODS, "pairs": measure_pairs}
    choosing.LIMITS = {**choosing.LIMITS, "pairs": 13}
    table, columns = adult()
    everything = f"SELECT {', '.join(columns)} FROM adult"
    results = {}
    for seed in range(arguments.seeds):
        random = np.random.default_rng(seed)
        order = random.permutation(len(table))
        rows, test = table.take(pa.array(order[:MEASURED])), table.take(pa.array(order[MEASURED:]))
        declared = {"name": "adult", "columns": columns, "budget": sf.ApproxDP(100, "1e-6")}
        attributes = sf.open(rows, **declared).marginals(everything, bins=BINS).attributes
        real, held = codes(rows, attributes), codes(test, attributes)
        boot = random.integers(0, MEASURED, MEASURED)
        again = {name: own[boot] for name, own in real.items()}
        results.setdefault(("bootstrap", "-"), []).append((0, *distances(attributes, real, again), auc(again, held)))
        for epsilon in arguments.epsilons.split(","):
            runs = [(method, None) for method in arguments.methods.split(",")]
            for method, cut in runs + [(method, QUANTILES) for method, _ in runs if arguments.quantiles]:
                session = sf.open(rows, **declared)
                start = time.process_time()
                made = sf.synth.synthesize(
                    session, everything, epsilon=epsilon, delta=DELTA, method=method, quantiles=cut,
                    bins=BINS if cut is None else dict.fromkeys(("age", "hours_per_week"), None) | BINS,
                    tree_limit=arguments.tree_limit,
                )  # fmt: skip
                drawn = made.rows(MEASURED, seed=seed)
                took = time.process_time() - start
                own = codes(drawn, attributes)
                results.setdefault((method + " cut" * (cut is not None), epsilon), []).append(
                    (took, *distances(attributes, real, own), auc(own, held))
                )
    print(f"{'method':12} {'ε':>5} {'CPU s':>7} {'TVD mean':>9} {'max':>7} {'AUC':>7}, of {arguments.seeds}")
    for (method, epsilon), found in results.items():
        took, average, largest, area = (mean(part) for part in zip(*found, strict=True))
        print(f"{method:12} {epsilon:>5} {took:7.2f} {average:9.4f} {largest:7.4f} {area:7.4f}")
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB, with the tests of it")


if __name__ == "__main__":
    main()
