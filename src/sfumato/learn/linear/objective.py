"""Objective perturbation for logistic models: the loss gets a random linear term, and its minimum is released.

The noise is exact: a coordinate of the continuous Laplace distribution, of which the fraction of a lattice step is
never drawn. How far that and the search move the minimum is bounded, and a little discrete noise covers it.

Proof: proofs/learn/linear/objective.md.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from math import expm1, sqrt
from typing import Any, Final

import numpy as np

from sfumato.errors import ParameterError
from sfumato.learn.linear.certified import Objective, minimum
from sfumato.learn.linear.design import Design, Matrix
from sfumato.mechanisms.additive.laplace import Laplace
from sfumato.noise.laws.discrete_laplace import geometric
from sfumato.noise.uniform.bernoulli import bernoulli
from sfumato.noise.uniform.integers import LARGEST_SCALE, SMALLEST_SCALE, short_scale
from sfumato.numeric.rationals import set_fields, sqrt_up
from sfumato.numeric.rounding import log_up
from sfumato.privacy.codec import Json
from sfumato.privacy.events import ComposedEvent, PureEvent
from sfumato.privacy.guarantees import PureDP
from sfumato.privacy.secret import Secret
from sfumato.session.training.columns import TrainingRows

HESSIAN_SHARE: Final = Fraction(3, 20)
"""The share of ε for the change of the Hessian: the larger, the weaker the regularization."""

OUTPUT_SHARE: Final = Fraction(1, 50)
"""The share of ε for the noise on the weights, which covers how near the search comes."""

WITHIN: Final = Fraction(1, 2**16)
"""What the norm of the gradient is certified to be at most."""

WEAKEST: Final = Fraction(1, 16)
"""The weakest regularization, if nothing is said: the weaker it is, the less a small gradient says of the minimum."""

NOISE_STEP: Final = Fraction(1, 2**24)
"""The lattice on which the linear term is drawn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PerturbedObjective:
    """A fit of logistic models by objective perturbation; it is the `PrivateFit` of a session.

        θ = argmin Σ ℓ(θ; x, y) + (λ/2)‖θ‖² + ⟨b, θ⟩,   density of b ∝ exp(−‖b‖₁/scale)

    **Guarantee**: ε-differential privacy where at most `moved_rows` rows enter or leave between neighboring databases,
    at most `rows_per_unit` of them on either side. Proof: proofs/learn/linear/objective.md.

    Attributes:
        design: The features, and the norms that no row exceeds.
        classes: How many classes there are.
        moved_rows: How many rows enter or leave between neighbors, at most.
        rows_per_unit: How many rows one unit has, at most.
        charge: The cost.
        strength: λ.
        scale: The scale of the linear term.
        output: The noise on the weights, in steps of their lattice.
        resolution: The lattice of the weights.
        event: The linear term, and the noise on the weights.

    References:
        [CMS11] Algorithm 2; [KST12] Theorem 1 for Hessians of higher rank; [INSTTW19] for approximate minima.
    """

    design: Design
    classes: int
    moved_rows: int
    rows_per_unit: int
    charge: PureDP
    strength: Fraction
    scale: Fraction = field(init=False)
    output: Laplace = field(init=False)
    resolution: Fraction = field(init=False)
    event: ComposedEvent = field(init=False, repr=False)

    def __post_init__(self) -> None:
        size = self.design.width * self.outputs
        if size > LARGEST_SCALE * self.charge.epsilon * OUTPUT_SHARE:
            raise ParameterError("epsilon", str(self.charge.epsilon), "must be larger: no such noise is drawn")
        most = size / SMALLEST_SCALE  # of the narrowest noise that is drawn
        output = Laplace(l1_sensitivity=size, epsilon=min(self.charge.epsilon * OUTPUT_SHARE, most))
        by_hessian = hessian_epsilon(self.design, self.classes, self.strength) * self.rows_per_unit
        by_noise = self.charge.epsilon * (1 - OUTPUT_SHARE) - by_hessian
        if by_noise <= 0:
            raise ParameterError("regularization", float(self.strength), "must be larger at this epsilon")
        scale = short_scale(self.moved_rows * gradient_norm(self.design, self.classes) / by_noise / NOISE_STEP)
        if scale > LARGEST_SCALE:
            raise ParameterError("epsilon", str(self.charge.epsilon), "must be larger: no such noise is drawn")
        covered = PureEvent(self.charge.epsilon * (1 - OUTPUT_SHARE))
        set_fields(
            self, scale=scale * NOISE_STEP, output=output, resolution=self._resolution(),
            event=ComposedEvent((covered, output.event)),
        )  # fmt: skip

    @property
    def name(self) -> str:
        """What ledgers and receipts call the method."""
        return "logistic regression by objective perturbation"

    @property
    def outputs(self) -> int:
        """How many vectors of weights there are: one for two classes."""
        return outputs_of(self.classes)

    @property
    def score_noise(self) -> float:
        """The standard deviation of the linear term, which stands in the place of noise on a sum of gradients."""
        return sqrt(2) * float(self.scale)

    @property
    def noise_stated(self) -> dict[str, Any]:
        """What noise is drawn, for people."""
        return {
            "method": "objective", "regularization": float(self.strength), "linear_stddev": self.score_noise,
            "weight_stddev": self.output.stddev * float(self.resolution),
        }  # fmt: skip

    def document(self) -> dict[str, Json]:
        """All parameters on which the model depends."""
        return {
            "design": self.design.document(), "classes": self.classes, "moved_rows": self.moved_rows,
            "rows_per_unit": self.rows_per_unit, "strength": str(self.strength),
        }  # fmt: skip

    def release(self, rows: Secret[TrainingRows], /) -> dict[str, Json]:
        """The weights on their lattice: one row a feature, one column a vector of weights."""
        opened = rows.open_for_noise()
        target = np.zeros(len(opened.codes), dtype=np.int32) if opened.target is None else opened.target
        shape = (self.design.width, self.outputs)
        objective = Objective(
            rows=self.design.rows(opened.codes), target=target, linear=self._linear(shape),
            strength=float(self.strength), l1=float(self.design.l1_norm), square=float(self.design.l2_square),
        )  # fmt: skip
        found = minimum(objective, within=float(WITHIN))
        step = float(self.resolution)
        noisy = np.asarray(self.output.release(np.floor(found / step + 0.5).reshape(-1)))
        written: list[Json] = [list(map(float, row)) for row in noisy.reshape(shape) * step]
        return {"weights": written}

    def _resolution(self) -> Fraction:
        """The lattice of the weights: a power of two at or above four times what the search may be off."""
        size = self.design.width * self.outputs
        off = (WITHIN + sqrt_up(Fraction(size)) * NOISE_STEP / 2) / self.strength
        step = Fraction(1)
        while step > 4 * off:
            step /= 2
        while step < 4 * off:
            step *= 2
        return step

    def _linear(self, shape: tuple[int, int]) -> Matrix:
        """b: a sign, and the middle of the lattice step in which an exponential variable lies."""
        size = shape[0] * shape[1]
        magnitudes = np.asarray(geometric(self.scale / NOISE_STEP, size), dtype=np.float64) + 0.5
        signs = np.where(bernoulli(Fraction(1, 2), size), 1.0, -1.0)
        found: Matrix = (magnitudes * signs * float(NOISE_STEP)).reshape(shape)
        return found


