"""`ConformalClassifier` and `ConformalRegressor`: private models that say how far to trust each prediction."""

from copy import copy
from fractions import Fraction
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, RegressorMixin, clone
from sklearn.utils.validation import check_is_fitted

from sfumato.errors import ParameterError
from sfumato.learn.conformal.split import (
    CALIBRATION_SHARE,
    SplitFit,
    distances,
    is_parallel,
    largest_distance,
    places,
)
from sfumato.learn.core.estimators import PrivateEstimator
from sfumato.learn.core.inputs import FitRelease, ReleasedModel, TrainingData, run_fit
from sfumato.numeric.rationals import Number, exact
from sfumato.session.asking.view import View
from sfumato.session.training.columns import TrainingColumn
from sfumato.session.training.ordered import SessionElsewhere

Matrix = npt.NDArray[np.float64]


class ConformalEstimator(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc] # scikit-learn has no types
    """A private model and a private threshold of how far targets lie from it, bought together.

    Attributes:
        estimator_: The fitted model.
        threshold_: The threshold, in the whole steps of `SplitFit`.
        event_: What was released, for accountants.
        guarantee_: What the fit cost.
        noise_: The noise of the model, and how many ranks the threshold's noise may take (`threshold_margin`).
        receipt_: The receipt of a fit through a session, else None.
    """

    is_number: bool

    def __init__(self, estimator: Any, *, alpha: Number = "0.1", calibration: Number = "0.25") -> None:
        self.estimator = estimator
        self.alpha = alpha
        self.calibration = calibration

    def fit(self, X: Any, y: Any = None, *, session: View | SessionElsewhere | None = None) -> Self:  # noqa: N803 # scikit-learn's names
        """Fit the model to some rows and the threshold to the others, and charge both where there is an account.

        Args:
            X: Rows of numbers; or a `TrainingSet`; or, with a session, a SELECT of rows or a frame.
            y: The target, one value a row; with a session the name of the target column.
            session: The session whose rows are read, and whose account is charged.

        Raises:
            ParameterError: An argument cannot be used; nothing was read or charged.
            BudgetExceededError: Too little budget remains; nothing was charged.
        """
        model = self._model()
        data = model.read(X, y, session=session)
        fit = self._planned(model, data)
        return self.adopt(data.columns, fit, run_fit(data, fit, self))

    def read(self, rows: Any, target: Any = None, *, session: View | SessionElsewhere | None = None) -> TrainingData:
        """What `fit` is given, as rows that only a fit may see, with what is declared of them."""
        found: TrainingData = self._model().read(rows, target, session=session)
        return found

    def plan(self, data: TrainingData) -> SplitFit:
        """The fit of both parts, its event and its cost, for what is declared; it reads no rows and charges nothing.

        Raises:
            ParameterError: An argument cannot be used.
        """
        return self._planned(self._model(), data)

    def _planned(self, model: Any, data: TrainingData) -> SplitFit:
        alpha, calibration = (_share(value, name) for name, value in (
            ("alpha", self.alpha), ("calibration", self.calibration)
        ))  # fmt: skip
        is_shared = is_parallel(data.rows_per_unit, data.neighboring_relation)
        inner = model.plan(data, share=Fraction(1) if is_shared else 1 - CALIBRATION_SHARE)
        target = data.target
        if target is None or target.is_number is not self.is_number:
            kind = "a number" if self.is_number else "a column of listed classes"
            raise ParameterError("y", "the target", f"must be {kind}")
        return SplitFit(
            inner=inner, model=model, columns=data.columns, target=target, alpha=alpha, calibration=calibration,
            epsilon=exact(model.epsilon, "epsilon") * (1 if is_shared else CALIBRATION_SHARE),
            rows_per_unit=data.rows_per_unit, neighboring_relation=data.neighboring_relation,
        )  # fmt: skip

    def adopt(self, columns: tuple[TrainingColumn, ...], fit: SplitFit, found: FitRelease) -> Self:
        """Become the fitted model and threshold that a fit released."""
        self.estimator_ = copy(fit.model).adopt(columns, fit.inner, ReleasedModel(model=found.model["model"]))
        self.threshold_ = int(found.model["threshold"])
        self.target_: Any = fit.target
        self.n_features_in_ = len(columns)
        self.event_, self.guarantee_, self.receipt_ = fit.event, fit.charge, found.receipt
        self.noise_ = {**self.estimator_.noise_, "threshold_margin": fit.threshold.margin}
        return self

    def predict(self, X: Any) -> npt.NDArray[Any]:  # noqa: N803 # scikit-learn's name
        """The predictions of the model."""
        check_is_fitted(self, "estimator_")
        found: npt.NDArray[Any] = self.estimator_.predict(X)
        return found

    def _model(self) -> Any:
        if not isinstance(self.estimator, PrivateEstimator) or not hasattr(self.estimator, "row_scores"):
            requirement = "must be an estimator of sfumato.learn that scores each row by itself, such as GaussianNB"
            raise ParameterError("estimator", type(self.estimator).__name__, requirement)
        return clone(self.estimator)


