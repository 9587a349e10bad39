"""Noisy gradient descent over all rows, for linear models: every step is one vector of noisy whole numbers.

A row's gradient is its residual times its features, both on lattices, and its norm is clipped in whole numbers. So the
sum of all gradients is a vector of integers of a known L2 sensitivity, to which discrete Gaussian noise is added.

Proof: proofs/learn/linear/descent.md.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from math import floor, sqrt
from typing import Any, Final, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from sfumato.accounting.composition.joint_gaussian import joint_stddevs
from sfumato.errors import ParameterError
from sfumato.learn.core.residuals import SCORE_BITS, SHARE, logistic_residuals, softmax_residuals
from sfumato.learn.linear.design import UNIT, Design, Matrix, norm_up, squares_of
from sfumato.mechanisms.additive.gaussian import GaussianNoise
from sfumato.noise.uniform.integers import LARGEST_SCALE
from sfumato.numeric.rationals import set_fields
from sfumato.privacy.codec import Json
from sfumato.privacy.events import ComposedEvent
from sfumato.privacy.guarantees import ApproxDP
from sfumato.privacy.secret import Secret
from sfumato.session.training.columns import Codes, TrainingRows

STEPS: Final = 60
"""How many steps there are, if nothing is said."""

Loss: TypeAlias = Literal["logistic", "hinge"]
"""What is minimized: −log P(y | x), or the hinge loss with its corner rounded, one class against the rest."""

CLIP: Final[dict[Loss, Fraction]] = {"logistic": Fraction(2, 5), "hinge": Fraction(4, 5)}
"""What gradients are clipped to, as a share of the largest norm of a row, if nothing is said."""

MARGIN: Final = Fraction(1, 2)
"""h of the rounded hinge loss: the slope goes from −1 to 0 between the margins 1 − h and 1 + h."""

_MOMENTUM: Final = 0.9
_FASTEST: Final[dict[Loss, float]] = {"logistic": 300.0, "hinge": 75.0}
"""The largest step, over the square of the largest norm of a row: with momentum it stays stable."""

_CALMEST: Final = 0.04
"""The noise of a step, in units of the score that it moves."""

_COUNT: Final = Fraction(1, 100)
"""The share of the budget that counts the rows."""

_WEIGHT_BITS: Final = 16
_LARGEST_SUM: Final = 2.0**36
"""Weights times the L1 norm of a row in steps: with `_WEIGHT_BITS`, a score is a whole number below 2^53."""

_HINGE_TOP: Final = int((1 + MARGIN) * (1 << SCORE_BITS))
_HINGE_WIDTH: Final = int(2 * MARGIN * (1 << SCORE_BITS))
_BLOCK: Final = 4096
_BELOW: Final = 1 - 2.0**-40


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyDescent:
    """A fit of linear models by noisy gradient descent; it is the `PrivateFit` of a session.

    **Guarantee**: (ε, δ)-differential privacy, certified for all steps together by `joint_stddevs`, where at most
    `moved_rows` rows enter or leave between neighboring databases. Proof: proofs/learn/linear/descent.md.

    Attributes:
        design: The features, and the norms that no row exceeds.
        classes: How many classes there are.
        moved_rows: How many rows enter or leave between neighbors, at most.
        charge: The cost.
        steps: How many gradients are released.
        clip: The largest L2 norm of a row's gradient.
        strength: λ of a regularization (λ/2)·‖θ‖² of the sum over all rows.
        loss: What is minimized.
        count: The noise on the number of rows.
        gradient: The noise on each gradient.
        event: All noisy numbers.
    """

    design: Design
    classes: int
    moved_rows: int
    charge: ApproxDP
    steps: int
    clip: Fraction
    strength: Fraction = Fraction(0)
    loss: Loss = "logistic"
    count: GaussianNoise = field(init=False, repr=False)
    gradient: GaussianNoise = field(init=False, repr=False)
    event: ComposedEvent = field(init=False, repr=False)

    def __post_init__(self) -> None:
        count, gradient = self._noise()
        event = ComposedEvent((count.event, *[gradient.event] * self.steps))
        set_fields(self, count=count, gradient=gradient, event=event)

    @property
    def name(self) -> str:
        """What ledgers and receipts call the method."""
        kind = "logistic regression" if self.loss == "logistic" else "linear support vectors"
        return f"{kind} by noisy gradient descent"

    @property
    def clip_steps(self) -> int:
        """The largest L2 norm of a row's gradient in lattice steps."""
        return floor(self.clip * SHARE * UNIT)

    @property
    def outputs(self) -> int:
        """How many vectors of weights there are: one for two classes."""
        return 1 if self.classes == 2 else self.classes  # noqa: PLR2004 # one score tells two classes apart

    @property
    def score_noise(self) -> float:
        """The standard deviation of all noise on a sum of gradients, as if the budget were spent on one of them."""
        return float(self.gradient.stddev) / (SHARE * UNIT * sqrt(self.steps))

    @property
    def noise_stated(self) -> dict[str, Any]:
        """What noise is drawn, for people."""
        return {
            "method": "descent", "steps": self.steps, "clip": float(self.clip),
            "count_stddev": float(self.count.stddev), "gradient_stddev": float(self.gradient.stddev) / (SHARE * UNIT),
        }  # fmt: skip

    def document(self) -> dict[str, Json]:
        """All parameters on which the model depends."""
        return {
            "design": self.design.document(), "classes": self.classes, "moved_rows": self.moved_rows,
            "steps": self.steps, "clip": str(self.clip), "strength": str(self.strength), "loss": self.loss,
        }  # fmt: skip

    def release(self, rows: Secret[TrainingRows], /) -> dict[str, Json]:
        """The weights after the last step: one row a feature, one column a vector of weights."""
        opened = rows.open_for_noise()
        target = np.zeros(len(opened.codes), dtype=np.int32) if opened.target is None else opened.target
        gradients = Gradients(
            self.design.rows(opened.codes), target, outputs=self.outputs, clip=self.clip_steps, loss=self.loss
        )
        size = max(float(self.count.release(len(target))), float(self.count.stddev), 1.0)
        rate = self._rate(size)
        largest = _LARGEST_SUM / float(self.design.l1_norm * UNIT)
        weights = np.zeros((self.design.width, self.outputs))
        velocity = np.zeros_like(weights)
        for _ in range(self.steps):
            noisy = np.asarray(self.gradient.release(gradients.exact(weights).reshape(-1)), dtype=np.float64)
            slope = noisy.reshape(weights.shape) / (SHARE * UNIT) + float(self.strength) * weights
            velocity = _MOMENTUM * velocity + slope / size
            weights = np.clip(weights - rate * (1 - _MOMENTUM) * velocity, -largest, largest)
        written: list[Json] = [list(map(float, row)) for row in weights]
        return {"weights": written}

    def _noise(self) -> tuple[GaussianNoise, GaussianNoise]:
        """The noise on the number of rows, and that on each gradient, calibrated together."""
        size = self.design.width * self.outputs
        distances = (self.moved_rows, *[self.moved_rows * self.clip_steps] * self.steps)
        sizes = (1, *[size] * self.steps)
        weights = (self.steps * _COUNT / (1 - _COUNT), *[Fraction(1)] * self.steps)
        count, gradient, *_ = joint_stddevs(
            l2_sensitivities=distances, l0_sensitivities=sizes, weights=weights, epsilon=self.charge.epsilon,
            delta=self.charge.delta,
        )  # fmt: skip
        if max(count, gradient) > LARGEST_SCALE:
            raise ParameterError("epsilon", str(self.charge.epsilon), "must be larger: no such noise is drawn")
        return (
            GaussianNoise(l2_sensitivity=distances[0], stddev=count, l0_sensitivity=1),
            GaussianNoise(l2_sensitivity=distances[1], stddev=gradient, l0_sensitivity=size),
        )

    def _rate(self, size: float) -> float:
        """The step, from the noisy number of rows and public numbers alone."""
        square = float(self.design.l2_square)
        rate = min(_FASTEST[self.loss] / square, _CALMEST * size / (self.score_noise * sqrt(square)))
        return min(rate, size / float(self.strength)) if self.strength else rate


