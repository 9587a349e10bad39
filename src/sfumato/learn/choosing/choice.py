"""`PrivateChoice`: several private classifiers, of which the one that is right most often is chosen privately.

Proof: proofs/learn/choosing/choice.md.
"""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils.validation import check_is_fitted

from sfumato.errors import ParameterError
from sfumato.learn.conformal.split import RowScorer, is_parallel
from sfumato.learn.core.estimators import ClassEstimator
from sfumato.learn.core.inputs import FitRelease, ReleasedModel, TrainingData, run_fit
from sfumato.mechanisms.selection.permute_and_flip import PermuteAndFlip
from sfumato.noise.uniform.bernoulli import bernoulli
from sfumato.numeric.arguments import listed
from sfumato.numeric.rationals import Number, exact, set_fields
from sfumato.privacy.codec import Json
from sfumato.privacy.events import ApproxEvent, ComposedEvent, Event, PureEvent
from sfumato.privacy.guarantees import ApproxDP, PureDP, guarantee
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, NeighboringRelation
from sfumato.privacy.secret import Secret
from sfumato.session.asking.view import View
from sfumato.session.training.columns import Codes, TrainingColumn, TrainingRows
from sfumato.session.training.ordered import SessionElsewhere
from sfumato.session.training.plan import PrivateFit


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceFit:
    """Models of a random part of the rows, and the choice of the one that is right for most of the others.

    Each row is drawn into one of the parts by itself. A model's utility is for how many rows of the second part its
    largest score is that of their class; `PermuteAndFlip` chooses by it.

    **Guarantee**: where at most one row enters or leaves, the larger of ε and of all models' costs together; else their
    sum. Proof: proofs/learn/choosing/choice.md.

    Attributes:
        fits: The fits of the models.
        models: What become the models; they do not change.
        columns: The features.
        scoring: How probable it is that a row is for the choice.
        epsilon: The ε of the choice.
        rows_per_unit: How many rows one unit has, at most.
        neighboring_relation: What may change between neighboring databases.
        selection: The choice.
        charge: The cost of models and choice.
        event: All that is released.
    """

    fits: tuple[PrivateFit, ...]
    models: tuple[RowScorer, ...] = field(repr=False, compare=False)
    columns: tuple[TrainingColumn, ...]
    scoring: Fraction
    epsilon: Fraction
    rows_per_unit: int
    neighboring_relation: NeighboringRelation
    selection: PermuteAndFlip = field(init=False, repr=False)
    charge: PureDP | ApproxDP = field(init=False, repr=False)
    event: Event = field(init=False, repr=False)

    def __post_init__(self) -> None:
        selection = PermuteAndFlip(
            utility_sensitivity=self.rows_per_unit, epsilon=self.epsilon,
            monotonic=self.neighboring_relation is ADD_OR_REMOVE_ONE,
        )  # fmt: skip
        costs = [fit.charge for fit in self.fits]
        delta = sum((cost.delta for cost in costs), start=Fraction(0))
        every = sum((cost.epsilon for cost in costs), start=Fraction(0))
        event: Event
        if is_parallel(self.rows_per_unit, self.neighboring_relation):
            charge = guarantee(max(every, self.epsilon), delta)
            event = _event(charge)
        else:
            charge = guarantee(every + self.epsilon, delta)
            event = ComposedEvent((*map(_event, costs), PureEvent(self.epsilon)))
        set_fields(self, selection=selection, charge=charge, event=event)

    @property
    def name(self) -> str:
        """What ledgers and receipts call the method."""
        return f"choice of one of {len(self.fits)} models"

    def document(self) -> dict[str, Json]:
        """All parameters on which the choice and the models depend."""
        candidates: list[Json] = [
            {
                "name": fit.name, "model": fit.document(), "event": repr(fit.event), "class": type(model).__name__,
                "scores": {name: repr(value) for name, value in sorted(model.get_params().items())},
            }
            for fit, model in zip(self.fits, self.models, strict=True)
        ]  # fmt: skip
        return {
            "candidates": candidates, "scoring": str(self.scoring), "epsilon": str(self.epsilon),
            "rows_per_unit": self.rows_per_unit,
        }  # fmt: skip

    def release(self, rows: Secret[TrainingRows], /) -> dict[str, Json]:
        """The place of the chosen model, and the model; the others are not released."""
        opened = rows.open_for_noise()
        target = np.zeros(len(opened.codes), dtype=np.int32) if opened.target is None else opened.target
        is_later = bernoulli(self.scoring, len(target))
        first = Secret(TrainingRows(codes=opened.codes[~is_later], target=target[~is_later]))
        released = [fit.release(first) for fit in self.fits]
        chosen = self.selection.release(self.exact(released, opened.codes[is_later], target[is_later]))
        return {"chosen": chosen, "model": released[chosen]}

    def exact(self, released: Sequence[Mapping[str, Any]], codes: Codes, target: Codes) -> list[int]:
        """For how many rows each released model is right; for noise alone."""
        found = []
        for fit, model, document in zip(self.fits, self.models, released, strict=True):
            fitted = copy(model)
            fitted.adopt(self.columns, fit, ReleasedModel(model=document))
            found.append(int((fitted.row_scores(codes).argmax(axis=1) == target).sum()))
        return found


