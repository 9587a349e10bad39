"""Sums of random trees by noisy boosting: splits are public, and leaves have noisy sums of clipped gradients.

Proof: proofs/learn/boosting/noisy_trees.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final

import numpy as np

from sfumato.learn.boosting.bins import FeatureBins, Places
from sfumato.learn.boosting.calibrated import calibrated
from sfumato.learn.boosting.curves import COUNT, step_of, summed
from sfumato.learn.boosting.level_trees import LevelTree, random_level_tree
from sfumato.learn.boosting.losses import Loss
from sfumato.learn.core.parts import Noise, Part
from sfumato.learn.core.residuals import SHARE, Matrix
from sfumato.numeric.rationals import set_fields, sqrt_up
from sfumato.privacy.codec import Json
from sfumato.privacy.events import ComposedEvent
from sfumato.privacy.guarantees import ApproxDP
from sfumato.privacy.secret import Secret
from sfumato.session.training.columns import TrainingRows

COUNTS_SHARE: Final = Fraction(3, 10)
"""The share of the budget that counts the rows of leaves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyTrees:
    """A fit of one random tree a round by boosting; it is the `PrivateFit` of a session.

    All trees are drawn before a row is read. The rows of all leaves of all trees are counted once. Then in each round
    the gradients of the rows of each leaf of its tree are added up. Both kinds of sums get noise before anything else.

    **Guarantee**: (ε, δ)-differential privacy, certified for all sums together by `joint_stddevs`, where at most
    `moved_rows` rows enter or leave between neighboring databases. Proof: proofs/learn/boosting/noisy_trees.md.

    Attributes:
        bins: The bins of the columns.
        loss: The loss, and what gradients are clipped to.
        moved_rows: How many rows enter or leave between neighbors, at most.
        charge: The cost.
        rounds: How many trees there are.
        depth: How many splits lie above each leaf.
        rate: How much of each step is taken.
        count: The noise on the counts of all leaves.
        gradient: The noise on the sums of gradients of one tree.
        event: All noisy numbers.
    """

    bins: FeatureBins
    loss: Loss
    moved_rows: int
    charge: ApproxDP
    rounds: int
    depth: int
    rate: Fraction
    count: Noise = field(init=False, repr=False)
    gradient: Noise = field(init=False, repr=False)
    event: ComposedEvent = field(init=False, repr=False)

    def __post_init__(self) -> None:
        count, gradient = self._noise()
        event = ComposedEvent((count.event, *[gradient.event] * self.rounds))
        set_fields(self, count=count, gradient=gradient, event=event)

    @property
    def name(self) -> str:
        """What ledgers and receipts call the method."""
        return "random trees by noisy boosting"

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
            "rounds": self.rounds, "depth": self.depth, "rate": str(self.rate),
        }  # fmt: skip

    def release(self, rows: Secret[TrainingRows], /) -> dict[str, Json]:
        """The trees, and for each tree what its leaves add to scores, in steps: one row a leaf, one column a score."""
        trees = [random_level_tree(self.bins, depth=self.depth) for _ in range(self.rounds)]
        opened = rows.open_for_noise()
        target = np.zeros(len(opened.codes), dtype=np.int32) if opened.target is None else opened.target
        placed = self.bins.rows_placed(opened.codes)
        scores = np.zeros((len(target), self.loss.outputs), dtype=np.int64)
        written: list[Json] = []
        for tree, counts in zip(trees, self._counts(trees, placed), strict=True):
            leaves = tree.leaves_of(placed)
            sums = summed(self.loss.gradients(scores, target), leaves, tree.leaves)
            noisy = np.asarray(self.gradient.release(sums.reshape(-1)), dtype=np.float64).reshape(sums.shape)
            step = step_of(
                noisy, counts, loss=self.loss, rate=float(self.rate), stddev=float(self.gradient.stddev)
            )  # fmt: skip
            scores += step[leaves]
            written.append(step.tolist())
        return {"trees": [tree.document() for tree in trees], "steps": written}

    def _counts(self, trees: Sequence[LevelTree], placed: list[Places]) -> Matrix:
        """The noisy number of rows in each leaf, one row a tree."""
        exact = [np.bincount(tree.leaves_of(placed), minlength=tree.leaves) for tree in trees]
        noisy = np.asarray(self.count.release(np.concatenate(exact) * COUNT), dtype=np.float64) / COUNT
        return noisy.reshape(len(trees), -1)

    def _noise(self) -> tuple[Noise, ...]:
        """The noise on the counts of all leaves, and that on the gradients of one tree."""
        moved = self.moved_rows
        counts = Part(
            l1_sensitivity=moved * COUNT * self.rounds, l2_sensitivity=moved * COUNT * sqrt_up(Fraction(self.rounds)),
            l0_sensitivity=moved * self.rounds, share=COUNTS_SHARE,
        )  # fmt: skip
        gradients = Part(
            l1_sensitivity=moved * self.loss.clip * self.loss.outputs,
            l2_sensitivity=Fraction(moved * self.loss.clip), l0_sensitivity=moved * self.loss.outputs,
            share=1 - COUNTS_SHARE, times=self.rounds,
        )  # fmt: skip
        return calibrated([counts, gradients], self.charge)
