"""A fit in two parts: a model of some rows, and a private threshold of how far the others lie from it.

Proof: proofs/learn/conformal/split.md.
"""

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from sfumato.learn.core.inputs import FitRelease, ReleasedModel
from sfumato.mechanisms.quantiles.quantile import QuantileEnd
from sfumato.noise.uniform.bernoulli import bernoulli
from sfumato.numeric.rationals import set_fields
from sfumato.privacy.codec import Json
from sfumato.privacy.events import ApproxEvent, ComposedEvent, Event, PureEvent
from sfumato.privacy.guarantees import ApproxDP, PureDP, guarantee
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, NeighboringRelation
from sfumato.privacy.secret import Secret
from sfumato.session.training.columns import Codes, TrainingColumn, TrainingRows
from sfumato.session.training.plan import PrivateFit

Whole = npt.NDArray[np.int64]
Matrix = npt.NDArray[np.float64]

CALIBRATION_SHARE: Final = Fraction(1, 5)
"""The share of ε for the threshold, where one unit may have rows in both parts."""

MISS_SHARE: Final = Fraction(1, 20)
"""The share of α that is for the noise of the threshold."""

SPAN: Final = 32
"""Margins between two classes count from −SPAN to SPAN."""

FINENESS: Final = 32
"""Into how many steps a margin of 1 is divided."""


class RowScorer(Protocol):
    """A fitted model that scores each row by itself: to the last digit, a score depends on no other row."""

    def get_params(self) -> dict[str, Any]:
        """The arguments, by their names."""

    def row_scores(self, codes: Codes) -> Matrix:
        """One column a class; or one column, the predicted number."""

    def adopt(self, columns: tuple[TrainingColumn, ...], fit: PrivateFit, released: FitRelease) -> Any:
        """Become the fitted model that a fit released."""


def largest_distance(target: TrainingColumn) -> int:
    """The largest of the whole numbers that `distances` has."""
    return target.steps if target.is_number else 2 * SPAN * FINENESS


def distances(scores: Matrix, target: TrainingColumn) -> Whole:
    """How far each class lies from a model's scores: how much the best other class scores above it, rounded up."""
    order = np.sort(scores, axis=1)
    best, second = order[:, -1:], order[:, -2:-1]
    margins = np.where(scores == best, second, best) - scores
    inside = np.clip(np.nan_to_num(margins, nan=SPAN), -SPAN, SPAN)
    return np.asarray(np.ceil((inside + SPAN) * FINENESS), dtype=np.int64).clip(0, largest_distance(target))


def places(predictions: Matrix, target: TrainingColumn) -> Matrix:
    """Where predicted numbers lie between the bounds of the target, in its steps."""
    lower, upper = float(target.lower or 0), float(target.upper or 0)
    inside = np.clip(np.nan_to_num(predictions, nan=lower), lower, upper)
    found: Matrix = np.clip((inside - lower) / (upper - lower) * target.steps, 0.0, float(target.steps))
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitFit:
    """A model of a random part of the rows, and a threshold of the distances of the others from it.

    Each row is drawn into one of the parts by itself. The distance of a row is a whole number: of a class by how much
    the best other class scores above it, of a number how far it is from its prediction. The threshold t is a private
    quantile of distances that errs upward: of n rows for calibration, at least (1 − α + β)(n + 1) have distances of at
    most t, or t is the largest distance there is; this fails with probability β = α/20 at most.

    **Guarantee**: where at most one row enters or leaves, the larger of the costs of both parts; else their sum. Proof:
    proofs/learn/conformal/split.md.

    Attributes:
        inner: The fit of the model.
        model: What becomes the model; it does not change.
        columns: The features.
        target: What is predicted.
        alpha: α, how often a target may lie outside.
        calibration: How probable it is that a row is for calibration.
        epsilon: The ε of the threshold.
        rows_per_unit: How many rows one unit has, at most.
        neighboring_relation: What may change between neighboring databases.
        threshold: The private quantile.
        charge: The cost of both parts.
        event: All that is released.
    """

    inner: PrivateFit
    model: RowScorer = field(repr=False, compare=False)
    columns: tuple[TrainingColumn, ...]
    target: TrainingColumn
    alpha: Fraction
    calibration: Fraction
    epsilon: Fraction
    rows_per_unit: int
    neighboring_relation: NeighboringRelation
    threshold: QuantileEnd = field(init=False, repr=False)
    charge: PureDP | ApproxDP = field(init=False, repr=False)
    event: Event = field(init=False, repr=False)

    def __post_init__(self) -> None:
        threshold = QuantileEnd(
            quantile=1 - self.alpha + self.alpha * MISS_SHARE, is_upper=True, lower=0,
            upper=largest_distance(self.target), epsilon=self.epsilon / self.rows_per_unit,
            confidence=1 - self.alpha * MISS_SHARE, neighboring_relation=self.neighboring_relation,
        )  # fmt: skip
        first = self.inner.charge
        event: Event
        if is_parallel(self.rows_per_unit, self.neighboring_relation):
            charge = guarantee(max(first.epsilon, self.epsilon), first.delta)
            event = ApproxEvent(charge.epsilon, charge.delta) if charge.delta else PureEvent(charge.epsilon)
        else:
            charge = guarantee(first.epsilon + self.epsilon, first.delta)
            parts = self.inner.event.events if isinstance(self.inner.event, ComposedEvent) else (self.inner.event,)
            event = ComposedEvent((*parts, PureEvent(self.epsilon)))
        set_fields(self, threshold=threshold, charge=charge, event=event)

    @property
    def name(self) -> str:
        """What ledgers and receipts call the method."""
        return f"conformal prediction around {self.inner.name}"

    def document(self) -> dict[str, Json]:
        """All parameters on which the model and the threshold depend."""
        return {
            "model": self.inner.document(), "model_event": repr(self.inner.event), "alpha": str(self.alpha),
            "calibration": str(self.calibration), "epsilon": str(self.epsilon), "rows_per_unit": self.rows_per_unit,
            "scores": {name: repr(value) for name, value in sorted(self.model.get_params().items())},
        }  # fmt: skip

    def release(self, rows: Secret[TrainingRows], /) -> dict[str, Json]:
        """The model, and the threshold."""
        opened = rows.open_for_noise()
        target = np.zeros(len(opened.codes), dtype=np.int32) if opened.target is None else opened.target
        is_later = bernoulli(self.calibration, len(target))
        first = TrainingRows(codes=opened.codes[~is_later], target=target[~is_later])
        model = self.inner.release(Secret(first))
        found = self.exact(model, opened.codes[is_later], target[is_later])
        beyond = np.append(found, largest_distance(self.target))  # the row to come, wherever it lies
        return {"model": model, "threshold": int(self.threshold.release(beyond))}

    def exact(self, model: Mapping[str, Any], codes: Codes, target: Codes) -> Whole:
        """The distance of each row from a released model; for noise alone."""
        fitted = copy(self.model)
        fitted.adopt(self.columns, self.inner, ReleasedModel(model=model))
        scores = fitted.row_scores(codes)
        if self.target.is_number:
            off = np.abs(places(scores[:, 0], self.target) - target)
            return np.asarray(np.ceil(off), dtype=np.int64).clip(0, largest_distance(self.target))
        found: Whole = distances(scores, self.target)[np.arange(len(target)), target]
        return found


def is_parallel(rows_per_unit: int, neighboring_relation: NeighboringRelation) -> bool:
    """Whether one part alone has all that may change between neighbors."""
    return rows_per_unit == 1 and neighboring_relation is ADD_OR_REMOVE_ONE
