"""How accurate is a random forest on Adult, and how long does a fit take, beside diffprivlib?

The split of UCI, 20 runs (or as many as an argument says), public bounds, all other arguments defaults. "five" is five
numbers, "eleven" these and six categories. Each row is a unit that is added or removed. diffprivlib runs in an
environment of its own (make peers), where there is one: 25 trees of depth 10, the best that was found for it.

`bench_forest.py choose` compares ways to make a forest private, on a third of the training part that is held out: how
the defaults were chosen. There noise is NumPy's, as nothing is released.
"""

import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import sfumato as sf
from sfumato.learn import RandomForestClassifier
from sfumato.learn.core.bounds import declared_columns
from sfumato.learn.core.inputs import codes_of
from sfumato.learn.trees.leaves import class_shares, counted, leaf_probabilities
from sfumato.learn.trees.splits import feature_of, levels_of, random_tree
from sfumato.session.training.columns import TrainingRows

RUNS = 20
NUMBERS = {
    "age": (17, 90), "education_num": (1, 16), "capital_gain": (0, 20_000), "capital_loss": (0, 2_500),
    "hours_per_week": (1, 99),
}  # fmt: skip
CATEGORIES = ("workclass", "marital_status", "occupation", "relationship", "race", "sex")
EPSILONS = ("0.1", "1", "3", "10")
PEER = Path(__file__).parents[1] / "peers" / "diffprivlib" / ".venv" / "bin" / "python"
PEER_CODE = """
import sys, time, warnings, numpy as np
from diffprivlib.models import RandomForestClassifier
warnings.simplefilter("ignore")
data = np.load(sys.argv[1])
bounds = (data["lower"], data["upper"])
for epsilon in (0.1, 1.0, 3.0, 10.0):
    scores, times = [], []
    for seed in range(int(sys.argv[2])):
        began = time.process_time()
        model = RandomForestClassifier(
            n_estimators=25, max_depth=10, epsilon=epsilon, bounds=bounds, classes=[False, True], random_state=seed
        )
        model.fit(data["rows"], data["labels"])
        times.append(time.process_time() - began)
        scores.append(model.score(data["test_rows"], data["test_labels"]))
    print(f"diffprivlib, epsilon {epsilon}: {np.mean(scores):.4f} (sd {np.std(scores):.4f}), {min(times):.3f} s")
"""


def adult(part, values):
    """Five numbers, places of categories in their lists, and labels of a part of Adult."""
    table = sf.datasets.load_adult(part)
    columns = [table[name].to_numpy() for name in NUMBERS]
    columns += [np.searchsorted(values[name], table[name].to_pylist()) for name in CATEGORIES]
    return np.stack(columns, axis=1).astype(np.float64), np.array(table["income"].to_pylist()) == ">50K"


def measured(name, data, columns, **declared):
    """Accuracies at each ε, pure and with δ, and the least processor time of a fit."""
    (rows, labels), (test_rows, test_labels) = data
    for trees, depth in ((25, 8), (25, 10)):
        for delta in (0, 1e-6):
            for epsilon in EPSILONS:
                scores, times = [], []
                for _ in range(RUNS):
                    model = RandomForestClassifier(
                        epsilon=epsilon, delta=delta, classes=[False, True], n_estimators=trees, max_depth=depth,
                        **declared,
                    )  # fmt: skip
                    began = time.process_time()
                    model.fit(rows[:, :columns], labels)
                    times.append(time.process_time() - began)
                    scores.append(model.score(test_rows[:, :columns], test_labels))
                print(
                    f"{name}, {trees} trees of depth {depth}, epsilon {epsilon}, delta {delta}, "
                    f"{model.noise_['method']}: {np.mean(scores):.4f} (sd {np.std(scores):.4f}), {min(times):.2f} s"
                )


