"""Noisy moments of rows: how many there are, the sums of their features, and the sums of all products of two.

A row is a vector of whole numbers on a lattice, so each sum is exact. The matrix of products is symmetric: only its
upper triangle is released. Proof: proofs/learn/moments/products.md.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from sfumato.errors import ParameterError
from sfumato.learn.core.parts import Noise, Part, event_of, noises_of, with_less_noise
from sfumato.learn.linear.design import UNIT, Design, Matrix
from sfumato.numeric.rationals import set_fields, sqrt_up
from sfumato.privacy.codec import Json
from sfumato.privacy.events import ComposedEvent
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.privacy.secret import Secret
from sfumato.session.training.columns import TrainingRows

COUNT_SHARE: Final = Fraction(1, 20)
"""The share of the budget that counts the rows."""

SUM_SHARE: Final = Fraction(3, 20)
"""The share of the sums of features, where they are released; products have the rest."""

LARGEST_WIDTH: Final = 1_024
"""How many features there may be: the matrix has half the square of this many different numbers."""

_BLOCK: Final = 8192
"""Sums of so many products, each at most UNIT², are whole numbers that doubles hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyProducts:
    """A fit that releases noisy moments of rows; it is the `PrivateFit` of a session.

    **Guarantee**: ε- or (ε, δ)-differential privacy, as `charge` says, where at most `moved_rows` rows enter or leave
    between neighboring databases. Proof: proofs/learn/moments/products.md.

    Attributes:
        design: The features, without an intercept, and the norms that no row exceeds.
        with_sums: Whether the sums of features are released.
        moved_rows: How many rows enter or leave between neighbors, at most.
        charge: The cost; where δ is above 0, noise is Gaussian.
        noises: The noise on the number of rows, on products, and on the sums of features.
        event: All noisy numbers.

    Raises:
        ParameterError: There are too many features, or no noise is drawn for such an ε.

    References:
        [BDMN05] for noisy moments; [DTTZ14] for Gaussian noise on the matrix.
    """

    design: Design
    with_sums: bool
    moved_rows: int
    charge: PureDP | ApproxDP
    noises: tuple[Noise, ...] = field(init=False, repr=False)
    event: ComposedEvent = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.design.width > LARGEST_WIDTH:
            requirement = f"must make at most {LARGEST_WIDTH:,} features"
            raise ParameterError("X", f"{self.design.width:,} features", requirement)
        parts = self.parts()
        noises = noises_of(parts, self.charge)
        set_fields(self, noises=noises, event=event_of(parts, noises))

    @property
    def name(self) -> str:
        """What ledgers and receipts call the method."""
        return "noisy moments of rows"

    @property
    def is_pure(self) -> bool:
        """Whether noise is Laplace noise."""
        return isinstance(self.charge, PureDP)

    @property
    def product_stddev(self) -> float:
        """The standard deviation of the noise on each sum of products, in units of scaled features."""
        return float(self.noises[1].stddev) / UNIT**2

    def parts(self) -> list[Part]:
        """How far the rows that move change each vector: the number of rows, products, and sums."""
        width, moved, l1, square = self.design.width, self.moved_rows, self.design.l1, self.design.square
        one = Part(l1_sensitivity=moved, l2_sensitivity=Fraction(moved), l0_sensitivity=1, share=COUNT_SHARE)
        triangle = Fraction(square**2 + square * min(square, UNIT**2), 2)
        products = Part(
            l1_sensitivity=moved * ((l1**2 + square) // 2), l2_sensitivity=moved * sqrt_up(triangle),
            l0_sensitivity=width * (width + 1) // 2, share=1 - COUNT_SHARE - SUM_SHARE * self.with_sums,
        )  # fmt: skip
        if not self.with_sums:
            return [one, products]
        sums = Part(
            l1_sensitivity=moved * l1, l2_sensitivity=moved * sqrt_up(Fraction(square)), l0_sensitivity=width,
            share=SUM_SHARE,
        )  # fmt: skip
        return [one, products, sums]

    def document(self) -> dict[str, Json]:
        """All parameters on which the released moments depend."""
        return {"design": self.design.document(), "with_sums": self.with_sums, "moved_rows": self.moved_rows}

    def release(self, rows: Secret[TrainingRows], /) -> dict[str, Json]:
        """The noisy number of rows, products in the upper triangle row after row, and sums; in lattice steps."""
        found = self.exact(rows.open_for_noise())
        noisy = [np.asarray(noise.release(part)) for noise, part in zip(self.noises, found, strict=True)]
        names = ("count", "products", "sums")
        return {name: [int(number) for number in part] for name, part in zip(names, noisy, strict=False)}

    def exact(self, rows: TrainingRows) -> list[npt.NDArray[np.int64]]:
        """What noise is added to; for noise alone."""
        width = self.design.width
        products, sums = np.zeros((width, width), dtype=np.int64), np.zeros(width, dtype=np.int64)
        for start in range(0, len(rows.codes), _BLOCK):
            block = self.design.rows(rows.codes[start : start + _BLOCK])
            products += (block.T @ block).astype(np.int64)
            sums += block.sum(axis=0).astype(np.int64)
        found = [np.array([len(rows.codes)]), products[np.triu_indices(width)]]
        return [*found, sums] if self.with_sums else found


@dataclass(frozen=True, slots=True, kw_only=True)
class CenteredMoments:
    """What is made of released moments: a mean and a covariance matrix of scaled features; post-processing.

    Attributes:
        mean: The mean of each feature, between −1 and 1; 0 where no sums were released.
        covariance: The covariances around the mean: symmetric, between −1 and 1, and 0 or more on the diagonal.
    """

    mean: Matrix
    covariance: Matrix

    @classmethod
    def of(cls, fit: NoisyProducts, model: Any) -> "CenteredMoments":
        """Of a released model."""
        width = fit.design.width
        size = max(float(model["count"][0]), float(fit.noises[0].stddev), 1.0)
        square = np.zeros((width, width))
        square[np.triu_indices(width)] = np.array(model["products"], dtype=np.float64) / (UNIT**2 * size)
        square += np.triu(square, 1).T
        sums = np.array(model.get("sums", [0] * width), dtype=np.float64)
        mean = np.clip(sums / (UNIT * size), -1.0, 1.0)
        covariance = np.clip(np.clip(square, -1.0, 1.0) - np.outer(mean, mean), -1.0, 1.0)
        np.fill_diagonal(covariance, np.maximum(np.diagonal(covariance), 0.0))
        return cls(mean=mean, covariance=covariance)


def products_of(design: Design, *, with_sums: bool, moved_rows: int, total: PureDP | ApproxDP) -> NoisyProducts:
    """The fit with less noise on products: Laplace noise at ε alone, or Gaussian noise where there is a δ."""

    def fit(charge: PureDP | ApproxDP) -> NoisyProducts:
        return NoisyProducts(design=design, with_sums=with_sums, moved_rows=moved_rows, charge=charge)

    return with_less_noise(fit, total, noise_of=lambda one: one.noises[1])
