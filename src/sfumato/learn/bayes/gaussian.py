"""`GaussianNB`: naive Bayes of numbers, with a normal distribution for each class and column."""

from fractions import Fraction
from typing import Any, ClassVar, Final

import numpy as np

from sfumato.errors import ParameterError
from sfumato.learn.bayes.naive import Matrix, NaiveBayes
from sfumato.learn.bayes.tallies import ClassTallies, Kind
from sfumato.learn.core.bounds import Bounds
from sfumato.learn.core.inputs import TrainingData
from sfumato.numeric.rationals import Number, positive
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.session.training.columns import Codes, TrainingColumn

MIN_STDDEV: Final = Fraction(1, 10)
"""The smallest standard deviation of a column, as a share of its range, if nothing is said."""

_PRIOR_SQUARE: Final = 1 / 3
"""The mean square of a number between −1 and 1 of which nothing is known."""


class GaussianNB(NaiveBayes):
    """Gaussian naive Bayes under differential privacy, for two classes or more.

        P(y | x) ∝ P(y) · Π_j N(x_j; mean, variance of column j in class y)

    For each class the fit releases how many rows it has, and for each column the sums of numbers and of their squares,
    with noise. A tenth of the budget is for the counts, and columns have equal parts of the rest. With δ above 0
    there is discrete Gaussian noise where that is less than discrete Laplace noise at ε alone, else the latter.

    Where noise is large beside a class, its means and variances are drawn to those of numbers spread evenly within
    the bounds: as many such rows are added as the noise on a sum is wide.

    **Guarantee**: (ε, δ)-differential privacy for the neighboring relation, for the arithmetic and the noise that are
    used: sums are of whole numbers, and exact. Proof: proofs/learn/bayes/tallies.md.

    ==================================  ======================================================
    Edge case                           Behavior
    ==================================  ======================================================
    a value beyond its bounds           clamped, when fitting and when predicting
    NaN or ±∞ in an array               ValueError before anything is spent
    a NULL                              through a session the row is left out
    a column of categories              ParameterError; `CategoricalNB` has them
    a label that is no class            ParameterError; through a session the row is left out
    no rows, or one class only          a model of noise, at the same cost
    a noisy count below 1               counts as 1
    a variance below the smallest       the smallest
    ==================================  ======================================================

    Args:
        epsilon: The ε of the fit; must be stated.
        delta: The δ of the fit; 0 for a pure guarantee.
        bounds: For arrays, the lower and the upper bound: two numbers, or two lists with a number a column.
        norm: Without bounds, the largest L2 norm of a row: each column then lies within ±norm.
        classes: For arrays, all classes; with a session the default is the listed values of the target.
        min_stddev: The smallest standard deviation of a column in a class, as a share of the distance of its bounds;
            above 0 and at most 1. Default: 1/10.
        neighboring_relation: For arrays, what may change: "add_or_remove_one" or "replace_one", of rows; a session has
            its own.

    Attributes:
        theta_: The means: one row a class, one column a column of X, in its unit.
        var_: The variances likewise, in its unit squared.
        class_prior_: The probability of each class.
        noise_: The method and the standard deviations of its noise: on counts, and on sums of each column, in halves
            of the distance of its bounds.

    Raises:
        ParameterError: An argument cannot be used; nothing was read or charged.

    Example:
        >>> import numpy as np
        >>> hours = np.arange(2_000).reshape(-1, 1) % 100
        >>> model = GaussianNB(epsilon=1, bounds=(0, 100), classes=[False, True])
        >>> model.fit(hours, hours[:, 0] >= 50).predict([[10], [90]]).tolist()
        [False, True]

    References:
        [DMNS06] for noisy sums; [VSBH13] for naive Bayes of them.
    """

    _kind: ClassVar[Kind] = "moments"

    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        delta: Number = 0,
        bounds: Bounds | None = None,
        norm: Number | None = None,
        classes: Any = None,
        min_stddev: Number | None = None,
        neighboring_relation: str = "add_or_remove_one",
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.bounds = bounds
        self.norm = norm
        self.classes = classes
        self.min_stddev = min_stddev
        self.neighboring_relation = neighboring_relation

    def _planned(self, data: TrainingData, total: PureDP | ApproxDP) -> ClassTallies:
        self._smallest()
        return super()._planned(data, total)

    def _check(self, columns: tuple[TrainingColumn, ...]) -> None:
        for column in columns:
            if not column.is_number:
                raise ParameterError(column.name, "categories", "must be a number with bounds; or take CategoricalNB")

    def _smallest(self) -> Fraction:
        smallest = MIN_STDDEV if self.min_stddev is None else positive(self.min_stddev, "min_stddev")
        if not Fraction(1, 10**6) <= smallest <= 1:
            raise ParameterError("min_stddev", float(smallest), "must be a share from 0.000001 to 1")
        return smallest

    def _learned(self, fit: ClassTallies, counts: Matrix, sums: list[Matrix]) -> None:
        smallest = (2 * float(self._smallest())) ** 2
        self._means = np.empty((len(counts), len(sums)))
        self._variances = np.empty_like(self._means)
        for place, (column, own, noise) in enumerate(zip(fit.columns, sums, self._units(fit), strict=True)):
            square = float(column.steps**2)
            first = (own[:, 0] + own[:, 1]) / (2 * square)
            second = ((own[:, 0] - own[:, 1]) / (2 * square) + counts) / 2
            size = counts + noise
            mean = np.clip(first / size, -1.0, 1.0)
            self._means[:, place] = mean
            of_squares = np.clip((second + noise * _PRIOR_SQUARE) / size, 0.0, 1.0)
            self._variances[:, place] = np.maximum(of_squares - mean**2, smallest)
        lowers, uppers = (
            np.array([float(end or 0) for end in ends])
            for ends in zip(*((one.lower, one.upper) for one in fit.columns), strict=True)
        )
        halves = (uppers - lowers) / 2
        self.theta_ = lowers + (self._means + 1) * halves
        self.var_ = self._variances * halves**2

    def _units(self, fit: ClassTallies) -> list[float]:
        """A sum of numbers is half of two noisy ones together, in steps²."""
        return [
            float(noise.stddev) / (2**0.5 * column.steps**2)
            for noise, column in zip(fit.noises, fit.columns, strict=True)
        ]

    def _scores(self, codes: Codes) -> Matrix:
        scores = np.zeros((len(codes), len(self.classes_)))
        for place, column in enumerate(self.columns_):
            numbers = 2.0 * codes[:, place, None] / column.steps - 1.0
            variances = self._variances[:, place]
            scores -= np.log(variances) / 2 + (numbers - self._means[:, place]) ** 2 / (2 * variances)
        return scores
