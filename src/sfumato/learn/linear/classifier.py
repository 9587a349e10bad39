"""What linear classifiers share: arguments, a design of declared columns, and scores that are linear in it."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from sfumato.errors import ParameterError
from sfumato.learn.core.bounds import Bounds
from sfumato.learn.core.classifiers import ScoreClassifier
from sfumato.learn.core.inputs import TrainingData, moved_rows
from sfumato.learn.linear.descent import Loss, NoisyDescent, descent
from sfumato.learn.linear.design import UNIT, Design, Matrix, design_of
from sfumato.numeric.rationals import Number, flag, positive, positive_integer
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.session.training.columns import Codes


class LinearClassifier(ScoreClassifier):
    """A classifier with one vector of weights for two classes, and one a class for more.

    A subclass says in `_planned` how the weights are found; the released model has them as `weights`.

    Attributes:
        coef_: The weights of the features: one row for two classes, else one a class.
        intercept_: The intercepts, as many.
        noise_: What noise was drawn.
    """

    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        delta: Number = 0,
        bounds: Bounds | None = None,
        norm: Number | None = None,
        l1_norm: Number | None = None,
        classes: Any = None,
        fit_intercept: bool = True,
        regularization: Number | None = None,
        clip: Number | None = None,
        steps: int | None = None,
        neighboring_relation: str = "add_or_remove_one",
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.bounds = bounds
        self.norm = norm
        self.l1_norm = l1_norm
        self.classes = classes
        self.fit_intercept = fit_intercept
        self.regularization = regularization
        self.clip = clip
        self.steps = steps
        self.neighboring_relation = neighboring_relation

    def row_scores(self, codes: Codes) -> Matrix:
        """The score of each class, each row's by itself: of two classes 0 and that of the second."""
        scores = self._design.products(codes, self._weights)
        return np.hstack([np.zeros_like(scores), scores]) if scores.shape[1] == 1 else scores

    def _scores(self, codes: Codes) -> Matrix:
        scores: Matrix = self._design.rows(codes) @ self._weights / UNIT
        return scores

    def _design_of(self, data: TrainingData, total: PureDP | ApproxDP) -> Design:
        """The features and norms that are declared; it also lists the classes, and checks all that is shared."""
        self.classes_ = np.array(self._class_values(data))
        self._stated()
        l1_norm = None if self.l1_norm is None else positive(self.l1_norm, "l1_norm")
        norm = None
        if self.norm is not None:
            norm = Fraction(1) if self.bounds is None else positive(self.norm, "norm")
        intercept = flag(self.fit_intercept, "fit_intercept")
        self._design = design_of(data.columns, norm=norm, l1_norm=l1_norm, intercept=intercept)
        if total.epsilon == 0:
            raise ParameterError("epsilon", 0, "must be above 0 for a model to be fitted")
        return self._design

    def _stated(self) -> tuple[int | None, Fraction | None, Fraction | None]:
        """The steps, the clip and the strength of the penalty, as far as they are stated."""
        return (
            None if self.steps is None else positive_integer(self.steps, "steps", most=10_000),
            None if self.clip is None else positive(self.clip, "clip"),
            None if self.regularization is None else positive(self.regularization, "regularization"),
        )

    def _descent(self, data: TrainingData, total: PureDP | ApproxDP, loss: Loss) -> NoisyDescent:
        """The fit by noisy gradient descent, for the design that was made."""
        steps, clip, strength = self._stated()
        return descent(
            self._design, classes=len(self.classes_), moved_rows=moved_rows(data),
            charge=ApproxDP(total.epsilon, total.delta), steps=steps, clip=clip, strength=strength, loss=loss,
        )  # fmt: skip

    def _adopt(self, fit: Any, model: Mapping[str, Any]) -> None:
        self._weights = np.array(model["weights"], dtype=np.float64)
        self.noise_ = fit.noise_stated
        slopes, starts = self._design.scales()
        features = self._weights[: len(slopes)]
        self.coef_ = (features * slopes[:, None]).T
        base = self._weights[-1] if self._design.intercept else np.zeros(self._weights.shape[1])
        self.intercept_ = base + starts @ features