def outputs_of(classes: int) -> int:
    """How many vectors of weights tell so many classes apart."""
    return 1 if classes == 2 else classes  # noqa: PLR2004 # one score tells two classes apart


def gradient_norm(design: Design, classes: int) -> Fraction:
    """What no row's gradient exceeds in L1: residuals are at most 1, and of several classes 2 together."""
    return design.l1_norm * (1 if classes == 2 else 2)  # noqa: PLR2004 # as above


def hessian_epsilon(design: Design, classes: int, strength: Fraction) -> Fraction:
    """What one row adds to ln det of the Hessian, at most: rank · ln(1 + trace/(rank·λ)), rounded up.

    For two classes the rank is 1 and the trace at most ‖x‖²/4; for K classes K − 1 and (1 − 1/K)·‖x‖².
    """
    if classes == 2:  # noqa: PLR2004 # as above
        rank, trace = 1, design.l2_square / 4
    else:
        rank, trace = classes - 1, design.l2_square * (1 - Fraction(1, classes))
    return rank * log_up(1 + trace / (rank * strength))


def strength_for(design: Design, *, classes: int, rows_per_unit: int, epsilon: Fraction) -> Fraction:
    """The regularization at which the Hessian takes its share of ε, as a number of few bits."""
    rank, trace = (1, Fraction(1, 4)) if classes == 2 else (classes - 1, 1 - Fraction(1, classes))  # noqa: PLR2004
    each = float(epsilon * HESSIAN_SHARE) / (rank * rows_per_unit)
    if each > 600:  # noqa: PLR2004 # where exp leaves the range of doubles
        return WEAKEST
    needed = float(trace * design.l2_square) / (rank * expm1(each))
    return max(WEAKEST, Fraction(int(needed * 2**20) + 1, 2**20))


def perturbed(
    design: Design, *, classes: int, moved_rows: int, rows_per_unit: int, charge: PureDP, strength: Fraction | None
) -> PerturbedObjective:  # fmt: skip
    """A fit by objective perturbation, with the usual regularization where none is stated.

    Raises:
        ParameterError: ε is too small for noise to be drawn, or the regularization for ε.
    """
    usual = strength_for(design, classes=classes, rows_per_unit=rows_per_unit, epsilon=charge.epsilon)
    return PerturbedObjective(
        design=design, classes=classes, moved_rows=moved_rows, rows_per_unit=rows_per_unit, charge=charge,
        strength=usual if strength is None else strength,
    )  # fmt: skip
