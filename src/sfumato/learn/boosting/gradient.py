"""`GradientBoostingClassifier` and `GradientBoostingRegressor`: sums of random trees, fitted with privacy."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from sfumato.learn.boosting.bins import MAX_BINS, FeatureBins
from sfumato.learn.boosting.calibrated import MOST_SUMS, charge_of, clip_of
from sfumato.learn.boosting.level_trees import DEEPEST, level_tree_of
from sfumato.learn.boosting.losses import STEP_BITS, Loss
from sfumato.learn.boosting.noisy_trees import NoisyTrees
from sfumato.learn.core.bounds import Bounds
from sfumato.learn.core.classifiers import LogitClassifier
from sfumato.learn.core.estimators import PrivateEstimator
from sfumato.learn.core.inputs import TrainingData, moved_rows
from sfumato.learn.core.regressors import PrivateRegressor, ends_of
from sfumato.learn.core.residuals import Matrix
from sfumato.numeric.arguments import whole
from sfumato.numeric.rationals import Number, positive, positive_integer
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.session.training.columns import Codes


class _TreeSum(PrivateEstimator):
    """A model whose scores are sums of what the leaves of trees add."""

    rounds: int
    max_depth: int
    bins: int
    learning_rate: Number
    clip: Number

    def _fit_of(self, data: TrainingData, total: PureDP | ApproxDP, *, classes: int, target_steps: int) -> NoisyTrees:
        return NoisyTrees(
            bins=FeatureBins(columns=data.columns, most=whole(self.bins, "bins", least=2, most=MAX_BINS)),
            loss=Loss(classes=classes, clip=clip_of(self.clip), target_steps=target_steps),
            moved_rows=moved_rows(data), charge=charge_of(total),
            rounds=positive_integer(self.rounds, "rounds", most=MOST_SUMS),
            depth=whole(self.max_depth, "max_depth", least=1, most=DEEPEST),
            rate=positive(self.learning_rate, "learning_rate"),
        )  # fmt: skip

    def _adopt(self, fit: NoisyTrees, model: Mapping[str, Any]) -> None:
        self._bins, self.noise_ = fit.bins, fit.noise_stated
        self._trees = [level_tree_of(one) for one in model["trees"]]
        self._steps = np.array(model["steps"], dtype=np.int64)

    def _scores(self, codes: Codes) -> Matrix:
        """One row a row, one column a score: sums of whole numbers, each row's by itself."""
        placed = self._bins.places(codes)
        found = np.zeros((len(placed[0]), self._steps.shape[2]), dtype=np.int64)
        for tree, steps in zip(self._trees, self._steps, strict=True):
            found += steps[tree.leaves_of(placed)]
        return found / 2.0**STEP_BITS


class GradientBoostingClassifier(_TreeSum, LogitClassifier):
    """Gradient boosting of random trees under differential privacy, for two classes or more.

        P(y = 1 | x) = σ(Σ T_r(x)),   of more classes a softmax of such sums

    Each tree has one split a level, shared by all nodes of the level, and drawn at random from the declared bounds and
    values. So splits cost nothing. In each round the gradients of the rows of each leaf are added up with noise, and
    the leaf moves against the sum.

    **Guarantee**: (ε, δ)-differential privacy for the neighboring relation, for the arithmetic and the noise that are
    used: gradients are whole numbers, clipped row by row, and their sums are exact. The noise on all sums is certified
    jointly. Proof: proofs/learn/boosting/noisy_trees.md.

    ==================================  ======================================================
    Edge case                           Behavior
    ==================================  ======================================================
    a value beyond its bounds           clamped, when fitting and when predicting
    NaN or ±∞ in an array               ValueError before anything is spent
    a NULL, or a category not listed    through a session the row is left out; when predicting,
                                        the row goes to the left
    a label that is no class            ParameterError; through a session the row is left out
    no rows, or one class only          a model of noise, at the same cost
    delta = 0                           ParameterError: the noise is Gaussian
    ==================================  ======================================================

    Args:
        epsilon: The ε of the fit; must be stated.
        delta: The δ of the fit, above 0; far below one over the number of people.
        bounds: For arrays, the lower and the upper bound: two numbers, or two lists with a number a column.
        norm: For arrays without bounds, what no value exceeds in size.
        classes: For arrays, all classes; with a session the default is the listed values of the target.
        rounds: How many trees there are.
        max_depth: How many splits lie above each leaf, from 1 to 10.
        bins: How many bins a number has, at most; from 2 to 1,024.
        learning_rate: How much of each step is taken, above 0.
        clip: The largest L2 norm of a row's gradient: a residual, whose norm is at most 1, of several classes √2.
        neighboring_relation: For arrays, what may change: "add_or_remove_one" or "replace_one", of rows; a session has
            its own.

    Attributes:
        noise_: The rounds, the clip, and the standard deviations of the noise: on counts of rows, and on sums of
            gradients.

    Raises:
        ParameterError: An argument cannot be used; nothing was read or charged.

    Example:
        >>> import numpy as np
        >>> hours = np.arange(4_000).reshape(-1, 1) % 100
        >>> night = (hours[:, 0] < 20) | (hours[:, 0] > 70)
        >>> model = GradientBoostingClassifier(epsilon=3, delta="1e-6", bounds=(0, 100), classes=["day", "night"])
        >>> model.fit(hours, np.where(night, "night", "day")).predict([[2], [45], [97]]).tolist()
        ['night', 'day', 'night']

    References:
        [NCBSK21] for boosting with random cuts.
    """

    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        delta: Number = 0,
        bounds: Bounds | None = None,
        norm: Number | None = None,
        classes: Any = None,
        rounds: int = 500,
        max_depth: int = 4,
        bins: int = 64,
        learning_rate: Number = "0.5",
        clip: Number = "0.4",
        neighboring_relation: str = "add_or_remove_one",
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.bounds = bounds
        self.norm = norm
        self.classes = classes
        self.rounds = rounds
        self.max_depth = max_depth
        self.bins = bins
        self.learning_rate = learning_rate
        self.clip = clip
        self.neighboring_relation = neighboring_relation

    def _planned(self, data: TrainingData, total: PureDP | ApproxDP) -> NoisyTrees:
        classes = self._class_values(data)
        fit = self._fit_of(data, total, classes=len(classes), target_steps=1)
        self.classes_ = np.array(classes)
        return fit


