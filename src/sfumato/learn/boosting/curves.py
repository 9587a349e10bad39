"""Additive models by noisy boosting: a curve for each column, improved in turn by noisy sums of clipped gradients.

Proof: proofs/learn/boosting/curves.md.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from sfumato.learn.boosting.bins import FeatureBins
from sfumato.learn.boosting.calibrated import calibrated
from sfumato.learn.boosting.losses import STEP_BITS, Loss, Scores
from sfumato.learn.core.parts import Noise, Part
from sfumato.learn.core.residuals import SHARE, Matrix
from sfumato.numeric.rationals import set_fields, sqrt_up
from sfumato.privacy.codec import Json
from sfumato.privacy.events import ComposedEvent
from sfumato.privacy.guarantees import ApproxDP
from sfumato.privacy.secret import Secret
from sfumato.session.training.columns import TrainingRows

COUNT: Final = 4096
"""How many lattice steps a row adds to a count: noise on whole rows would be too narrow at large ε."""

COUNT_SHARE: Final = Fraction(1, 50)
"""The share of the budget that counts the rows of bins."""

CALM: Final = 3.0
"""A step is shorter the fewer rows it rests on, beside so many standard deviations of the noise on its gradient."""

_LONGEST: Final = 8.0
"""What no step changes a score by more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyCurves:
    """A fit of one curve a column by boosting; it is the `PrivateFit` of a session.

    The rows of each bin are counted once. Then in each round, for each column in turn, its bins are cut into random
    parts, and the gradients of the rows of each part are added up. Both kinds of sums get noise before anything else.

    **Guarantee**: (ε, δ)-differential privacy, certified for all sums together by `joint_stddevs`, where at most
    `moved_rows` rows enter or leave between neighboring databases. Proof: proofs/learn/boosting/curves.md.

    Attributes:
        bins: The bins of the columns.
        loss: The loss, and what gradients are clipped to.
        moved_rows: How many rows enter or leave between neighbors, at most.
        charge: The cost.
        rounds: How often each column is improved.
        leaves: How many parts the bins of a number are cut into, at most.
        rate: How much of each step is taken.
        count: The noise on the counts of all bins.
        gradient: The noise on the sums of gradients of one column in one round.
        event: All noisy numbers.
    """

    bins: FeatureBins
    loss: Loss
    moved_rows: int
    charge: ApproxDP
    rounds: int
    leaves: int
    rate: Fraction
    count: Noise = field(init=False, repr=False)
    gradient: Noise = field(init=False, repr=False)
    event: ComposedEvent = field(init=False, repr=False)

    def __post_init__(self) -> None:
        count, gradient = self._noise()
        event = ComposedEvent((count.event, *[gradient.event] * self.rounds * len(self.bins.columns)))
        set_fields(self, count=count, gradient=gradient, event=event)

    @property
    def name(self) -> str:
        """What ledgers and receipts call the method."""
        return "additive curves by noisy boosting"

    @property
    def noise_stated(self) -> dict[str, Any]:
        """What noise is drawn, for people: in rows, and in units of a residual."""
        return {
            "method": "gaussian", "rounds": self.rounds, "clip": self.loss.clip / SHARE,
            "count_stddev": float(self.count.stddev) / COUNT, "gradient_stddev": float(self.gradient.stddev) / SHARE,
        }  # fmt: skip

    def document(self) -> dict[str, Json]:
        """All parameters on which the model depends; columns are in the key of a stored model anyway."""
        return {
            "bins": self.bins.most, "loss": self.loss.document(), "moved_rows": self.moved_rows,
            "rounds": self.rounds, "leaves": self.leaves, "rate": str(self.rate),
        }  # fmt: skip

    def release(self, rows: Secret[TrainingRows], /) -> dict[str, Json]:
        """The curves: for each column one row a bin, one column a score; each is 0 on average over noisy counts."""
        opened = rows.open_for_noise()
        target = np.zeros(len(opened.codes), dtype=np.int32) if opened.target is None else opened.target
        placed = self.bins.rows_placed(opened.codes)
        counts = self._counts(placed)
        scores = np.zeros((len(target), self.loss.outputs), dtype=np.int64)
        curves = [np.zeros((size, self.loss.outputs), dtype=np.int64) for size in self.bins.sizes]
        for _ in range(self.rounds):
            for place, own in enumerate(placed):
                parts = self.bins.parts(place, most=self.leaves)
                sums = summed(self.loss.gradients(scores, target), parts[own], int(parts[-1]) + 1)
                noisy = np.asarray(self.gradient.release(sums.reshape(-1)), dtype=np.float64).reshape(sums.shape)
                step = step_of(
                    noisy, np.bincount(parts, weights=counts[place]), loss=self.loss, rate=float(self.rate),
                    stddev=float(self.gradient.stddev),
                )[parts]  # fmt: skip
                curves[place] += step
                scores += step[own]
        return _written(curves, counts)

    def _counts(self, placed: list[npt.NDArray[Any]]) -> list[Matrix]:
        """The noisy number of rows in each bin of each column."""
        sizes = self.bins.sizes
        exact = [np.bincount(own, minlength=size) * COUNT for own, size in zip(placed, sizes, strict=True)]
        noisy = np.asarray(self.count.release(np.concatenate(exact)), dtype=np.float64) / COUNT
        return np.split(noisy, np.cumsum(sizes)[:-1])

    def _noise(self) -> tuple[Noise, ...]:
        """The noise on the counts of bins, and that on each vector of gradients."""
        width, moved = len(self.bins.columns), self.moved_rows
        counts = Part(
            l1_sensitivity=moved * COUNT * width, l2_sensitivity=moved * COUNT * sqrt_up(Fraction(width)),
            l0_sensitivity=moved * width, share=COUNT_SHARE,
        )  # fmt: skip
        gradients = Part(
            l1_sensitivity=moved * self.loss.clip * self.loss.outputs,
            l2_sensitivity=Fraction(moved * self.loss.clip), l0_sensitivity=moved * self.loss.outputs,
            share=1 - COUNT_SHARE, times=self.rounds * width,
        )  # fmt: skip
        return calibrated([counts, gradients], self.charge)


