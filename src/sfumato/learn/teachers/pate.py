"""`PATEClassifier`: any classifier made private, by teachers that vote and a student that sees noisy labels alone."""

from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any, Final, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils import check_array
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from sfumato.errors import ParameterError
from sfumato.learn.core.bounds import Bounds
from sfumato.learn.core.estimators import ClassEstimator
from sfumato.learn.core.inputs import TrainingData, codes_of, of_units, run_fit
from sfumato.learn.linear.design import UNIT, design_of
from sfumato.learn.teachers.labels import LabelFit, owners_epsilon
from sfumato.learn.teachers.votes import Teachers, settled
from sfumato.numeric.arguments import whole
from sfumato.numeric.rationals import Number, exact
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.privacy.secret import Secret
from sfumato.session.asking.view import View
from sfumato.session.training.columns import Codes, TrainingColumn
from sfumato.session.training.ordered import SessionElsewhere

MOST_TEACHERS: Final = 10_000


class PATEClassifier(ClassEstimator):
    """Private aggregation of teacher ensembles: any classifier, made private by public rows without labels.

    1. Each unit is drawn into one of `n_teachers` parts, and each teacher is fitted to one part. Teachers never leave.
    2. On each public row all teachers vote. A noisy check asks whether the largest count of votes reaches `threshold`.
    3. The first `max_labels` rows that pass get the class with the largest noisy count as label.
    4. A student is fitted to these public rows and labels. Whatever it does with them costs nothing.

    The noise is exact discrete Gaussian noise on whole counts (confident GNMax). A teacher changes its vote only, so
    noise does not grow with the number of features or with what teachers are. It grows with the square root of the
    number of public rows. Teachers see few rows each: there should be many rows, and public rows like them.

    **Guarantee**: (ε, δ)-differential privacy for the neighboring relation. All checks and `max_labels` labels are
    charged before a row is read, whatever the votes are. Proofs: proofs/learn/teachers/votes.md and labels.md.

    ==================================  ======================================================
    Edge case                           Behavior
    ==================================  ======================================================
    a value beyond its bounds           clamped, when fitting and when predicting
    NaN or ±∞ in an array               ValueError before anything is spent
    a NULL, or a category not listed    through a session the row is left out
    a label that is no class            ParameterError; through a session the row is left out
    δ = 0                               ParameterError
    a teacher without rows, or failing  has no vote
    a teacher that fails on made-up     ParameterError
    labels of public rows
    a teacher with rows of one class    votes for it
    fewer than two labels released      the student predicts that class, or the first one
    several rows a unit, in a session   each is drawn by itself, and noise covers as many teachers
    a connection to a server            ParameterError: classifiers and public rows are not sent
    ==================================  ======================================================

    Args:
        teacher: Any classifier by scikit-learn's conventions, not fitted and not private. Its seeds are set to 0.
            Default: the nearest row.
        student: Likewise, fitted to public rows with noisy labels. Default: scikit-learn's naive Bayes
            with equal, wide variances, which bears wrong labels.
        public: Public rows without labels, as X is given; through a session by the names of columns.
        epsilon: The ε of the fit; must be stated.
        delta: The δ of the fit, above 0.
        bounds: For arrays, the lower and the upper bound: two numbers, or two lists with a number a column.
        norm: Without bounds, the largest L2 norm of a row: each column then lies within ±norm.
        classes: For arrays, all classes; with a session the default is the listed values of the target.
        n_teachers: How many parts there are. Default: 100.
        max_labels: How many labels are charged, at most. Default: as many as there are public rows.
        threshold: The share of the teachers whose agreement a check asks for, 0 to 1. Default: 2/5.
        check_share: The share of the budget for checks, between 0 and 1. Default: 1/20.
        neighboring_relation: For arrays, what may change: "add_or_remove_one" or "replace_one", of units; a session has
            its own.

    Attributes:
        student_: The fitted student; None where fewer than two different labels were released.
        answered_: The places of the public rows that have a label.
        labels_: Their labels.
        noise_: The standard deviations of the noise, and how many votes a check asks for.

    Raises:
        ParameterError: An argument cannot be used; nothing was read or charged.

    Example:
        >>> import numpy as np
        >>> hours = np.arange(4_000).reshape(-1, 1) % 100
        >>> public = np.arange(5, 100, 10).reshape(-1, 1)
        >>> declared = {"bounds": (0, 100), "classes": ["early", "late"]}
        >>> model = PATEClassifier(epsilon=2, delta="1e-6", public=public, **declared)
        >>> model.fit(hours, np.where(hours[:, 0] < 50, "early", "late")).predict([[10], [90]]).tolist()
        ['early', 'late']

    References:
        [PAEGT17] for teachers and students; [PSMRTE18] for confident GNMax.
    """

    def __init__(
        self,
        teacher: Any = None,
        *,
        student: Any = None,
        public: Any = None,
        epsilon: Number | None = None,
        delta: Number = 0,
        bounds: Bounds | None = None,
        norm: Number | None = None,
        classes: Any = None,
        n_teachers: int = 100,
        max_labels: int | None = None,
        threshold: Number = "0.4",
        check_share: Number = "0.05",
        neighboring_relation: str = "add_or_remove_one",
    ) -> None:
        self.teacher = teacher
        self.student = student
        self.public = public
        self.epsilon = epsilon
        self.delta = delta
        self.bounds = bounds
        self.norm = norm
        self.classes = classes
        self.n_teachers = n_teachers
        self.max_labels = max_labels
        self.threshold = threshold
        self.check_share = check_share
        self.neighboring_relation = neighboring_relation

    def fit(
        self,
        X: Any,  # noqa: N803 # scikit-learn's name
        y: Any = None,
        *,
        session: View | SessionElsewhere | None = None,
        units: Sequence[Any] | None = None,
    ) -> Self:
        """Fit teachers and student, and charge the labels where there is an account.

        Args:
            X: Rows of numbers; or a `TrainingSet`; or, with a session, a SELECT of rows or a frame.
            y: The target, one value a row; with a session the name of the target column.
            session: The session whose rows are read, and whose account is charged; no connection to a server.
            units: For arrays, the unit of each row. All rows of a unit then go to one teacher, and it may have any
                number of them. Default: each row is a unit.

        Raises:
            ParameterError: An argument cannot be used; nothing was read or charged.
            BudgetExceededError: Too little budget remains; nothing was charged.
        """
        data = self.read(X, y, session=session)
        if units is not None:
            data = of_units(data, units)
        fit = self.plan(data)
        return self.adopt(data.columns, fit, run_fit(data, fit, self))

    def owners_epsilon(self, X: Any, y: Any, *, units: Sequence[Any] | None = None) -> Secret[float]:  # noqa: N803
        """For the owner of arrays alone: an ε of these rows, for a new draw of parts; `guarantee_` is the charge.

        It is small where teachers agree. It follows from the rows, so it is as secret as they are: show it to nobody,
        and choose nothing by it that leaves. It charges nothing, lowers no charge and is no attribute of the model.

        Args:
            X: Rows of numbers.
            y: The target, one value a row.
            units: The unit of each row; default: each row is one.

        Returns:
            The ε at `delta`; its `open_for_noise` shows it.

        Raises:
            ParameterError: An argument cannot be used, or the rows are those of a session.

        References:
            [PSMRTE18] Theorem 6.
        """
        data = of_units(self.read(X, y), range(len(X)) if units is None else units)
        fit = self._planned(data, self._total())
        return owners_epsilon(fit, Secret(fit.teachers.votes(data.rows.open_for_noise())))

    def predict(self, X: Any) -> npt.NDArray[Any]:  # noqa: N803 # scikit-learn's name
        """The student's class of each row; rows are clamped to the declared bounds."""
        features = self._features(X)
        codes = np.full(len(features), self._only) if self.student_ is None else self.student_.predict(features)
        found: npt.NDArray[Any] = self.classes_[np.asarray(codes, dtype=np.intp)]
        return found

    @available_if(lambda model: model.student is None or hasattr(model.student, "predict_proba"))  # type: ignore[untyped-decorator] # scikit-learn has no types
    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:  # noqa: N803 # scikit-learn's name
        """The student's probability of each class, one row a row, in the order of `classes_`."""
        features = self._features(X)
        found = np.zeros((len(features), len(self.classes_)))
        if self.student_ is None:
            found[:, self._only] = 1
        else:
            found[:, self.student_.classes_] = self.student_.predict_proba(features)
        return found

    def _features(self, rows: Any) -> npt.NDArray[np.float64]:
        check_is_fitted(self, "answered_")
        design = design_of(self.columns_, norm=None, l1_norm=None, intercept=False)
        found: npt.NDArray[np.float64] = design.rows(self._codes(rows)) / UNIT
        return found

    def _planned(self, data: TrainingData, total: PureDP | ApproxDP) -> LabelFit:
        classes = self._class_values(data)
        count = whole(self.n_teachers, "n_teachers", least=1, most=MOST_TEACHERS)
        public = self._public_codes(data.columns)
        answers = len(public) if self.max_labels is None else whole(self.max_labels, "max_labels", least=1)
        threshold, check_share = (exact(getattr(self, name), name) for name in ("threshold", "check_share"))
        if not 0 <= threshold <= 1:
            raise ParameterError("threshold", str(threshold), "must be a share of the teachers, from 0 to 1")
        if not 0 < check_share < 1:
            raise ParameterError("check_share", str(check_share), "must lie between 0 and 1, both excluded")
        self._student = settled(GaussianNB(var_smoothing=1) if self.student is None else self.student, "student")
        teacher = settled(KNeighborsClassifier(n_neighbors=1) if self.teacher is None else self.teacher, "teacher")
        design = design_of(data.columns, norm=None, l1_norm=None, intercept=False)
        teachers = Teachers(design=design, classes=len(classes), count=count, model=teacher, public=public)
        if not teachers.can_vote():
            requirement = "must be a classifier of numbers: it fails on the public rows with made-up labels"
            raise ParameterError("teacher", type(teacher).__name__, requirement)
        fit = LabelFit(
            teachers=teachers,
            moved_teachers=min(data.rows_per_unit, count), threshold=ceil(threshold * count),
            answers=min(answers, len(public)), check_share=check_share, charge=total,
        )  # fmt: skip
        self.classes_ = np.array(classes)
        return fit

    def _public_codes(self, columns: tuple[TrainingColumn, ...]) -> Codes:
        """The public rows, clamped to the declared bounds."""
        rows = self.public
        if rows is None:
            raise ParameterError("public", None, "must be rows that are public, without labels, given as X is")
        if isinstance(rows, Mapping) or (hasattr(rows, "columns") and all(one.name in rows for one in columns)):
            codes = codes_of(rows, columns)
        else:
            features = check_array(rows, dtype=np.float64, input_name="public")
            if features.shape[1] != len(columns):
                requirement = f"must have {len(columns)} columns, as X has"
                raise ParameterError("public", f"{features.shape[1]} columns", requirement)
            codes = codes_of(features, columns)
        if len(codes) == 0:
            raise ParameterError("public", "no rows", "must have at least one row")
        return codes

    def _adopt(self, fit: LabelFit, model: Mapping[str, Any]) -> None:
        self.answered_ = np.array(model["places"], dtype=np.intp)
        labels = np.array(model["labels"], dtype=np.intp)
        self.labels_ = self.classes_[labels]
        self._only = int(labels[0]) if len(labels) else 0
        self.student_ = None
        if (labels != self._only).any():
            features = fit.teachers.features(fit.teachers.public[self.answered_])
            self.student_ = clone(self._student).fit(features, labels)
        self.noise_ = {
            "check_stddev": float(fit.check.variance**0.5), "count_stddev": float(fit.count.variance**0.5),
            "threshold": fit.threshold,
        }  # fmt: skip
