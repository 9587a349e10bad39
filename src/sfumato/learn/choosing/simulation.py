"""`expected_accuracy`: how accurate a private classifier is to be expected, from public facts alone.

No row of anybody is read: models are fitted to made-up rows, and tried on others.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Final

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from sfumato.datasets.draws import uniforms
from sfumato.errors import ParameterError
from sfumato.learn.core.bounds import declared_classes, declared_columns
from sfumato.learn.core.estimators import ClassEstimator
from sfumato.learn.core.inputs import ReleasedModel, TrainingData, array_data
from sfumato.learn.core.residuals import probabilities
from sfumato.numeric.arguments import listed, of_kind, real
from sfumato.numeric.rationals import positive_integer
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.privacy.neighbors import as_relation
from sfumato.privacy.secret import Secret
from sfumato.session.asking.training_set import TrainingSet
from sfumato.session.training.columns import TrainingColumn, TrainingRows

Matrix = npt.NDArray[np.float64]

_TRIED: Final = 4_000
"""How many other made-up rows each model is tried on."""

_MOST_ROWS: Final = 10_000_000
_MOST_COLUMNS: Final = 10_000
_MOST_RUNS: Final = 1_000
_STRONGEST: Final = 100.0
_BALANCING: Final = 100
_BALANCED: Final = 1e-3
_RAREST: Final = 1e-12
_ROUNDED: Final = 1e-6
_SPREAD: Final = sqrt(3)  # uniform numbers within ± this have a variance of 1


class UtilityWarning(UserWarning):
    """A model is expected to be no better than the answer that is right most often; only public facts say so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedAccuracy:
    """How accurate a classifier was on made-up rows, and what there is to compare it with.

    Attributes:
        accuracies: The share of right answers in each run.
        majority: The share of the most frequent class: the accuracy of a model that has learned nothing.
        best: The accuracy of whoever knows how the rows were made up.
        rows: How many rows each model was fitted to.
        guarantee: What one fit would cost.
    """

    accuracies: tuple[float, ...]
    majority: float
    best: float
    rows: int
    guarantee: PureDP | ApproxDP

    @property
    def mean(self) -> float:
        """The mean accuracy."""
        return float(np.mean(self.accuracies))

    @property
    def margin(self) -> float:
        """Three standard errors of the mean."""
        return 3 * float(np.std(self.accuracies, ddof=1)) / sqrt(len(self.accuracies))

    @property
    def beats_majority(self) -> bool:
        """Whether the mean less its margin is above the share of the most frequent class."""
        return self.mean - self.margin > self.majority


def expected_accuracy(
    estimator: ClassEstimator,
    *,
    rows: int,
    columns: int | TrainingSet,
    shares: Sequence[float] | None = None,
    strength: float = 2,
    runs: int = 10,
) -> ExpectedAccuracy:
    """The accuracy to be expected of a private classifier, before anything is spent: it is tried on made-up rows.

    The rows are made up by a public model: columns are independent, and uniform between their bounds or over their
    values. Of row x, class c has a probability in proportion to

        exp(b_c + strength/√d · Σ_j e_jc(x_j))

    where e_jc is linear in a number and has one number for each value of a category, all with mean 0 and variance 1. So
    `strength` is the standard deviation of each class's score. The b_c follow from the shares of the classes.

    It reads no row of anybody and charges nothing. Your data may be easier or harder. State your guess as `strength`:
    `best` says which accuracy it allows.

    Args:
        estimator: A classifier with its ε; it is not changed.
        rows: How many rows there are, as far as is publicly known.
        columns: How many columns the arrays have; or a training set, of which the declared columns are taken.
        shares: The share of each class, in their sorted order, as far as is publicly known; default: all are equal.
        strength: How much the columns say of the class, from 0 to 100.
        runs: How many models are fitted, at least 2, each to other rows.

    Raises:
        ParameterError: An argument cannot be used.

    Warns:
        UtilityWarning: The model is not expected to beat the most frequent class.

    Example:
        >>> from sfumato.learn import GaussianNB
        >>> model = GaussianNB(epsilon=1, bounds=(0, 1), classes=["no", "yes"])
        >>> found = expected_accuracy(model, rows=5_000, columns=4)
        >>> found.beats_majority, found.best > found.majority
        (True, True)
    """
    of_kind(estimator, "estimator", ClassEstimator, "a classifier of sfumato.learn, such as GaussianNB(epsilon=1)")
    count = positive_integer(rows, "rows", most=_MOST_ROWS)
    if positive_integer(runs, "runs", most=_MOST_RUNS) == 1:
        raise ParameterError("runs", 1, "must be at least 2, for the spread to be seen")
    signal = real(strength, "strength", least=0.0, is_finite=True)
    if signal > _STRONGEST:
        raise ParameterError("strength", strength, f"must be at most {_STRONGEST:g}")
    declared = _declared(clone(estimator), columns)
    fit = clone(estimator).plan(declared)  # what it refuses is refused before rows are made up
    wanted = _shares(shares, declared)
    tried = [_run(clone(estimator), declared, run, count, signal, wanted) for run in range(runs)]
    accuracies, majorities, best = zip(*tried, strict=True)
    found = ExpectedAccuracy(
        accuracies=accuracies, majority=float(np.mean(majorities)), best=float(np.mean(best)), rows=count,
        guarantee=fit.charge,
    )  # fmt: skip
    if not found.beats_majority:
        said = (
            f"on {count:,} made-up rows the model is right for {found.mean:.1%}, the most frequent class for "
            f"{found.majority:.1%}: have more rows, a larger epsilon or fewer columns"
        )
        warnings.warn(said, UtilityWarning, stacklevel=2)
    return found