class Held:
    """A training part of Adult, two thirds to count and one to score, for random trees in several ways."""

    def __init__(self, data, generator, *, bounds, categories, trees, depth):
        rows, labels = data
        columns = declared_columns(range(rows.shape[1]), bounds=bounds, norm=None)
        self.features = tuple(feature_of(one, is_category=place in categories) for place, one in enumerate(columns))
        self.forest = [random_tree(self.features, depth=depth) for _ in range(trees)]
        self.codes, order = codes_of(rows, columns), generator.permutation(len(rows))
        cut = len(rows) * 2 // 3
        self.fitted, self.held, self.labels = order[:cut], order[cut:], labels.astype(np.int64)
        levels = levels_of(self.features, self.codes[self.held], is_listed=True)
        self.leaves = np.stack([tree.leaves_of(levels) for tree in self.forest])
        self.generator = generator

    def counts(self, *, are_disjoint):
        """Exact counts: all rows in each tree, or each row in one tree that is drawn for it."""
        part = self.generator.integers(len(self.forest), size=len(self.fitted))
        found = []
        for place, tree in enumerate(self.forest):
            own = self.fitted[part == place] if are_disjoint else self.fitted
            rows = TrainingRows(codes=self.codes[own], target=self.labels[own])
            found.append(counted([tree], self.features, rows, classes=2)[0])
        return np.stack(found).astype(np.float64)

    def score(self, tables, shares, weight):
        """The accuracy of evidence that adds up over trees."""
        found = np.stack([table[leaf] for table, leaf in zip(tables, self.leaves, strict=True)])
        joint = np.log(shares) + weight * np.log(found / shares).mean(axis=0)
        return (joint.argmax(axis=1) == self.labels[self.held]).mean()

    def votes(self, epsilon):
        """Disjoint parts, one label a leaf by permute-and-flip, and the majority of labels."""
        counts = self.counts(are_disjoint=True)
        keys = counts + self.generator.exponential(
            1 / epsilon, counts.shape
        )  # the same as permute-and-flip [DKSSWXZ21]
        label = keys.argmax(axis=2)
        found = np.stack([own[leaf] for own, leaf in zip(label, self.leaves, strict=True)]).mean(axis=0) > 1 / 2
        return (found == self.labels[self.held]).mean()

    def smoothed(self, epsilon, *, are_disjoint, smoothing=0.3, weight=2):
        """Laplace noise on counts, probabilities that are corrected on the way down, and evidence that adds up."""
        scale = (1 if are_disjoint else len(self.forest)) / epsilon
        counts = self.counts(are_disjoint=are_disjoint)
        noisy = counts + self.generator.laplace(0, scale, counts.shape)
        tables = leaf_probabilities(noisy, variance=2 * scale**2, smoothing=smoothing)
        return self.score(tables, class_shares(noisy), min(weight, len(self.forest)))


def choose(data, ends):
    generator = np.random.default_rng(0)
    for name, columns in (("five", 5), ("eleven", 11)):
        for trees, depth in ((10, 8), (25, 6), (25, 8), (25, 10), (50, 8)):
            results = {}
            for _ in range(RUNS):
                held = Held(
                    (data[0][:, :columns], data[1]), generator, bounds=[end[:columns] for end in ends],
                    categories=range(5, columns), trees=trees, depth=depth,
                )  # fmt: skip
                for epsilon in map(float, EPSILONS):
                    results.setdefault(("parts, labels", epsilon), []).append(held.votes(epsilon))
                    for way, are_disjoint in (("parts, counts", True), ("all rows, counts", False)):
                        score = held.smoothed(epsilon, are_disjoint=are_disjoint)
                        results.setdefault((way, epsilon), []).append(score)
                    for smoothing, weight in ((1, 2), (0.3, 1.5), (0.3, 3)):
                        score = held.smoothed(epsilon, are_disjoint=False, smoothing=smoothing, weight=weight)
                        results.setdefault((f"all rows, {smoothing}, {weight}", epsilon), []).append(score)
            for (way, epsilon), scores in sorted(results.items()):
                print(f"{name}, {trees} trees of depth {depth}, {way}, epsilon {epsilon}: {np.mean(scores):.4f}")


def main():
    everybody = sf.datasets.load_adult("all")
    values = {name: sorted(set(everybody[name].to_pylist())) for name in CATEGORIES}
    low, high = zip(*NUMBERS.values(), strict=True)
    ends = ([*low, *[0] * 6], [*high, *(len(values[name]) - 1 for name in CATEGORIES)])
    if "choose" in sys.argv:
        choose(adult("train", values), ends)
        return
    data = (adult("train", values), adult("test", values))
    print(f"majority {1 - data[1][1].mean():.4f}")
    measured("five", data, 5, bounds=(low, high))
    measured("eleven", data, 11, bounds=ends, categorical_features=range(5, 11))
    if PEER.exists():
        with TemporaryDirectory() as folder:
            path = Path(folder) / "adult.npz"
            arrays = {"rows": data[0][0][:, :5], "labels": data[0][1]}
            arrays |= {"test_rows": data[1][0][:, :5], "test_labels": data[1][1]}
            np.savez(path, lower=low, upper=high, **arrays)
            subprocess.run([str(PEER), "-c", PEER_CODE, str(path), str(RUNS)], check=True)


if __name__ == "__main__":
    RUNS = next((int(word) for word in sys.argv[1:] if word.isdigit()), RUNS)
    main()
