"""Discrete Gaussian noise: calibrated for one answer, on integers or on a lattice; and of a given width."""

from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from sfumato.accounting.gaussian.discrete_gaussian import discrete_gaussian_delta_up, discrete_stddev
from sfumato.accounting.gaussian.gaussian import analytic_stddev, classic_stddev
from sfumato.mechanisms.base import LatticeNoise, half_width, stated_for_vectors, stated_numbers
from sfumato.mechanisms.lattice import as_resolution, lattice_l2_sensitivity
from sfumato.noise.laws.discrete_gaussian import discrete_gaussian, discrete_gaussian_one
from sfumato.noise.uniform.integers import Integers, add_noise, drawable
from sfumato.numeric.arguments import one_of
from sfumato.numeric.distributions import discrete_gaussian_half_width, discrete_gaussian_variance
from sfumato.numeric.rationals import Number, nonnegative, positive, probability, set_fields
from sfumato.privacy.events import DiscreteGaussianEvent, PureEvent

Calibration: TypeAlias = Literal["discrete", "analytic", "classic"]
_CONTINUOUS: Final = MappingProxyType({"analytic": analytic_stddev, "classic": classic_stddev})


class _DiscreteGaussianNoise(LatticeNoise):
    """Discrete Gaussian noise of parameter σ = `stddev` lattice steps; none where that is 0."""

    __slots__ = ()
    stddev: Fraction

    @property
    def variance(self) -> float:
        """The variance of the noise on each number, in squared lattice steps: at most that of `stddev`."""
        return discrete_gaussian_variance(self.stddev) if self.stddev else 0.0

    def accuracy(self, confidence: Number = "0.95") -> int | Fraction:
        """The smallest half-width t with P(|answer − exact| ≤ t) ≥ confidence, for each answer, or one step more."""
        return half_width(discrete_gaussian_half_width(self.stddev, confidence) if self.stddev else 0, self.resolution)

    def _perturb_one(self, step: int) -> int:
        return step + discrete_gaussian_one(self.stddev**2) if self.stddev else step


