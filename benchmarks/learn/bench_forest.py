"""How can a forest be private on Adult? Several ways, on a third of the training part that is held out.

Defaults of `RandomForestClassifier` were chosen by it. 20 runs or as many as stated. "five" are five numbers, "eleven"
these and six categories. Noise is NumPy's, as nothing is released.
"""

import sys

import numpy as np
from adult_rows import CATEGORIES, EPSILONS, LOWER, UPPER, five, seven, seven_ends

from sfumato.learn.core.bounds import declared_columns
from sfumato.learn.core.inputs import codes_of
from sfumato.learn.trees.leaves import class_shares, counted, leaf_probabilities
from sfumato.learn.trees.splits import feature_of, levels_of, random_tree
from sfumato.session.training.columns import TrainingRows

RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 20


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
    rows, labels = five("train")
    categories = seven("train")[0][:, : len(CATEGORIES)]
    data = (np.concatenate([rows, categories], axis=1), labels)
    low, high = seven_ends()
    choose(data, ([*LOWER, *low[:6]], [*UPPER, *high[:6]]))


if __name__ == "__main__":
    main()
