"""`CategoricalNB`: naive Bayes of categories, with a probability for each value in each class."""

from typing import Any, ClassVar

import numpy as np

from sfumato.errors import ParameterError
from sfumato.learn.bayes.naive import Matrix, NaiveBayes
from sfumato.learn.bayes.tallies import ClassTallies, Kind, table_of, values_of
from sfumato.learn.core.bounds import Bounds
from sfumato.learn.core.inputs import TrainingData
from sfumato.numeric.rationals import Number, positive
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.session.training.columns import MAX_CATEGORIES, Codes, TrainingColumn


class CategoricalNB(NaiveBayes):
    """Naive Bayes of categories under differential privacy, for two classes or more.

        P(y | x) ∝ P(y) · Π_j P(x_j | y),   P(x_j = v | y) = (n_yv + alpha) / Σ_u (n_yu + alpha)

    For each class the fit releases how many rows it has, and for each column how many of them have each value, with
    noise. A tenth of the budget is for the classes, and columns have equal parts of the rest. With δ above 0 there
    is discrete Gaussian noise where that is less than discrete Laplace noise at ε alone, else the latter.

    Through a session, a category has its listed values. A number with whole bounds has the whole numbers between them
    as values; so has each column of an array. Other numbers are rounded to these.

    **Guarantee**: (ε, δ)-differential privacy for the neighboring relation, for the noise that is used. Proof:
    proofs/learn/bayes/tallies.md.

    ==================================  ======================================================
    Edge case                           Behavior
    ==================================  ======================================================
    a number beyond its bounds          clamped, when fitting and when predicting
    NaN or ±∞ in an array               ValueError before anything is spent
    a NULL, or a category not listed    through a session the row is left out; when predicting,
                                        its column is passed over
    bounds that are not whole           ParameterError
    a label that is no class            ParameterError; through a session the row is left out
    no rows, or one class only          a model of noise, at the same cost
    a noisy count below 0               counts as 0; that of a class below 1 as 1
    ==================================  ======================================================

    Args:
        epsilon: The ε of the fit; must be stated.
        delta: The δ of the fit; 0 for a pure guarantee.
        bounds: For arrays, the smallest and the largest value: two whole numbers, or two lists with one a column.
        norm: Without bounds, the largest L2 norm of a row, a whole number: each column then lies within ±norm.
        classes: For arrays, all classes; with a session the default is the listed values of the target.
        alpha: What is added to each noisy count, above 0. Default: 1.
        neighboring_relation: For arrays, what may change: "add_or_remove_one" or "replace_one", of rows; a session has
            its own.

    Attributes:
        feature_log_prob_: For each column the logarithms of the probabilities: one row a class, one column a value.
        class_prior_: The probability of each class.
        noise_: The method and the standard deviations of its noise: on counts of classes, and on those of values of
            each column.

    Raises:
        ParameterError: An argument cannot be used; nothing was read or charged.

    Example:
        >>> import numpy as np
        >>> day = np.arange(2_100).reshape(-1, 1) % 7
        >>> model = CategoricalNB(epsilon=1, bounds=(0, 6), classes=["week", "weekend"])
        >>> model.fit(day, np.where(day[:, 0] > 4, "weekend", "week")).predict([[1], [6]]).tolist()
        ['week', 'weekend']

    References:
        [DMNS06] for noisy counts; [VSBH13] for naive Bayes of them.
    """

    _kind: ClassVar[Kind] = "values"

    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        delta: Number = 0,
        bounds: Bounds | None = None,
        norm: Number | None = None,
        classes: Any = None,
        alpha: Number = 1,
        neighboring_relation: str = "add_or_remove_one",
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.bounds = bounds
        self.norm = norm
        self.classes = classes
        self.alpha = alpha
        self.neighboring_relation = neighboring_relation

    def _planned(self, data: TrainingData, total: PureDP | ApproxDP) -> ClassTallies:
        positive(self.alpha, "alpha")
        return super()._planned(data, total)

    def _check(self, columns: tuple[TrainingColumn, ...]) -> None:
        for column in columns:
            if column.lower is None or column.upper is None:
                continue
            if column.lower.denominator != 1 or column.upper.denominator != 1:
                raise ParameterError("bounds", f"those of {column.name}", "must be whole numbers; or take GaussianNB")
            if column.upper - column.lower >= MAX_CATEGORIES:
                requirement = f"must have at most {MAX_CATEGORIES:,} whole numbers between them; or take GaussianNB"
                raise ParameterError("bounds", f"those of {column.name}", requirement)

    def _learned(self, fit: ClassTallies, counts: Matrix, sums: list[Matrix]) -> None:  # noqa: ARG002 # of the role
        alpha = float(positive(self.alpha, "alpha"))
        added = [np.maximum(own, 0.0) + alpha for own in sums]
        self.feature_log_prob_ = [np.log(own / own.sum(axis=1, keepdims=True)) for own in added]

    def _units(self, fit: ClassTallies) -> list[float]:
        return [float(noise.stddev) for noise in fit.noises]

    def _scores(self, codes: Codes) -> Matrix:
        scores = np.zeros((len(codes), len(self.classes_)))
        for place, column in enumerate(self.columns_):
            values = table_of(column, "values").argmax(axis=1)
            known = np.vstack([self.feature_log_prob_[place].T, np.zeros(len(self.classes_))])
            found = np.append(values, values_of(column))[codes[:, place]]  # the last one is that of the code −1
            scores += known[found]
        return scores
