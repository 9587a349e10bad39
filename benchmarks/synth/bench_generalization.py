"""Generalized tables of Adult: how often a classifier is right that was trained on nothing else.

    python benchmarks/synth/bench_generalization.py [--seeds 10] [--plot adult.png]

Eight categories with the groups that ship, and age, hours and years of schooling in bins between round numbers. Each
table is made of adult.data, and adult.test is predicted, by a logistic regression whose rows are the cells with counts
as weights, and by the most frequent class of a cell. At ε = 10^6 there is next to no noise: the limit of the method.
The gap is that from the most frequent class of all to this limit.
"""

import argparse
import time
from statistics import mean, stdev

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import OneHotEncoder

import sfumato as sf

EPSILONS = ("0.1", "0.3", "1", "3", "10")
LIMIT = "1000000"
NUMBERS = {
    "age": sf.integer(17, 90, nullable=False), "hours_per_week": sf.integer(1, 99, nullable=False),
    "education_num": sf.integer(1, 16, nullable=False),
}  # fmt: skip
BINS = {"age": [17, *range(20, 81, 5), 90], "hours_per_week": [1, *range(10, 81, 10), 99]}


def values_of(groups):
    if isinstance(groups, list):
        return [value for value in groups if value is not None]
    return [value for inside in groups.values() for value in values_of(inside)]


def released(table, epsilon):
    """A table of its own for each call: sessions store what they release."""
    columns = {name: sf.text(values=values_of(groups)) for name, groups in sf.datasets.ADULT_TAXONOMIES.items()}
    columns |= NUMBERS | {"income": sf.text(values=["<=50K", ">50K"])}
    with sf.open(table, name="adult", columns=columns, budget=sf.PureDP(epsilon)) as session:
        return sf.synth.generalized_table(
            session, f"SELECT {', '.join(columns)} FROM adult", target="income", epsilon=epsilon, bins=BINS,
            hierarchies=sf.datasets.ADULT_TAXONOMIES,
        )  # fmt: skip


def accuracies(made, test):
    """Of a logistic regression, and of the most frequent class of each cell."""
    frame, rows = made.to_pandas(), made.generalize(test).to_pandas()
    names, truth = list(made.groups), np.array(test["income"].to_pylist())
    weighted = frame[frame["count"] > 0]
    encoder = OneHotEncoder(handle_unknown="ignore").fit(frame[names])
    model = LogisticRegression(max_iter=1_000)
    model.fit(encoder.transform(weighted[names]), weighted["income"], sample_weight=weighted["count"])
    most = frame.sort_values("count", kind="stable").groupby(names)["income"].last().reset_index()
    by_cell = rows.merge(most, on=names, how="left")["income"].to_numpy()
    return float((model.predict(encoder.transform(rows)) == truth).mean()), float((by_cell == truth).mean())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=10, help="how many tables of each ε; their noise has no seed")
    parser.add_argument("--plot", help="a file for the picture")
    asked = parser.parse_args()
    train, test = (sf.datasets.load_adult(part) for part in ("train", "test"))
    truth = np.array(test["income"].to_pylist())
    majority = float((truth == "<=50K").mean())
    print(f"{len(train):,} rows to learn from, {len(test):,} to predict; the most frequent class: {majority:.4f}")
    found = {}
    for epsilon in (LIMIT, *EPSILONS):
        start, runs, cells, totals = time.process_time(), [], [], []
        for _ in range(asked.seeds):
            made = released(train, epsilon)
            runs.append(accuracies(made, test))
            cells.append(made.noisy.shape[0])
            totals.append(float(made.counts.sum()))
        found[epsilon] = runs
        taken = (time.process_time() - start) / asked.seeds
        limit = mean(one for one, _ in found[LIMIT])
        one, other = zip(*runs, strict=True)
        print(
            f"ε {epsilon}: logistic regression {mean(one):.4f} ± {stdev(one):.4f} ({min(one):.4f} at worst), "
            f"{(mean(one) - majority) / (limit - majority):.0%} of the gap; "
            f"cells {mean(other):.4f} ± {stdev(other):.4f}; "
            f"{mean(cells):.0f} cells, clamped counts sum to {mean(totals):,.0f}; {taken:.2f} CPU-s a table"
        )
    if asked.plot:
        runs = {
            "logistic regression": [[one for one, _ in found[epsilon]] for epsilon in EPSILONS],
            "most frequent class of the cell": [[other for _, other in found[epsilon]] for epsilon in EPSILONS],
        }
        sf.plots.accuracy_over_epsilon(
            [float(epsilon) for epsilon in EPSILONS], runs, majority=majority, best=limit,
            title="At ε = 1, cells of Adult teach nearly as much as without noise",
        ).savefig(asked.plot, dpi=150)  # fmt: skip


if __name__ == "__main__":
    main()