def made_up_rows(
    declared: TrainingData, *, run: int, count: int, strength: float, shares: Matrix
) -> tuple[TrainingRows, Matrix]:
    """Rows of the public model of `expected_accuracy`, and the probability of each class for each of them.

    Args:
        declared: What is publicly known of the columns and of the target.
        run: Which rows: the same for the same number.
        count: How many rows.
        strength: The standard deviation of each class's score.
        shares: The share of each class; they add up to 1.
    """
    codes = np.empty((count, len(declared.columns)), dtype=np.int32)
    scores = np.zeros((count, len(shares)))
    for place, column in enumerate(declared.columns):
        options = column.steps + 1
        codes[:, place] = np.floor(uniforms(run, f"column {place}", count) * options)
        drawn = uniforms(run, f"effects {place}", len(shares) * (1 if column.is_number else options))
        effects = (2 * drawn.reshape(-1, len(shares)) - 1) * _SPREAD
        if column.is_number:
            scores += (2 * codes[:, place] / column.steps - 1)[:, None] * _SPREAD * effects
        else:
            scores += (effects - effects.mean(axis=0))[codes[:, place]]
    scores *= strength / sqrt(len(declared.columns))
    found = _balanced(scores, shares)
    ends = np.cumsum(found, axis=1)[:, :-1]
    labels = (uniforms(run, "labels", count)[:, None] >= ends).sum(axis=1)
    return TrainingRows(codes=codes, target=labels.astype(np.int32)), found


def _run(
    model: ClassEstimator, declared: TrainingData, run: int, count: int, strength: float, shares: Matrix
) -> tuple[float, float, float]:
    """The accuracy of one model, of the most frequent class, and of whoever knows the public model."""
    rows, known = made_up_rows(declared, run=run, count=count + _TRIED, strength=strength, shares=shares)
    labels = np.zeros(len(rows.codes), dtype=np.int32) if rows.target is None else rows.target
    fit = model.plan(declared)
    seen = Secret(TrainingRows(codes=rows.codes[:count], target=labels[:count]))
    model.adopt(declared.columns, fit, ReleasedModel(model=fit.release(seen)))
    later, truth = rows.codes[count:], labels[count:]
    shown = {
        one.name: one.decode(column) if one.values is None else [one.values[code] for code in column]
        for one, column in zip(declared.columns, later.T, strict=True)
    }
    right = model.predict(shown) == model.classes_[truth]
    best = known[count:].argmax(axis=1) == truth
    return float(np.mean(right)), float(np.bincount(truth).max() / _TRIED), float(np.mean(best))


def _declared(model: ClassEstimator, columns: int | TrainingSet) -> TrainingData:
    """What is publicly known of the rows."""
    if isinstance(columns, TrainingSet):
        return model.read(columns)
    width = positive_integer(columns, "columns", most=_MOST_COLUMNS)
    target = TrainingColumn(name="y", values=declared_classes(model.classes))
    named = declared_columns([f"x{place}" for place in range(width)], bounds=model.bounds, norm=model.norm)
    relation = as_relation(model.neighboring_relation)
    return array_data(np.empty((0, width)), None, columns=named, target=target, neighboring_relation=relation)


def _shares(given: Sequence[float] | None, declared: TrainingData) -> Matrix:
    """The share of each class."""
    classes = 0 if declared.target is None or declared.target.values is None else len(declared.target.values)
    if given is None:
        return np.full(classes, 1 / classes)
    found = np.array([real(one, "shares", least=0.0, is_finite=True) for one in listed(given, "shares")])
    if len(found) != classes or found.min() <= 0 or abs(found.sum() - 1) > _ROUNDED:
        raise ParameterError("shares", given, f"must be {classes} numbers above 0 that add up to 1, one for each class")
    return np.asarray(found / found.sum(), dtype=np.float64)


def _balanced(scores: Matrix, shares: Matrix) -> Matrix:
    """The probability of each class, with intercepts by which the mean of each is its share."""
    intercepts = np.log(shares)
    for _ in range(_BALANCING):
        found = probabilities(scores[:_TRIED] + intercepts).mean(axis=0)
        intercepts += np.log(shares / np.maximum(found, _RAREST))
        if np.allclose(found, shares, rtol=_BALANCED):
            break
    return probabilities(scores + intercepts)
