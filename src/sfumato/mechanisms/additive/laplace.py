"""The Laplace mechanism on integers and on the lattice of a resolution."""

from dataclasses import dataclass, field
from fractions import Fraction
from math import inf, sqrt

import numpy as np

from sfumato.errors import ParameterError
from sfumato.mechanisms.base import LatticeNoise, half_width
from sfumato.mechanisms.lattice import as_resolution, lattice_l1_sensitivity
from sfumato.noise.laws.discrete_laplace import discrete_laplace, discrete_laplace_one
from sfumato.noise.uniform.integers import Integers, add_noise, drawable, short_scale
from sfumato.numeric.distributions import discrete_laplace_half_width, discrete_laplace_variance
from sfumato.numeric.rationals import Number, nonnegative, positive_integer, set_fields
from sfumato.privacy.events import DiscreteLaplaceEvent, PureEvent


@dataclass(frozen=True, slots=True, init=False)
class Laplace(LatticeNoise):
    """Adds k with probability ∝ exp(−|k|/scale) lattice steps, independently to each number.

    scale = Δ/ε, where Δ is the most steps that one unit changes the vector of numbers in L1; the steps are 1 for
    integers, and `resolution` for real numbers, which are first rounded to them (and Δ is enlarged to cover that). A
    scale of long terms, as an ε out of a division makes it, is rounded up by less than 2^−22 of itself, because long
    terms are slow to draw with; `event` has the scale that is drawn with.

    **Guarantee**: ε-differential privacy for the neighboring relation of `l1_sensitivity`, for the noise that is
    really drawn; no rounding is left out. Proof: proofs/mechanisms/additive/laplace.md.

    ==================================  ================================  =============  ===========
    Edge case                           Answer                            Accuracy       Event
    ==================================  ================================  =============  ===========
    l1_sensitivity = 0                  the exact one (on the lattice)    0 (½ step)     PureEvent(0)
    epsilon = 0 otherwise               0, nothing of the data            ∞              PureEvent(0)
    scale below 1/1000 or above 2^50    ParameterError when constructed
    NaN, None, with a resolution        as 0
    ±∞, beyond 2^62 steps               as ±2^62 steps
    ±∞, beyond ±10^308, no resolution   as ±10^308
    not whole, without a resolution     ParameterError: the one that a value can cause
    ==================================  ================================  =============  ===========

    Args:
        l1_sensitivity: The most by which one unit changes the exact vector in L1, 0 or more, in the unit of the values.
        epsilon: The privacy parameter of one release, 0 or more.
        resolution: The width of a lattice step, above 0; None where the exact values are integers.
        dimension: The length of the vectors to be released, which matters with a resolution only.
        l0_sensitivity: The most coordinates of the vector that one unit changes, if not all; matters likewise.

    Raises:
        ParameterError: A parameter is out of range.

    Example:
        >>> count = Laplace(l1_sensitivity=1, epsilon="0.1")
        >>> count.scale, count.accuracy(0.95), isinstance(count.release(42), int)
        (Fraction(10, 1), 30, True)

    References:
        [DMNS06] Proposition 1; [GRS09] for integers; [CKS20] for the sampler.
    """

    l1_sensitivity: Fraction
    epsilon: Fraction
    resolution: Fraction | None
    dimension: int
    l0_sensitivity: int
    scale: Fraction
    """The scale of the noise in lattice steps; 0 where none is drawn."""
    event: DiscreteLaplaceEvent | PureEvent = field(repr=False, compare=False)
    """The event of one release, for accountants."""

    def __init__(
        self,
        *,
        l1_sensitivity: Number,
        epsilon: Number,
        resolution: Number | None = None,
        dimension: int = 1,
        l0_sensitivity: int | None = None,
    ) -> None:
        step = None if resolution is None else as_resolution(resolution)
        moves, budget = nonnegative(l1_sensitivity, "l1_sensitivity"), nonnegative(epsilon, "epsilon")
        moved = numbers = positive_integer(dimension, "dimension")
        if l0_sensitivity is not None:
            moved = min(positive_integer(l0_sensitivity, "l0_sensitivity"), numbers)
        steps = lattice_l1_sensitivity(moves, resolution=step, l0_sensitivity=moved)
        scale = short_scale(drawable(steps / budget, "scale")) if steps and budget else Fraction(0)
        set_fields(
            self,
            l1_sensitivity=moves,
            epsilon=budget,
            resolution=step,
            dimension=numbers,
            l0_sensitivity=moved,
            scale=scale,
            event=DiscreteLaplaceEvent(scale, steps) if scale else PureEvent(Fraction(0)),
        )

    @property
    def variance(self) -> float:
        """The variance of the noise on each number, in squared lattice steps; infinite where nothing is told."""
        if self.l1_sensitivity == 0:
            return 0.0
        return discrete_laplace_variance(self.scale) if self.scale else inf

    @property
    def stddev(self) -> float:
        """The standard deviation of the noise on each number, in lattice steps as `scale`."""
        return sqrt(self.variance)

    def accuracy(self, confidence: Number = "0.95") -> int | Fraction | float:
        """The smallest half-width t with P(|answer − exact| ≤ t) ≥ confidence, for each answer."""
        if self.l1_sensitivity == 0:
            return half_width(0, self.resolution)
        return half_width(discrete_laplace_half_width(self.scale, confidence), self.resolution) if self.scale else inf

    def _perturb(self, steps: Integers) -> Integers:
        self._check(len(steps))
        if self.scale:
            return add_noise(steps, discrete_laplace(self.scale, len(steps)))
        return np.zeros(len(steps), dtype=np.int64) if self.l1_sensitivity else steps

    def _perturb_one(self, step: int) -> int:
        self._check(1)
        if self.scale:
            return step + discrete_laplace_one(self.scale)
        return 0 if self.l1_sensitivity else step

    def _check(self, dimension: int) -> None:
        if self.resolution is not None and dimension != self.dimension:
            raise ParameterError("exact", f"{dimension} numbers", f"must be of dimension {self.dimension}")
