"""Least squares from noisy sums: all products of features, and of features with the target, as one noisy vector.

A row and its target are whole numbers on a lattice, so each sum of products is exact. The matrix of products is
symmetric: only its upper triangle is released. Weights are solved for from noisy numbers alone.

Proof: proofs/learn/linear/least_squares.md.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from math import sqrt
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from sfumato.errors import ParameterError
from sfumato.learn.linear.design import UNIT, Design, Matrix
from sfumato.mechanisms.additive.gaussian import Gaussian
from sfumato.mechanisms.additive.laplace import Laplace
from sfumato.noise.uniform.integers import LARGEST_SCALE, SMALLEST_SCALE
from sfumato.numeric.rationals import set_fields, sqrt_up
from sfumato.privacy.codec import Json
from sfumato.privacy.events import Event
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.privacy.secret import Secret
from sfumato.session.training.columns import Codes, TrainingColumn, TrainingRows

_LEAST: Final = 1 / UNIT
"""What eigenvalues are raised to where there is hardly any noise."""

LARGEST_WIDTH: Final = 1_024
"""How many features there may be: the matrix has half the square of this many different numbers."""

_BLOCK: Final = 8192
"""Sums of so many products, each at most UNIT², are whole numbers that doubles hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisySums:
    """A fit of least squares from noisy sums; it is the `PrivateFit` of a session.

        minimize ‖Xθ − t‖² + α‖θ‖² + λ‖θ‖²,   the sums XᵀX and Xᵀt with noise, t the target scaled to [−1, 1]

    α does not hold for the intercept. λ is as small as it can be for the smallest eigenvalue of the noisy matrix to
    pass what noise alone makes of one.

    **Guarantee**: ε- or (ε, δ)-differential privacy, as `charge` says, where at most `moved_rows` rows enter or leave
    between neighboring databases. Proof: proofs/learn/linear/least_squares.md.

    Attributes:
        design: The features, and the norms that no row exceeds.
        target: The target, a number with bounds.
        moved_rows: How many rows enter or leave between neighbors, at most.
        charge: The cost; where δ is above 0, noise is Gaussian.
        penalty: α.
        noise: The noise on each sum.
        event: All noisy numbers.

    Raises:
        ParameterError: There are too many features, or no noise is drawn for such an ε.

    References:
        [Wan18] Algorithm 2, whose smallest eigenvalue is a release of its own; here it is that of the noisy matrix.
    """

    design: Design
    target: TrainingColumn
    moved_rows: int
    charge: PureDP | ApproxDP
    penalty: Fraction = Fraction(0)
    noise: Gaussian | Laplace = field(init=False, repr=False)
    event: Event = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.design.width > LARGEST_WIDTH:
            requirement = f"must make at most {LARGEST_WIDTH:,} features"
            raise ParameterError("X", f"{self.design.width:,} features", requirement)
        noise = self._noise()
        set_fields(self, noise=noise, event=noise.event)

    @property
    def name(self) -> str:
        """What ledgers and receipts call the method."""
        return "least squares from noisy sums"

    @property
    def size(self) -> int:
        """How many sums are released: the upper triangle, and one a feature."""
        return self.design.width * (self.design.width + 3) // 2

    @property
    def l1_sensitivity(self) -> int:
        """What `moved_rows` rows change all sums in L1, at most, in squared lattice steps."""
        l1, square = _norms(self.design)
        return self.moved_rows * ((l1**2 + square) // 2 + l1 * UNIT)

    @property
    def l2_sensitivity(self) -> Fraction:
        """The same in L2."""
        _, square = _norms(self.design)
        triangle = Fraction(square**2 + square * min(square, UNIT**2), 2)
        return self.moved_rows * sqrt_up(triangle + square * UNIT**2)

    @property
    def stddev(self) -> float:
        """The standard deviation of the noise on each sum, in units of scaled features."""
        return float(self.noise.stddev) / UNIT**2

    @property
    def center(self) -> tuple[float, float]:
        """What of the target is 0, and what is 1: with an intercept the middle of its bounds, and the upper one."""
        lower, upper = _bounds(self.target)
        middle = (lower + upper) / 2 if self.design.intercept else Fraction(0)
        return float(middle), float(max(upper - middle, middle - lower))

    @property
    def noise_stated(self) -> dict[str, Any]:
        """What noise is drawn, for people."""
        return {"method": "gaussian" if isinstance(self.noise, Gaussian) else "laplace", "sum_stddev": self.stddev}

    def document(self) -> dict[str, Json]:
        """All parameters on which the model depends."""
        lower, upper = _bounds(self.target)
        return {
            "design": self.design.document(), "target": [str(lower), str(upper), self.target.steps],
            "moved_rows": self.moved_rows, "penalty": str(self.penalty),
        }  # fmt: skip

    def release(self, rows: Secret[TrainingRows], /) -> dict[str, Json]:
        """The weights of scaled features, for the scaled target, and λ."""
        noisy = np.asarray(self.noise.release(self.exact(rows.open_for_noise())), dtype=np.float64) / UNIT**2
        width = self.design.width
        matrix = np.zeros((width, width))
        matrix[np.triu_indices(width)] = noisy[:-width]
        matrix += np.triu(matrix, 1).T
        features = width - self.design.intercept
        matrix[np.arange(features), np.arange(features)] += float(self.penalty)
        weights, strength = solved(matrix, noisy[-width:], least=max(self.stddev * (2 * sqrt(width) + 2), _LEAST))
        written: list[Json] = list(map(float, weights))
        return {"weights": written, "strength": strength}

    def exact(self, rows: TrainingRows) -> npt.NDArray[np.int64]:
        """The upper triangle of XᵀX, row after row, and Xᵀt, in squared lattice steps; for noise alone."""
        width = self.design.width
        products, with_target = np.zeros((width, width), dtype=np.int64), np.zeros(width, dtype=np.int64)
        steps = self._target_steps()
        for start in range(0, len(rows.codes), _BLOCK):
            block = self.design.rows(rows.codes[start : start + _BLOCK])
            products += (block.T @ block).astype(np.int64)
            if rows.target is not None:
                with_target += (block.T @ steps[rows.target[start : start + _BLOCK]]).astype(np.int64)
        return np.concatenate([products[np.triu_indices(width)], with_target])

    def _target_steps(self) -> Matrix:
        """The target of each code in lattice steps, within ±UNIT."""
        middle, half = self.center
        codes: Codes = np.arange(self.target.steps + 1, dtype=np.int32)
        found: Matrix = np.clip(np.floor((self.target.decode(codes) - middle) / half * UNIT + 0.5), -UNIT, UNIT)
        return found

    def _noise(self) -> Gaussian | Laplace:
        epsilon, distance = self.charge.epsilon, self.l1_sensitivity
        if isinstance(self.charge, ApproxDP) and self.charge.delta:
            return Gaussian(
                l2_sensitivity=self.l2_sensitivity, epsilon=epsilon, delta=self.charge.delta, l0_sensitivity=self.size
            )
        if distance > LARGEST_SCALE * epsilon:
            raise ParameterError("epsilon", str(epsilon), "must be larger: no such noise is drawn")
        return Laplace(l1_sensitivity=distance, epsilon=min(epsilon, distance / Fraction(SMALLEST_SCALE)))


def solved(matrix: Matrix, right: Matrix, *, least: float) -> tuple[Matrix, float]:
    """θ with (matrix + λI)θ = right, and λ: the smallest from 0 for which no eigenvalue is below `least`.

    Where eigenvalues are not found, θ is 0.
    """
    try:
        values, vectors = np.linalg.eigh(matrix)
    except np.linalg.LinAlgError:  # of noisy numbers alone
        return np.zeros(len(right)), least
    strength = max(0.0, least - float(values[0]))
    found: Matrix = vectors @ (vectors.T @ right / np.maximum(values + strength, least))
    return found, strength


def _norms(design: Design) -> tuple[int, int]:
    """What no row exceeds in lattice steps in L1, and in the square of L2, the intercept among its features."""
    return design.l1 + UNIT * design.intercept, design.square + UNIT**2 * design.intercept


def _bounds(target: TrainingColumn) -> tuple[Fraction, Fraction]:
    """The bounds of a number.

    Raises:
        ParameterError: It is a category.
    """
    if target.lower is None or target.upper is None:
        raise ParameterError("y", "a category", "must be a number with bounds")
    return target.lower, target.upper