class ConformalClassifier(ClassifierMixin, ConformalEstimator):  # type: ignore[misc] # scikit-learn has no types
    """Sets of classes that contain the true one with probability 1 − α, around a private classifier.

        S(x) = {y : d(x, y) ≤ t},   d(x, y) = max_{k ≠ y} score_k(x) − score_y(x)

    A random part of the rows, each drawn by itself, is kept from the model, and t is a private quantile of their
    distances d. It errs upward by as many ranks as its noise may take, so that noise makes sets larger, not wrong.

    **Coverage**: P(y ∈ S(x)) ≥ 1 − α for a row (x, y) that is exchangeable with the rows of the data, as one more
    draw from the same population is. The probability is over data, parts and noise together. It holds on average, not
    for each x or class. It needs no assumption on the model.

    **Guarantee**: (ε, δ)-differential privacy with the estimator's own ε, δ and relation, for model and threshold
    together. Where a unit has one row that is added or removed, it lies in one part, and each has the whole ε. Else the
    threshold has a fifth of ε. Proof: proofs/learn/conformal/split.md.

    ==================================  ======================================================
    Edge case                           Behavior
    ==================================  ======================================================
    few rows                            sets of all classes
    no class is near                    an empty set
    a label that is no class            as the estimator: refused, or left out
    an estimator without `row_scores`   ParameterError
    ==================================  ======================================================

    Args:
        estimator: A private classifier that is not fitted, with its ε: `GaussianNB`, `CategoricalNB`,
            `LogisticRegression` or `LinearSVC`.
        alpha: α, how often the true class may be missing; between 0 and 1. Default: 1/10.
        calibration: How probable it is that a row is kept for t; between 0 and 1. Default: 1/4.

    Attributes:
        estimator_: The fitted model.
        classes_: The classes, sorted.
        threshold_: t, in whole steps.
        noise_: The noise of the model, and by how many ranks t errs upward (`threshold_margin`).

    Raises:
        ParameterError: An argument cannot be used; nothing was read or charged.

    Example:
        >>> import numpy as np
        >>> from sfumato.learn import GaussianNB
        >>> hours = np.arange(4_000).reshape(-1, 1) % 100
        >>> model = ConformalClassifier(GaussianNB(epsilon=1, bounds=(0, 100), classes=[False, True]))
        >>> model.fit(hours, hours[:, 0] >= 50).predict_set([[10], [90]]).tolist()
        [[True, False], [False, True]]

    References:
        [VGS05] for conformal prediction; [ABZJ22] for private thresholds.
    """

    is_number = False

    @property
    def classes_(self) -> npt.NDArray[Any]:
        """The classes, sorted."""
        found: npt.NDArray[Any] = self.estimator_.classes_
        return found

    def predict_set(self, X: Any) -> npt.NDArray[np.bool_]:  # noqa: N803 # scikit-learn's name
        """Which classes are in the set: one row a row, one column a class in the order of `classes_`."""
        check_is_fitted(self, "estimator_")
        scores = self.estimator_.row_scores(self.estimator_.encode(X))
        return np.asarray(distances(scores, self.target_) <= self.threshold_)


