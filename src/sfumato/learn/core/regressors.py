"""What all private regressors share: a target that is a number with declared bounds."""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import RegressorMixin
from sklearn.utils import check_array
from sklearn.utils.validation import column_or_1d

from sfumato.errors import ParameterError
from sfumato.learn.core.estimators import PrivateEstimator
from sfumato.learn.core.inputs import TrainingData
from sfumato.numeric.arguments import listed
from sfumato.numeric.rationals import exact
from sfumato.session.training.columns import TrainingColumn


class PrivateRegressor(RegressorMixin, PrivateEstimator):  # type: ignore[misc] # scikit-learn has no types
    """A private model of a number; its `target_bounds` are the owner's, never the smallest and largest that occur.

    Through a session the policy and the query declare the bounds of the target.
    """

    target_bounds: Any

    def _array_target(self, y: Any) -> tuple[npt.NDArray[Any] | None, TrainingColumn | None]:
        if self.target_bounds is None:
            raise ParameterError("target_bounds", None, "must state a lower and an upper bound of y: (0, 100)")
        pair = [exact(end, "target_bounds") for end in listed(self.target_bounds, "target_bounds")]
        if len(pair) != 2 or pair[0] >= pair[1]:  # noqa: PLR2004 # a lower and an upper one
            raise ParameterError("target_bounds", f"{len(pair)} values", "must be a lower and a larger upper bound")
        if y is None:
            requirement = "must have a number for each row: it requires y to be passed, but the target y is None"
            raise ParameterError("y", None, requirement)
        numbers = check_array(column_or_1d(y, warn=True), ensure_2d=False, dtype=np.float64, input_name="y")
        return numbers, TrainingColumn(name="y", lower=pair[0], upper=pair[1])

    def _check_declared_once(self) -> None:
        if self.target_bounds is not None:
            requirement = "must be left out: the policy and the query declare those of the target"
            raise ParameterError("target_bounds", "bounds", requirement)
        super()._check_declared_once()

    def _number_of(self, data: TrainingData) -> TrainingColumn:
        """The target of what is fitted to.

        Raises:
            ParameterError: The target is no number, or there is none.
        """
        if data.target is None or not data.target.is_number:
            raise ParameterError("y", "the target", "must be a column of numbers with bounds")
        return data.target


def ends_of(target: TrainingColumn) -> tuple[float, float]:
    """The bounds of a target, to which predictions are clamped.

    Example:
        >>> from fractions import Fraction
        >>> ends_of(TrainingColumn(name="pay", lower=Fraction(0), upper=Fraction(300)))
        (0.0, 300.0)
    """
    lower, upper = target.decode(np.array([0, target.steps], dtype=np.int32))
    return float(lower), float(upper)
