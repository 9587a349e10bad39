"""Noisy counts of the classes in the leaves of random trees, and what they say of each leaf.

Every tree sees every row: the counts of all trees are one vector, which one row moves by 1 in each tree. What is
computed of the noisy counts is post-processing. Proof: proofs/learn/trees/leaves.md.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from sfumato.errors import ParameterError
from sfumato.learn.core.parts import Noise, Part, noises_of, with_less_noise
from sfumato.learn.trees.splits import Feature, RandomTree, Whole, levels_of, random_tree
from sfumato.numeric.rationals import set_fields, sqrt_up
from sfumato.privacy.codec import Json
from sfumato.privacy.events import DiscreteGaussianEvent, DiscreteLaplaceEvent, PureEvent
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.privacy.secret import Secret
from sfumato.session.training.columns import TrainingRows

MOST_COUNTS: Final = 1 << 20
"""How many counts a forest has at most: trees times leaves times classes."""

Matrix: TypeAlias = npt.NDArray[np.float64]

_LEAST: Final = 0.01
"""The probability that all classes share in a leaf whatever its counts are, before probabilities add up to 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForestCounts:
    """A fit that releases random trees, and of each leaf how many rows of each class it has, with noise.

    It is the `PrivateFit` of a session.

    **Guarantee**: (ε, δ)-differential privacy where at most `moved_rows` rows enter or leave between neighboring
    databases: ε alone by discrete Laplace noise where the charge is pure, else by discrete Gaussian noise. Proof:
    proofs/learn/trees/leaves.md.

    Attributes:
        features: The columns.
        trees: How many trees there are.
        depth: How many splits lie above each leaf.
        classes: How many classes there are.
        moved_rows: How many rows enter or leave between neighbors, at most.
        charge: The cost.
        noise: The noise on each count.
    """

    features: tuple[Feature, ...]
    trees: int
    depth: int
    classes: int
    moved_rows: int
    charge: PureDP | ApproxDP
    noise: Noise = field(init=False, repr=False)

    def __post_init__(self) -> None:
        counts = Part(
            l1_sensitivity=self.moved_rows * self.trees,
            l2_sensitivity=sqrt_up(Fraction(self.moved_rows**2 * self.trees)),
            l0_sensitivity=self.trees * min(self.moved_rows, self.classes << self.depth),
            share=Fraction(1),
        )
        (noise,) = noises_of([counts], self.charge)
        set_fields(self, noise=noise)

    @property
    def name(self) -> str:
        """What ledgers and receipts call the method."""
        return "random forest by noisy counts"

    @property
    def event(self) -> DiscreteLaplaceEvent | DiscreteGaussianEvent | PureEvent:
        """All noisy counts, which are one vector."""
        return self.noise.event

    def document(self) -> dict[str, Json]:
        """All parameters on which the released counts depend."""
        features: list[Json] = [[one.steps, one.levels, one.is_ordered] for one in self.features]
        return {
            "trees": self.trees, "depth": self.depth, "classes": self.classes, "moved_rows": self.moved_rows,
            "features": features,
        }  # fmt: skip

    def release(self, rows: Secret[TrainingRows], /) -> dict[str, Json]:
        """The trees, and the noisy counts: of each tree those of its leaves from the left, one of each class."""
        forest = [random_tree(self.features, depth=self.depth) for _ in range(self.trees)]
        exact = counted(forest, self.features, rows.open_for_noise(), classes=self.classes)
        noisy = np.asarray(self.noise.release(exact.reshape(-1)))
        return {"trees": [tree.document() for tree in forest], "counts": [int(one) for one in noisy]}