class PrivateChoice(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc] # scikit-learn has no types
    """Fits several private classifiers, such as one with several arguments, and keeps the one that is right most often.

    A random part of the rows, each drawn by itself, is kept from the models. The choice is by how many of these rows a
    model is right for, with `PermuteAndFlip`.

    **Guarantee**: (ε, δ)-differential privacy for all models and the choice together, by the relation of the models.
    Their ε and δ add up. Where a unit has one row that is added or removed, the choice is covered by that, as long as
    its own ε is not larger: a row lies in one part. Else its ε is added. Proof: proofs/learn/choosing/choice.md.

    The chosen model is right for at most 2·R·(ln(k/2) + 3)/ε rows fewer of those kept than the best of k, with
    probability 0.95, where a unit has R rows; half of that where units are added or removed.

    ===================================  ======================================================
    Edge case                            Behavior
    ===================================  ======================================================
    no rows                              one of the models at random
    models that are equally right        one of them at random
    models with other columns, classes   ParameterError
    a model without `row_scores`         ParameterError
    ===================================  ======================================================

    Args:
        estimators: At least two classifiers that are not fitted, each with its ε: `GaussianNB`, `CategoricalNB`,
            `LogisticRegression` or `LinearSVC`, with the same bounds, classes and relation.
        epsilon: The ε of the choice.
        scoring: How probable it is that a row is kept for the choice; between 0 and 1. Default: 1/4.

    Attributes:
        best_estimator_: The chosen model.
        best_index_: Its place among the estimators.
        classes_: The classes, sorted.
        event_: What was released, for accountants.
        guarantee_: What models and choice cost together.
        noise_: The noise of the chosen model.
        receipt_: The receipt of a fit through a session, else None.

    Raises:
        ParameterError: An argument cannot be used; nothing was read or charged.

    Example:
        >>> import numpy as np
        >>> from sfumato.learn import GaussianNB
        >>> hours = np.arange(4_000).reshape(-1, 1) % 100
        >>> models = [GaussianNB(epsilon=1, bounds=(0, 100), classes=[False, True], min_stddev=s) for s in ("0.05", 1)]
        >>> model = PrivateChoice(models, epsilon=1).fit(hours, hours[:, 0] >= 50)
        >>> str(model.guarantee_), model.predict([[10], [90]]).tolist()
        ('ε 2', [False, True])

    References:
        [MS20] for the choice.
    """

    def __init__(
        self, estimators: Sequence[Any], *, epsilon: Number | None = None, scoring: Number = "0.25"
    ) -> None:  # fmt: skip
        self.estimators = estimators
        self.epsilon = epsilon
        self.scoring = scoring

    def fit(self, X: Any, y: Any = None, *, session: View | SessionElsewhere | None = None) -> Self:  # noqa: N803 # scikit-learn's names
        """Fit all models to some rows, choose one by the others, and charge all of it where there is an account.

        Args:
            X: Rows of numbers; or a `TrainingSet`; or, with a session, a SELECT of rows or a frame.
            y: The class of each row; with a session the name of the target column.
            session: The session whose rows are read, and whose account is charged.

        Raises:
            ParameterError: An argument cannot be used; nothing was read or charged.
            BudgetExceededError: Too little budget remains; nothing was charged.
        """
        models = self._models()
        data = _read(models, X, y, session=session)
        fit = self._planned(models, data)
        return self.adopt(data.columns, fit, run_fit(data, fit, self))

    def read(self, rows: Any, target: Any = None, *, session: View | SessionElsewhere | None = None) -> TrainingData:
        """What `fit` is given, as rows that only a fit may see, with what is declared of them.

        Raises:
            ParameterError: The classifiers are declared in different ways.
        """
        return _read(self._models(), rows, target, session=session)

    def plan(self, data: TrainingData) -> ChoiceFit:
        """All fits and the choice, with event and cost, for what is declared; it reads no rows and charges nothing.

        Raises:
            ParameterError: An argument cannot be used.
        """
        return self._planned(self._models(), data)

    def _planned(self, models: Sequence[Any], data: TrainingData) -> ChoiceFit:
        if self.epsilon is None:
            raise ParameterError("epsilon", None, "must be stated: there is no default, such as epsilon=1")
        epsilon, scoring = exact(self.epsilon, "epsilon"), exact(self.scoring, "scoring")
        if not 0 < scoring < 1:
            raise ParameterError("scoring", str(scoring), "must lie between 0 and 1, both excluded, such as 0.25")
        return ChoiceFit(
            fits=tuple(model.plan(data) for model in models), models=tuple(models), columns=data.columns,
            scoring=scoring, epsilon=epsilon, rows_per_unit=data.rows_per_unit,
            neighboring_relation=data.neighboring_relation,
        )  # fmt: skip

    def adopt(self, columns: tuple[TrainingColumn, ...], fit: ChoiceFit, found: FitRelease) -> Self:
        """Become the choice and the chosen model that a fit released."""
        self.best_index_ = int(found.model["chosen"])
        chosen: Any = copy(fit.models[self.best_index_])
        model = ReleasedModel(model=found.model["model"])
        self.best_estimator_ = chosen.adopt(columns, fit.fits[self.best_index_], model)
        self.n_features_in_ = len(columns)
        self.event_, self.guarantee_, self.receipt_ = fit.event, fit.charge, found.receipt
        self.noise_ = chosen.noise_
        return self

    def predict(self, X: Any) -> npt.NDArray[Any]:  # noqa: N803 # scikit-learn's name
        """The classes by the chosen model."""
        check_is_fitted(self, "best_estimator_")
        found: npt.NDArray[Any] = self.best_estimator_.predict(X)
        return found

    @property
    def classes_(self) -> npt.NDArray[Any]:
        """The classes, sorted."""
        found: npt.NDArray[Any] = self.best_estimator_.classes_
        return found

    def _models(self) -> list[Any]:
        """The classifiers, as copies that are not fitted."""
        given = listed(self.estimators, "estimators", of="classifiers")
        if len(given) < 2:  # noqa: PLR2004 # of one nothing is to be chosen
            raise ParameterError("estimators", f"{len(given)} classifiers", "must be at least two")
        for one in given:
            if not isinstance(one, ClassEstimator) or not hasattr(one, "row_scores"):
                requirement = "must be classifiers of sfumato.learn that score each row by itself, such as GaussianNB"
                raise ParameterError("estimators", type(one).__name__, requirement)
        return [clone(one) for one in given]


def _read(
    models: Sequence[Any], rows: Any, target: Any, *, session: View | SessionElsewhere | None
) -> TrainingData:  # fmt: skip
    found: list[TrainingData] = [model.read(rows, target, session=session) for model in models]
    if any(_declared(other) != _declared(found[0]) for other in found):
        requirement = "must be declared with the same bounds, classes and neighboring relation"
        raise ParameterError("estimators", "classifiers", requirement)
    return found[0]


def _declared(data: TrainingData) -> tuple[Any, ...]:
    """What is publicly known of rows."""
    return data.columns, data.target, data.rows_per_unit, data.neighboring_relation


def _event(cost: PureDP | ApproxDP) -> PureEvent | ApproxEvent:
    """What is known of something by its cost alone."""
    return ApproxEvent(cost.epsilon, cost.delta) if cost.delta else PureEvent(cost.epsilon)
