"""Discrete Gaussian noise of a given width, for answers whose widths were calibrated together."""

from dataclasses import dataclass
from fractions import Fraction

from sfumato.mechanisms.additive.additive import Answer, Exact, half_width, release_on_lattice
from sfumato.noise.laws.discrete_gaussian import discrete_gaussian, discrete_gaussian_one
from sfumato.noise.uniform.integers import Integers, add_noise, drawable
from sfumato.numeric.distributions import discrete_gaussian_half_width, discrete_gaussian_variance
from sfumato.numeric.rationals import Number, positive, positive_integer
from sfumato.privacy.events import DiscreteGaussianEvent
from sfumato.privacy.secret import Secret


@dataclass(frozen=True, slots=True, init=False)
class GaussianNoise:
    """Adds discrete Gaussian noise of parameter σ = `stddev` to integers, each on its own.

        M(x) = x + Z,   P(Z = z) ∝ exp(−z²/(2σ²)) for whole z

    **Guarantee**: what `event` says, for the neighboring relation for which one unit moves the vector by at most Δ in
    L2 and in at most `l0_sensitivity` coordinates; accountants price it, alone or with others. There is no ε of its
    own: `Gaussian` calibrates one answer, `accounting.joint_stddevs` several.
    Proof: proofs/mechanisms/additive/gaussian.md.

    ======================  ==========================================================
    Edge case               Behavior
    ======================  ==========================================================
    l0_sensitivity unknown  `event` has ⌊Δ²⌋, which holds for every vector of integers
    no number               no number
    what is no integer      ParameterError
    ======================  ==========================================================

    Args:
        l2_sensitivity: Δ, above 0.
        stddev: σ, between 1/1000 and 2^50.
        l0_sensitivity: How many numbers one unit moves, at most: 1 where a single number is released. None where that
            is unknown, which costs more.

    Raises:
        ParameterError: A parameter lies outside.

    Example:
        >>> noise = GaussianNoise(l2_sensitivity=2, stddev=5, l0_sensitivity=1)
        >>> abs(noise.release(100_000) - 100_000) < 100
        True
        >>> GaussianNoise(l2_sensitivity=2, stddev=5).event.l0_sensitivity
        4

    References:
        [CKS20].
    """

    l2_sensitivity: Fraction
    stddev: Fraction
    l0_sensitivity: int | None

    def __init__(self, *, l2_sensitivity: Number, stddev: Number, l0_sensitivity: int | None = None) -> None:
        object.__setattr__(self, "l2_sensitivity", positive(l2_sensitivity, "l2_sensitivity"))
        object.__setattr__(self, "stddev", drawable(positive(stddev, "stddev"), "stddev"))
        moved = None if l0_sensitivity is None else positive_integer(l0_sensitivity, "l0_sensitivity")
        object.__setattr__(self, "l0_sensitivity", moved)

    @property
    def event(self) -> DiscreteGaussianEvent:
        """What one release tells of the data."""
        return DiscreteGaussianEvent(self.stddev, self.l2_sensitivity, self.l0_sensitivity)

    def release(self, exact: Exact | Secret[Exact]) -> Answer:
        """The exact value, an integer or a vector of integers, with noise.

        Raises:
            ParameterError: Something is no integer.
        """
        return release_on_lattice(exact, self._perturb, self._perturb_one, resolution=None)

    @property
    def variance(self) -> float:
        """The variance of the noise on each number, in squared lattice steps: at most that of `stddev`."""
        return discrete_gaussian_variance(self.stddev)

    def accuracy(self, confidence: Number = "0.95") -> int | Fraction:
        """The smallest half-width t with P(|answer − exact| ≤ t) ≥ confidence, for each answer, or one step more."""
        return half_width(discrete_gaussian_half_width(self.stddev, confidence), None)

    def _perturb(self, steps: Integers) -> Integers:
        return add_noise(steps, discrete_gaussian(self.stddev**2, len(steps)))

    def _perturb_one(self, step: int) -> int:
        return step + discrete_gaussian_one(self.stddev**2)
