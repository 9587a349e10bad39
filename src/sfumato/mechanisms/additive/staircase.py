"""The staircase mechanism: the smallest expected error of all noise with a pure guarantee, on integers and lattices."""

from dataclasses import dataclass
from fractions import Fraction
from math import inf, sqrt
from typing import Literal, TypeAlias

import numpy as np

from sfumato.mechanisms.base import LatticeNoise, half_width, stated_for_vectors, stated_numbers
from sfumato.mechanisms.lattice import as_resolution, lattice_linf_sensitivity
from sfumato.noise.laws.staircase import staircase
from sfumato.noise.uniform.integers import Integers, add, drawable
from sfumato.numeric.arguments import one_of
from sfumato.numeric.rationals import Number, nonnegative, set_fields
from sfumato.numeric.staircase import StaircaseLaw, best_width
from sfumato.privacy.events import PureEvent

Objective: TypeAlias = Literal["absolute", "squared"]
"""Which expected error is smallest: E|noise| or E noise²."""


@dataclass(frozen=True, slots=True, init=False)
class Staircase(LatticeNoise):
    """Adds k with probability ∝ exp(−ε·stair(k)) lattice steps, independently to each number.

    stair(k) = ⌈(|k| + 1 − width)/Δ⌉, or 0 if that is negative, where Δ is the most steps that one unit changes a
    number. The top stair holds the magnitudes below `width`, each following one Δ magnitudes. Where Δ = 1 this is
    discrete Laplace noise; for larger Δ the expected error is smaller than that, by a factor that nears 2·sinh(ε/2)/ε:
    2.4 at ε = 5.

    **Guarantee**: ε-differential privacy for the neighboring relation of the sensitivities, whatever the width of the
    top stair, for the noise that is really drawn. Proof: proofs/mechanisms/additive/staircase.md.

    =====================================  ================================  =============  ===========
    Edge case                              Answer                            Accuracy       Event
    =====================================  ================================  =============  ===========
    nothing moves: Δ of 0 steps            the exact one (on the lattice)    0 (½ step)     PureEvent(0)
    epsilon = 0 otherwise                  0, nothing of the data            ∞              PureEvent(0)
    epsilon/l0_sensitivity above 1000      ParameterError when constructed
    Δ·l0_sensitivity/epsilon above 2^50    ParameterError when constructed
    NaN, None, with a resolution           as 0
    ±∞, beyond 2^62 steps                  as ±2^62 steps
    =====================================  ================================  =============  ===========

    Args:
        linf_sensitivity: The most by which one unit changes each number it changes, 0 or more, in the unit of the
            values.
        epsilon: 0 or more, for all numbers together.
        l0_sensitivity: The most numbers of a vector that one unit changes, each noised with ε/l0_sensitivity; must be
            stated for vectors.
        resolution: The width of a lattice step, above 0; None where the exact values are integers.
        minimize: "absolute" for the smallest E|noise|, "squared" for the smallest variance.

    Raises:
        ParameterError: A parameter is out of range.

    Example:
        >>> total = Staircase(linf_sensitivity=1000, epsilon=5)
        >>> total.width, round(total.expected_error), isinstance(total.release(42), int)
        (76, 83, True)

    References:
        [GV16], for real noise and for integers; [GKOV15] for vectors.
    """

    linf_sensitivity: Fraction
    epsilon: Fraction
    l0_sensitivity: int | None
    resolution: Fraction | None
    minimize: Objective
    width: int
    """How many magnitudes the top stair holds; 0 where no noise is drawn."""

    def __init__(
        self,
        *,
        linf_sensitivity: Number,
        epsilon: Number,
        l0_sensitivity: int | None = None,
        resolution: Number | None = None,
        minimize: Objective = "absolute",
    ) -> None:
        step = None if resolution is None else as_resolution(resolution)
        set_fields(
            self,
            linf_sensitivity=nonnegative(linf_sensitivity, "linf_sensitivity"),
            epsilon=nonnegative(epsilon, "epsilon"),
            l0_sensitivity=stated_numbers(l0_sensitivity),
            resolution=step,
            minimize=minimize,
        )
        set_fields(self, width=self._best_width())

    @property
    def event(self) -> PureEvent:
        """The event of one release, for accountants."""
        return PureEvent(self.epsilon if self._steps_moved else Fraction(0))

    @property
    def expected_error(self) -> float:
        """E|noise| of each answer, in the unit of the values."""
        if not self.width:
            return inf if self._steps_moved else 0.0
        return self._law.mean_absolute() * float(self.resolution or 1)

    @property
    def variance(self) -> float:
        """The variance of the noise on each number, in squared lattice steps; infinite where nothing is told."""
        if not self.width:
            return inf if self._steps_moved else 0.0
        return self._law.variance()

    @property
    def stddev(self) -> float:
        """The standard deviation of the noise on each number, in lattice steps."""
        return sqrt(self.variance)

    def accuracy(self, confidence: Number = "0.95") -> int | Fraction | float:
        """The smallest half-width t with P(|answer − exact| ≤ t) ≥ confidence, for each answer, or one step more."""
        if not self.width:
            return inf if self._steps_moved else half_width(0, self.resolution)
        return half_width(self._law.half_width(confidence), self.resolution)

    @property
    def _steps_moved(self) -> int:
        """Integers that move by at most Δ move by at most ⌊Δ⌋."""
        return int(lattice_linf_sensitivity(self.linf_sensitivity, self.resolution))

    @property
    def _epsilon_each(self) -> Fraction:
        return self.epsilon / (self.l0_sensitivity or 1)

    @property
    def _law(self) -> StaircaseLaw:
        return StaircaseLaw(self._steps_moved, self.width, self._epsilon_each)

    def _best_width(self) -> int:
        one_of(self.minimize, "minimize", ("absolute", "squared"))
        if not self._steps_moved or not self.epsilon:
            return 0
        drawable(1 / self._epsilon_each, "l0_sensitivity/epsilon")
        drawable(self._steps_moved / self._epsilon_each, "linf_sensitivity·l0_sensitivity/epsilon")
        return best_width(self._steps_moved, self._epsilon_each, 1 if self.minimize == "absolute" else 2)

    def _perturb(self, steps: Integers) -> Integers:
        stated_for_vectors(self.l0_sensitivity, len(steps))
        if not self.width:
            return np.zeros(len(steps), dtype=np.int64) if self._steps_moved else steps
        return add(steps, staircase(self._steps_moved, self.width, self._epsilon_each, len(steps)))

    def _perturb_one(self, step: int) -> int:
        if not self.width:
            return 0 if self._steps_moved else step
        return step + int(staircase(self._steps_moved, self.width, self._epsilon_each, 1)[0])
