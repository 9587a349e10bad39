"""What all private estimators share, by scikit-learn's conventions; and what those with classes do."""

from abc import abstractmethod
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Self, cast

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from sfumato.errors import ParameterError
from sfumato.learn.core.bounds import declared_classes, declared_columns
from sfumato.learn.core.inputs import FitRelease, TrainingData, array_data, codes_of, run_fit
from sfumato.numeric.arguments import of_kind
from sfumato.numeric.rationals import exact
from sfumato.privacy.guarantees import ApproxDP, PureDP, guarantee
from sfumato.privacy.neighbors import as_relation
from sfumato.query.python.frame import Frame
from sfumato.session.asking.training_set import TrainingSet
from sfumato.session.asking.view import View
from sfumato.session.training.columns import Codes, TrainingColumn
from sfumato.session.training.ordered import RowsElsewhere, SessionElsewhere
from sfumato.session.training.plan import PrivateFit


class PrivateEstimator(BaseEstimator):  # type: ignore[misc] # scikit-learn has no types
    """A model that is fitted with a stated guarantee, to arrays or through a session.

    A subclass keeps its arguments as they are given, as scikit-learn asks, among them `epsilon`, `delta`, `bounds`,
    `norm` and `neighboring_relation`. It says which fit is made of what is declared (`_planned`), and reads the model
    that the fit released (`_adopt`). All else is done here: reading arguments, clamping, charging, and predicting on
    rows that are clamped in the same way.

    Attributes:
        event_: What was released, for accountants.
        guarantee_: What the fit cost.
        noise_: What noise was drawn, by names that the subclass documents.
        receipt_: The receipt of a fit through a session, else None.
        columns_: The features, as they were declared.
    """

    epsilon: Any
    delta: Any
    bounds: Any
    norm: Any
    neighboring_relation: str

    def fit(self, X: Any, y: Any = None, *, session: View | SessionElsewhere | None = None) -> Self:  # noqa: N803 # scikit-learn's names
        """Fit the model, and charge it where there is an account.

        Args:
            X: Rows of numbers; or a `TrainingSet`; or, with a session, a SELECT of rows or a frame.
            y: The target, one value a row; with a session the name of the target column.
            session: The session whose rows are read, and whose account is charged.

        Raises:
            ParameterError: An argument cannot be used; nothing was read or charged.
            BudgetExceededError: Too little budget remains; nothing was charged.
        """
        data = self.read(X, y, session=session)
        fit = self.plan(data)
        return self.adopt(data.columns, fit, run_fit(data, fit, self))

    def plan(self, data: TrainingData, *, share: Fraction = Fraction(1)) -> PrivateFit:
        """The fit, its event and its cost, for what is declared; it reads no rows and charges nothing.

        Args:
            data: What `read` returned.
            share: The share of ε that the fit may cost.

        Raises:
            ParameterError: An argument cannot be used.
        """
        total = self._total()
        return self._planned(data, guarantee(total.epsilon * share, total.delta))

    def adopt(self, columns: tuple[TrainingColumn, ...], fit: PrivateFit, found: FitRelease) -> Self:
        """Become the fitted model that a fit released."""
        self.columns_ = columns
        self.n_features_in_ = len(columns)
        self.event_, self.guarantee_, self.receipt_ = fit.event, fit.charge, found.receipt
        self._adopt(fit, found.model)
        return self

    def encode(self, X: Any) -> Codes:  # noqa: N803 # scikit-learn's name
        """Rows to predict for as whole numbers, clamped to the declared bounds."""
        return self._codes(X)

    @abstractmethod
    def _planned(self, data: TrainingData, total: PureDP | ApproxDP) -> PrivateFit:
        """The fit for what is declared, at a cost of at most `total`; it reads no rows."""

    @abstractmethod
    def _adopt(self, fit: Any, model: Mapping[str, Any]) -> None:
        """Read the released model, and set the attributes of a fitted estimator, among them `noise_`."""

    @abstractmethod
    def _array_target(self, y: Any) -> tuple[npt.NDArray[Any] | None, TrainingColumn | None]:
        """The labels of arrays, and how the target is declared."""

    def _session_classes(self) -> tuple[Any, ...] | None:
        """The classes that the owner lists, for a training set; None takes those of the query."""
        return None

    def _codes(self, X: Any) -> Codes:  # noqa: N803 # scikit-learn's name
        """Rows to predict for, clamped to the declared bounds."""
        check_is_fitted(self, "columns_")
        if isinstance(X, Mapping) or (hasattr(X, "columns") and not all(one.is_number for one in self.columns_)):
            return codes_of(X, self.columns_)
        return codes_of(validate_data(self, X, dtype=np.float64, reset=False), self.columns_)

    def _total(self) -> PureDP | ApproxDP:
        if self.epsilon is None:
            raise ParameterError("epsilon", None, "must be stated: there is no default, such as epsilon=1")
        return guarantee(exact(self.epsilon, "epsilon"), exact(self.delta, "delta"))

    def read(self, rows: Any, target: Any = None, *, session: View | SessionElsewhere | None = None) -> TrainingData:
        """What `fit` is given, as rows that only a fit may see, with what is declared of them."""
        if isinstance(rows, TrainingSet | RowsElsewhere):
            if target is not None or session is not None:
                raise ParameterError("y", "a target", "must be left out: a training set has its own target and session")
            self._check_declared_once()
            return cast("TrainingData", rows)
        if session is not None:
            of_kind(session, "session", (View, SessionElsewhere), "a session, a part of one, or one of a server")
            of_kind(rows, "X", (str, Frame), "a SELECT of rows, or a frame, where a session is given")
            self._check_declared_once()
            found: TrainingData = session.training_set(rows, target=target, classes=self._session_classes())
            return found
        relation = as_relation(self.neighboring_relation)
        labels, declared = self._array_target(target)
        features = validate_data(self, rows, dtype=np.float64)
        if labels is not None and len(labels) != len(features):
            raise ParameterError("y", "labels", "must be as many as there are rows in X")
        names = [f"x{place}" for place in range(features.shape[1])]
        columns = declared_columns(names, bounds=self.bounds, norm=self.norm)
        return array_data(features, labels, columns=columns, target=declared, neighboring_relation=relation)

    def _check_declared_once(self) -> None:
        """Refuse arguments that the policy declares where rows are those of a query."""
        if self.bounds is not None:
            raise ParameterError("bounds", "bounds", "must be left out: the policy and the query declare those of rows")


