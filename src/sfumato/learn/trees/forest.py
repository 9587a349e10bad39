"""`RandomForestClassifier`: random trees on public lattices, whose leaves have noisy counts of classes."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.errors import ParameterError
from sfumato.learn.core.bounds import Bounds
from sfumato.learn.core.classifiers import JointClassifier
from sfumato.learn.core.inputs import TrainingData, moved_rows
from sfumato.learn.trees.leaves import ForestCounts, class_shares, counts_of_leaves, leaf_probabilities
from sfumato.learn.trees.splits import DEEPEST, Feature, feature_of, levels_of, tree_of
from sfumato.numeric.arguments import listed, whole
from sfumato.numeric.rationals import Number, positive
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.session.training.columns import MAX_CATEGORIES, Codes, TrainingColumn

Matrix = npt.NDArray[np.float64]


class RandomForestClassifier(JointClassifier):
    """A forest of random trees under differential privacy, for two classes or more.

        P(y | x) ∝ P(y)·Π_t (P_t(y | x)/P(y))^(m/T),   m = min(independent_trees, T), for the trees t = 1 … T

    Splits are drawn at random before a row is read: a uniform column of those that can still be split, and a uniform
    threshold. A category has a random order in each tree, and a column of which one value is left is not split again.
    Each tree sees all rows. One noisy vector is released: how many rows of each class each leaf has. With δ above 0
    there is discrete Gaussian noise where that is less than discrete Laplace noise at ε alone, else the latter.

    **Guarantee**: (ε, δ)-differential privacy for the neighboring relation, for the noise that is used. Proof:
    proofs/learn/trees/leaves.md.

    ==================================  ======================================================
    Edge case                           Behavior
    ==================================  ======================================================
    a number beyond its bounds          clamped, when fitting and when predicting
    NaN or ±∞ in an array               ValueError before anything is spent
    a NULL, or a category not listed    through a session the row is left out; when predicting,
                                        it goes to the left at each split of its column
    a label that is no class            ParameterError; through a session the row is left out
    no rows, or one class only          a model of noise, at the same cost
    a leaf with no more rows than noise  almost the probabilities of the node above it
    ==================================  ======================================================

    Args:
        epsilon: The ε of the fit; must be stated.
        delta: The δ of the fit; 0 for a pure guarantee.
        bounds: For arrays, the lower and the upper bound: two numbers, or two lists with a number a column.
        norm: Without bounds, the largest L2 norm of a row: each column then lies within ±norm.
        classes: For arrays, all classes; with a session the default is the listed values of the target.
        n_estimators: T, how many trees there are. Default: 25.
        max_depth: How many splits lie above each leaf, at most 15. Default: 8.
        categorical_features: The places of columns of numbers whose values, the whole numbers between their whole
            bounds, have no order. A column of listed values is a category anyway.
        smoothing: How many rows in a leaf are as good as none, above 0. Default: 0.3.
        independent_trees: As how many independent trees all trees count together, above 0. Default: 2.
        neighboring_relation: For arrays, what may change: "add_or_remove_one" or "replace_one", of rows; a session has
            its own.

    Attributes:
        trees_: The splits of each tree.
        leaf_proba_: The probability of each class in each leaf: trees × leaves × classes.
        class_prior_: The probability of each class.
        noise_: The method, and the standard deviation of the noise on each count.

    Raises:
        ParameterError: An argument cannot be used; nothing was read or charged.

    Example:
        >>> import numpy as np
        >>> hours = np.arange(2_000).reshape(-1, 1) % 100
        >>> model = RandomForestClassifier(epsilon=1, bounds=(0, 100), classes=[False, True])
        >>> model.fit(hours, hours[:, 0] >= 50).predict([[10], [90]]).tolist()
        [False, True]

    References:
        [FWMY03] for random splits; [GEW06] for forests of them; [JPW12] for noisy counts in their leaves. Leaves of
        [FI17] are not private as claimed.
    """

    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        delta: Number = 0,
        bounds: Bounds | None = None,
        norm: Number | None = None,
        classes: Any = None,
        n_estimators: int = 25,
        max_depth: int = 8,
        categorical_features: Iterable[int] | None = None,
        smoothing: Number = 0.3,
        independent_trees: Number = 2,
        neighboring_relation: str = "add_or_remove_one",
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.bounds = bounds
        self.norm = norm
        self.classes = classes
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.categorical_features = categorical_features
        self.smoothing = smoothing
        self.independent_trees = independent_trees
        self.neighboring_relation = neighboring_relation

    def row_scores(self, codes: Codes) -> Matrix:
        """The logarithm of P(y | x) up to a constant of the row; each row's by itself, to the last digit."""
        levels = levels_of(self._features, codes, is_listed=False)
        evidence = np.zeros((len(levels), len(self.classes_)))
        for tree, probabilities in zip(self.trees_, self.leaf_proba_, strict=True):
            evidence += np.log(probabilities / self.class_prior_)[tree.leaves_of(levels)]
        scores: Matrix = np.log(self.class_prior_) + evidence * (self._independent / len(self.trees_))
        return scores

    def _planned(self, data: TrainingData, total: PureDP | ApproxDP) -> ForestCounts:
        classes = self._class_values(data)
        trees = whole(self.n_estimators, "n_estimators", least=1)
        depth = whole(self.max_depth, "max_depth", least=1, most=DEEPEST)
        positive(self.smoothing, "smoothing")
        self._independent = min(float(positive(self.independent_trees, "independent_trees")), trees)
        self._features = self._split(data.columns)
        self.classes_ = np.array(classes)
        return counts_of_leaves(
            self._features, trees=trees, depth=depth, classes=len(classes), moved_rows=moved_rows(data), total=total
        )

    def _split(self, columns: tuple[TrainingColumn, ...]) -> tuple[Feature, ...]:
        """The columns as trees split them."""
        places = () if self.categorical_features is None else listed(self.categorical_features, "categorical_features")
        named = {whole(place, "categorical_features", most=len(columns) - 1) for place in places}
        for place in named:
            column = columns[place]
            if column.lower is None or column.upper is None:
                continue
            is_whole = column.lower.denominator == column.upper.denominator == 1
            if not is_whole or column.upper - column.lower >= MAX_CATEGORIES:
                requirement = f"must have whole bounds with at most {MAX_CATEGORIES:,} whole numbers between them"
                raise ParameterError("bounds", f"those of {column.name}", requirement)
        return tuple(feature_of(column, is_category=place in named) for place, column in enumerate(columns))

    def _adopt(self, fit: ForestCounts, model: Mapping[str, Any]) -> None:
        self.trees_ = [tree_of(document) for document in model["trees"]]
        counts = np.array(model["counts"], dtype=np.float64).reshape(fit.trees, -1, fit.classes)
        self.class_prior_ = class_shares(counts)
        self.leaf_proba_ = leaf_probabilities(
            counts, variance=fit.noise.variance, smoothing=float(positive(self.smoothing, "smoothing"))
        )
        self.noise_ = {
            "method": "laplace" if isinstance(fit.charge, PureDP) else "gaussian",
            "count_stddev": float(fit.noise.variance**0.5),
        }  # fmt: skip
