"""`StandardScaler`: numbers measured from a noisy mean, in units of a noisy standard deviation."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from sfumato.errors import ParameterError
from sfumato.learn.bayes.tallies import ClassTallies, tallies
from sfumato.learn.core.bounds import Bounds
from sfumato.learn.core.estimators import PrivateEstimator
from sfumato.learn.core.inputs import TrainingData, moved_rows
from sfumato.numeric.arguments import floats
from sfumato.numeric.rationals import Number, flag, positive
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.session.training.columns import TrainingColumn

Matrix = npt.NDArray[np.float64]

MIN_STDDEV: Final = Fraction(1, 1000)
"""The smallest standard deviation of a column, as a share of the distance of its bounds, if nothing is said."""


class StandardScaler(OneToOneFeatureMixin, TransformerMixin, PrivateEstimator):  # type: ignore[misc] # scikit-learn has no types
    """Standard scores under differential privacy: (x − mean)/scale of each column, both noisy.

    The fit releases the number of rows, and for each column the sums of numbers and of their squares, with noise. A
    tenth of the budget is for the number, and columns have equal parts of the rest. With δ above 0 there is discrete
    Gaussian noise where that is less than discrete Laplace noise at ε alone, else the latter.

    **Guarantee**: (ε, δ)-differential privacy for the neighboring relation, for the arithmetic and the noise that are
    used: sums are of whole numbers, and exact. Bounds are declared, never those of the data. What `transform` returns
    for rows is as private as those rows are. Proof: proofs/learn/bayes/tallies.md, with one class.

    =============================  ===========================================================
    Edge case                      Behavior
    =============================  ===========================================================
    a value beyond its bounds      clamped, when fitting and when transforming
    NaN or ±∞ in an array          ValueError before anything is spent
    a NULL                         through a session the row is left out
    a column of categories         ParameterError
    no rows                        means and scales of noise, within the bounds, at the same cost
    a small noisy count            counts as the standard deviation of its noise, or as 1
    a column with one value        the smallest scale: above 0, from noise and bounds alone
    =============================  ===========================================================

    Args:
        epsilon: The ε of the fit; must be stated.
        delta: The δ of the fit; 0 for a pure guarantee.
        bounds: For arrays, the lower and the upper bound: two numbers, or two lists with a number a column.
        norm: Without bounds, the largest L2 norm of a row: each column then lies within ±norm.
        with_mean: Whether the mean is taken away.
        with_std: Whether columns are divided by their scale.
        min_stddev: The smallest scale of a column as a share of the distance of its bounds; above 0 and at most 1.
            Default: 1/1000. Where noise is larger than that, the smallest scale is what noise makes of a column with
            one value.
        neighboring_relation: For arrays, what may change: "add_or_remove_one" or "replace_one", of rows; a session has
            its own.

    Attributes:
        mean_: The mean of each column, in its unit.
        var_: The variances likewise, in its unit squared.
        scale_: Their roots; None without `with_std`.
        noise_: The method and the standard deviations of its noise: on the number of rows, and on sums of each column,
            in halves of the distance of its bounds.

    Raises:
        ParameterError: An argument cannot be used; nothing was read or charged.

    Example:
        >>> import numpy as np
        >>> hours = np.arange(20_000).reshape(-1, 1) % 100
        >>> scaler = StandardScaler(epsilon=1, bounds=(0, 100)).fit(hours)
        >>> bool(abs(scaler.transform([[49.5]])[0, 0]) < 0.1)
        True

    References:
        [DMNS06] for noisy sums.
    """

    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        delta: Number = 0,
        bounds: Bounds | None = None,
        norm: Number | None = None,
        with_mean: bool = True,
        with_std: bool = True,
        min_stddev: Number | None = None,
        neighboring_relation: str = "add_or_remove_one",
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.bounds = bounds
        self.norm = norm
        self.with_mean = with_mean
        self.with_std = with_std
        self.min_stddev = min_stddev
        self.neighboring_relation = neighboring_relation

    def transform(self, X: Any) -> Matrix:  # noqa: N803 # scikit-learn's name
        """The standard scores of rows, which are clamped to the declared bounds and rounded to their lattice."""
        codes = self._codes(X)
        decoded = [column.decode(codes[:, place]) for place, column in enumerate(self.columns_)]
        numbers = np.stack(decoded, axis=1)
        if self.with_mean:
            numbers -= self.mean_
        return numbers if self.scale_ is None else numbers / self.scale_

    def inverse_transform(self, X: Any) -> Matrix:  # noqa: N803 # scikit-learn's name
        """The numbers that standard scores stand for."""
        check_is_fitted(self, "mean_")
        scores = floats(X, "X") * (1.0 if self.scale_ is None else self.scale_)
        found: Matrix = scores + self.mean_ if self.with_mean else scores
        return found

    def _array_target(self, y: Any) -> tuple[None, None]:  # noqa: ARG002 # there is nothing to predict
        return None, None

    def _planned(self, data: TrainingData, total: PureDP | ApproxDP) -> ClassTallies:
        self._smallest()
        flag(self.with_mean, "with_mean")
        flag(self.with_std, "with_std")
        for column in data.columns:
            if not column.is_number:
                raise ParameterError(
                    column.name, "categories", "must be a number with bounds; leave it out of the query"
                )
        return tallies(data.columns, kind="moments", classes=1, moved_rows=moved_rows(data), total=total)

    def _smallest(self) -> Fraction:
        smallest = MIN_STDDEV if self.min_stddev is None else positive(self.min_stddev, "min_stddev")
        if not Fraction(1, 10**6) <= smallest <= 1:
            raise ParameterError("min_stddev", float(smallest), "must be a share from 0.000001 to 1")
        return smallest

    def _adopt(self, fit: ClassTallies, model: Mapping[str, Any]) -> None:
        size = max(float(model["counts"][0]), float(fit.count.stddev), 1.0)
        smallest = (2 * float(self._smallest())) ** 2
        self.mean_, self.var_ = np.empty(len(fit.columns)), np.empty(len(fit.columns))
        noises = []
        for place, (column, sums, noise) in enumerate(zip(fit.columns, model["sums"], fit.noises, strict=True)):
            square = float(column.steps**2)
            mean = float(np.clip((sums[0][0] + sums[0][1]) / (2 * square) / size, -1.0, 1.0))
            of_squares = float(np.clip(((sums[0][0] - sums[0][1]) / (2 * square) / size + 1) / 2, 0.0, 1.0))
            noises.append(float(noise.stddev) / (2**0.5 * square))
            by_noise = (0.5 + 2 * abs(mean)) * noises[-1] / size
            variance = max(of_squares - mean**2, smallest, min(by_noise, 1.0))
            self.mean_[place], self.var_[place] = _in_units(column, mean, variance)
        self.scale_ = np.sqrt(self.var_) if self.with_std else None
        self.noise_ = {
            "method": "laplace" if isinstance(fit.charge, PureDP) else "gaussian",
            "count_stddev": float(fit.count.stddev), "sum_stddevs": noises,
        }  # fmt: skip


def _in_units(column: TrainingColumn, mean: float, variance: float) -> tuple[float, float]:
    """A mean and a variance in the unit of a column, of numbers from −1 to 1."""
    lower, upper = column.decode(np.array([0, column.steps], dtype=np.int32)).tolist()
    half = (upper - lower) / 2
    return lower + (mean + 1) * half, variance * half**2