@dataclass(frozen=True, slots=True, init=False)
class Gaussian(_DiscreteGaussianNoise):
    """Adds k with probability ∝ exp(−k²/(2·stddev²)) lattice steps, independently to each number.

    Steps are 1 for integers, and `resolution` for real numbers, which are first rounded to them. `stddev` follows from
    ε, δ and the L2 sensitivity Δ in steps, by one of three calibrations:

    * "discrete", the default: the smallest stddev for which the discrete noise, which is drawn, is (ε, δ)-private.
    * "analytic" [BW18]: the smallest for which the continuous noise is; any ε.
    * "classic" [DR14]: the textbook's Δ·√(2·ln(1.25/δ))/ε, larger than needed; for ε below 1, where it is proven.

    Where the stddev of the last two would not keep (ε, δ) for the discrete distribution, that of "discrete" is taken
    instead.

    **Guarantee**: (ε, δ)-differential privacy for the neighboring relation of the sensitivities, for the noise that is
    really drawn, whatever the calibration. Proof: proofs/mechanisms/additive/gaussian.md.

    ===================================  =================================  =============  ===========
    Edge case                            Answer                             Accuracy       Event
    ===================================  =================================  =============  ===========
    l2_sensitivity = 0                   the exact one (on the lattice)     0 (½ step)     PureEvent(0)
    epsilon = 0                          with noise: δ alone allows it
    delta = 0                            ParameterError when constructed
    a vector without l0_sensitivity      ParameterError
    stddev below 1/1000 or above 2^50    ParameterError when constructed
    NaN, None, with a resolution         as 0
    ±∞, beyond 2^62 steps                as ±2^62 steps
    not whole, without a resolution      ParameterError: the one that a value can cause
    ===================================  =================================  =============  ===========

    Args:
        l2_sensitivity: The most by which one unit changes the exact vector in L2, 0 or more, in the unit of the values.
        epsilon: The privacy parameter of one release, 0 or more.
        delta: Above 0 and below 1; far below one over the number of people.
        l0_sensitivity: The most numbers of a vector that one unit changes; must be stated for vectors.
        calibration: "discrete", "analytic" or "classic".
        resolution: The width of a lattice step, above 0; None where the exact values are integers.

    Raises:
        ParameterError: A parameter is out of range.

    Example:
        >>> count = Gaussian(l2_sensitivity=1, epsilon=1, delta="1e-6")
        >>> round(float(count.stddev), 1), count.accuracy(0.95)
        (4.2, 8)

    References:
        [DKMMN06]; [CKS20] for the discrete distribution and its sampler; [BW18] Theorem 8; [DR14] Theorem A.1.
    """

    l2_sensitivity: Fraction
    epsilon: Fraction
    delta: Fraction
    l0_sensitivity: int | None
    calibration: Calibration
    resolution: Fraction | None
    stddev: Fraction
    """The parameter σ of the noise in lattice steps; 0 where none is drawn."""

    def __init__(
        self,
        *,
        l2_sensitivity: Number,
        epsilon: Number,
        delta: Number,
        l0_sensitivity: int | None = None,
        calibration: Calibration = "discrete",
        resolution: Number | None = None,
    ) -> None:
        step = None if resolution is None else as_resolution(resolution)
        set_fields(
            self,
            l2_sensitivity=nonnegative(l2_sensitivity, "l2_sensitivity"),
            epsilon=nonnegative(epsilon, "epsilon"),
            delta=probability(delta, "delta"),
            l0_sensitivity=stated_numbers(l0_sensitivity),
            calibration=calibration,
            resolution=step,
        )
        set_fields(self, stddev=drawable(self._calibrated(), "stddev") if self.l2_sensitivity else Fraction(0))

    @property
    def event(self) -> DiscreteGaussianEvent | PureEvent:
        """The event of one release, for accountants."""
        if self.stddev == 0:
            return PureEvent(Fraction(0))
        return DiscreteGaussianEvent(self.stddev, self._distance_moved, self._numbers_moved)

    @property
    def _numbers_moved(self) -> int:
        return self.l0_sensitivity or 1

    @property
    def _distance_moved(self) -> Fraction:
        return lattice_l2_sensitivity(
            self.l2_sensitivity, resolution=self.resolution, l0_sensitivity=self._numbers_moved
        )

    def _calibrated(self) -> Fraction:
        distance, moved = self._distance_moved, self._numbers_moved
        one_of(self.calibration, "calibration", ("discrete", *_CONTINUOUS))
        if self.calibration != "discrete":
            calibrate = _CONTINUOUS[self.calibration]
            stddev = calibrate(l2_sensitivity=distance, epsilon=self.epsilon, delta=self.delta)
            noise = {"stddev": stddev, "l2_sensitivity": distance, "epsilon": self.epsilon}
            if discrete_gaussian_delta_up(**noise, l0_sensitivity=moved) <= self.delta:
                return stddev
        return discrete_stddev(l2_sensitivity=distance, epsilon=self.epsilon, delta=self.delta, l0_sensitivity=moved)

    def _perturb(self, steps: Integers) -> Integers:
        stated_for_vectors(self.l0_sensitivity, len(steps))
        return add_noise(steps, discrete_gaussian(self.stddev**2, len(steps))) if self.stddev else steps


@dataclass(frozen=True, slots=True, init=False)
class GaussianNoise(_DiscreteGaussianNoise):
    """Adds discrete Gaussian noise of parameter σ = `stddev` to integers, each on its own.

        M(x) = x + Z,   P(Z = z) ∝ exp(−z²/(2σ²)) for whole z

    **Guarantee**: what `event` says, for the neighboring relation for which one unit changes the vector by at most Δ in
    L2 and in at most `l0_sensitivity` coordinates; accountants bound its cost, alone or with others. There is no ε of
    its own: `Gaussian` calibrates one answer, `accounting.joint_stddevs` several. Proof:
    proofs/mechanisms/additive/gaussian.md.

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
        l0_sensitivity: The most numbers that one unit changes: 1 where a single number is released. None where that
            is unknown, which costs more.

    Raises:
        ParameterError: A parameter is out of range.

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
        set_fields(
            self,
            l2_sensitivity=positive(l2_sensitivity, "l2_sensitivity"),
            stddev=drawable(positive(stddev, "stddev"), "stddev"),
            l0_sensitivity=stated_numbers(l0_sensitivity),
        )

    @property
    def event(self) -> DiscreteGaussianEvent:
        """The event of one release, for accountants."""
        return DiscreteGaussianEvent(self.stddev, self.l2_sensitivity, self.l0_sensitivity)

    @property
    def resolution(self) -> None:
        """None: its values are integers."""
        return None

    def _perturb(self, steps: Integers) -> Integers:
        return add_noise(steps, discrete_gaussian(self.stddev**2, len(steps)))