def counted(forest: list[RandomTree], features: tuple[Feature, ...], rows: TrainingRows, *, classes: int) -> Whole:
    """The exact counts, trees × leaves × classes; for noise alone.

    Whatever stands in a row, it adds 1 to one leaf and class of each tree: codes and classes that there are not are
    taken for the nearest that there is.
    """
    levels = levels_of(features, rows.codes, is_listed=True)
    target = np.zeros(len(levels), dtype=np.int64) if rows.target is None else rows.target
    labels = np.clip(target, 0, classes - 1).astype(np.int64)
    found = []
    for tree in forest:
        leaves = len(tree.columns) + 1
        places = tree.leaves_of(levels) * classes + labels
        found.append(np.bincount(places, minlength=leaves * classes).reshape(leaves, classes))
    return np.stack(found).astype(np.int64)


def counts_of_leaves(
    features: tuple[Feature, ...],
    *,
    trees: int,
    depth: int,
    classes: int,
    moved_rows: int,
    total: PureDP | ApproxDP,
) -> ForestCounts:
    """The fit with less noise: Laplace noise at ε alone, or Gaussian noise where there is a δ.

    Raises:
        ParameterError: ε is 0, or so small that no such noise is drawn; or there are too many counts.
    """
    if trees * classes << depth > MOST_COUNTS:
        requirement = f"must be smaller: there are {MOST_COUNTS:,} counts of leaves and classes at most"
        raise ParameterError("max_depth", depth, requirement)

    def fit(charge: PureDP | ApproxDP) -> ForestCounts:
        return ForestCounts(
            features=features, trees=trees, depth=depth, classes=classes, moved_rows=moved_rows, charge=charge
        )

    return with_less_noise(fit, total, noise_of=lambda one: one.noise)


def class_shares(counts: Matrix) -> Matrix:
    """The share of each class in all trees together, above 0."""
    totals = np.maximum(counts.sum(axis=(0, 1)), 0.0)
    shares = np.maximum(totals / max(totals.sum(), 1.0), _LEAST / len(totals))
    return np.asarray(shares / shares.sum(), dtype=np.float64)


def leaf_probabilities(counts: Matrix, *, variance: float, smoothing: float) -> Matrix:
    """The probability of each class in each leaf: the share of the root, corrected on the way down.

    A node of n rows, of which n_c have the class c, has the noisy counts of the leaves below it, added up. From its
    parent's probability p its own is

        p + w·(n_c − p·n),   w = n / (n² + smoothing·(n + V/(p(1 − p))))

    where V is the variance of the noise in n_c − p·n. Without noise and for smoothing = 1 it is (n_c + p)/(n + 1): a
    row of the parent's mix is added. With noise less is believed of what few rows say. A node with a noisy count
    of 0 or less has its parent's probabilities.

    Args:
        counts: Noisy counts, trees × leaves × classes.
        variance: The variance of the noise of each.
        smoothing: How many rows are as good as none, above 0.

    Returns:
        Trees × leaves × classes, all above 0; those of a leaf add up to 1.

    Example:
        >>> counts = np.array([[[30.0, 10.0], [0.0, 40.0]]])
        >>> leaf_probabilities(counts, variance=0.0, smoothing=1.0).round(3).tolist()
        [[[0.741, 0.259], [0.009, 0.991]]]
    """
    levels = [counts]
    while levels[-1].shape[1] > 1:
        trees, leaves, classes = levels[-1].shape
        levels.append(levels[-1].reshape(trees, leaves // 2, 2, classes).sum(axis=2))
    found = np.broadcast_to(class_shares(counts), levels.pop().shape)
    while levels:
        own = levels.pop()
        below = counts.shape[1] // own.shape[1]
        parent = np.repeat(found, 2, axis=1)
        rows = own.sum(axis=2, keepdims=True)
        noise = below * variance * ((1 - parent) ** 2 + (own.shape[2] - 1) * parent**2)
        known = np.maximum(rows, 0.0)
        doubt = smoothing * (known + noise / (parent * (1 - parent)))
        weight = known / np.maximum(known**2 + doubt, 1.0)  # whole counts: below 1 only where none is known
        moved = np.maximum(parent + weight * (own - parent * rows), _LEAST / own.shape[2])
        found = moved / moved.sum(axis=2, keepdims=True)
    return np.asarray(found, dtype=np.float64)