class ClassEstimator(ClassifierMixin, PrivateEstimator):  # type: ignore[misc] # scikit-learn has no types
    """A private model that tells listed classes apart; `classes` are the owner's, never those that occur.

    Attributes:
        classes_: The classes, sorted.
    """

    classes: Any

    def _array_target(self, y: Any) -> tuple[npt.NDArray[Any] | None, TrainingColumn | None]:
        classes = declared_classes(self.classes)
        if y is None:
            requirement = "must have a label for each row: it requires y to be passed, but the target y is None"
            raise ParameterError("y", None, requirement)
        labels = column_or_1d(y, warn=True)
        if labels.dtype.kind == "f":
            assert_all_finite(labels, input_name="y")
        check_classification_targets(labels)
        return labels, TrainingColumn(name="y", values=classes)

    def _session_classes(self) -> tuple[Any, ...] | None:
        return None if self.classes is None else declared_classes(self.classes)

    def _class_values(self, data: TrainingData) -> tuple[Any, ...]:
        """The classes of what is fitted to.

        Raises:
            ParameterError: The target is no category, or there is none.
        """
        values = None if data.target is None else data.target.values
        if values is None or len(values) < 2:  # noqa: PLR2004 # with one class nothing is to be told
            raise ParameterError("y", "the target", "must be a column of at least two listed classes")
        return values