class Gradients:
    """The exact sum of clipped gradients, in whole numbers.

    Args:
        rows: The rows in lattice steps.
        target: The class of each row, from 0.
        outputs: How many vectors of weights there are.
        clip: The largest L2 norm of a row's gradient in lattice steps.
        loss: What is minimized.
    """

    def __init__(
        self, rows: Matrix, target: Codes, *, outputs: int, clip: int, loss: Loss = "logistic"
    ) -> None:  # fmt: skip
        self._rows, self._outputs, self._loss = rows, outputs, loss
        norms = np.ceil(np.sqrt(squares_of(rows)))  # of squares of whole numbers below 2^53, never too small
        self._most = np.floor(clip / np.maximum(norms, 1.0) * _BELOW)
        self._target = target

    def exact(self, weights: Matrix) -> npt.NDArray[Any]:
        """Σ over rows of the clipped gradient: one row a feature, one column a vector of weights; for noise alone."""
        fixed = np.floor(weights * 2.0**_WEIGHT_BITS + 0.5)
        total = np.zeros(weights.shape, dtype=np.int64)
        for start in range(0, len(self._rows), _BLOCK):
            own = slice(start, start + _BLOCK)
            scores = np.floor(self._rows[own] @ fixed * (2.0 ** (SCORE_BITS - _WEIGHT_BITS) / UNIT))
            residuals = self._hinge(scores, own) if self._loss == "hinge" else self._logistic(scores, own)
            total += (self._rows[own].T @ self._clipped(residuals, own)).astype(np.int64)
        return total

    def _logistic(self, scores: Matrix, own: slice) -> Matrix:
        """P(class | x) less 1 for the class of the row."""
        if self._outputs == 1:
            return logistic_residuals(scores[:, 0], self._target[own])[:, None]
        return softmax_residuals(scores, self._target[own])

    def _hinge(self, scores: Matrix, own: slice) -> Matrix:
        """The slope of the loss of each class: −1 to 0 for the class of the row, and 0 to 1 for the rest."""
        target = self._target[own, None]
        signs = np.where(target == (np.arange(self._outputs) if self._outputs > 1 else 1), 1.0, -1.0)
        short = np.clip(_HINGE_TOP - signs * scores, 0, _HINGE_WIDTH)
        slopes: Matrix = -signs * short * (SHARE // _HINGE_WIDTH)
        return slopes

    def _clipped(self, residuals: Matrix, own: slice) -> Matrix:
        """Residuals as whole numbers, whose norm times that of the row is at most the clip."""
        most = self._most[own]
        if self._outputs == 1:
            clipped: Matrix = np.clip(residuals, -most[:, None], most[:, None])
            return clipped
        norms = np.sqrt(squares_of(residuals))
        factors = np.minimum(most / np.maximum(norms, 1.0), 1.0)
        scaled = np.trunc(residuals * (factors * _BELOW)[:, None])
        found: Matrix = np.where((factors < 1.0)[:, None], scaled, residuals)
        return found


def descent(
    design: Design,
    *,
    classes: int,
    moved_rows: int,
    charge: ApproxDP,
    steps: int | None,
    clip: Fraction | None,
    strength: Fraction | None,
    loss: Loss = "logistic",
) -> NoisyDescent:
    """A fit by noisy gradient descent, with the usual number of steps and clipping where none is stated."""
    most = norm_up(design.l2_square) * CLIP[loss]
    return NoisyDescent(
        design=design, classes=classes, moved_rows=moved_rows, charge=charge, steps=STEPS if steps is None else steps,
        clip=most if clip is None else clip, strength=Fraction(0) if strength is None else strength,
        loss=loss,
    )  # fmt: skip