class GradientBoostingRegressor(_TreeSum, PrivateRegressor):
    """Gradient boosting of random trees under differential privacy, for a number with declared bounds.

        minimize Σ (z − Σ T_r(x))²/2,   z the target scaled from its bounds to [−1, 1]

    It is fitted as `GradientBoostingClassifier` is. The gradient of a row is its residual, clipped: rows far from
    their prediction count as those at the clip do.

    **Guarantee**: that of `GradientBoostingClassifier`. Proof: proofs/learn/boosting/noisy_trees.md.

    ==================================  ======================================================
    Edge case                           Behavior
    ==================================  ======================================================
    a value beyond its bounds           clamped, when fitting and when predicting
    a target beyond its bounds          clamped; predictions are clamped to the same bounds
    NaN or ±∞ in an array               ValueError before anything is spent
    a NULL, or a category not listed    through a session the row is left out; when predicting,
                                        the row goes to the left
    no rows                             a model of noise, at the same cost
    delta = 0                           ParameterError: the noise is Gaussian
    ==================================  ======================================================

    Args:
        epsilon: The ε of the fit; must be stated.
        delta: The δ of the fit, above 0; far below one over the number of people.
        bounds: For arrays, the lower and the upper bound: two numbers, or two lists with a number a column.
        norm: For arrays without bounds, what no value exceeds in size.
        target_bounds: For arrays, the lower and the upper bound of the target.
        rounds: How many trees there are.
        max_depth: How many splits lie above each leaf, from 1 to 10.
        bins: How many bins a number has, at most; from 2 to 1,024.
        learning_rate: How much of each step is taken, above 0.
        clip: The largest residual of a row, in halves of the range of the target.
        neighboring_relation: For arrays, what may change: "add_or_remove_one" or "replace_one", of rows; a session has
            its own.

    Attributes:
        noise_: The rounds, the clip, and the standard deviations of the noise: on counts of rows, and on sums of
            residuals.

    Raises:
        ParameterError: An argument cannot be used; nothing was read or charged.

    Example:
        >>> import numpy as np
        >>> hours = np.arange(20_000).reshape(-1, 1) % 100
        >>> pay = np.abs(hours[:, 0] - 50)
        >>> model = GradientBoostingRegressor(epsilon=1, delta="1e-6", bounds=(0, 100), target_bounds=(0, 50))
        >>> found = model.fit(hours, pay).predict([[2], [50], [98]])
        >>> bool(np.abs(found - [48, 0, 48]).max() < 15)
        True

    References:
        [NCBSK21] for boosting with random cuts.
    """

    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        delta: Number = 0,
        bounds: Bounds | None = None,
        norm: Number | None = None,
        target_bounds: tuple[Number, Number] | None = None,
        rounds: int = 500,
        max_depth: int = 4,
        bins: int = 64,
        learning_rate: Number = "0.5",
        clip: Number = "0.4",
        neighboring_relation: str = "add_or_remove_one",
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.bounds = bounds
        self.norm = norm
        self.target_bounds = target_bounds
        self.rounds = rounds
        self.max_depth = max_depth
        self.bins = bins
        self.learning_rate = learning_rate
        self.clip = clip
        self.neighboring_relation = neighboring_relation

    def predict(self, X: Any) -> Matrix:  # noqa: N803 # scikit-learn's name
        """The prediction of each row; rows are clamped to the declared bounds, and predictions to the target's."""
        found: Matrix = self.row_scores(self._codes(X))[:, 0]
        return found

    def row_scores(self, codes: Codes) -> Matrix:
        """The prediction of each row, each by itself, as one column."""
        scores = self._scores(codes)
        lower, upper = self._ends
        found: Matrix = np.clip((lower + upper) / 2 + (upper - lower) / 2 * scores, lower, upper)
        return found

    def _planned(self, data: TrainingData, total: PureDP | ApproxDP) -> NoisyTrees:
        target = self._number_of(data)
        fit = self._fit_of(data, total, classes=0, target_steps=target.steps)
        self._ends = ends_of(target)
        return fit
