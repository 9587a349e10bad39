"""Losses of boosted models: the clipped gradient of each row in whole numbers, from its own score alone."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from sfumato.learn.core.residuals import SCORE_BITS, SHARE, Matrix, logistic_residuals, softmax_residuals
from sfumato.privacy.codec import Json
from sfumato.session.training.columns import Codes

STEP_BITS: Final = 16
"""A score is a whole number of steps of 2^−`STEP_BITS`."""

_BELOW: Final = 1 - 2.0**-40

Scores = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """A loss of scores, one row a row, with its gradient clipped.

    Of two classes it is log(1 + e^s) − y·s with one score, of more the cross entropy of a softmax. Without classes it
    is (s − z)²/2, with z the target scaled from its bounds to [−1, 1].

    **Guarantee**: the gradient of a row is a vector of whole numbers whose L2 norm is at most `clip`, whatever the row
    and the scores; it depends on that row and its scores alone. Proof: proofs/learn/boosting/curves.md.

    Attributes:
        classes: How many classes there are; 0 where the target is a number.
        clip: What the L2 norm of no row's gradient exceeds, in steps of 1/`SHARE`.
        target_steps: Of a number how many lattice steps its bounds are apart.
    """

    classes: int
    clip: int
    target_steps: int = 1

    @property
    def outputs(self) -> int:
        """How many scores a row has."""
        return self.classes if self.classes > 2 else 1  # noqa: PLR2004 # one score tells two classes apart

    @property
    def curvature(self) -> float:
        """What the second derivative of the loss in any direction does not exceed."""
        if not self.classes:
            return 1.0
        return 0.25 if self.outputs == 1 else 0.5

    def document(self) -> Json:
        """All of it, for the document of a fit."""
        return [self.classes, self.clip, self.target_steps]

    def gradients(self, scores: Scores, target: Codes) -> Matrix:
        """One row a row, one column a score: whole numbers, clipped."""
        most = self.classes - 1 if self.classes else self.target_steps
        own = np.clip(target, 0, most)
        if self.outputs > 1:
            return self._shortened(softmax_residuals(scores >> (STEP_BITS - SCORE_BITS), own))
        if self.classes:
            found = logistic_residuals(scores[:, 0] >> (STEP_BITS - SCORE_BITS), own)
        else:
            scaled = np.floor((2 * np.arange(most + 1) - most) * (SHARE / most) + 0.5)
            found = np.floor(scores[:, 0] * (SHARE * 2.0**-STEP_BITS)) - scaled[own]
        clipped: Matrix = np.clip(found, -self.clip, self.clip)[:, None]
        return clipped

    def _shortened(self, found: Matrix) -> Matrix:
        """Rows whose norm is too large, scaled down toward 0."""
        squares = np.einsum("ij,ij->i", found, found)
        factors = np.minimum(self.clip / np.maximum(np.sqrt(squares), 1.0), 1.0)
        scaled = np.trunc(found * (factors * _BELOW)[:, None])
        short: Matrix = np.where((squares <= self.clip**2)[:, None], found, scaled)
        return short
