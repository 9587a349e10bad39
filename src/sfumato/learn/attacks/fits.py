"""Models that are fitted to rows which coins chose, and how sure each model is of every row."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.utils.multiclass import type_of_target

from sfumato.attacks.core.answers import dice
from sfumato.attacks.members.models import logits
from sfumato.errors import ParameterError
from sfumato.noise.uniform.bernoulli import bernoulli
from sfumato.numeric.arguments import floats

Floats = npt.NDArray[np.float64]
Booleans = npt.NDArray[np.bool_]
Heard = Callable[[int], None]

_MATRIX: Final = 2  # dimensions
_UNKNOWN: Final = float(logits([0.0])[0])
"""How sure a model is of a class that it has never seen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabeledRows:
    """Rows of numbers, and the class of each.

    Attributes:
        features: One row a row.
        labels: As many.
    """

    features: Floats
    labels: npt.NDArray[Any]

    @classmethod
    def of(cls, features: Any, labels: Any, name: str = "X") -> Self:
        """Rows as they are given.

        Args:
            features: A matrix of finite numbers.
            labels: A class for each row.
            name: What the caller calls the rows, for errors.

        Raises:
            ParameterError: They are something else, or not as many.
        """
        found, classes = floats(features, name), np.asarray(labels)
        if found.ndim != _MATRIX or not found.size or not np.isfinite(found).all():
            raise ParameterError(name, type(features), "must be rows of finite numbers, at least one")
        if classes.shape != found.shape[:1] or classes.dtype.kind not in "biufU":
            raise ParameterError("y", classes.shape, f"must have a class for each of {len(found)} rows")
        if type_of_target(classes) not in {"binary", "multiclass"}:
            raise ParameterError("y", type_of_target(classes), "must have a class for each row, not a number")
        return cls(features=found, labels=classes)

    def __len__(self) -> int:
        return len(self.labels)

    def only(self, chosen: npt.NDArray[Any]) -> Self:
        """Some of the rows, or some of them several times."""
        return type(self)(features=self.features[chosen], labels=self.labels[chosen])

    def beside(self, more: "LabeledRows | None") -> Self:
        """These rows after others."""
        if more is None:
            return self
        features, labels = ((more.features, self.features), (more.labels, self.labels))
        return type(self)(features=np.concatenate(features), labels=np.concatenate(labels))


@dataclass(frozen=True, slots=True, kw_only=True)
class Choosing:
    """Which rows each of several models sees.

    Attributes:
        rows: How many rows there are; an even number if they are paired.
        is_paired: Whether of two rows beside each other exactly one is chosen, as where one row replaces another; else
            each row has a coin of its own.
    """

    rows: int
    is_paired: bool

    @property
    def coins(self) -> int:
        """How many coins decide."""
        return self.rows // 2 if self.is_paired else self.rows

    def fair(self, models: int) -> Booleans:
        """The choice for each model by fair coins, apart from all else: one row a model, one column a row."""
        return self._of_rows(bernoulli(Fraction(1, 2), models * self.coins).reshape(models, self.coins))

    def balanced(self, models: int) -> Booleans:
        """A choice in which each row is seen by half of the models."""
        order = np.argsort(dice().random((models, self.coins)), axis=0)
        return self._of_rows(order < models // 2)

    def by_coin(self, scores: Floats) -> Floats:
        """What scores of rows say of each coin: of a pair, how much more the first looks chosen."""
        found: Floats = scores[:, ::2] - scores[:, 1::2] if self.is_paired else scores
        return found

    def fallen(self, chosen: Booleans) -> Booleans:
        """How each coin fell."""
        return chosen[:, ::2] if self.is_paired else chosen

    def _of_rows(self, coins: Booleans) -> Booleans:
        if not self.is_paired:
            return coins
        return np.stack([coins, ~coins], axis=2).reshape(len(coins), self.rows)


def fitted(
    estimator: Any, rows: LabeledRows, chosen: Booleans, *, heard: Heard, base: LabeledRows | None = None
) -> Iterator[Any]:
    """A model for each choice of rows, each of a fresh copy of the estimator.

    Args:
        estimator: By scikit-learn's conventions.
        rows: The rows that are chosen among.
        chosen: One row a model, one column a row.
        heard: Told of each model.
        base: Rows that every model sees.
    """
    for own in chosen:
        seen = rows.only(own).beside(base)
        yield clone(estimator).fit(seen.features, seen.labels)
        heard(1)


def confidences(model: Any, rows: LabeledRows) -> Floats:
    """How sure a model is of the true class of each row: ln(p/(1 − p)), or the margin of its score, or ±1 of a label.

    Raises:
        ParameterError: The model has neither `predict_proba` nor `decision_function` nor `predict`.

    Example:
        >>> from sklearn.naive_bayes import GaussianNB
        >>> rows = LabeledRows.of([[0], [1], [5], [6]], ["a", "a", "b", "b"])
        >>> bool((confidences(GaussianNB().fit(rows.features, rows.labels), rows) > 3).all())
        True
    """
    if hasattr(model, "predict_proba"):
        return logits(probabilities(model, rows))
    if not hasattr(model, "decision_function"):
        if not hasattr(model, "predict"):
            raise ParameterError("estimator", type(model), "must have predict_proba, decision_function or predict")
        return np.where(model.predict(rows.features) == rows.labels, 1.0, -1.0)
    scores = floats(model.decision_function(rows.features), "decision_function")
    if scores.ndim < _MATRIX:
        scores = np.stack([-scores, scores], axis=1) / 2
    own, is_known = _own(model, rows)
    mine = scores[np.arange(len(rows)), own]
    scores[np.arange(len(rows)), own] = -np.inf
    return np.where(is_known, mine - scores.max(axis=1), _UNKNOWN)


def probabilities(model: Any, rows: LabeledRows) -> Floats:
    """The probability that a model gives to the true class of each row; 0 of a class that it has never seen."""
    own, is_known = _own(model, rows)
    found = floats(model.predict_proba(rows.features), "predict_proba")[np.arange(len(rows)), own]
    return np.where(is_known, found, 0.0)


def _own(model: Any, rows: LabeledRows) -> tuple[npt.NDArray[np.intp], Booleans]:
    """The place of each row's class among those of the model, and whether it is there."""
    classes = np.asarray(model.classes_)
    place = np.minimum(np.searchsorted(classes, rows.labels), len(classes) - 1)
    return place, classes[place] == rows.labels
