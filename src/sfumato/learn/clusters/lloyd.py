"""Lloyd's steps with noise: each moves every center to the noisy mean of the rows that are nearest to it.

Rows and centers are whole numbers on one lattice, so distances, sums and counts are exact: which center a row is
nearest to depends on that row and on released numbers alone. Proof: proofs/learn/clusters/lloyd.md.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from sfumato.learn.core.parts import Noise, Part, event_of, noises_of, with_less_noise
from sfumato.learn.linear.design import UNIT, Design, Matrix
from sfumato.numeric.rationals import set_fields, sqrt_up
from sfumato.privacy.codec import Json
from sfumato.privacy.events import ComposedEvent
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.privacy.secret import Secret
from sfumato.session.training.columns import TrainingRows

SPREAD: Final = 0.225
"""How far a center is from 0, as a share of the largest norm of a row: what the budget is divided for."""

_FEW: Final = 0.1
"""The share of the mean number of rows of a center below which it has few."""

_NOISY: Final = 0.25
"""It also has few where noise on its mean would be wider than this, in units of scaled features."""

_APART: Final = 0.125
"""How far a center that moves next to another is from it, as a share of the way to where it started."""

_BLOCK: Final = 8192


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyLloyd:
    """A fit of centers by Lloyd's steps with noise; it is the `PrivateFit` of a session.

    **Guarantee**: ε- or (ε, δ)-differential privacy, as `charge` says, where at most `moved_rows` rows enter or leave
    between neighboring databases. Proof: proofs/learn/clusters/lloyd.md.

    Attributes:
        design: The features, without an intercept, and the norms that no row exceeds.
        start: The centers before the first step, in lattice steps; public.
        iterations: How many steps there are, whatever the rows.
        moved_rows: How many rows enter or leave between neighbors, at most.
        charge: The cost; where δ is above 0, noise is Gaussian.
        noises: The noise on the number of rows of each center, and on the sums of their features, in each step.
        event: All noisy numbers.

    Raises:
        ParameterError: No noise is drawn for such an ε.

    References:
        [BDMN05] for noisy steps; [SCLBJ16] for the shares of the budget.
    """

    design: Design
    start: tuple[tuple[int, ...], ...]
    iterations: int
    moved_rows: int
    charge: PureDP | ApproxDP
    noises: tuple[Noise, ...] = field(init=False, repr=False)
    event: ComposedEvent = field(init=False, repr=False)

    def __post_init__(self) -> None:
        parts = self.parts()
        noises = noises_of(parts, self.charge)
        events = event_of(parts, noises).events
        in_order = [one for step in range(self.iterations) for one in (events[step], events[self.iterations + step])]
        set_fields(self, noises=noises, event=ComposedEvent(tuple(in_order)))

    @property
    def name(self) -> str:
        """What ledgers and receipts call the method."""
        return "k-means by noisy steps"

    @property
    def noise_stated(self) -> dict[str, Any]:
        """What noise is drawn, for people."""
        count, sums = self.noises
        return {
            "method": "laplace" if isinstance(self.charge, PureDP) else "gaussian", "iterations": self.iterations,
            "count_stddev": float(count.stddev), "sum_stddev": float(sums.stddev) / UNIT,
        }  # fmt: skip

    @property
    def count_share(self) -> Fraction:
        """The share of the budget that counts rows: the noisy mean s/n then has the least error.

        With n rows, sums of d features and a center c, that error is about d·Var(s) + ‖c‖²·Var(n).
        """
        width, l1, square = self.design.width, self.design.l1, self.design.square
        if isinstance(self.charge, PureDP):
            ratio = (SPREAD**2 * square / (width * l1**2)) ** (1 / 3)
        else:
            ratio = SPREAD / width**0.5
        return Fraction(round(1000 * ratio / (1 + ratio)) or 1, 1000)

    def parts(self) -> list[Part]:
        """How far the rows that move change the counts of one step, and its sums."""
        clusters, width, moved = len(self.start), self.design.width, self.moved_rows
        share = self.count_share
        counts = Part(
            l1_sensitivity=moved, l2_sensitivity=Fraction(moved), l0_sensitivity=min(moved, clusters), share=share,
            times=self.iterations,
        )  # fmt: skip
        sums = Part(
            l1_sensitivity=moved * self.design.l1, l2_sensitivity=moved * sqrt_up(Fraction(self.design.square)),
            l0_sensitivity=min(moved, clusters) * width, share=1 - share, times=self.iterations,
        )  # fmt: skip
        return [counts, sums]

    def document(self) -> dict[str, Json]:
        """All parameters on which the centers depend."""
        return {
            "design": self.design.document(), "start": [list(center) for center in self.start],
            "iterations": self.iterations, "moved_rows": self.moved_rows,
        }  # fmt: skip

    def release(self, rows: Secret[TrainingRows], /) -> dict[str, Json]:
        """The centers after the last step, one row a center, in lattice steps."""
        features = self.design.rows(rows.open_for_noise().codes)
        centers = np.array(self.start, dtype=np.float64)
        for _ in range(self.iterations):
            counts, sums = tallied(features, centers)
            noisy_counts, noisy_sums = (
                np.asarray(noise.release(part.reshape(-1)), dtype=np.float64)
                for noise, part in zip(self.noises, (counts, sums), strict=True)
            )
            centers = self.moved(centers, noisy_counts, noisy_sums.reshape(centers.shape))
        written: list[Json] = [list(map(int, center)) for center in centers]
        return {"centers": written}

    def moved(self, centers: Matrix, counts: Matrix, sums: Matrix) -> Matrix:
        """The centers after a step, from noisy numbers alone.

        A center of few rows stays where it is; or, as long as another has many, it moves next to that, a little toward
        where it started.
        """
        fewest = max(float(counts.sum()) * _FEW / len(counts), 2 * float(self.noises[0].stddev), 1.0)
        fewest = max(fewest, float(self.noises[1].stddev) / (UNIT * _NOISY))
        is_small = counts < fewest
        means = np.clip(np.floor(sums / np.maximum(counts, fewest)[:, None] + 0.5), -UNIT, UNIT)
        found: Matrix = np.where(is_small[:, None], centers, means)
        parts = counts.copy()
        for place in np.flatnonzero(is_small):
            largest = int(np.argmax(parts))
            if parts[largest] < 2 * fewest:
                break
            parts[largest] /= 2
            found[place] = found[largest] + np.floor((self.start[place] - found[largest]) * _APART + 0.5)
        return found


def tallied(features: Matrix, centers: Matrix) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """How many rows are nearest to each center, and the sums of their features; for noise alone."""
    counts = np.zeros(len(centers), dtype=np.int64)
    sums = np.zeros(centers.shape, dtype=np.int64)
    numbers = np.arange(len(centers))
    for start in range(0, len(features), _BLOCK):
        block = features[start : start + _BLOCK]
        is_nearest = (nearest(block, centers)[:, None] == numbers).astype(np.float64)
        counts += is_nearest.sum(axis=0).astype(np.int64)
        sums += (is_nearest.T @ block).astype(np.int64)
    return counts, sums


def nearest(features: Matrix, centers: Matrix) -> npt.NDArray[np.int64]:
    """For each row the center that is nearest, the first of those that are equally near; all in lattice steps.

    ‖x − c‖² is least where 2⟨x, c⟩ − ‖c‖² is largest: whole numbers below 2^53, whatever the order of adding.
    """
    scores = 2 * features @ centers.T - np.einsum("ij,ij->i", centers, centers)
    found: npt.NDArray[np.int64] = np.argmax(scores, axis=1)
    return found


def lloyd(
    design: Design,
    *,
    start: tuple[tuple[int, ...], ...],
    iterations: int,
    moved_rows: int,
    total: PureDP | ApproxDP,
) -> NoisyLloyd:
    """The fit with less noise on sums: Laplace noise at ε alone, or Gaussian noise where there is a δ."""

    def fit(charge: PureDP | ApproxDP) -> NoisyLloyd:
        return NoisyLloyd(design=design, start=start, iterations=iterations, moved_rows=moved_rows, charge=charge)

    return with_less_noise(fit, total, noise_of=lambda one: one.noises[1])