def summed(gradients: Matrix, leaves: npt.NDArray[Any], size: int) -> npt.NDArray[np.int64]:
    """The exact sums of the gradients of the rows of each leaf: one row a leaf, one column a score; for noise alone.

    They are whole numbers below 2^53 for fewer than 2^40 rows, so that floats add them exactly, in any order.
    """
    columns = [np.bincount(leaves, weights=one, minlength=size) for one in gradients.T]
    return np.stack(columns, axis=1).astype(np.int64)


def step_of(noisy: Matrix, counts: npt.NDArray[Any], *, loss: Loss, rate: float, stddev: float) -> Scores:
    """What each leaf adds to scores, in steps, from noisy sums of gradients and noisy counts of rows.

    −rate·G / (curvature·max(n, 0) + 3·stddev + 1)
    """
    widths = loss.curvature * np.maximum(counts, 0.0) + CALM * stddev / SHARE + 1.0
    step = -rate * noisy / SHARE / widths[:, None]
    found: Scores = np.floor(np.clip(step, -_LONGEST, _LONGEST) * 2.0**STEP_BITS + 0.5).astype(np.int64)
    return found


def _written(curves: list[npt.NDArray[np.int64]], counts: list[Matrix]) -> dict[str, Json]:
    """Curves around their means over noisy counts, and the sum of those means."""
    intercept = np.zeros(curves[0].shape[1])
    written: list[Json] = []
    for curve, count in zip(curves, counts, strict=True):
        weights = np.maximum(count, 0.0) + 1.0
        scaled = curve / 2.0**STEP_BITS
        mean = weights @ scaled / weights.sum()
        intercept += mean
        written.append([list(map(float, row)) for row in scaled - mean])
    return {"intercept": list(map(float, intercept)), "curves": written}