class ConformalRegressor(RegressorMixin, ConformalEstimator):  # type: ignore[misc] # scikit-learn has no types
    """Intervals that contain the true number with probability 1 − α, around a private regression.

        [f(x) − t, f(x) + t],   t a private quantile of |y − f(x)| over rows that the model was not fitted to

    A random part of the rows, each drawn by itself, is kept from the model. t errs upward by as many ranks as its noise
    may take, so that noise makes intervals wider, not wrong. All intervals have the same length, but for the bounds.

    **Coverage**: P(y in its interval) ≥ 1 − α for a row (x, y) that is exchangeable with the rows of the data, with y
    clamped to the bounds of the target. The probability is over data, parts and noise together. It holds on average,
    not for each x. It needs no assumption on the model.

    **Guarantee**: (ε, δ)-differential privacy with the estimator's own ε, δ and relation, for model and threshold
    together. Where a unit has one row that is added or removed, it lies in one part, and each has the whole ε. Else the
    threshold has a fifth of ε. Proof: proofs/learn/conformal/split.md.

    ==================================  ======================================================
    Edge case                           Behavior
    ==================================  ======================================================
    few rows                            intervals from one bound of the target to the other
    a target beyond its bounds          clamped, as in the estimator
    an estimator without `row_scores`   ParameterError
    ==================================  ======================================================

    Args:
        estimator: A private regression that is not fitted, with its ε: `LinearRegression` or `Ridge`.
        alpha: α, how often the true number may lie outside; between 0 and 1. Default: 1/10.
        calibration: How probable it is that a row is kept for t; between 0 and 1. Default: 1/4.

    Attributes:
        estimator_: The fitted model.
        threshold_: t, in lattice steps of the target.
        noise_: The noise of the model, and by how many ranks t errs upward (`threshold_margin`).

    Raises:
        ParameterError: An argument cannot be used; nothing was read or charged.

    Example:
        >>> import numpy as np
        >>> from sfumato.learn import LinearRegression
        >>> hours = np.arange(20_000).reshape(-1, 1) % 100
        >>> model = ConformalRegressor(LinearRegression(epsilon=1, bounds=(0, 100), target_bounds=(0, 300)))
        >>> low, high = model.fit(hours, 3 * hours[:, 0]).predict_interval([[50]])[0]
        >>> bool(low <= 150 <= high < low + 80)
        True

    References:
        [VGS05] for conformal prediction; [ABZJ22] for private thresholds.
    """

    is_number = True

    def predict_interval(self, X: Any) -> Matrix:  # noqa: N803 # scikit-learn's name
        """The lower and the upper end of each interval: one row a row, two columns, within the bounds of the target."""
        check_is_fitted(self, "estimator_")
        scores = self.estimator_.row_scores(self.estimator_.encode(X))
        lower, upper = float(self.target_.lower), float(self.target_.upper)
        middle = places(scores, self.target_)
        half = self.threshold_ + 0.5  # a target is rounded to its nearest step
        if self.threshold_ >= largest_distance(self.target_):
            return np.tile([lower, upper], (len(middle), 1))
        steps = np.hstack([middle - half, middle + half])
        found: Matrix = np.clip(lower + steps * ((upper - lower) / self.target_.steps), lower, upper)
        return found


def _share(value: Any, name: str) -> Fraction:
    share = exact(value, name)
    if not 0 < share < 1:
        raise ParameterError(name, str(share), "must lie between 0 and 1, both excluded, such as 0.1")
    return share
